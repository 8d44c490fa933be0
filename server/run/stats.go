package run

import (
	"time"

	"toolcrib/tools"
)

// bytesPerToken is how many bytes of text a token has, about.
const bytesPerToken = 4

// Stats is a snapshot of the counters.
type Stats struct {
	// Tools has the counters by the name of the tool; [UnknownTool] are calls of
	// names that no tool has, [SourceReads] those of Call.Read.
	Tools map[string]ToolStats
	// Bounds are the upper bounds of the buckets of ToolStats.Latency; the last
	// bucket has none.
	Bounds []time.Duration
}

// ToolStats counts the calls of one tool that have ended.
type ToolStats struct {
	Calls     uint64                `json:"calls"`
	Errors    map[tools.Code]uint64 `json:"errors,omitempty"`  // those that occurred
	Joined    uint64                `json:"joined,omitempty"`  // answered by an identical call in flight
	Cached    uint64                `json:"cached,omitempty"`  // answered by a kept result
	Skipped   uint64                `json:"skipped,omitempty"` // answered by a hook
	Asked     uint64                `json:"asked,omitempty"`   // ended in a question to the user
	Retries   uint64                `json:"retries,omitempty"`
	Abandoned uint64                `json:"abandoned,omitempty"` // handlers that went on after the end of their call
	InFlight  int64                 `json:"-"`                   // have not ended yet; not among Calls

	In         uint64 `json:"bytes_in"`               // bytes of the arguments as they were sent
	Text       uint64 `json:"bytes_text"`             // bytes of the text of results and errors
	Structured uint64 `json:"bytes_structured"`       // bytes of structured results
	Binary     uint64 `json:"bytes_binary,omitempty"` // bytes of images, sound and files in results

	Took    time.Duration `json:"took_ns"` // of all calls together
	Latency []uint64      `json:"latency"`
}

// Failed returns how many calls ended in an error.
func (t ToolStats) Failed() uint64 {
	var n uint64
	for _, count := range t.Errors {
		n += count
	}
	return n
}

// Answered returns how many calls ended in a result of the tool.
func (t ToolStats) Answered() uint64 {
	return t.Calls - min(t.Calls, t.Failed()+t.Asked+t.Skipped)
}

// Tokens returns about how many tokens a model has written as arguments and read
// as results: a quarter of the bytes, pictures and sound aside.
func (t ToolStats) Tokens() (in, out uint64) {
	return t.In / bytesPerToken, (t.Text + t.Structured) / bytesPerToken
}
