// Package notify turns events of a running call into the params of notifications: its
// progress in progress.go, the records of its log in log.go.
//
// The maker of a [Reporter] or a logger sends them; start there. The package must not
// import mcp-go.
package notify

import (
	"encoding/json"
	"math"
	"sync"
	"time"

	"toolcrib/tools"
)

// ProgressPerSecond is the most progress notifications of one call in a second; of
// further events only the newest is kept.
const ProgressPerSecond = 50

// Reporter sends the progress of one request, in order, before its answer.
// Values strictly increase, as the protocol wants: an event with news but
// without an increase is nudged up, one without news is dropped. Events over
// the rate wait: the newest goes out when the second is over or the call ends,
// so the last one is never lost.
type Reporter struct {
	token json.RawMessage
	send  func(params any)
	limit int // a second; 0 = no limit

	mu     sync.Mutex
	sent   int // in the current second
	since  time.Time
	last   progressParams
	wrote  time.Time // last
	held   *progressParams
	timer  *time.Timer
	closed bool
}

type progressParams struct {
	Token    json.RawMessage `json:"progressToken"`
	Progress float64         `json:"progress"`
	Total    float64         `json:"total,omitempty"`
	Message  string          `json:"message,omitempty"`
}

// NewReporter makes a reporter for a progress token; send sends the params of one
// notification, and limit is how many go out in a second, 0 for all.
func NewReporter(token json.RawMessage, limit int, send func(params any)) *Reporter {
	return &Reporter{token: token, send: send, limit: limit, last: progressParams{Progress: math.Inf(-1)}}
}

// Report takes an event; it returns when the event is written or held.
func (r *Reporter) Report(e tools.ProgressEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || !finite(e.Done) || !finite(e.Total) {
		return
	}
	p := progressParams{Token: r.token, Progress: e.Done, Total: e.Total, Message: tools.Visible(e.Message)}
	now := time.Now()
	if now.Sub(r.since) >= time.Second {
		r.since, r.sent = now, 0
	}
	if r.limit == 0 || r.sent < r.limit {
		r.write(p)
		return
	}
	r.held = &p
	if r.timer == nil {
		r.timer = time.AfterFunc(time.Second-now.Sub(r.since), r.flush)
	}
}

// flush sends the event that is held.
func (r *Reporter) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.release()
}

// Close sends the event that is held and ends the reporter. It returns when the
// last event was written, zero if there was none.
func (r *Reporter) Close() (last time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.release()
	r.closed = true
	return r.wrote
}

func (r *Reporter) release() {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	if r.held != nil && !r.closed {
		r.write(*r.held)
	}
}

func (r *Reporter) write(p progressParams) {
	r.held = nil
	if p.Progress <= r.last.Progress {
		if p.Message == r.last.Message && p.Total == r.last.Total {
			return
		}
		// A thousandth is nothing to a reader; where it is less than the
		// precision of a big value, the next value there is.
		p.Progress = max(r.last.Progress+1e-3, math.Nextafter(r.last.Progress, math.Inf(1)))
	}
	r.last, r.wrote = p, time.Now()
	r.sent++
	r.send(p)
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
