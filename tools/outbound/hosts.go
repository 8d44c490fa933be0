package outbound

import (
	"context"
	"sync"
	"time"
)

// hosts limits how many requests one host gets at a time, and how soon one after the other.
type hosts struct {
	mu  sync.Mutex
	all map[string]*host
}

type host struct {
	users int       // requests that wait or run
	runs  int       // of these, those that run
	next  time.Time // when the next may start
	free  chan struct{}
}

// enter waits for a turn at a host, and returns what gives it back.
func (h *hosts) enter(ctx context.Context, t Target, most int, delay time.Duration) (leave func(), err error) {
	name := t.String()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		h.all = map[string]*host{}
	}
	one := h.all[name]
	if one == nil {
		h.sweep()
		one = &host{free: make(chan struct{}, 1)}
		h.all[name] = one
	}
	one.users++
	for {
		wait := time.Until(one.next)
		if delay == 0 {
			wait = 0
		}
		if one.runs < most && wait <= 0 {
			break
		}
		if err = h.sleep(ctx, one, wait); err != nil {
			one.users--
			one.wake()
			return nil, err
		}
	}
	one.runs++
	one.next = time.Now().Add(delay)
	one.wake() // another may have a turn too
	return sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		one.runs--
		one.users--
		one.wake()
	}), nil
}

// sleep waits without the lock until a turn is given back or the time is over; 0 = no time.
func (h *hosts) sleep(ctx context.Context, one *host, wait time.Duration) error {
	h.mu.Unlock()
	defer h.mu.Lock()
	var over <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-one.free:
	case <-over:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// wake lets one that waits look again.
func (o *host) wake() {
	select {
	case o.free <- struct{}{}:
	default:
	}
}

// sweep forgets hosts that nobody asks and whose delay is over.
func (h *hosts) sweep() {
	now := time.Now()
	for name, one := range h.all {
		if one.users == 0 && now.After(one.next) {
			delete(h.all, name)
		}
	}
}
