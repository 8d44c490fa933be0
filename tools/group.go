package tools

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// Group runs functions of one call in goroutines, a limited number at a time. Tools start
// goroutines only through a Group: a panic in another goroutine ends the whole server, a
// panic in a Group ends the call with an internal error.
//
//	g, ctx := tools.NewGroup(ctx, 4)
//	for _, p := range paths {
//		g.Go(func() error { return read(ctx, p) })
//	}
//	if err := g.Wait(); err != nil {
//		return Out{}, err
//	}
type Group struct {
	spawn  func(func())
	cancel context.CancelCauseFunc
	slots  chan struct{}
	wg     sync.WaitGroup
	once   sync.Once
	err    error
}

// NewGroup returns a Group that runs at most limit functions at a time (less than 1 counts
// as 1), and the context for these functions, which ends with ctx, at the first error, and
// with Wait.
func NewGroup(ctx context.Context, limit int) (*Group, context.Context) {
	spawn, ok := ctx.Value(spawnKey{}).(func(func()))
	if !ok {
		spawn = func(f func()) { go f() }
	}
	ctx, cancel := context.WithCancelCause(ctx)
	return &Group{spawn: spawn, cancel: cancel, slots: make(chan struct{}, max(limit, 1))}, ctx
}

// WithSpawn returns a context whose Groups run each function by spawn, in a goroutine of its own.
func WithSpawn(ctx context.Context, spawn func(func())) context.Context {
	return context.WithValue(ctx, spawnKey{}, spawn)
}

type spawnKey struct{}

// Go runs f in a separate goroutine. It blocks while the limit is reached, so f must not call
// Go of the same Group.
func (g *Group) Go(f func() error) {
	g.slots <- struct{}{}
	g.wg.Add(1)
	g.spawn(func() {
		defer g.wg.Done()
		defer func() { <-g.slots }()
		if err := Recover(f); err != nil {
			g.once.Do(func() {
				g.err = err
				g.cancel(err)
			})
		}
	})
}

// Wait waits for every function and returns the first error. A panic is a *PanicError.
func (g *Group) Wait() error {
	g.wg.Wait()
	g.cancel(nil)
	return g.err
}

// Recover runs f and returns its error. A panic becomes a *PanicError.
func Recover(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}

// PanicError is a recovered panic. The runner turns it into an internal error with an id
// and logs the stack; the caller sees neither the value nor the stack.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }
