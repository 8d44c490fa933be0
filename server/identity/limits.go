package identity

import (
	"container/list"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits limit the calls of each principal. The zero value has no limits.
type Limits struct {
	Rate       string           `json:"rate,omitempty" jsonschema_description:"calls of a principal, such as 100/s, 600/m or 5000/h"`
	Burst      int              `json:"burst,omitempty" jsonschema_description:"calls that may come at once before the rate counts (default those of a second)"`
	Concurrent int              `json:"concurrent,omitempty" jsonschema_description:"calls of a principal that run at once"`
	Tools      map[string]Limit `json:"tools,omitempty" jsonschema_description:"the same for the calls of one tool by a principal, by the name of the tool"`
}

// Limit bounds the calls of one tool by one principal.
type Limit struct {
	Rate       string `json:"rate,omitempty" jsonschema_description:"calls, such as 10/s, 60/m or 500/h"`
	Burst      int    `json:"burst,omitempty" jsonschema_description:"calls that may come at once before the rate counts (default those of a second)"`
	Concurrent int    `json:"concurrent,omitempty" jsonschema_description:"calls that run at once"`
}

const (
	// maxMeters is how many pairs of principal and tool are remembered.
	maxMeters = 1 << 14
	// crowdedWait is how long to wait where too many calls run: nobody knows when one
	// ends.
	crowdedWait = time.Second
)

// Limiter counts calls. Its methods may be called by several goroutines.
type Limiter struct {
	now   func() time.Time
	all   bound
	tools map[string]bound

	mu     sync.Mutex
	meters map[meterKey]*list.Element // of *meter
	recent *list.List                 // the one used last at the front
}

// bound is a Limit that was read.
type bound struct {
	every      rate.Limit // 0 = as many as there are
	burst      int
	concurrent int // 0 = likewise
}

type meterKey struct{ principal, tool string } // tool "" = all

type meter struct {
	key     meterKey
	rate    *rate.Limiter // nil = no bound
	running int
}

// NewLimiter makes a Limiter; now is nil for time.Now. Its error names the limit that
// cannot be read.
func NewLimiter(cfg Limits, now func() time.Time) (*Limiter, error) {
	if now == nil {
		now = time.Now
	}
	l := &Limiter{now: now, tools: map[string]bound{}, meters: map[meterKey]*list.Element{}, recent: list.New()}
	var err error
	if l.all, err = (Limit{cfg.Rate, cfg.Burst, cfg.Concurrent}).read(); err != nil {
		return nil, fmt.Errorf("limits: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Tools)) {
		if l.tools[name], err = cfg.Tools[name].read(); err != nil {
			return nil, fmt.Errorf("limits of %s: %w", name, err)
		}
	}
	return l, nil
}

func (l Limit) read() (b bound, err error) {
	if l.Burst < 0 || l.Concurrent < 0 {
		return b, fmt.Errorf("a limit is not negative")
	}
	b.concurrent = l.Concurrent
	if l.Rate == "" {
		return b, nil
	}
	count, unit, _ := strings.Cut(l.Rate, "/")
	n, err := strconv.ParseUint(count, 10, 31)
	seconds := map[string]float64{"s": 1, "m": 60, "h": 3600}[unit]
	if err != nil || n == 0 || seconds == 0 {
		return b, fmt.Errorf("the rate %q is not a number of calls in a time, such as 100/s, 600/m or 5000/h", l.Rate)
	}
	b.every = rate.Limit(float64(n) / seconds)
	if b.burst = l.Burst; b.burst == 0 {
		b.burst = max(int(b.every), 1)
	}
	return b, nil
}

// Enter lets a call of a tool begin; leave is to be called when it ends. Where the
// principal has reached a limit, leave is nil and wait says when to try again. A call
// inside another counts for its tool alone.
func (l *Limiter) Enter(principal, tool string, inside bool) (leave func(), wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var taken []*meter
	back := func() {
		for _, m := range taken {
			m.running--
		}
	}
	var reserved []*rate.Reservation
	now := l.now()
	for _, at := range []struct {
		bound
		tool string
	}{{l.all, ""}, {l.tools[tool], tool}} {
		if at.bound == (bound{}) || at.tool == "" && inside {
			continue
		}
		m := l.meter(meterKey{principal, at.tool}, at.bound)
		if at.concurrent > 0 && m.running >= at.concurrent {
			wait = max(wait, crowdedWait)
		} else if m.rate != nil {
			r := m.rate.ReserveN(now, 1)
			reserved = append(reserved, r)
			wait = max(wait, r.DelayFrom(now))
		}
		m.running++
		taken = append(taken, m)
	}
	if wait > 0 {
		back()
		for _, r := range reserved {
			r.CancelAt(now)
		}
		return nil, wait
	}
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		back()
	}), 0
}

// meter returns the counts of a key. If there are too many, it forgets the least recently
// used meter that counts no running call. The caller holds mu.
func (l *Limiter) meter(key meterKey, b bound) *meter {
	if e, ok := l.meters[key]; ok {
		l.recent.MoveToFront(e)
		return e.Value.(*meter)
	}
	for e := l.recent.Back(); e != nil && len(l.meters) >= maxMeters; {
		m, before := e.Value.(*meter), e.Prev()
		if m.running == 0 {
			delete(l.meters, m.key)
			l.recent.Remove(e)
		}
		e = before
	}
	m := &meter{key: key}
	if b.every > 0 {
		m.rate = rate.NewLimiter(b.every, b.burst)
	}
	l.meters[key] = l.recent.PushFront(m)
	return m
}
