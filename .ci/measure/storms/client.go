package storms

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"

	"toolcrib/.ci/measure/harness"
	"toolcrib/.ci/measure/rawhttp"
)

// bulkBody is the text that a call of bulk sends.
var bulkBody = bytes.Repeat([]byte("sixteen letters "), 100_000/16)

// job is what a client draws for a call.
type job struct {
	errand errand
	ms     int   // of a nap
	events uint8 // of progress that it asks for; 0 = it does not ask
}

// appendCall appends the request of call n.
func (l *ledger) appendCall(dst []byte, era rawhttp.Era, n int, j job) []byte {
	dst = strconv.AppendInt(append(dst, `{"jsonrpc":"2.0","id":`...), int64(n+1), 10)
	dst = append(append(dst, `,"method":"tools/call","params":{"name":"`...), errandTools[j.errand]...)
	dst = append(append(dst, `","arguments":{"nonce":"`...), l.nonce(n)...)
	dst = append(dst, '"')
	switch j.errand {
	case errandNap:
		dst = strconv.AppendInt(append(dst, `,"ms":`...), int64(j.ms), 10)
	case errandBulk:
		dst = append(append(append(dst, `,"body":"`...), bulkBody...), '"')
	}
	dst = append(dst, '}')
	if era.Modern || j.events > 0 {
		dst = append(dst, `,"_meta":{`...)
		if era.Modern {
			dst = append(dst, rawhttp.ModernMeta...)
		}
		if j.events > 0 {
			if era.Modern {
				dst = append(dst, ',')
			}
			dst = strconv.AppendInt(append(dst, `"progressToken":`...), int64(n+1), 10)
		}
		dst = append(dst, '}')
	}
	return append(dst, `}}`...)
}

func appendCancel(dst []byte, n int) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`...)
	return append(strconv.AppendInt(dst, int64(n+1), 10), `,"reason":"storm"}}`...)
}

// looked reads the answer to a call of holdings.
func looked(msg []byte) (harness.Holdings, error) {
	_, text, ok := bytes.Cut(rawhttp.Field(msg, "result"), []byte(`"text":"`))
	if !ok {
		return harness.Holdings{}, fmt.Errorf("holdings: %s", msg)
	}
	return harness.ParseHoldings(string(text))
}

// draw draws a call: mostly small ones, a few with a big body.
func draw(rnd *rand.Rand) job {
	switch p := rnd.IntN(100); {
	case p < 50:
		return job{errand: errandSay}
	case p < 70:
		return job{errand: errandSteps, events: stepsOf}
	case p < 97:
		return job{errand: errandNap, ms: 1 + rnd.IntN(20)}
	default:
		return job{errand: errandBulk}
	}
}

// ended compares what a server holds after the storm with what it held before.
func ended(before, after harness.Holdings) error {
	if after.Goroutines > before.Goroutines || after.Descriptors > before.Descriptors || after.Running != 0 {
		return fmt.Errorf("before: %s; after: %s", before.Text(), after.Text())
	}
	return nil
}
