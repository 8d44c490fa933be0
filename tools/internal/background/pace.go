package background

import (
	"context"
	"time"
)

// While calls go on, and for a while after, background work runs in slices with rests between
// them: fewer than one call in twenty meets a slice.
const (
	slice = time.Millisecond
	rest  = 25 * time.Millisecond
	calm  = 100 * time.Millisecond
)

// Pace leaves the CPU to calls. It serves one goroutine.
type Pace struct {
	busy  func() bool // calls go on; nil = they never do
	seen  time.Time   // when they did
	began time.Time   // the slice
}

// NewPace returns a pace for work that begins now.
func NewPace(busy func() bool) *Pace { return &Pace{busy: busy, began: time.Now()} }

// Keep rests if a rest is due. Background work calls it several times a millisecond. The error
// is the cause of ctx, once that has ended.
func (p *Pace) Keep(ctx context.Context) error {
	if p.busy == nil {
		return context.Cause(ctx)
	}
	now := time.Now()
	if p.busy() {
		p.seen = now
	}
	if now.Sub(p.seen) > calm {
		p.began = now
	}
	if now.Sub(p.began) < slice {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		p.began = time.Now()
		return nil
	}
}
