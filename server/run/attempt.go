package run

import (
	"context"
	"errors"
	"time"

	"toolcrib/tools"
)

// grace is how long the runner waits for a function to return once the context
// has ended. A cancelled call waits at most three times: for the handler, for a
// hook, for a listener of its progress.
const grace = 25 * time.Millisecond

// errAbandoned says that a function did not return in its grace. It goes on in
// its goroutine; what it returns is dropped.
var errAbandoned = errors.New("did not return after the end of its context")

// await runs f in a goroutine of its own and returns what it returns; a panic is
// a *tools.PanicError. It never waits longer than the grace after the end of ctx.
func await[T any](ctx context.Context, spawn func(func()), f func() (T, error)) (T, error) {
	type outcome struct {
		v   T
		err error
	}
	done := make(chan outcome, 1)
	spawn(func() {
		o := outcome{err: errors.New("the goroutine of the function was ended")} // by runtime.Goexit
		defer func() { done <- o }()
		o.err = tools.Recover(func() (err error) {
			o.v, err = f()
			return err
		})
	})
	select {
	case o := <-done:
		return o.v, o.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case o := <-done:
		return o.v, o.err
	case <-timer.C:
		var zero T
		return zero, errAbandoned
	}
}

// attempt runs the handler, several times where the tool is Repeatable. What a
// tool with effects is about to do is on record before it does it.
func (p *pass) attempt(ctx context.Context) (any, error) {
	if err := p.begun(); err != nil {
		return nil, err
	}
	return p.retry(ctx, p.once)
}

// once runs the handler within the timeout of the tool.
func (p *pass) once(ctx context.Context) (_ any, err error) {
	inside, end := p.observe(ctx, PartAttempt, int(p.attempts.Add(1)))
	limited, cancel := context.WithCancel(inside)
	if s := &p.call.Session; !s.Lasting && !s.Once || !p.tool.Streams { // who asked for a task, or for nothing else, waits as long as it takes
		limited, cancel = context.WithTimeout(inside, p.tool.Timeout)
	}
	defer cancel()
	defer func() { end(ended(err)) }()
	limited = p.noteChanges(tools.WithAsker(limited, p.asker))
	v, err := await(limited, p.r.spawn, func() (any, error) {
		if p.tool.Effects != tools.None {
			defer p.r.results.changed() // also where the handler is abandoned and ends later
		}
		return p.tool.Run(limited, p.bound)
	})
	if errors.Is(err, errAbandoned) {
		p.counters.abandoned.Add(1)
		p.abandoned.Store(true)
		p.log().Warn("the handler did not return after the end of its context")
	}
	if err == nil || ctx.Err() != nil || limited.Err() == nil {
		return v, err
	}
	if _, own := errors.AsType[*tools.Error](err); own {
		return nil, err // the tool words its own timeout
	}
	if !errors.Is(err, errAbandoned) && !errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	timeout := tools.Errorf(tools.Timeout, "%s: no result within %s", p.tool.Name, p.tool.Timeout).
		WithHint("ask for less in one call")
	timeout.Err = err
	return nil, timeout
}

// failure words what stopped the call as a *tools.Error; errSkipped, a
// *tools.PendingAsk and nil stay what they are. ctx is that of the whole call.
func (p *pass) failure(ctx context.Context, stop error) error {
	if stop == nil || errors.Is(stop, errSkipped) {
		return stop
	}
	if pending, ok := errors.AsType[*tools.PendingAsk](stop); ok {
		return pending
	}
	if e, ok := errors.AsType[*tools.PanicError](stop); ok {
		p.log().Error("panic", "value", e.Value, "stack", string(e.Stack))
		return &tools.Error{
			Code: tools.Internal, Err: stop,
			Msg:  p.tool.Name + ": crashed, error " + p.id,
			Hint: "the log of the server has the details under this id",
		}
	}
	e := tools.AsError(stop)
	_, own := errors.AsType[*tools.Error](stop)
	switch {
	case ctx.Err() != nil && (!own && e.Code == tools.Internal || e.Code == tools.Cancelled || e.Code.Retryable()):
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return &tools.Error{Code: tools.Timeout, Msg: p.tool.Name + ": the time that the caller gave is over", Err: stop}
		}
		return &tools.Error{Code: tools.Cancelled, Msg: p.tool.Name + ": the call was cancelled", Err: stop}
	case !own && e.Code == tools.Internal:
		p.log().Error("internal error", "err", stop)
	}
	return e
}
