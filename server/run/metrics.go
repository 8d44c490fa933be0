package run

import (
	"sync/atomic"
	"time"

	"toolcrib/tools"
)

// Counters that belong to no tool of the catalog.
const (
	unknownTool = ""               // calls of names that no tool has
	sourceReads = "resources/read" // calls of a Call.Read
)

// latencyBounds are coarse on purpose: the log of a call has its exact time.
var latencyBounds = [...]time.Duration{
	100 * time.Microsecond, time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second,
}

// codes gives each code of an error its counter.
var codes = [...]tools.Code{
	tools.InvalidArgument, tools.NotFound, tools.AlreadyExists, tools.Conflict, tools.Denied, tools.Declined,
	tools.TooLarge, tools.Timeout, tools.Unavailable, tools.Unsupported, tools.Cancelled, tools.Internal,
}

// metrics holds the counters by tool; the map does not change after New.
type metrics map[string]*counters

func (m metrics) of(p *pass) *counters {
	if p.call.Read != nil {
		return m[sourceReads]
	}
	return m[p.tool.Name]
}

type counters struct {
	inFlight                                       atomic.Int64
	calls, joined, cached, retries, asked, skipped atomic.Uint64
	abandoned                                      atomic.Uint64
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
	}
	switch p.source {
	case sourceCache:
		c.cached.Add(1)
	case sourceJoined:
		c.joined.Add(1)
	case sourceHook:
		c.skipped.Add(1)
	case sourceTool:
	}
	i := 0
	for i < len(latencyBounds) && took > latencyBounds[i] {
		i++
	}
	c.latency[i].Add(1)
}

func codeIndex(code tools.Code) int {
	for i, c := range codes {
		if c == code {
			return i
		}
	}
	return len(codes) - 1 // a code that the contract does not know
}

// Stats is a snapshot of the counters.
type Stats struct {
	// Tools has the counters by the name of the tool; "" are calls of names
	// that no tool has, "resources/read" those of Call.Read.
	Tools map[string]ToolStats
	// Bounds are the upper bounds of the buckets of ToolStats.Latency; the last
	// bucket has none.
	Bounds []time.Duration
}

// ToolStats counts the calls of one tool that have ended.
type ToolStats struct {
	Calls     uint64
	Errors    map[tools.Code]uint64 // those that occurred
	Joined    uint64                // answered by an identical call in flight
	Cached    uint64                // answered by a kept result
	Skipped   uint64                // answered by a hook
	Asked     uint64                // ended in a question to the user
	Retries   uint64
	Abandoned uint64 // handlers that went on after the end of their call
	InFlight  int64  // have not ended yet; not among Calls
	Latency   []uint64
}

// Stats returns a snapshot of the counters. Calls that end meanwhile may be in
// some of the numbers already.
func (r *Runner) Stats() Stats {
	s := Stats{Tools: map[string]ToolStats{}, Bounds: latencyBounds[:]}
	for name, c := range r.metrics {
		t := ToolStats{
			Calls: c.calls.Load(), Joined: c.joined.Load(), Cached: c.cached.Load(), Skipped: c.skipped.Load(),
			Asked: c.asked.Load(), Retries: c.retries.Load(), Abandoned: c.abandoned.Load(), InFlight: c.inFlight.Load(),
			Errors: map[tools.Code]uint64{},
		}
		for i := range c.errors {
			if n := c.errors[i].Load(); n > 0 {
				t.Errors[codes[i]] = n
			}
		}
		for i := range c.latency {
			t.Latency = append(t.Latency, c.latency[i].Load())
		}
		s.Tools[name] = t
	}
	return s
}
