package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/model"
	"toolcrib/tools/internal/programs/changed"
	"toolcrib/tools/internal/programs/sandbox"
)

const (
	// mostParallel is how many calls are carried out at once.
	mostParallel = 8
	// goodbye is how long a program may take to end after it has said that it is done.
	goodbye = 5 * time.Second
)

// Run is the work of an executor on a run.
type Run struct {
	Name     string
	Executor Executor
	Sandbox  *sandbox.Engine
	// Writes reports whether what the program does by itself may change the workspace.
	Writes bool
	// Loop has the run: what the agent may do, its limits, and where its records go. Its Model
	// and Window mean nothing here.
	Loop *loop.Loop
}

// run is a run at work. One goroutine has it; the others send it functions.
type run struct {
	Run
	do      chan func()
	program program
	own     *changed.Watch // of what the program changes by itself; nil = nothing
	reader  reader
	records []loop.Record
	journal error // that of the journal ends the run

	round    *round
	rounds   int // that have ended
	exact    bool
	base     loop.Spent // by the records before, and by agents that were called
	reported model.Use  // by the records of this run
	guessed  model.Use  // of rounds without a report
	from     string

	work    context.Context // of calls; ends at the limit of time
	stop    context.CancelCauseFunc
	all     sync.WaitGroup
	turns   chan struct{}
	writing sync.RWMutex
	calls   int

	final    string // the limit that is reached
	finalIn  int    // the round in which it was reached
	hinted   string
	ending   *ending
	output   json.RawMessage // of submit
	asked    *model.Call     // the user, and the run waits for the answer
	garbage  int             // lines that are none of its language
	first    string          // of them
	deadline *time.Timer
	over     bool // the program is to be ended
	word     bool // it said something after the limit

	mu     sync.Mutex
	missed []func() // sent after the end of the program
}

// Do runs the program on the run of the journal until it ends. The error is that of the journal
// or of the start: nothing has begun then.
func (w Run) Do(ctx context.Context) (loop.Outcome, error) {
	records, err := w.Loop.Journal.Records(ctx)
	if err != nil {
		return loop.Outcome{}, err
	}
	if n := len(records); n > 0 && records[n-1].Kind == loop.End {
		return loop.OutcomeOf(records), nil
	}
	taken, err := w.Loop.Takeover(ctx, records)
	if err != nil {
		return loop.Outcome{}, err
	}
	r := &run{
		Run: w, records: records, base: loop.Sum(records), from: w.Name, do: make(chan func(), 64), turns: make(chan struct{}, mostParallel),
		reader: kinds[w.Executor.Kind].reader(),
	}
	if taken.Use != nil {
		r.base.Use, r.base.Cost = r.base.Use.Add(*taken.Use), r.base.Cost+taken.Cost
	}
	r.work, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	begin := time.Now()
	offered := r.tools()
	b := brief{system: w.Loop.System, task: prompt(records), cost: w.left(r.base), thinking: w.Loop.Thinking}
	for _, t := range offered {
		b.tools = append(b.tools, t.Name)
	}
	job := w.Executor.rest(kinds[w.Executor.Kind].job(&w.Executor, b))
	s := &server{tools: offered, write: r.program.write, call: func(c *call) { r.later(func() { r.called(ctx, c) }) }}
	r.program.tools = s.take
	r.program.agent = func(line []byte) {
		line = bytes.Clone(line)
		r.later(func() { r.line(ctx, line) })
	}
	if w.Writes {
		r.own = changed.Begin(ctx, tools.Session(ctx).Workspace, w.Sandbox.Recorded(ctx))
	}
	if err := r.program.start(ctx, w.Sandbox, &w.Executor, job, !w.Writes); err != nil {
		return loop.Outcome{}, err
	}
	if taken.Kind == loop.Taken {
		r.write(ctx, taken)
	}
	r.deadline = time.NewTimer(time.Hour * 24)
	if limit := w.Loop.Limits.Time; limit > 0 {
		r.deadline.Reset(max(limit-r.base.Time-time.Since(begin), 0))
	}
	defer r.deadline.Stop()
	r.follow(ctx)
	r.finish(ctx)
	return loop.OutcomeOf(r.records), r.journal
}

// left is how much more may be spent; 0 = no limit.
func (w Run) left(spent loop.Spent) float64 {
	if w.Loop.Limits.Cost == 0 {
		return 0
	}
	return max(w.Loop.Limits.Cost-spent.Cost, 1e-6)
}

// tools returns what the program may call.
func (r *run) tools() (list []model.Tool) {
	for _, t := range r.Loop.Tools {
		list = append(list, t.Tool)
	}
	if r.Loop.Output != nil {
		list = append(list, r.Loop.Submit())
	}
	return list
}

// later has the run do something.
func (r *run) later(f func()) {
	select {
	case r.do <- f:
	case <-r.program.closed:
		r.mu.Lock()
		defer r.mu.Unlock()
		r.missed = append(r.missed, f)
	}
}

// follow does what is sent until the program has ended or the run is over.
func (r *run) follow(ctx context.Context) {
	for !r.over && r.journal == nil {
		select {
		case <-ctx.Done():
			return
		case f := <-r.do:
			f()
		case <-r.deadline.C:
			r.late()
		case <-r.program.closed:
			return
		}
	}
}

// end ends the program and its calls, and takes what they said last.
func (r *run) end() {
	r.stop(errors.New("the agent has ended"))
	r.program.Kill()
	for open := true; open; {
		select {
		case f := <-r.do:
			f()
		case <-r.program.closed:
			open = false
		}
	}
	r.all.Wait()
	for {
		select {
		case f := <-r.do:
			f()
			continue
		default:
		}
		break
	}
	for _, f := range r.missed {
		f()
	}
}

// late is called when time is up: first that of the run, then that for its last words.
func (r *run) late() {
	if r.ending != nil || r.final != "" {
		r.over = true
		return
	}
	r.limit(r.Loop.Limits.Time.String())
	r.stop(fmt.Errorf("the run's time is up"))
	r.deadline.Reset(loop.LastGrace)
}

func (r *run) limit(what string) { r.final, r.finalIn = what, r.rounds }

// write keeps a record.
func (r *run) write(ctx context.Context, record loop.Record) {
	if r.journal != nil {
		return
	}
	record.At = r.Loop.Now()
	if r.journal = r.Loop.Journal.Append(context.WithoutCancel(ctx), record); r.journal != nil {
		return
	}
	r.records = append(r.records, record)
	if r.Loop.Wrote != nil {
		r.Loop.Wrote(len(r.records)-1, record)
	}
}

// line reads a line of the program.
func (r *run) line(ctx context.Context, line []byte) {
	events, err := r.reader.read(line)
	if err != nil {
		if r.garbage++; r.garbage == 1 {
			r.first = shortened(string(bytes.ToValidUTF8(line, nil)))
		}
		return
	}
	for _, e := range events {
		r.event(ctx, e)
	}
}

func (r *run) event(ctx context.Context, e event) {
	switch {
	case e.turn:
		r.exact = true
		r.close(ctx)
	case e.text != "":
		r.add(ctx, model.Block{Text: e.text})
		r.word = r.word || r.final != ""
		r.watch(model.Event{Text: e.text + "\n"})
	case e.thinking != "":
		r.add(ctx, model.Block{Thinking: &model.Thinking{Text: e.thinking, From: r.from}})
		r.watch(model.Event{Thinking: e.thinking})
	case e.call != nil:
		if !json.Valid(e.call.Arguments) {
			e.call.Arguments = json.RawMessage("{}")
		}
		r.begin(ctx, e.call)
	case e.result != nil:
		r.result(e.result.ID, loop.Record{Text: e.result.Text, Error: e.result.Error, Ran: r.ran(e.result.ID)})
	case e.use != nil:
		r.open(ctx).use = e.use
	case e.model != "":
		r.from = r.Name + " (" + e.model + ")"
	case e.end != nil:
		if r.ending = e.end; !e.end.working {
			r.deadline.Reset(goodbye)
		}
	}
}

func (r *run) watch(e model.Event) {
	if r.Loop.Watch != nil {
		r.Loop.Watch(e)
	}
}

// called carries out a call of the program.
func (r *run) called(ctx context.Context, c *call) {
	if len(c.arguments) == 0 || string(c.arguments) == "null" {
		c.arguments = json.RawMessage("{}")
	}
	r.calls++
	id := fmt.Sprintf("x%d_%d", len(r.records), r.calls)
	r.begin(ctx, &model.Call{ID: id, Name: c.name, Arguments: c.arguments, From: r.from})
	refuse := func(text string) {
		r.result(id, loop.Record{Text: text, Error: true})
		c.reply(text, true)
	}
	i := slices.IndexFunc(r.Loop.Tools, func(t loop.Tool) bool { return t.Name == c.name })
	switch {
	case r.over:
		refuse("the run has ended")
	case r.Loop.Output != nil && c.name == r.Loop.Submit().Name:
		r.submitted(id, c, refuse)
	case r.final != "":
		refuse(loop.FinalText(r.final))
	case i < 0:
		refuse(fmt.Sprintf("denied: you have no tool %q", shortened(c.name)))
	case c.name == r.Loop.Asks:
		r.asked, r.over = &model.Call{ID: id, Arguments: c.arguments}, true
	default:
		r.carryOut(ctx, id, c, r.Loop.Tools[i])
	}
}

// submitted takes the result of the run.
func (r *run) submitted(id string, c *call, refuse func(string)) {
	if err := r.Loop.Check(c.arguments); err != nil {
		refuse("the result does not fit: " + err.Error())
		return
	}
	r.output = c.arguments
	r.result(id, loop.Record{Text: "taken"})
	c.reply("taken", false)
}

// carryOut carries out a call beside others: one that changes something, alone.
func (r *run) carryOut(ctx context.Context, id string, c *call, t loop.Tool) {
	if !t.Reads {
		r.write(ctx, loop.Record{Kind: loop.Begin, Call: id, Tool: c.name})
	}
	spent := r.spent()
	r.all.Go(func() {
		r.turns <- struct{}{}
		defer func() { <-r.turns }()
		if t.Reads {
			r.writing.RLock()
			defer r.writing.RUnlock()
		} else {
			r.writing.Lock()
			defer r.writing.Unlock()
		}
		work, cancel := context.WithCancelCause(r.work)
		defer cancel(nil)
		defer context.AfterFunc(c.ctx, func() { cancel(errors.New("the agent gave the call up")) })()
		begin := r.Loop.Now()
		var record loop.Record
		var err error
		if work.Err() != nil {
			record.Text, record.Error = "not carried out: "+context.Cause(work).Error(), true
		} else if record, err = r.Loop.Call(work, spent, c.name, c.arguments); err != nil {
			record.Text, record.Error = err.Error(), true
			if work.Err() != nil {
				record.Text = context.Cause(work).Error() + "; what the call had done by then stays: " + record.Text
			}
		}
		record.MS = r.Loop.Now().Sub(begin).Milliseconds()
		r.later(func() { r.answered(id, c, record) })
	})
}

// answered gives the program a result, with a word about the limits.
func (r *run) answered(id string, c *call, record loop.Record) {
	r.result(id, record)
	over, near := r.Loop.Reached(r.spent())
	text := record.Text
	switch {
	case r.final == "" && over != "":
		r.limit(over)
		text += "\n\n" + loop.FinalText(over)
	case r.final != "":
		text += "\n\n" + loop.FinalText(r.final)
	case near != "" && near != r.hinted:
		r.hinted = near
		text += "\n\n" + loop.HintText(near)
	}
	c.reply(text, record.Error)
}

// finish ends the program and says how the run ended.
func (r *run) finish(ctx context.Context) {
	cancelled := ctx.Err() != nil
	r.end()
	if e := r.ending; e != nil && e.text != "" && !r.said(e.text) {
		r.add(ctx, model.Block{Text: e.text})
	}
	whole, cost := r.used()
	if whole != nil && r.round == nil {
		r.round = &round{}
	}
	r.keep(ctx, whole, cost)
	end := loop.Record{Kind: loop.End}
	if r.own != nil {
		r.own.Changes(ctx, r.program.Process).Note(tools.WithChanges(ctx, func(path string) { end.Files = append(end.Files, path) }))
	}
	end.Status, end.Text = r.status(cancelled, context.Cause(ctx))
	switch {
	case r.asked != nil:
		end.Call, end.Output = r.asked.ID, r.asked.Arguments
	case r.output != nil:
		end.Output = r.output
	}
	r.write(ctx, end)
}

// said reports whether the round has a text already.
func (r *run) said(text string) bool {
	return slices.ContainsFunc(r.records, func(record loop.Record) bool { return slices.ContainsFunc(record.Blocks, is(text)) }) ||
		r.round != nil && slices.ContainsFunc(r.round.blocks, is(text))
}

func is(text string) func(model.Block) bool {
	return func(b model.Block) bool { return strings.TrimSpace(b.Text) == strings.TrimSpace(text) }
}

// status returns how the run ended and why.
func (r *run) status(cancelled bool, cause error) (loop.Status, string) {
	e := r.ending
	switch {
	case cancelled:
		if cause != nil && !errors.Is(cause, context.Canceled) {
			return loop.Cancelled, cause.Error()
		}
		return loop.Cancelled, ""
	case r.asked != nil:
		return loop.InputRequired, ""
	case r.output != nil && r.final == "":
		return loop.Completed, ""
	case r.final != "" && !r.word:
		return loop.Limited, r.final + "; the agent had no last word"
	case r.final != "":
		return loop.Limited, r.final
	case e == nil:
		return loop.Failed, r.broken()
	case e.limit != "":
		return loop.Limited, "the program's own limit: " + e.limit
	case e.failed != "":
		return loop.Failed, r.reason(e.failed)
	case r.Loop.Output != nil && !r.fits():
		return loop.Failed, loop.NoOutput
	}
	return loop.Completed, ""
}

// fits takes the last text for the result, if it is one.
func (r *run) fits() bool {
	text := strings.TrimSpace(loop.OutcomeOf(append(slices.Clip(r.records), loop.Record{Kind: loop.End})).Text)
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "```json"), "```"), "```"))
	if !json.Valid([]byte(text)) || r.Loop.Check(json.RawMessage(text)) != nil {
		return false
	}
	r.output = json.RawMessage(text)
	return true
}

// broken says how a program ended that was not done.
func (r *run) broken() string {
	exit := r.program.Exit()
	how := fmt.Sprintf("%s ended with exit code %d before it was done", r.Executor.program(), exit.Code)
	if exit.Signal != "" {
		how = fmt.Sprintf("%s was ended by %s", r.Executor.program(), exit.Signal)
	}
	return r.reason(how)
}

// reason adds what helps to understand why a program failed.
func (r *run) reason(why string) string {
	parts := []string{why}
	if r.garbage > 0 {
		parts = append(parts, fmt.Sprintf("%d of its lines are none that it should print, the first: %s", r.garbage, r.first))
	}
	for _, more := range []string{r.program.errs.String(), r.program.Exit().Refused} {
		if more != "" {
			parts = append(parts, more)
		}
	}
	return strings.Join(parts, "; ")
}
