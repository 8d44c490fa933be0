package run

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"toolcrib/tools"
)

// grace is how long the runner waits for a function to return once the context
// has ended. A cancelled call waits at most three times: for the handler, for a
// hook, for a listener of its progress.
const grace = 25 * time.Millisecond

// errAbandoned means that a function did not return within its grace. It goes on in its
// goroutine; its result is dropped.
var errAbandoned = errors.New("did not return after the end of its context")

// errExited means that a function ended its goroutine, by [runtime.Goexit].
var errExited = errors.New("the goroutine of the function was ended")

// await runs f in a new goroutine and returns its result; a panic becomes a
// *tools.PanicError. It never waits longer than the grace after the end of ctx.
func await[T any](ctx context.Context, spawn func(func()), f func() (T, error)) (T, error) {
	type outcome struct {
		v   T
		err error
	}
	done := make(chan outcome, 1)
	spawn(func() {
		o := outcome{err: errExited}
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

// attempt runs the handler, several times if the tool is Repeatable. A call with effects
// is recorded before the handler runs.
func (p *pass) attempt(ctx context.Context, f *flight) (any, error) {
	if err := p.begun(); err != nil {
		return nil, err
	}
	return p.retry(ctx, func(ctx context.Context) (any, error) { return p.once(ctx, f) })
}

// once runs the handler within the timeout of the tool, in the goroutine of its flight. A
// handler that does not return within its grace is abandoned: the flight ends without it.
func (p *pass) once(ctx context.Context, f *flight) (v any, err error) {
	inside, end := p.observe(ctx, PartAttempt, int(p.attempts.Add(1)))
	limited, cancel := p.limited(inside)
	defer cancel()
	limited = p.noteChanges(tools.WithUsage(tools.WithAsker(tools.WithSpawn(limited, p.r.spawn), p.asker), p.use))
	var over atomic.Bool // the handler has returned or is abandoned
	abandon := func() {
		if over.Swap(true) {
			return
		}
		p.counters.Abandoned()
		p.abandoned.Store(true)
		p.log().Warn("the handler did not return after the end of its context")
		err := p.late(ctx, limited, errAbandoned)
		end(ended(err))
		f.land(landing{err: err})
	}
	stop := context.AfterFunc(limited, func() { time.AfterFunc(grace, abandon) })
	err = errExited
	defer func() {
		if over.Swap(true) {
			v, err = nil, errAbandoned
			return
		}
		stop()
		err = p.late(ctx, limited, err)
		end(ended(err))
	}()
	err = tools.Recover(func() (err error) {
		if p.tool.Effects != tools.None {
			defer p.r.results.changed() // also where the handler is abandoned and ends later
		}
		v, err = p.tool.Run(limited, p.bound)
		return err
	})
	return v, err
}

// limited returns the context of an attempt. Who asked for a task, or for nothing else, waits as
// long as it takes.
func (p *pass) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if s := &p.call.Session; p.tool.Streams && (s.Lasting || s.Once) {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, p.tool.Timeout)
}

// late returns a timeout as the error of a handler whose time was over. ctx is that of
// the call, limited that of the attempt.
func (p *pass) late(ctx, limited context.Context, err error) error {
	if err == nil || ctx.Err() != nil || limited.Err() == nil {
		return err
	}
	if _, own := errors.AsType[*tools.Error](err); own {
		return err // the tool reports its own timeout
	}
	if !errors.Is(err, errAbandoned) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	timeout := tools.Errorf(tools.Timeout, "%s: no result within %s", p.tool.Name, p.tool.Timeout).
		WithHint("ask for less in one call")
	timeout.Err = err
	return timeout
}

// failure converts the error that stopped the call to a *tools.Error; errSkipped, a
// *tools.PendingAsk and nil are returned unchanged. ctx is that of the whole call.
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

const (
	maxAttempts = 3
	firstPause  = 100 * time.Millisecond // doubles with each attempt; half of it is jitter
)

// retry repeats an attempt that may succeed the next time, if the tool is Repeatable. It
// does not begin an attempt that the caller's deadline would cut off, or one while an
// abandoned handler still runs.
func (p *pass) retry(ctx context.Context, once func(context.Context) (any, error)) (any, error) {
	start := p.asker.position()
	for n := 1; ; n++ {
		v, err := once(ctx)
		if err == nil || n == maxAttempts || !p.tool.Repeatable || !retryable(err) {
			return v, err
		}
		pause := firstPause << (n - 1)
		pause = pause/2 + rand.N(pause/2)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= pause {
			return nil, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, err
		}
		p.counters.Retried()
		p.asker.rewind(start)
	}
}

func retryable(err error) bool {
	if errors.Is(err, errAbandoned) {
		return false
	}
	if _, panicked := errors.AsType[*tools.PanicError](err); panicked {
		return false
	}
	if _, asked := errors.AsType[*tools.PendingAsk](err); asked {
		return false
	}
	return tools.AsError(err).Code.Retryable()
}
