package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"toolcrib/tools/agents/internal/model"
)

// Tool is a tool that the agent may call.
type Tool struct {
	model.Tool
	Reads      bool // it changes nothing: several may run at once, equal calls run once
	Repeatable bool // it may run again after a crash
}

// Loop is what a run is made of.
type Loop struct {
	System      string
	Tools       []Tool
	Limits      Limits
	Temperature *float64
	Thinking    string
	// Output is the schema of the run's result; nil = a text. Check returns what is wrong with
	// one.
	Output json.RawMessage
	Check  func(json.RawMessage) error
	// Asks is the tool by which the agent asks the user: a call ends the run, until it is
	// resumed with the answer. "" = none.
	Asks string
	// Window is the size of the conversation in tokens that the model takes.
	Window int
	// MaxOutput bounds an answer in tokens. It is doubled once if an answer is cut.
	MaxOutput int

	Model func(context.Context, model.Request, func(model.Event)) (*model.Turn, model.Bill, error)
	// Call carries out a call of a run that has spent so much until then. It returns the Text of
	// the result, and what the call has done and used also with an error, which is what the model
	// is told.
	Call func(ctx context.Context, spent Spent, tool string, arguments json.RawMessage) (Record, error)
	// Above returns a limit that those have reached in whose name the run is at work; "" = none.
	// nil = the run is at work in nobody's name.
	Above func() string
	// Lost returns what calls have done and used whose process was killed before their result was
	// kept, by the records of their beginnings. nil = nobody knows.
	Lost func(ctx context.Context, begun []Record) (Record, error)
	// Watch hears of what the model says while it says it. nil = nobody does.
	Watch func(model.Event)
	// Wrote hears of each record after it is kept, with its number. nil = nobody does.
	Wrote   func(n int, r Record)
	Journal Journal
	Now     func() time.Time
}

// Outcome is how a run ended.
type Outcome struct {
	Status Status
	Why    string // where the status needs a reason
	Text   string // what the agent said last
	Output json.RawMessage
	Spent  Spent
	// Records are all of the run.
	Records []Record
}

// submit is the tool by which an agent gives a result with a schema.
const submit = "submit"

// Submit returns that tool for a run with a schema.
func (l *Loop) Submit() model.Tool {
	return model.Tool{Name: submit, Description: "Gives the result of your task. Call it once, at the end.", Schema: l.Output}
}

// Limits of the loop itself.
const (
	mostWrong   = 3           // results that do not fit the schema, or answers without one
	LastGrace   = time.Minute // for the last turn
	compactFrom = .75         // of the window
)

// run is a run at work.
type run struct {
	*Loop
	*state
	held int // records at the end that the journal does not have yet
}

// Run goes on with the run of the journal, whose last record says what the agent is asked, until
// it ends. The error is that of the journal: then nothing more is known about the run, and
// another process may have it.
func (l *Loop) Run(ctx context.Context) (Outcome, error) {
	records, err := l.Journal.Records(ctx)
	if err != nil {
		return Outcome{}, err
	}
	r := &run{Loop: l, state: read(records)}
	if r.ended != nil {
		return r.outcome(), nil
	}
	taken, err := l.Takeover(ctx, records)
	if err == nil && taken.Kind == Taken {
		err = r.write(ctx, taken)
	}
	if err != nil {
		return Outcome{}, err
	}
	if err := r.goOn(ctx); err != nil {
		return Outcome{}, err
	}
	return r.outcome(), nil
}

// Takeover returns the record with which a process goes on with a run that another one has left;
// its kind is not [Taken] if there is nothing to take over.
func (l *Loop) Takeover(ctx context.Context, records []Record) (Record, error) {
	var begun []Record // calls without a result that no takeover has counted
	for _, r := range records {
		switch r.Kind {
		case Begin:
			begun = append(begun, r)
		case Result:
			begun = slices.DeleteFunc(begun, func(b Record) bool { return b.Call == r.Call })
		case Taken:
			begun = nil
		}
	}
	n := len(records)
	if n == 0 || records[n-1].Kind == Said && len(begun) == 0 {
		return Record{}, nil
	}
	var taken Record
	var err error
	if l.Lost != nil && len(begun) > 0 {
		taken, err = l.Lost(ctx, begun)
	}
	taken.Kind = Taken
	return taken, err
}

// write keeps a record, also of a run that is being cancelled.
func (r *run) write(ctx context.Context, record Record) error {
	r.hold(record)
	return r.keep(ctx)
}

// hold adds a record that keep puts into the journal: with the next one, so that both wait for
// the disk once, or while calls run that only read.
func (r *run) hold(record Record) {
	record.At = r.Now()
	r.add(record)
	r.held++
}

// keep puts into the journal what is held.
func (r *run) keep(ctx context.Context) error {
	first := len(r.records) - r.held
	if r.held == 0 {
		return nil
	}
	if err := r.Journal.Append(context.WithoutCancel(ctx), r.records[first:]...); err != nil {
		return err
	}
	r.held = 0
	if r.Wrote != nil {
		for i, record := range r.records[first:] {
			r.Wrote(first+i, record)
		}
	}
	return nil
}

func (r *run) outcome() Outcome {
	return Outcome{Status: r.ended.Status, Why: r.ended.Text, Text: r.text(), Output: r.ended.Output, Spent: r.spent, Records: r.records}
}

// ErrLeft is the cause of a context that ends because another process is to go on with the run:
// it gets no end, and Run returns this error.
var ErrLeft = errors.New("another process goes on with the run")

// OutcomeOf returns how a run has ended, by its records, the last of which says so.
func OutcomeOf(records []Record) Outcome { return (&run{state: read(records)}).outcome() }

// errTime is the cause of a context that ends at the limit of time.
var errTime = errors.New("the run's time is up")

// goOn takes turns until the run ends.
func (r *run) goOn(ctx context.Context) error {
	work := ctx
	if r.Limits.Time > 0 {
		var cancel context.CancelFunc
		work, cancel = context.WithTimeoutCause(ctx, max(r.Limits.Time-r.spent.Time, 0), errTime)
		defer cancel()
	}
	for r.ended == nil {
		err := r.step(ctx, work)
		if errors.Is(err, ErrLeft) {
			err = cmp.Or(r.keep(ctx), err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// step does what comes next: it decides what an answer means, carries out calls, or asks the
// model. The context work ends with the run's time.
func (r *run) step(ctx, work context.Context) error {
	if r.fresh != nil {
		return r.decide(ctx)
	}
	if len(r.open) > 0 && r.final == "" {
		return r.calls(work)
	}
	switch {
	case left(ctx):
		return ErrLeft
	case ctx.Err() != nil:
		return r.end(ctx, Cancelled, reason(ctx))
	}
	over, near := r.Reached(r.spent)
	if work.Err() != nil {
		over = r.Limits.Time.String()
	}
	switch {
	case r.final != "":
		return r.lastTurn(ctx)
	case over != "":
		return r.write(ctx, Record{Kind: Final, Tool: over, Text: FinalText(over)})
	case near != "" && !r.hinted[near]:
		return r.write(ctx, Record{Kind: Hint, Tool: near, Text: HintText(near)})
	}
	return r.turn(work)
}

func reason(ctx context.Context) string {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause.Error()
	}
	return ""
}

func (r *run) end(ctx context.Context, status Status, why string) error {
	return r.write(ctx, Record{Kind: End, Status: status, Text: why})
}

// request is what the model is asked next.
func (r *run) request() model.Request {
	request := model.Request{System: r.System, Messages: r.messages, MaxOutput: r.limit(), Temperature: r.Temperature, Thinking: r.Thinking}
	for _, t := range r.Tools {
		request.Tools = append(request.Tools, t.Tool)
	}
	if r.Output != nil {
		request.Tools = append(request.Tools, r.Submit())
	}
	return request
}

// turn asks the model once.
func (r *run) turn(ctx context.Context) error {
	if r.Window > 0 && r.size() >= int(compactFrom*float64(r.Window)) {
		if err := r.makeRoom(ctx); err != nil || r.ended != nil {
			return err
		}
	}
	failure, err := r.ask(ctx, r.request())
	switch {
	case err != nil || failure == nil || ctx.Err() != nil:
		return err
	case tooLong(failure) && r.keepFrom() > 1 && r.records[len(r.records)-1].Kind != Summary:
		return r.makeRoom(ctx) // the model's window is smaller than the configuration says
	}
	return r.end(ctx, Failed, failure.Error())
}

func tooLong(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	return ok && e.Reason == model.TooLong
}

// decide does what the last turn calls for.
func (r *run) decide(ctx context.Context) error {
	stop := r.fresh.Stop
	r.fresh = nil
	switch {
	case r.final != "":
		return r.write(ctx, Record{Kind: End, Status: Limited, Text: r.final, Output: r.handedBack()})
	case stop == model.Refused:
		return r.end(ctx, Failed, "the model refused")
	case len(r.open) > 0 || stop == model.Pause: // calls that were cut get a result of their own
		return nil
	case stop == model.Length || stop == model.Window:
		return r.cut(ctx)
	case r.Output != nil:
		return r.missing(ctx)
	}
	return r.end(ctx, Completed, "")
}

// ask asks the model and holds its answer. A failure is that of the model, err that of the
// journal.
func (r *run) ask(ctx context.Context, request model.Request) (failure, err error) {
	if err := r.keep(ctx); err != nil {
		return nil, err
	}
	turn, bill, failure := r.Model(ctx, request, r.watch)
	if failure != nil {
		return failure, r.dropped(ctx, bill, failure)
	}
	r.hold(Record{
		Kind: Turn, From: turn.From, Blocks: turn.Blocks, Stop: turn.End, Use: &bill.Use, Size: turn.Use.Total(), Cost: bill.Cost, Notes: turn.Notes,
	})
	return nil, nil
}

// dropped keeps what a turn took that gave no answer.
func (r *run) dropped(ctx context.Context, bill model.Bill, failure error) error {
	if bill == (model.Bill{}) {
		return nil
	}
	return r.write(ctx, Record{Kind: Dropped, Use: &bill.Use, Cost: bill.Cost, Text: failure.Error()})
}

func (r *run) watch(e model.Event) {
	if r.Watch != nil {
		r.Watch(e)
	}
}

// cut goes on after an answer that was cut, once.
func (r *run) cut(ctx context.Context) error {
	if r.hinted[cutHint] {
		return r.end(ctx, Limited, "the answer was cut twice at the limit of its tokens")
	}
	return r.write(ctx, Record{Kind: Hint, Tool: cutHint, Text: "Your answer was cut at the limit of its tokens. Go on where it ended."})
}

// cutHint is what a hint is about after an answer that was cut.
const cutHint = "cut"

// limit returns how many tokens an answer may have: after one that was cut twice as many, as far
// as the window has room for them.
func (r *run) limit() int {
	if r.last != nil && r.last.Stop == model.Length {
		return max(r.MaxOutput, min(2*r.MaxOutput, r.Window/2))
	}
	return r.MaxOutput
}

// missing asks for the result, until it has been wrong or missing too often.
func (r *run) missing(ctx context.Context) error {
	if r.wrong+1 >= mostWrong {
		return r.end(ctx, Failed, NoOutput)
	}
	return r.write(ctx, Record{Kind: Hint, Tool: submit, Text: "You have not given your result: call submit."})
}

// NoOutput is why a run with a schema failed.
const NoOutput = "the agent gave no result that fits the schema"

// lastTurn lets the agent hand back what it has, without tools.
func (r *run) lastTurn(ctx context.Context) error {
	grace, cancel := context.WithTimeout(ctx, LastGrace)
	defer cancel()
	request := r.request()
	request.Last = true
	if r.Output != nil {
		request.Only = submit
	}
	failure, err := r.ask(grace, request)
	if err != nil || failure == nil {
		return err
	}
	return r.end(ctx, Limited, fmt.Sprintf("%s; the agent had no last word: %v", r.final, failure))
}

// handedBack returns the result of the last turn, if it fits.
func (r *run) handedBack() json.RawMessage {
	if r.Output != nil {
		for _, c := range r.open {
			if c.Name == submit && c.Wrong == "" && !c.Cut && r.Check(c.Arguments) == nil {
				return c.Arguments
			}
		}
	}
	return nil
}

// makeRoom shortens the conversation before it fills the model's window: first the results of
// tools, then, if that is not enough, everything but the task and the last answer.
func (r *run) makeRoom(ctx context.Context) error {
	if err := r.write(ctx, Record{Kind: Compact}); err != nil {
		return err
	}
	if r.size() < r.Window/2 || r.keepFrom() < 2 {
		return nil
	}
	request := r.request()
	request.Last = true
	request.Messages = append(slices.Clone(r.messages[:r.keepFrom()]), model.Message{Role: model.User, Blocks: []model.Block{
		{Text: "Summarize for yourself what you were asked, what you have found and done so far, with all names, paths and numbers that you need to go on, and what remains to be done."}}})
	turn, bill, failure := r.Model(ctx, request, func(model.Event) {})
	if failure != nil {
		if err := r.dropped(ctx, bill, failure); err != nil || ctx.Err() != nil {
			return err
		}
		return r.end(ctx, Failed, failure.Error())
	}
	return r.write(ctx, Record{Kind: Summary, Text: textOf(turn.Blocks), From: turn.From, Use: &bill.Use, Cost: bill.Cost})
}
