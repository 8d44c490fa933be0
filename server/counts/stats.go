package counts

import (
	"time"

	"toolcrib/tools"
)

// bytesPerToken is the approximate number of bytes of text per token.
const bytesPerToken = 4

// Stats is a snapshot of the counters.
type Stats struct {
	// Tools has the counters by the name of the tool; [UnknownTool] counts calls of
	// unknown names, [SourceReads] reads of resources.
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

	Took    time.Duration `json:"took_ns"`           // of all calls together
	Latency []uint64      `json:"latency,omitempty"` // calls by bucket, see Stats.Bounds
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

// Tokens returns the approximate number of tokens that a model has written as arguments
// and read as results: a quarter of the bytes, without pictures and sound.
func (t ToolStats) Tokens() (in, out uint64) {
	return t.In / bytesPerToken, (t.Text + t.Structured) / bytesPerToken
}

// Plus returns the sum of both counts. InFlight is that of t.
func (t ToolStats) Plus(other ToolStats) ToolStats {
	return t.combine(other, func(a, b uint64) uint64 { return a + b })
}

// Minus returns the counts since an earlier snapshot of the same counters.
func (t ToolStats) Minus(earlier ToolStats) ToolStats {
	return t.combine(earlier, func(a, b uint64) uint64 { return a - min(a, b) })
}

func (t ToolStats) combine(other ToolStats, f func(a, b uint64) uint64) ToolStats {
	for _, pair := range []struct {
		to   *uint64
		with uint64
	}{
		{&t.Calls, other.Calls},
		{&t.Joined, other.Joined},
		{&t.Cached, other.Cached},
		{&t.Skipped, other.Skipped},
		{&t.Asked, other.Asked},
		{&t.Retries, other.Retries},
		{&t.Abandoned, other.Abandoned},
		{&t.In, other.In},
		{&t.Text, other.Text},
		{&t.Structured, other.Structured},
		{&t.Binary, other.Binary},
	} {
		*pair.to = f(*pair.to, pair.with)
	}
	t.Took = time.Duration(f(uint64(t.Took), uint64(other.Took)))
	errors := map[tools.Code]uint64{}
	for _, code := range codes {
		if n := f(t.Errors[code], other.Errors[code]); n > 0 {
			errors[code] = n
		}
	}
	t.Errors = errors
	latency := make([]uint64, max(len(t.Latency), len(other.Latency)))
	for i := range latency {
		latency[i] = f(bucket(t.Latency, i), bucket(other.Latency, i))
	}
	t.Latency = latency
	return t
}

func bucket(counts []uint64, i int) uint64 {
	if i < len(counts) {
		return counts[i]
	}
	return 0
}

// Quantile returns the approximate time within which the fraction q of the calls ended,
// taken from the buckets, with an error of up to about half of it. It is 0 if there were
// no calls. Calls in the last bucket count as its lower bound.
func (t ToolStats) Quantile(q float64) time.Duration {
	var total uint64
	for _, n := range t.Latency {
		total += n
	}
	rank, below := q*float64(total), uint64(0)
	for i, n := range t.Latency {
		if n == 0 || float64(below+n) < rank {
			below += n
			continue
		}
		low := time.Duration(0)
		if i > 0 {
			low = latencyBounds[i-1]
		}
		if i == len(latencyBounds) {
			return low
		}
		return low + time.Duration((rank-float64(below))/float64(n)*float64(latencyBounds[i]-low))
	}
	return 0
}
