// Package counts counts calls by tool: how many there were, how long they took, how they ended
// and how much they said. It imports the contract of tools, and must not import server/run,
// which counts. Start reading at [Calls].
package counts

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"toolcrib/tools"
)

// Names of counters that belong to no tool of the catalog.
const (
	UnknownTool = ""               // calls of names that no tool has
	SourceReads = "resources/read" // reads of resources
)

// latencyBounds are the upper bounds of the latency buckets: three per decade, from the
// time of the pipeline itself to the longest that a client waits.
var latencyBounds = [...]time.Duration{
	100 * time.Microsecond, 200 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond,
	10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second,
	10 * time.Second, 20 * time.Second, time.Minute,
}

// codes maps each error code to its counter.
var codes = [...]tools.Code{
	tools.InvalidArgument, tools.NotFound, tools.AlreadyExists, tools.Conflict, tools.Denied, tools.Declined,
	tools.TooLarge, tools.Timeout, tools.Unavailable, tools.Unsupported, tools.Cancelled, tools.Internal,
}

// Calls has the counters by the name of the tool. Names that callers make up share one
// counter, so that there are no more counters than tools. Its methods may be called by several
// goroutines.
type Calls struct {
	mu     sync.Mutex // of those who add
	byName atomic.Pointer[map[string]*Counters]
}

// Know adds counters for tools. The counts of a tool stay, even while there is no such
// tool.
func (m *Calls) Know(names ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := map[string]*Counters{UnknownTool: {}, SourceReads: {}}
	if old := m.byName.Load(); old != nil {
		known = maps.Clone(*old)
	}
	for _, name := range names {
		if known[name] == nil {
			known[name] = new(Counters)
		}
	}
	m.byName.Store(&known)
}

// Of returns the counters of a tool that is known, or of one of the names above.
func (m *Calls) Of(tool string) *Counters { return (*m.byName.Load())[tool] }

// Busy reports whether a call has not ended.
func (m *Calls) Busy() bool {
	for _, c := range *m.byName.Load() {
		if c.inFlight.Load() > 0 {
			return true
		}
	}
	return false
}

// Counters count the calls of one tool.
type Counters struct {
	inFlight                                       atomic.Int64
	calls, joined, cached, retries, asked, skipped atomic.Uint64
	abandoned                                      atomic.Uint64
	in, text, structured, binary                   atomic.Uint64 // bytes
	nanos                                          atomic.Uint64 // of all calls
	errors                                         [len(codes)]atomic.Uint64
	latency                                        [len(latencyBounds) + 1]atomic.Uint64
}

// Begin counts a call that is in flight until Leave.
func (c *Counters) Begin() { c.inFlight.Add(1) }

// Leave ends a call.
func (c *Counters) Leave() { c.inFlight.Add(-1) }

// Retried counts a retry.
func (c *Counters) Retried() { c.retries.Add(1) }

// Abandoned counts a handler that goes on after the end of its call.
func (c *Counters) Abandoned() { c.abandoned.Add(1) }

// Ended is how a call ended.
type Ended struct {
	Err                            *tools.Error
	Asked, Skipped, Cached, Joined bool
	Took                           time.Duration
	In                             int // bytes of the arguments
	Result                         *tools.Result
}

// Count counts a call at its end.
func (c *Counters) Count(e Ended) {
	c.calls.Add(1)
	switch {
	case e.Err != nil:
		c.errors[codeIndex(e.Err.Code)].Add(1)
	case e.Asked:
		c.asked.Add(1)
	case e.Skipped:
		c.skipped.Add(1)
	}
	switch {
	case e.Cached:
		c.cached.Add(1)
	case e.Joined:
		c.joined.Add(1)
	}
	c.weigh(e)
	c.nanos.Add(uint64(max(e.Took, 0)))
	i := 0
	for i < len(latencyBounds) && e.Took > latencyBounds[i] {
		i++
	}
	c.latency[i].Add(1)
}

// weigh counts the bytes that went in and out.
func (c *Counters) weigh(e Ended) {
	text, binary := 0, 0
	for i := range e.Result.Content {
		text += len(e.Result.Content[i].Text)
		binary += len(e.Result.Content[i].Data)
	}
	if e.Err != nil {
		text = len(e.Err.Msg) + len(e.Err.Hint)
	}
	c.in.Add(uint64(e.In))
	c.text.Add(uint64(text))
	c.structured.Add(uint64(len(e.Result.Structured)))
	c.binary.Add(uint64(binary))
}

func codeIndex(code tools.Code) int {
	if i := slices.Index(codes[:], code); i >= 0 {
		return i
	}
	return len(codes) - 1 // a code that the contract does not know
}

// Stats returns a snapshot of the counters. Calls that end meanwhile may be in
// some of the numbers already.
func (m *Calls) Stats() Stats {
	s := Stats{Tools: map[string]ToolStats{}, Bounds: latencyBounds[:]}
	for name, c := range *m.byName.Load() {
		s.Tools[name] = c.snapshot()
	}
	return s
}

func (c *Counters) snapshot() ToolStats {
	t := ToolStats{
		Calls: c.calls.Load(), Joined: c.joined.Load(), Cached: c.cached.Load(), Skipped: c.skipped.Load(),
		Asked: c.asked.Load(), Retries: c.retries.Load(), Abandoned: c.abandoned.Load(), InFlight: c.inFlight.Load(),
		In: c.in.Load(), Text: c.text.Load(), Structured: c.structured.Load(), Binary: c.binary.Load(),
		Took: time.Duration(c.nanos.Load()), Errors: map[tools.Code]uint64{},
	}
	for i := range c.errors {
		if n := c.errors[i].Load(); n > 0 {
			t.Errors[codes[i]] = n
		}
	}
	for i := range c.latency {
		t.Latency = append(t.Latency, c.latency[i].Load())
	}
	return t
}
