package run

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"toolcrib/tools"
	"toolcrib/workspace"
)

// Limits of the kept results: their number and their bytes.
const (
	maxKept      = 512
	maxKeptBytes = 16 << 20
)

// source says where the value of a call came from.
type source uint8

const (
	sourceTool source = iota
	sourceCache
	sourceJoined
	sourceHook
)

// callKey identifies calls with the same result. Calls of different principals never
// share a result, nor do calls that may use different tools, such as by two tokens of one
// principal.
type callKey struct{ principal, reach, roots, tool, args string }

// moment is a state of the world as far as the server knows it. Two calls join only in
// the same moment: a call that begins after a write is not answered by one that began
// before it.
type moment struct {
	settings   uint64 // which Settings the call has: others may mean another result
	epoch      uint64 // counts the calls with effects
	generation uint64 // of the workspace
	exact      bool   // no change of the workspace can have been missed
}

type flightKey struct {
	callKey
	moment
}

// flight is one execution of a call in its own goroutine. If several calls wait for it,
// it belongs to none of them, and is cancelled when the last one has left.
type flight struct {
	done   chan struct{} // closed when it has landed
	landed sync.Once
	landing

	// Of one that calls may join:
	key       flightKey
	cancel    context.CancelFunc
	forget    func()                      // nobody joins it any more; nil: nobody can
	waiting   int                         // guarded by results.mu
	listeners []func(tools.ProgressEvent) // likewise
}

// landing is the outcome of a flight.
type landing struct {
	value any
	shown *tools.Result // value as the tool renders it; nil if it has not been
	err   error
}

// land ends a flight for the calls that wait for it. Only the first landing counts.
func (f *flight) land(l landing) {
	f.landed.Do(func() {
		f.landing = l
		if f.forget != nil {
			f.forget()
		}
		close(f.done)
	})
}

// kept is a result that may be used again.
type kept struct {
	flightKey
	value any
	size  int
	since time.Time
}

// results joins identical calls and keeps results.
type results struct {
	now        func() time.Time
	spawn      func(func())
	generation func(*workspace.Workspace, context.Context) (n uint64, exact bool)

	mu      sync.Mutex
	epoch   uint64
	flights map[flightKey]*flight
	kept    *simplelru.LRU[callKey, *kept]
	bytes   int // of the kept results
}

func newResults(now func() time.Time, spawn func(func())) *results {
	rs := &results{now: now, spawn: spawn, generation: (*workspace.Workspace).Generation, flights: map[flightKey]*flight{}}
	lru, err := simplelru.NewLRU(maxKept, func(_ callKey, k *kept) { rs.bytes -= k.size })
	if err != nil {
		panic(err) // the size is positive
	}
	rs.kept = lru
	return rs
}

// changed notes that a call with effects has run.
func (rs *results) changed() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.epoch++
}

// cache answers a call of a Read and Repeatable tool from a kept result or from an
// identical call in flight. Otherwise, and for all other tools, it attempts the call.
func (p *pass) cache(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err // cancelled on the way here: nothing begins any more
	}
	if p.tool.Access != tools.Read || !p.tool.Repeatable || len(p.asker.answers) > 0 {
		f := &flight{done: make(chan struct{})}
		p.r.spawn(func() { p.fly(ctx, f) })
		<-f.done // its handler is given the grace after the end of ctx, then let go
		p.value = f.value
		return f.err
	}
	rs := p.r.results
	key := p.key(ctx)
	if k, ok := rs.get(key); ok && p.tool.Cache > 0 && rs.now().Sub(k.since) < p.tool.Cache {
		p.value, p.source, p.age = k.value, sourceCache, rs.now().Sub(k.since)
		return nil
	}
	f, first := rs.join(ctx, key, p)
	if !first {
		p.source = sourceJoined
	}
	select {
	case <-f.done:
	case <-ctx.Done():
		if rs.leave(f) {
			<-f.done // likewise
		}
		return ctx.Err()
	}
	p.value, p.shown = f.value, f.shown
	return f.err
}

// fly attempts the call and lands its flight.
func (p *pass) fly(ctx context.Context, f *flight) {
	l := landing{err: errExited}
	defer func() { f.land(l) }()
	l.err = tools.Recover(func() (err error) {
		l.value, err = p.attempt(ctx, f)
		return err
	})
	if l.err == nil {
		l.shown = p.keep(f.key, l.value)
	}
}

// key returns the key of the call and the moment in which it begins.
func (p *pass) key(ctx context.Context) flightKey {
	k := flightKey{callKey: callKey{
		principal: p.call.Session.Principal, reach: p.live.reach(&p.call.Session),
		tool: p.tool.Name, args: string(p.bound.Canonical),
	}}
	k.settings, k.epoch = p.live.serial, p.r.results.current()
	if ws := p.call.Session.Workspace; ws != nil {
		k.roots = ws.Identity()
		if p.tool.Cache > 0 {
			k.generation, k.exact = p.r.results.generation(ws, ctx)
		}
	}
	return k
}

func (rs *results) current() uint64 {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.epoch
}

// join returns the flight of an identical call, or starts one.
func (rs *results) join(ctx context.Context, key flightKey, p *pass) (f *flight, first bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	f, joined := rs.flights[key]
	if joined {
		f.waiting++
		f.listeners = append(f.listeners, tools.Progress(ctx))
		return f, false
	}
	listen := tools.Progress(ctx)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f = &flight{key: key, cancel: cancel, done: make(chan struct{}), waiting: 1, listeners: []func(tools.ProgressEvent){listen}}
	f.forget = func() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		rs.forget(f)
	}
	rs.flights[key] = f
	if p.tool.Streams {
		ctx = tools.WithProgress(ctx, func(e tools.ProgressEvent) {
			for _, report := range rs.audience(f) {
				report(e)
			}
		})
	}
	rs.spawn(func() {
		defer cancel()
		p.fly(ctx, f)
	})
	return f, true
}

// audience returns the calls that receive the progress of a flight. The slice only grows,
// so the returned part does not change.
func (rs *results) audience(f *flight) []func(tools.ProgressEvent) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return f.listeners
}

// leave removes a call from a flight and reports whether it was the last one; then the
// flight is cancelled and no call can join it any more.
func (rs *results) leave(f *flight) (last bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	f.waiting--
	if f.waiting > 0 {
		return false
	}
	rs.forget(f)
	f.cancel()
	return true
}

// forget ends joining a flight. The caller holds mu.
func (rs *results) forget(f *flight) {
	if rs.flights[f.key] == f {
		delete(rs.flights, f.key)
	}
}

// get returns the kept result of the same call in the same moment. Only exact moments
// have kept results.
func (rs *results) get(key flightKey) (kept, bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	k, ok := rs.kept.Get(key.callKey)
	if !ok {
		return kept{}, false
	}
	if k.moment != key.moment {
		rs.kept.Remove(key.callKey)
		return kept{}, false
	}
	return *k, true
}

// keep keeps the result of a flight that began in an exact moment. It returns the
// rendered result, or nil if it is not kept. If the moment is already over, no call will
// ask for the result, and it makes room for the next.
func (p *pass) keep(key flightKey, value any) *tools.Result {
	if p.tool.Cache == 0 || !key.exact {
		return nil
	}
	if out, ok := value.(tools.Cacheable); ok && !out.Cacheable() {
		return nil
	}
	res, err := p.tool.Render(value)
	if err != nil {
		return nil // shape reports the error
	}
	size := len(key.args) + len(res.Structured)
	for _, b := range res.Content {
		size += len(b.Text) + len(b.Data)
	}
	p.r.results.put(&kept{flightKey: key, value: value, size: size, since: p.r.results.now()})
	return &res
}

func (rs *results) put(k *kept) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if k.size > maxKeptBytes/8 {
		return
	}
	rs.kept.Remove(k.callKey)
	rs.kept.Add(k.callKey, k)
	for rs.bytes += k.size; rs.bytes > maxKeptBytes; {
		rs.kept.RemoveOldest()
	}
}
