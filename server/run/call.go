package run

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"

	"toolcrib/tools"
)

// Call is one call as a transport passes it to the Runner.
type Call struct {
	Tool    string // name or alias
	Args    json.RawMessage
	Session tools.SessionInfo
	// Read is a tool without a name, that of a [tools.Source]. If it is set, Tool is
	// ignored.
	Read *tools.Tool
	// Trace is the trace context of the call; both fields are "" if it has none.
	Trace Trace
	// Log receives the records of the call, all before Run returns; nil = nobody
	// listens.
	Log *slog.Logger
	// Progress receives the events of the call, one at a time, all before Run
	// returns; nil = nobody listens.
	Progress func(tools.ProgressEvent)
	// Reply is set on the later passes of a call that asked.
	Reply *Reply
}

// Ask has the forms that the user must answer before the call can go on.
type Ask struct {
	Forms map[string]tools.Form // by id
	State string                // sealed; comes back in the Reply
}

// Reply has the user's answers. Its call repeats the tool and the arguments of the call
// that asked.
type Reply struct {
	State   string
	Answers map[string]tools.Answer // by the id of the form
}

// Outcome is how a call ended: with a Result, an Err, or an Ask.
type Outcome struct {
	Result tools.Result
	Err    *tools.Error
	Ask    *Ask
}

// Running is a call that was started. Its methods may be called by several
// goroutines. Its events are those that Call.Progress receives.
type Running struct {
	r      *Runner
	ctx    context.Context // of the whole call, over all of its passes
	cancel context.CancelFunc

	mu   sync.Mutex
	call Call
	turn *turn
}

// turn is one pass of a Running; out is valid once done is closed.
type turn struct {
	done chan struct{}
	out  Outcome
}

// Start begins a call and returns at once. The call ends early with ctx. A call
// that asks its user holds a little memory until it is answered or cancelled.
func (r *Runner) Start(ctx context.Context, call Call) *Running {
	ctx, cancel := context.WithCancel(ctx)
	run := &Running{r: r, ctx: ctx, cancel: cancel, call: call}
	run.next()
	return run
}

// next starts the next pass. The caller holds mu, or is the only user of run so far.
func (run *Running) next() {
	t, p := &turn{done: make(chan struct{})}, &pass{r: run.r, call: run.call}
	run.turn = t
	run.r.spawn(func() {
		t.out = p.carry(run.ctx)
		if t.out.Ask == nil {
			run.cancel()
		}
		close(t.done)
	})
}

func (run *Running) current() *turn {
	run.mu.Lock()
	defer run.mu.Unlock()
	return run.turn
}

// Done returns a channel that is closed when the call has ended or asks its user.
func (run *Running) Done() <-chan struct{} { return run.current().done }

// Wait waits until the call has ended or asks its user, and returns the outcome.
func (run *Running) Wait() Outcome {
	t := run.current()
	<-t.done
	return t.out
}

// Answer continues a call that asks its user; the keys of the answers are the ids of the
// forms. If the call does not ask at the moment, the error is a conflict.
func (run *Running) Answer(answers map[string]tools.Answer) error {
	run.mu.Lock()
	defer run.mu.Unlock()
	select {
	case <-run.turn.done:
	default:
		return tools.Errorf(tools.Conflict, "the call is still running")
	}
	ask := run.turn.out.Ask
	if ask == nil {
		return tools.Errorf(tools.Conflict, "the call has ended")
	}
	run.call.Reply = &Reply{State: ask.State, Answers: answers}
	run.next()
	return nil
}

// Cancel ends the call; Wait returns within 100 ms, even if the tool does not.
func (run *Running) Cancel() { run.cancel() }
