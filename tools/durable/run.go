package durable

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

// Run is one run, as its Kind sees it.
type Run struct {
	engine *Engine
	dbos   dbos.Context
	full   string
	id     string
	life   string // tells this execution of the run from earlier ones
	ctx    context.Context
	halt   context.CancelCauseFunc
}

// ErrCancelled is why a run that was cancelled ends.
var ErrCancelled = errors.New("the run was cancelled")

// envelope is the input of the workflow.
type envelope struct {
	Input json.RawMessage `json:"input,omitempty"`
}

// carry is the workflow: it carries out a run of any kind.
func (e *Engine) carry(c dbos.Context, in envelope) (json.RawMessage, error) {
	full, err := dbos.GetWorkflowID(c)
	if err != nil {
		return nil, err
	}
	name, id, _ := e.split(full)
	kind, ok := e.opt.Kinds[name]
	if !ok {
		return nil, fmt.Errorf("no kind of runs is called %q", name)
	}
	r := &Run{engine: e, dbos: c, full: full, id: id, life: rand.Text()}
	r.ctx, r.halt = context.WithCancelCause(c)
	e.mu.Lock()
	on := e.on
	e.active[full] = r
	if e.idle != nil {
		e.idle.Stop()
	}
	e.mu.Unlock()
	defer func() {
		r.halt(nil)
		e.mu.Lock()
		if e.active[full] == r {
			delete(e.active, full)
		}
		e.rest()
		e.mu.Unlock()
	}()
	if on != nil && on.outlived(r.ctx) {
		e.fenced(on)
		<-c.Done() // the session ends
		return nil, c.Err()
	}
	out, err := kind.Do(r, in.Input)
	if err != nil && c.Err() != nil {
		// The run goes on elsewhere or later. Any other error might be recorded as its outcome:
		// the run can return before DBOS has noticed that c has ended.
		err = errors.Join(err, c.Err())
	}
	return out, err
}

// ID returns the ID by which the run was started.
func (r *Run) ID() string { return r.id }

// Context ends when the run is cancelled, or goes on in another process.
func (r *Run) Context() context.Context { return r.ctx }

// Failure is the error that a step has ended with, perhaps in another process.
type Failure struct{ Text string }

func (f *Failure) Error() string { return f.Text }

// Unknown is the error of an effect that began in a process that died before it reported.
// Nobody knows whether it was done.
type Unknown struct{ Began time.Time }

func (u *Unknown) Error() string {
	return fmt.Sprintf("outcome unknown: it began at %s, and its process ended before it reported", u.Began.UTC().Format(time.RFC3339))
}

// outcome is how a step ended, as it is recorded.
type outcome[T any] struct {
	Value   T         `json:"value"`
	Failed  string    `json:"failed,omitempty"`
	Unknown time.Time `json:"unknown,omitzero"`
}

func (o outcome[T]) result() (T, error) {
	switch {
	case !o.Unknown.IsZero():
		return o.Value, &Unknown{o.Unknown}
	case o.Failed != "":
		return o.Value, &Failure{o.Failed}
	}
	return o.Value, nil
}

// Step carries out f and records its result, which must survive JSON. A run that goes on in
// another process gets that result, or carries out f again if there is none: f may be done
// twice. An error of f is recorded too, as a *Failure. Any other error means that the run
// cannot go on here, and must be returned.
func Step[T any](r *Run, name string, f func(ctx context.Context) (T, error)) (T, error) {
	out, err := step(r, name, func(ctx context.Context) outcome[T] {
		v, err := f(ctx)
		if err != nil {
			return outcome[T]{Value: v, Failed: err.Error()}
		}
		return outcome[T]{Value: v}
	})
	if err != nil {
		return out.Value, err
	}
	return out.result()
}

func step[T any](r *Run, name string, f func(ctx context.Context) T) (T, error) {
	if err := r.over(); err != nil {
		var zero T
		return zero, err
	}
	return dbos.RunAsStep(r.dbos, func(inside context.Context) (T, error) {
		ctx, cancel := context.WithCancelCause(inside)
		defer cancel(nil)
		defer context.AfterFunc(r.ctx, func() { cancel(context.Cause(r.ctx)) })()
		v := f(ctx)
		return v, r.over() // a step that was broken off has no result
	}, dbos.WithStepName(name))
}

// over returns why the run cannot go on here, nil if it can.
func (r *Run) over() error {
	if r.ctx.Err() == nil {
		return nil
	}
	return context.Cause(r.ctx)
}

// begun is the record of an effect that begins.
type begun struct {
	At   time.Time `json:"at"`
	Life string    `json:"life"`
}

// Effect is a [Step] that must not be done twice: that it begins is recorded before it does.
// If its process dies before it reports, the error is an *Unknown in the process that goes
// on, unless repeatable says that doing it again does no harm.
func Effect[T any](r *Run, name string, repeatable bool, f func(ctx context.Context) (T, error)) (T, error) {
	asked := time.Now()
	begin, err := step(r, name+" begins", func(context.Context) begun { return begun{At: time.Now(), Life: r.life} })
	if err != nil {
		var zero T
		return zero, err
	}
	if begin.Life == r.life && time.Since(asked) > heldUp {
		// The process may have been stopped since the record. Whoever adopted the run
		// meanwhile reports the effect as unknown, so it must not begin now.
		if err := r.confirm(); err != nil {
			var zero T
			return zero, err
		}
	}
	out, err := step(r, name, func(ctx context.Context) outcome[T] {
		if begin.Life != r.life && !repeatable {
			return outcome[T]{Unknown: begin.At}
		}
		v, err := f(ctx)
		if err != nil {
			return outcome[T]{Value: v, Failed: err.Error()}
		}
		return outcome[T]{Value: v}
	})
	if err != nil {
		return out.Value, err
	}
	return out.result()
}

// confirm returns once this execution certainly still has the run.
func (r *Run) confirm() error {
	for {
		if err := r.over(); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(r.ctx, stopWithin)
		err := r.engine.holds(ctx, r)
		cancel()
		if err == nil {
			return nil
		}
		if errors.Is(err, ErrFenced) {
			r.halt(err)
			return err
		}
		select {
		case <-r.ctx.Done():
		case <-time.After(look):
		}
	}
}

// Write adds a value to a stream of the run, which any process can follow by
// [Engine.Read].
func (r *Run) Write(stream string, value any) error {
	if err := r.over(); err != nil {
		return err
	}
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return dbos.WriteStream(r.dbos, stream, json.RawMessage(data))
}

// Receive waits for a message that [Engine.Send] sent to the run, at most for the timeout.
// ok reports whether there was one.
func (r *Run) Receive(topic string, timeout time.Duration) (message json.RawMessage, ok bool, err error) {
	if err := r.over(); err != nil {
		return nil, false, err
	}
	message, err = dbos.Recv[json.RawMessage](dbos.From(r.dbos, r.ctx), topic, timeout)
	if errors.Is(err, dbos.ErrTimeout) {
		return nil, false, nil
	}
	return message, err == nil, err
}
