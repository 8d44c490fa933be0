package tools_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"toolcrib/tools"
)

func TestGroupLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := tools.NewGroup(t.Context(), 3)
		var now, most, ran atomic.Int32
		for range 20 {
			g.Go(func() error {
				n := now.Add(1)
				most.Store(max(most.Load(), n))
				time.Sleep(time.Second)
				now.Add(-1)
				ran.Add(1)
				return nil
			})
		}
		if err := g.Wait(); err != nil || ran.Load() != 20 || most.Load() != 3 {
			t.Errorf("%d functions ran, at most %d at a time (%v); want 20, 3", ran.Load(), most.Load(), err)
		}
	})
}

func TestGroupEndsWithTheFirstError(t *testing.T) {
	wrong := errors.New("wrong")
	g, ctx := tools.NewGroup(t.Context(), 0)
	g.Go(func() error { return wrong })
	g.Go(func() error {
		<-ctx.Done()
		return ctx.Err()
	})
	if err := g.Wait(); !errors.Is(err, wrong) || !errors.Is(context.Cause(ctx), wrong) {
		t.Errorf("error %v, cause %v; want %v", err, context.Cause(ctx), wrong)
	}
}

func TestGroupCatchesPanics(t *testing.T) {
	g, ctx := tools.NewGroup(t.Context(), 2)
	g.Go(func() error { panic("boom") })
	err := g.Wait()
	p, ok := errors.AsType[*tools.PanicError](err)
	if !ok || p.Value != "boom" || len(p.Stack) == 0 || ctx.Err() == nil {
		t.Errorf("got %v", err)
	}
}
