package run

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
	SourceReads = "resources/read" // calls of a Call.Read
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

// metrics holds the counters by the name of the tool. Names that callers make up share
// one counter, so that there are no more counters than tools.
type metrics struct {
	mu     sync.Mutex // of those who add
	byName atomic.Pointer[map[string]*counters]
}

// know adds counters for tools. The counts of a tool stay, even while there is no such
// tool.
func (m *metrics) know(names ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := map[string]*counters{UnknownTool: {}, SourceReads: {}}
	if old := m.byName.Load(); old != nil {
		known = maps.Clone(*old)
	}
	for _, name := range names {
		if known[name] == nil {
			known[name] = new(counters)
		}
	}
	m.byName.Store(&known)
}

func (m *metrics) of(p *pass) *counters {
	known := *m.byName.Load()
	if p.call.Read != nil {
		return known[SourceReads]
	}
	return known[p.tool.Name]
}

// busy reports whether a call has not ended.
func (m *metrics) busy() bool {
	for _, c := range *m.byName.Load() {
		if c.inFlight.Load() > 0 {
			return true
		}
	}
	return false
}

type counters struct {
	inFlight                                       atomic.Int64
	calls, joined, cached, retries, asked, skipped atomic.Uint64
	abandoned                                      atomic.Uint64
	in, text, structured, binary                   atomic.Uint64 // bytes
	nanos                                          atomic.Uint64 // of all calls
	errors                                         [len(codes)]atomic.Uint64
	latency                                        [len(latencyBounds) + 1]atomic.Uint64
}

// count counts a call at its end.
func (c *counters) count(p *pass, out *Outcome, took time.Duration) {
	c.calls.Add(1)
	switch {
	case out.Err != nil:
		c.errors[codeIndex(out.Err.Code)].Add(1)
	case out.Ask != nil:
		c.asked.Add(1)
	case p.source == sourceHook:
		c.skipped.Add(1)
	}
	switch p.source {
	case sourceCache:
		c.cached.Add(1)
	case sourceJoined:
		c.joined.Add(1)
	case sourceTool, sourceHook:
	}
	c.weigh(p, out)
	c.nanos.Add(uint64(max(took, 0)))
	i := 0
	for i < len(latencyBounds) && took > latencyBounds[i] {
		i++
	}
	c.latency[i].Add(1)
}

// weigh counts the bytes that went in and out.
func (c *counters) weigh(p *pass, out *Outcome) {
	text, binary := 0, 0
	for i := range out.Result.Content {
		text += len(out.Result.Content[i].Text)
		binary += len(out.Result.Content[i].Data)
	}
	if out.Err != nil {
		text = len(out.Err.Msg) + len(out.Err.Hint)
	}
	c.in.Add(uint64(len(p.call.Args)))
	c.text.Add(uint64(text))
	c.structured.Add(uint64(len(out.Result.Structured)))
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
func (r *Runner) Stats() Stats {
	s := Stats{Tools: map[string]ToolStats{}, Bounds: latencyBounds[:]}
	for name, c := range *r.metrics.byName.Load() {
		s.Tools[name] = c.snapshot()
	}
	return s
}

func (c *counters) snapshot() ToolStats {
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
