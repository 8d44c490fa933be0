package run

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"toolcrib/tools"
)

// gate passes the messages of a call to its client, one at a time, until the call ends. A
// sender waits until its message is delivered, so messages do not pile up and all
// messages of a handler are delivered before it returns.
type gate struct {
	turn  chan struct{} // holds a token while a message is delivered
	ended chan struct{} // closed at the end of the call: later messages are dropped
	once  sync.Once
}

func newGate() *gate { return &gate{turn: make(chan struct{}, 1), ended: make(chan struct{})} }

// pass delivers a message by calling deliver.
func (g *gate) pass(deliver func()) {
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
	case <-g.ended:
		return
	}
	select {
	case <-g.ended:
	default:
		deliver()
	}
}

// end waits for the message that is being delivered, if any, and drops all later ones. A
// cancelled call waits at most for the grace. A nil gate has no messages.
func (g *gate) end(ctx context.Context) {
	if g == nil {
		return
	}
	g.once.Do(func() { close(g.ended) })
	select {
	case g.turn <- struct{}{}:
		return
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case g.turn <- struct{}{}:
	case <-timer.C:
	}
}

// listen connects the handler's log and progress to the client, if it wants them.
func (p *pass) listen(ctx context.Context) context.Context {
	if report := p.call.Progress; report != nil && p.tool.Streams {
		p.gate = newGate()
		ctx = tools.WithProgress(ctx, func(e tools.ProgressEvent) {
			p.gate.pass(func() { report(e) })
		})
	}
	if p.call.Log != nil {
		if p.gate == nil {
			p.gate = newGate()
		}
		ctx = tools.WithLog(ctx, slog.New(logGate{p.call.Log.Handler(), p.gate}))
	}
	return ctx
}

// logGate passes log records through a gate.
type logGate struct {
	slog.Handler
	gate *gate
}

// Handle implements [slog.Handler].
func (l logGate) Handle(ctx context.Context, r slog.Record) (err error) {
	l.gate.pass(func() { err = l.Handler.Handle(ctx, r) })
	return err
}

// WithAttrs implements [slog.Handler].
func (l logGate) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logGate{l.Handler.WithAttrs(attrs), l.gate}
}

// WithGroup implements [slog.Handler].
func (l logGate) WithGroup(name string) slog.Handler {
	return logGate{l.Handler.WithGroup(name), l.gate}
}
