// Package tasks keeps the tasks of the Tasks extension (SEP-2663): calls that outlast the
// request which began them.
//
// It knows no requests: package server maps them to a [Store] and its tasks. view.go
// makes the client's view of a task, news.go notifies clients of tasks. It must not
// import mcp-go. Start at [Store].
package tasks

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolcrib/server/run"
	"toolcrib/server/wire"
	"toolcrib/tools"
)

// Limits of tasks.
const (
	// Kept is how long a result is kept if it is not fetched, and fetched how long it is
	// kept after it was first fetched.
	Kept    = time.Hour
	fetched = 5 * time.Minute
	// askLife is how long the user may take to answer; the runner takes no answer
	// that comes later.
	askLife = 10 * time.Minute
	// maxAll and MaxEach are how many tasks there are at once, and how many of
	// one principal; maxBytes is how much their results hold. Beyond that, calls
	// become no tasks.
	maxAll   = 1024
	MaxEach  = 256
	maxBytes = 64 << 20
	// maxMessage is the most bytes that a task says of itself.
	maxMessage = 500
	// soonest and latest bound the time between two looks at a task that are asked
	// for; in between it is a tenth of the age of the task.
	soonest, latest = 500 * time.Millisecond, 5 * time.Second
)

// Store holds the tasks of a server, and the calls that may become tasks. They are only
// in memory: calls and tasks end with their server.
type Store struct {
	meta map[string]any // describes the server in results

	mu    sync.Mutex
	byID  map[string]*Task
	all   int // with those that are calls yet
	each  map[string]int
	bytes int
}

// New makes a store without tasks; meta is the _meta of its results.
func New(meta map[string]any) *Store {
	return &Store{meta: meta, byID: map[string]*Task{}, each: map[string]int{}}
}

// Begin returns a task for a call, nil if there is no room for one. The caller must call
// Keep or Drop for it.
func (ts *Store) Begin(principal string, tool *tools.Tool) *Task {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.all >= maxAll || ts.each[principal] >= MaxEach || ts.bytes >= maxBytes {
		return nil
	}
	ts.all++
	ts.each[principal]++
	now := time.Now()
	return &Task{
		store: ts, principal: principal, tool: tool, created: now, updated: now, status: working,
		over: make(chan struct{}), keys: map[string]struct{}{},
	}
}

// Keep gives a task its running call and its id, under which it can be found from now on.
func (ts *Store) Keep(t *Task, running *run.Running) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t.running = running
	t.ID = "task_" + rand.Text()
	ts.byID[t.ID] = t
}

// Drop forgets a task.
func (ts *Store) Drop(t *Task) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.byID, t.ID)
	ts.all--
	ts.bytes -= t.size
	if ts.each[t.principal]--; ts.each[t.principal] == 0 {
		delete(ts.each, t.principal)
	}
}

// Find returns a task of a principal that may still call the task's tool, nil if there is
// none. A nil may allows every tool.
func (ts *Store) Find(id, principal string, may func(*tools.Tool) bool) *Task {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.byID[id]
	if t == nil || t.principal != principal || may != nil && !may(t.tool) {
		return nil
	}
	return t
}

// Status is the state of a task.
type Status string

const (
	working   Status = "working"
	waiting   Status = "input_required"
	completed Status = "completed"
	failed    Status = "failed"
	cancelled Status = "cancelled"
)

// Task is a call that outlasts, or may outlast, the request which began it.
type Task struct {
	store     *Store
	ID        string // "" before it is kept
	principal string
	tool      *tools.Tool
	created   time.Time
	running   *run.Running  // nil before it is kept
	over      chan struct{} // closed by stop
	size      int           // of the result; needs the store's mutex

	mu      sync.Mutex
	status  Status
	message string
	updated time.Time
	why     string // stop was called

	version  int             // counts status messages
	watchers []chan struct{} // hear that there is more

	pending map[string]pendingForm // by the key that the client knows
	keys    map[string]struct{}    // that were ever given out: none means two things
	answers map[string]tools.Answer
	ready   chan struct{} // closed when nothing is pending any more

	expires time.Time // once it has ended
	expiry  *time.Timer
	fetched bool
	result  json.RawMessage
	fault   *wire.Fault
}

// pendingForm is a form that the user has before him; id is that of the runner.
type pendingForm struct {
	ID      string
	request inputRequest
}

// inputRequest is a request of a task to its client.
type inputRequest struct {
	Method string `json:"method"`
	Params any    `json:"params"`
}

// Progress notes the progress of the call.
func (t *Task) Progress(e tools.ProgressEvent) {
	message := e.Message
	if message == "" && !math.IsInf(e.Done, 0) && !math.IsNaN(e.Done) {
		message = strconv.FormatFloat(e.Done, 'g', -1, 64)
		if e.Total > 0 && !math.IsInf(e.Total, 1) {
			message += " of " + strconv.FormatFloat(e.Total, 'g', -1, 64)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.status == working {
		t.says(message)
	}
}

// says takes over a task's message about itself. The caller holds mu.
func (t *Task) says(message string) {
	message = tools.Visible(message)
	if len(message) > maxMessage {
		message = message[:maxMessage-len("…")] + "…"
	}
	t.message, t.updated = strings.ToValidUTF8(message, "?"), time.Now()
	t.version++
	for _, wake := range t.watchers {
		select {
		case wake <- struct{}{}:
		default: // it is to look already
		}
	}
}

// asks puts forms before the user, and reports whether they were answered before the
// task is to stop.
func (t *Task) asks(ask *run.Ask, revision string) bool {
	ready := make(chan struct{})
	t.mu.Lock()
	t.pending, t.answers, t.ready = map[string]pendingForm{}, map[string]tools.Answer{}, ready
	for id, form := range ask.Forms {
		key := id
		for n := 2; t.given(key); n++ {
			key = fmt.Sprintf("%s_%d", id, n)
		}
		t.keys[key] = struct{}{}
		t.pending[key] = pendingForm{id, inputRequest{wire.MethodElicit, wire.Elicitation(form, revision)}}
	}
	t.status = waiting
	t.says("waiting for the user")
	t.mu.Unlock()

	late := time.NewTimer(askLife)
	defer late.Stop()
	select {
	case <-ready:
		return true
	case <-t.over:
	case <-late.C:
		t.Stop(fmt.Sprintf("the user has not answered within %s", askLife))
	}
	return false
}

func (t *Task) given(key string) bool {
	_, ok := t.keys[key]
	return ok
}

// Update takes the answers to pending forms and ignores all others.
func (t *Task) Update(responses wire.Members) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.status != waiting {
		return
	}
	for _, response := range responses {
		form, ok := t.pending[response.Key]
		if !ok {
			continue
		}
		if answer, ok := wire.ReadAnswer(response.Value); ok {
			t.answers[form.ID] = answer
			delete(t.pending, response.Key)
		}
	}
	if len(t.pending) == 0 {
		t.status = working
		t.says("")
		close(t.ready)
	}
}

func (t *Task) answered() map[string]tools.Answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.answers
}

// Stop ends a task that has not ended. The client is told why.
func (t *Task) Stop(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.why != "" || !t.expires.IsZero() {
		return
	}
	t.why = why
	close(t.over)
	t.running.Cancel()
}

func (t *Task) stopped() (why string, stopped bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.why, t.why != ""
}

// end records the outcome of a task, which is kept for a while.
func (t *Task) end(status Status, message string, result json.RawMessage, bad *wire.Fault) {
	t.store.mu.Lock()
	t.size = len(result)
	t.store.bytes += t.size
	t.store.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status, t.result, t.fault, t.pending = status, result, bad, nil
	t.says(message)
	t.expires = t.updated.Add(Kept)
	t.expiry = time.AfterFunc(Kept, func() { t.store.Drop(t) })
}

// Follow follows a task of a client to its end. encode returns the result of the call, or
// an error instead.
func (t *Task) Follow(client tools.Client, encode func(run.Outcome) (json.RawMessage, *wire.Fault)) {
	out := t.running.Wait()
	for out.Ask != nil && client.Forms && t.asks(out.Ask, client.Protocol) {
		if err := t.running.Answer(t.answered()); err != nil {
			out = run.Outcome{Err: tools.AsError(err)}
			break
		}
		out = t.running.Wait()
	}
	why, stopped := t.stopped()
	if stopped && (out.Ask != nil || out.Err != nil && out.Err.Code == tools.Cancelled) {
		t.end(cancelled, why, nil, nil)
		return
	}
	result, bad := encode(out)
	if bad != nil {
		t.end(failed, bad.Msg, nil, bad)
		return
	}
	t.end(completed, "", result, nil)
}
