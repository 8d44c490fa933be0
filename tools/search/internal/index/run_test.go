package index_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"toolcrib/tools/search/internal/index"
)

func TestRun(t *testing.T) {
	tr := newTree(t)
	rnd := rand.New(rand.NewPCG(9, 9))
	for i := range 200 {
		tr.write(fmt.Sprintf("f%d", i), randomData(rnd))
	}
	var busy atomic.Bool
	x := index.New(tr, index.Options{Memory: 64 << 20, Busy: busy.Load})
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- x.Run(ctx) }()
	for range 300 {
		tr.write(fmt.Sprintf("f%d", rnd.IntN(200)), randomData(rnd))
		busy.Store(true)
		tr.check(x, randomNeed(rnd, tr.list()))
		busy.Store(false)
	}
	for !x.Ready() {
		x.Select(nil, false)
	}
	cause := errors.New("enough")
	cancel(cause)
	if err := <-ended; !errors.Is(err, cause) {
		t.Errorf("Run returned %v", err)
	}
	if n := tr.check(x, one("_probe_")); n > 0 || x.Ready() || x.Stats() != (index.Stats{}) {
		t.Errorf("after the end %d files are ruled out, %+v", n, x.Stats())
	}
}

func TestAfterAPanicNothingIsRuledOut(t *testing.T) {
	tr := newTree(t)
	tr.panics = true
	x := index.New(tr, index.Options{Memory: 1 << 20})
	recovered := make(chan any)
	go func() {
		defer func() { recovered <- recover() }()
		x.Run(t.Context()) //nolint:errcheck // it panics
	}()
	if <-recovered == nil || x.Ready() || x.Stats() != (index.Stats{}) {
		t.Errorf("no panic, or an index after one: %+v", x.Stats())
	}
}
