package server

import (
	"context"
	"slices"
	"time"
)

// reserve sees to it that the body holds size bytes of the shared memory. A body
// that holds some already does not wait for more, or those who wait would keep
// the memory from each other.
func (o *body) reserve(size int) error {
	b := o.bodies
	b.mu.Lock()
	defer b.mu.Unlock()
	room := mediumBytes
	if size > middleBody {
		room /= 2
	}
	more := size - o.held
	if b.held+more > room {
		if o.held > 0 {
			return errCrowded
		}
		if err := o.await(more, room); err != nil {
			return err
		}
	}
	now := time.Now()
	if o.held == 0 {
		o.since = now
		b.reading[o] = struct{}{}
	}
	o.moved = now
	b.held += more
	o.held = size
	return nil
}

// await waits until more bytes fit into the room. The caller holds the lock.
func (o *body) await(more, room int) error {
	b := o.bodies
	b.wanted += more
	defer func() { b.wanted -= more }()
	for end := time.Now().Add(memoryWait); b.held+more > room; {
		b.expel(false, b.held+b.wanted-room)
		freed := b.freed
		b.mu.Unlock()
		select {
		case <-freed:
		case <-time.After(memoryCheck):
		case <-o.request.Context().Done():
		}
		b.mu.Lock()
		if err := o.request.Context().Err(); err != nil {
			return err
		}
		if time.Now().After(end) {
			return errCrowded
		}
	}
	return nil
}

// takeLarge waits for the large buffer.
func (o *body) takeLarge() (buffer []byte, err error) {
	b := o.bodies
	select {
	case b.queue <- struct{}{}:
		defer func() { <-b.queue }()
	default:
		return nil, errCrowded
	}
	o.mark(func() {
		o.waits = true
		b.reading[o] = struct{}{}
	})
	defer o.mark(func() {
		o.waits, o.large, o.came = false, err == nil, 0
		o.since = time.Now()
		o.moved = o.since
	})
	ctx, stop := context.WithTimeout(o.request.Context(), memoryWait)
	defer stop()
	look := time.NewTicker(memoryCheck)
	defer look.Stop()
	for {
		select {
		case buffer := <-b.large:
			return buffer, nil
		case <-look.C:
			b.mu.Lock()
			b.expel(true, 1)
			b.mu.Unlock()
		case <-ctx.Done():
			return nil, errCrowded
		}
	}
}

// expel ends the reading of bodies that stall until they give back as many bytes
// as are wanted. The caller holds the lock.
func (b *bodies) expel(large bool, wanted int) {
	now := time.Now()
	if now.Sub(b.looked) < stallAfter/10 {
		return // others look too
	}
	b.looked = now
	var stalled []*body
	for o := range b.reading {
		held := now.Sub(o.since)
		slow := held > slowAfter && float64(o.came)/held.Seconds() < stallRate
		switch {
		case o.large != large || o.waits:
		case o.expelled: // it is about to give back
			wanted -= o.held
		case slow || now.Sub(o.moved) > stallAfter:
			stalled = append(stalled, o)
		}
	}
	slices.SortFunc(stalled, func(a, b *body) int { return a.moved.Compare(b.moved) })
	for _, o := range stalled {
		if wanted <= 0 {
			return
		}
		wanted -= max(o.held, 1)
		o.expelled = true
		_ = o.control.SetReadDeadline(now) // its read ends with a timeout
	}
}

// note notes that bytes came. A body that holds nothing need not be watched.
func (o *body) note(n int) {
	if cap(o.read) > smallBody {
		o.mark(func() { o.came, o.moved = o.came+n, time.Now() })
	}
}

func (o *body) mark(change func()) {
	o.bodies.mu.Lock()
	defer o.bodies.mu.Unlock()
	change()
}

func (o *body) giveBack() {
	o.mark(func() {
		b := o.bodies
		delete(b.reading, o)
		if o.held > 0 {
			b.held -= o.held
			o.held = 0
			close(b.freed)
			b.freed = make(chan struct{})
		}
	})
}
