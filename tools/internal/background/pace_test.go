package background_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"toolcrib/tools/internal/background"
)

// Work takes a small part of the time while calls go on, and all of it soon after.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := true
		p := background.NewPace(func() bool { return busy })
		work := func(n int) (took time.Duration) {
			begin := time.Now()
			for range n {
				time.Sleep(time.Millisecond / 4) // the work
				if err := p.Keep(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			return time.Since(begin)
		}
		const n = 400 // a tenth of a second
		if took := work(n); took < 2*time.Second {
			t.Errorf("while calls go on, it takes %v", took)
		}
		busy = false
		work(n) // until it is calm
		if took := work(n); took > 150*time.Millisecond {
			t.Errorf("without calls it takes %v", took)
		}
		busy = true
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		if err := p.Keep(ctx); !errors.Is(err, cause) {
			t.Errorf("after the end: %v", err)
		}
	})
}
