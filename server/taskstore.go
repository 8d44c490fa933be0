package server

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
	"toolcrib/tools"
)

const (
	// taskKept is how long a result is kept that nobody fetches, and taskFetched how
	// long it stays after it was first fetched.
	taskKept    = time.Hour
	taskFetched = 5 * time.Minute
	// askLife is how long the user may take to answer; the runner takes no answer
	// that comes later.
	askLife = 10 * time.Minute
	// maxTasks and maxTasksEach are how many tasks there are at once, and how many of
	// one principal; maxTaskBytes is how much their results hold. Beyond that, calls
	// become no tasks.
	maxTasks     = 1024
	maxTasksEach = 256
	maxTaskBytes = 64 << 20
	// maxTaskMessage is the most bytes that a task says of itself.
	maxTaskMessage = 500
	// soonest and latest bound the time between two looks at a task that are asked
	// for; in between it is a tenth of the age of the task.
	soonest, latest = 500 * time.Millisecond, 5 * time.Second
)

// tasks are the tasks of a server, and the calls that may become one. They are in
// memory: a call ends with its server, and so do they.
type tasks struct {
	meta map[string]any // what a result says of the server

	mu    sync.Mutex
	byID  map[string]*task
	all   int // with those that are calls yet
	each  map[string]int
	bytes int
}

// newTasks makes a store without tasks; meta is what a result says of the server.
func newTasks(meta map[string]any) *tasks {
	return &tasks{meta: meta, byID: map[string]*task{}, each: map[string]int{}}
}

// begin returns a task for a call, nil if there is no room for one. It is to be kept
// or dropped.
func (ts *tasks) begin(principal string, tool *tools.Tool) *task {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.all >= maxTasks || ts.each[principal] >= maxTasksEach || ts.bytes >= maxTaskBytes {
		return nil
	}
	ts.all++
	ts.each[principal]++
	now := time.Now()
	return &task{
		store: ts, principal: principal, tool: tool, created: now, updated: now, status: taskWorking,
		over: make(chan struct{}), keys: map[string]struct{}{},
	}
}

// keep gives a task its running call and its id, under which it can be found from now on.
func (ts *tasks) keep(t *task, running *run.Running) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t.running = running
	t.id = "task_" + rand.Text()
	ts.byID[t.id] = t
}

// drop forgets a task.
func (ts *tasks) drop(t *task) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.byID, t.id)
	ts.all--
	ts.bytes -= t.size
	if ts.each[t.principal]--; ts.each[t.principal] == 0 {
		delete(ts.each, t.principal)
	}
}

// find returns a task of a principal who may still call its tool; a nil may lets every
// tool be called. nil = there is none.
func (ts *tasks) find(id, principal string, may func(*tools.Tool) bool) *task {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.byID[id]
	if t == nil || t.principal != principal || may != nil && !may(t.tool) {
		return nil
	}
	return t
}

type taskStatus string

const (
	taskWorking   taskStatus = "working"
	taskWaiting   taskStatus = "input_required"
	taskCompleted taskStatus = "completed"
	taskFailed    taskStatus = "failed"
	taskCancelled taskStatus = "cancelled"
)

// task is a call that outlasts the request which began it, or may come to.
type task struct {
	store     *tasks
	id        string // "" before it is kept
	principal string
	tool      *tools.Tool
	created   time.Time
	running   *run.Running  // nil before it is kept
	over      chan struct{} // closed by stop
	size      int           // of the result; the store guards it

	mu      sync.Mutex
	status  taskStatus
	message string
	updated time.Time
	why     string // stop was called

	version  int             // counts what is said
	watchers []chan struct{} // hear that there is more

	pending map[string]pendingForm // by the key that the client knows
	keys    map[string]struct{}    // that were ever given out: none means two things
	answers map[string]tools.Answer
	ready   chan struct{} // closed when nothing is pending any more

	expires time.Time // once it has ended
	expiry  *time.Timer
	fetched bool
	result  json.RawMessage
	fault   *fault
}

// pendingForm is a form that the user has before him; id is that of the runner.
type pendingForm struct {
	id      string
	request inputRequest
}

// inputRequest is what a client is to do for a task.
type inputRequest struct {
	Method string `json:"method"`
	Params any    `json:"params"`
}

// progress notes how far the call has come.
func (t *task) progress(e tools.ProgressEvent) {
	message := e.Message
	if message == "" && !math.IsInf(e.Done, 0) && !math.IsNaN(e.Done) {
		message = strconv.FormatFloat(e.Done, 'g', -1, 64)
		if e.Total > 0 && !math.IsInf(e.Total, 1) {
			message += " of " + strconv.FormatFloat(e.Total, 'g', -1, 64)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.status == taskWorking {
		t.says(message)
	}
}

// says takes over what a task says of itself. The caller holds mu.
func (t *task) says(message string) {
	message = tools.Visible(message)
	if len(message) > maxTaskMessage {
		message = message[:maxTaskMessage-len("…")] + "…"
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
func (t *task) asks(ask *run.Ask, revision string) bool {
	ready := make(chan struct{})
	t.mu.Lock()
	t.pending, t.answers, t.ready = map[string]pendingForm{}, map[string]tools.Answer{}, ready
	for id, form := range ask.Forms {
		key := id
		for n := 2; t.given(key); n++ {
			key = fmt.Sprintf("%s_%d", id, n)
		}
		t.keys[key] = struct{}{}
		t.pending[key] = pendingForm{id, inputRequest{methodElicit, elicitation(form, revision)}}
	}
	t.status = taskWaiting
	t.says("waiting for the user")
	t.mu.Unlock()

	late := time.NewTimer(askLife)
	defer late.Stop()
	select {
	case <-ready:
		return true
	case <-t.over:
	case <-late.C:
		t.stop(fmt.Sprintf("the user has not answered within %s", askLife))
	}
	return false
}

func (t *task) given(key string) bool {
	_, ok := t.keys[key]
	return ok
}

// update takes the answers to forms that are pending; all others are of no
// consequence.
func (t *task) update(responses members) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.status != taskWaiting {
		return
	}
	for _, response := range responses {
		form, ok := t.pending[response.key]
		if !ok {
			continue
		}
		if answer, ok := readAnswer(response.value); ok {
			t.answers[form.id] = answer
			delete(t.pending, response.key)
		}
	}
	if len(t.pending) == 0 {
		t.status = taskWorking
		t.says("")
		close(t.ready)
	}
}

func (t *task) answered() map[string]tools.Answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.answers
}

// stop ends a task that has not ended. why is told.
func (t *task) stop(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.why != "" || !t.expires.IsZero() {
		return
	}
	t.why = why
	close(t.over)
	t.running.Cancel()
}

func (t *task) stopped() (why string, stopped bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.why, t.why != ""
}

// end notes what has become of a task. It is kept for a while.
func (t *task) end(status taskStatus, message string, result json.RawMessage, bad *fault) {
	t.store.mu.Lock()
	t.size = len(result)
	t.store.bytes += t.size
	t.store.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status, t.result, t.fault, t.pending = status, result, bad, nil
	t.says(message)
	t.expires = t.updated.Add(taskKept)
	t.expiry = time.AfterFunc(taskKept, func() { t.store.drop(t) })
}

// follow sees a task of a client to its end. encode returns the result of the call, or the
// error in its place.
func (t *task) follow(client tools.Client, encode func(run.Outcome) (json.RawMessage, *fault)) {
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
		t.end(taskCancelled, why, nil, nil)
		return
	}
	result, bad := encode(out)
	if bad != nil {
		t.end(taskFailed, bad.msg, nil, bad)
		return
	}
	t.end(taskCompleted, "", result, nil)
}
