package run

import (
	"context"
	"sync"
	"time"

	"toolcrib/tools"
)

// progress hands the events of a call to its listener, one at a time. Whoever
// reports waits until the listener has taken the event, so nothing piles up and
// all events of a handler are delivered before it returns.
type progress struct {
	listener func(tools.ProgressEvent)
	turn     chan struct{} // holds a token while an event is delivered
	ended    chan struct{} // closed at the end of the call: later events are dropped
	once     sync.Once
}

func newProgress(listener func(tools.ProgressEvent)) *progress {
	return &progress{listener: listener, turn: make(chan struct{}, 1), ended: make(chan struct{})}
}

func (p *progress) report(e tools.ProgressEvent) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-p.ended:
		return
	}
	select {
	case <-p.ended:
	default:
		p.listener(e)
	}
}

// end waits for the event that is being delivered, if any, and drops all later
// ones. A cancelled call waits no longer than the grace.
func (p *progress) end(ctx context.Context) {
	if p == nil {
		return
	}
	p.once.Do(func() { close(p.ended) })
	select {
	case p.turn <- struct{}{}:
		return
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case p.turn <- struct{}{}:
	case <-timer.C:
	}
}
