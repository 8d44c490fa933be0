package storms

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolcrib/.ci/measure/harness"
	"toolcrib/.ci/measure/rawhttp"
)

// errand is a kind of call of the storm.
type errand uint8

const (
	errandSay errand = iota
	errandSteps
	errandNap
	errandBulk
)

var errandTools = [...]string{errandSay: "say", errandSteps: "steps", errandNap: "nap", errandBulk: "bulk"}

// entry is what a client knows of one of its calls.
type entry struct {
	errand   errand
	wants    uint8 // events of progress before the answer
	events   uint8 // so far
	sent     bool
	answered bool
	cut      bool // its connection or session was broken off: it may be answered or not
	// cancelled is set when the cancellation is on its way, before when the call
	// numbered below it were sent. With settled the server has taken it: nothing
	// that it writes from now on may belong to the call.
	cancelled bool
	before    int32
	settled   bool
}

// ledger is one client's record of its calls; violations of the rules go into
// the tally.
type ledger struct {
	client int
	tally  *stormTally

	mu      sync.Mutex
	entries []entry
	open    int // calls that still must be answered
	settled *sync.Cond
}

func newLedger(client, calls int, tally *stormTally) *ledger {
	l := &ledger{client: client, tally: tally, entries: make([]entry, calls)}
	l.settled = sync.NewCond(&l.mu)
	return l
}

// stormTally counts what became of the calls of all clients.
type stormTally struct {
	mu                                 sync.Mutex
	calls, cancelled, cut, disconnects int
	onTheWay                           int // answers to cancelled calls that were on their way
	lost, doubled, crossed, late       int
	disordered                         int // events of progress that are missing, too many, or after the answer
	refused                            int // calls that ended with an error of the server
	held                               int // servers that hold more than before
	other                              int // anything else that is wrong
	samples                            []string
}

// maxSamples is how many faults of a kind are shown with the bytes that show
// them.
const maxSamples = 3

// fault counts violations and keeps the first few with their bytes.
func (t *stormTally) fault(count *int, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*count++
	if *count <= maxSamples {
		t.samples = append(t.samples, harness.Excerpt(strings.TrimSpace(fmt.Sprintf(format, args...)), 1500))
	}
}

func (t *stormTally) count(n *int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*n++
}

// verdict is nil if no rule was broken.
func (t *stormTally) verdict() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost+t.doubled+t.crossed+t.late+t.disordered+t.refused+t.held+t.other == 0 {
		return nil
	}
	return fmt.Errorf("%d lost, %d doubled, %d crossed, %d after a cancel, %d disordered, %d refused, %d servers that hold more than before, %d otherwise wrong",
		t.lost, t.doubled, t.crossed, t.late, t.disordered, t.refused, t.held, t.other)
}

// nonce must be in the answer to a call, and in that to no other.
func (l *ledger) nonce(n int) []byte {
	b := strconv.AppendInt(nil, int64(l.client), 10)
	return strconv.AppendInt(append(b, '-'), int64(n), 10)
}

// send enters a call before it is sent.
func (l *ledger) send(n int, e errand, wants uint8) {
	l.tally.count(&l.tally.calls)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries[n] = entry{errand: e, wants: wants, sent: true}
	l.open++
}

// cancel notes that a call is about to be cancelled, after the calls below
// before were sent. It reports whether the call was still open.
func (l *ledger) cancel(n, before int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := &l.entries[n]
	if !e.sent || e.answered || e.cancelled || e.cut {
		return false
	}
	l.close()
	e.cancelled, e.before = true, int32(before)
	l.tally.count(&l.tally.cancelled)
	return true
}

// cutOff notes that nobody may be there to answer a call.
func (l *ledger) cutOff(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := &l.entries[n]
	if !e.sent || e.answered || e.cut {
		return
	}
	if !e.cancelled {
		l.close()
	}
	e.cut = true
	l.tally.count(&l.tally.cut)
}

// close takes a call from those that must be answered. The caller holds mu.
func (l *ledger) close() {
	l.open--
	l.settled.Broadcast()
}

// wait waits until at most open calls must still be answered, or gives up.
func (l *ledger) wait(open int, limit time.Duration) bool {
	end := time.Now().Add(limit)
	timer := time.AfterFunc(limit, l.settled.Broadcast)
	defer timer.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.open > open {
		if !time.Now().Before(end) {
			return false
		}
		l.settled.Wait()
	}
	return true
}

// lose counts the calls below n that were not answered and should have been.
func (l *ledger) lose(n int, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.entries[:n] {
		e := &l.entries[i]
		if e.sent && !e.answered && !e.cancelled && !e.cut {
			l.tally.fault(&l.tally.lost, "client %d, call %d (%s): no answer: %s", l.client, i, errandTools[e.errand], why)
			e.cut = true
			l.close()
		}
	}
}

// settle says that the server has taken the cancellation of a call.
func (l *ledger) settle(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries[n].settled = true
}

// message takes a message of the server and returns the number of the call that
// it answers, -1 if it answers none of them. only is the one call whose stream
// it came on, -1 where all calls share one.
func (l *ledger) message(msg []byte, only int) int {
	id, method := rawhttp.Field(msg, "id"), rawhttp.Field(msg, "method")
	switch {
	case method != nil && id == nil && string(method) == `"notifications/progress"`:
		l.progress(msg, only)
		return -1
	case method != nil || id == nil:
		l.tally.fault(&l.tally.other, "client %d: a message of no call: %s", l.client, msg)
		return -1
	}
	n, err := strconv.Atoi(string(id))
	if err != nil || n < 1 || n > len(l.entries) {
		return -1 // of the client's own bookkeeping: a handshake, a look at the server
	}
	n--
	l.mu.Lock()
	defer l.mu.Unlock()
	e := &l.entries[n]
	if only >= 0 && n != only || !e.sent {
		l.tally.fault(&l.tally.crossed, "client %d: on the stream of call %d: %s", l.client, only, msg)
		return -1
	}
	if e.answered {
		l.tally.fault(&l.tally.doubled, "client %d, call %d: answered again: %s", l.client, n, msg)
		return n
	}
	e.answered = true
	nonce, ok := answered(msg)
	switch {
	case e.settled:
		l.tally.fault(&l.tally.late, "client %d, call %d (%s): answered after its cancellation was taken: %s", l.client, n, errandTools[e.errand], msg)
	case ok && !bytes.Equal(nonce, l.nonce(n)):
		l.tally.fault(&l.tally.crossed, "client %d, call %d: the answer is not its own: %s", l.client, n, msg)
	case !ok && e.cancelled && !e.cut:
		l.tally.fault(&l.tally.late, "client %d, call %d (%s): cancelled, and answered with it: %s", l.client, n, errandTools[e.errand], msg)
	case !ok && e.cut: // it says that it was cut off
	case !ok:
		l.tally.fault(&l.tally.refused, "client %d, call %d (%s): %s", l.client, n, errandTools[e.errand], msg)
	case e.events != e.wants:
		l.tally.fault(&l.tally.disordered, "client %d, call %d: answered after %d of %d events: %s", l.client, n, e.events, e.wants, msg)
	case e.cancelled:
		l.tally.count(&l.tally.onTheWay)
	}
	if !e.cancelled && !e.cut {
		l.close()
	}
	return n
}

// taken says that the answer to call n shows which cancellations the server has
// taken, where it reads messages in order: those sent before call n.
func (l *ledger) taken(n int, pending []int) []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := pending[:0]
	for _, p := range pending {
		if e := &l.entries[p]; int(e.before) <= n {
			e.settled = true
		} else {
			rest = append(rest, p)
		}
	}
	return rest
}

// progress takes an event: it belongs to a call by its token.
func (l *ledger) progress(msg []byte, only int) {
	params := rawhttp.Field(msg, "params")
	n, err := strconv.Atoi(string(rawhttp.Field(params, "progressToken")))
	n--
	if err != nil || n < 0 || n >= len(l.entries) || only >= 0 && n != only {
		l.tally.fault(&l.tally.crossed, "client %d: on the stream of call %d: %s", l.client, only, msg)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := &l.entries[n]
	value, err := strconv.Atoi(string(rawhttp.Field(params, "progress")))
	switch {
	case e.settled:
		l.tally.fault(&l.tally.late, "client %d, call %d: an event after its cancellation was taken: %s", l.client, n, msg)
	case err != nil || e.answered || e.events >= e.wants || value != int(e.events)+1:
		l.tally.fault(&l.tally.disordered, "client %d, call %d: after %d events, answered %t: %s", l.client, n, e.events, e.answered, msg)
	}
	e.events++
}

// answered returns the nonce of a result, and false if the message is an error.
func answered(msg []byte) ([]byte, bool) {
	_, rest, ok := bytes.Cut(rawhttp.Field(msg, "result"), []byte(`"text":"[`))
	if !ok {
		return nil, false
	}
	nonce, _, ok := bytes.Cut(rest, []byte("]"))
	return nonce, ok
}
