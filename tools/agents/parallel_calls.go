package agents

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/inner"
)

//go:embed parallel_calls.md
var parallelCallsDoc string

// ParallelCallsIn says which calls to make.
type ParallelCallsIn struct {
	Calls       []ParallelCall `json:"calls" jsonschema:"minItems=1,maxItems=16" jsonschema_description:"Calls, in the order of their results." alias:"tool_calls,tool_uses"`
	StopOnError bool           `json:"stop_on_error,omitempty" jsonschema:"default=false" jsonschema_description:"Begin no call after one has failed."`
	MaxParallel int            `json:"max_parallel,omitempty" jsonschema:"minimum=1,maximum=16,default=16" jsonschema_description:"Calls that run at once."`
}

// ParallelCall is one of the calls.
type ParallelCall struct {
	Tool      string        `json:"tool" jsonschema:"minLength=1,maxLength=128" jsonschema_description:"Name of the tool." alias:"name,tool_name,recipient_name"`
	Arguments schema.Object `json:"arguments,omitempty" jsonschema_description:"As the tool takes them." alias:"args,input,parameters,params"`
	ID        string        `json:"id,omitempty" jsonschema:"maxLength=64" jsonschema_description:"Shown with the result."`
}

// ParallelCallsOut has the results in the order of the calls.
type ParallelCallsOut struct {
	calls []*call
	took  time.Duration
}

// maxCalls is that of Calls, for the doc.
const maxCalls = 16

func parallelCallsTool(d Deps) tools.Tool {
	return tools.New(tools.Def[ParallelCallsIn, ParallelCallsOut]{
		Name: "parallel_calls", Title: "Call tools at once", Doc: parallelCallsDoc, Tags: []string{"catalog", "batch"},
		Aliases: []string{"parallel_execute"},
		// The called tools have the effects, and their calls have their own records.
		Access: tools.Delegates, Effects: tools.None, Streams: true,
		Timeout: time.Hour, // those of the tools end first
		Limits:  tools.Limits{Facts: map[string]any{"most": maxCalls}},
		Examples: []tools.Example[ParallelCallsIn]{{
			Say:   "two calls that read",
			Files: map[string]string{"a.txt": "one\n", "b.txt": "two\n"},
			In: ParallelCallsIn{Calls: []ParallelCall{
				{Tool: "glob", Arguments: schema.Object(`{"pattern":["*.txt"]}`)},
				{Tool: "grep", Arguments: schema.Object(`{"pattern":"two"}`), ID: "where"},
			}},
			Want: "2 of 2 calls ok in …\n\n[1] glob: ok\n2 files\na.txt\nb.txt\n\n[2] grep (where): ok\n1 match in 1 of 2 files\nb.txt\n1\ttwo",
		}, {
			Say:   "a call that reads what another has written waits for it; one that fails leaves the others alone",
			Files: map[string]string{"a.txt": "one\n"},
			In: ParallelCallsIn{Calls: []ParallelCall{
				{Tool: "write_file", Arguments: schema.Object(`{"path":"new.txt","content":"new\n"}`)},
				{Tool: "read_file", Arguments: schema.Object(`{"path":"new.txt"}`)},
				{Tool: "read_file", Arguments: schema.Object(`{"path":"gone.txt"}`)},
			}},
			Want:  "2 of 3 calls ok, 1 failed in …\n\n[1] write_file: ok\n...\n[2] read_file: ok\n...\n[3] read_file: failed\nnot_found: gone.txt…",
			After: map[string]string{"a.txt": "one\n", "new.txt": "new\n"},
		}},
		Redact: func(ctx context.Context, in ParallelCallsIn) ParallelCallsIn {
			in.Calls = slices.Clone(in.Calls)
			for i, c := range in.Calls {
				in.Calls[i].Arguments = inner.Told(ctx, d.Caller, c.Tool, c.Arguments, notFromHere)
			}
			return in
		},
		Run: d.parallelCalls,
	})
}

// notFromHere reports whether parallel_calls does not call a tool, since that one calls others
// itself and its calls could not be checked before.
func notFromHere(t tools.Tool) bool {
	return slices.Contains([]string{"parallel_calls", "call_tool", "call_read_tool"}, t.Name)
}

// call is one call, from its check to its result.
type call struct {
	ParallelCall
	tool      string // its own name; that of the call if there is no such tool
	is        tools.Tool
	spec      tools.CallSpec
	footprint footprint
	canonical string // "" = it may differ each time
	same      *call  // an earlier one that is the same; nil = none
	waits     []*call

	state  callState
	result tools.Result
	err    error
	took   time.Duration
}

type callState int

const (
	waiting callState = iota
	running
	ended
)

func (d Deps) parallelCalls(ctx context.Context, in ParallelCallsIn) (ParallelCallsOut, error) {
	if d.Caller == nil {
		return ParallelCallsOut{}, inner.Unavailable()
	}
	if ctx.Value(insideKey{}) != nil {
		return ParallelCallsOut{}, tools.Errorf(tools.Denied, "parallel_calls inside parallel_calls").WithHint("put all calls into one")
	}
	ctx = context.WithValue(ctx, insideKey{}, true)
	begin := time.Now()
	calls, err := d.prepare(ctx, in.Calls)
	if err != nil {
		return ParallelCallsOut{}, err
	}
	if err := d.preflight(ctx, calls, in.StopOnError); err != nil {
		return ParallelCallsOut{}, err
	}
	arrange(calls)
	if err := d.runAll(ctx, calls, in); err != nil {
		return ParallelCallsOut{}, err
	}
	if ctx.Err() != nil && (tools.Session(ctx).Group == "" || !slices.ContainsFunc(calls, func(c *call) bool { return c.code() == codeOK })) {
		return ParallelCallsOut{}, ctx.Err()
	}
	for _, c := range calls { // an agent whose time is over goes on with what there is
		if ctx.Err() != nil && c.state == waiting && c.same == nil {
			c.fail(tools.Errorf(tools.Cancelled, "%s: the call was cancelled before it began", c.tool))
		}
	}
	return ParallelCallsOut{calls: calls, took: time.Since(begin)}, nil
}

// insideKey marks the context of the calls that parallel_calls makes.
type insideKey struct{}

// prepare finds out which tool each call means. One that is wrong is left to the check of the
// runner.
func (d Deps) prepare(ctx context.Context, given []ParallelCall) ([]*call, error) {
	names, err := d.Caller.Names(ctx)
	if err != nil {
		return nil, err
	}
	calls := make([]*call, len(given))
	for i, g := range given {
		args := g.Arguments.Arguments()
		c := &call{ParallelCall: g, tool: g.Tool, spec: tools.CallSpec{Name: g.Tool, Args: args}}
		calls[i] = c
		tool, err := names.Find(g.Tool, args)
		if err != nil {
			continue
		}
		c.tool, c.is = tool.Name, tool
		if notFromHere(tool) {
			c.fail(tools.Errorf(tools.Denied, "parallel_calls does not call %s", tool.Name).WithHint("give the name and the arguments of the other tool"))
			continue
		}
	}
	return calls, ctx.Err()
}

func (c *call) fail(err error) { c.state, c.err = ended, err }

// preflight has all calls checked. Calls that cannot be made end with their errors, unless strict
// wants all or none.
func (d Deps) preflight(ctx context.Context, calls []*call, strict bool) error {
	for {
		var left []*call
		var specs []tools.CallSpec
		for _, c := range calls {
			switch {
			case c.state == waiting:
				left, specs = append(left, c), append(specs, c.spec)
			case strict:
				return nothingMade(calls)
			}
		}
		if len(left) == 0 {
			return nil
		}
		bound, err := d.Caller.Preflight(ctx, specs)
		refused, several := errors.AsType[*tools.RefusedCalls](err)
		switch asks := (*tools.PendingAsk)(nil); {
		case err == nil:
			for i, c := range left {
				c.foresee(ctx, bound[i])
			}
			return nil
		case ctx.Err() != nil, errors.As(err, &asks), tools.AsError(err).Code == tools.Declined:
			return err
		case several:
			for i, err := range refused.Errs {
				if err != nil {
					left[i].fail(err)
				}
			}
		case len(left) == 1:
			left[0].fail(err)
		default:
			return err
		}
	}
}

// foresee notes what a call will touch.
func (c *call) foresee(ctx context.Context, bound tools.Bound) {
	f, err := footprintOf(ctx, c.is, bound)
	if err != nil {
		return // the call itself has this error
	}
	c.footprint = f
	if c.is.Access == tools.Read && c.is.Repeatable {
		c.canonical = string(bound.Canonical)
	}
}

// nothingMade is the error if some calls cannot be made.
func nothingMade(calls []*call) error {
	var said []string
	var first *tools.Error
	for i, c := range calls {
		if c.err == nil {
			continue
		}
		if first == nil {
			first = tools.AsError(c.err)
		}
		said = append(said, fmt.Sprintf("call %d: %s", i+1, tools.AsError(c.err)))
	}
	return tools.Errorf(first.Code, "no call was made: %s", strings.Join(said, "; ")).WithHint("mend what is wrong and send all calls again")
}

// runAll makes the calls. Each begins as soon as those before it that it must not overtake have
// ended, in their order.
func (d Deps) runAll(ctx context.Context, calls []*call, in ParallelCallsIn) error {
	g, inside := tools.NewGroup(ctx, len(calls))
	report := tools.Progress(ctx)
	done := make(chan *call, len(calls))
	active, made := 0, 0
	stop := false
	for {
		for i, c := range calls {
			if c.state != waiting || c.same != nil || stop || active == in.MaxParallel || ctx.Err() != nil || !c.ready() {
				continue
			}
			c.state = running
			active++
			own := tools.WithProgress(inside, func(e tools.ProgressEvent) {
				report(tools.ProgressEvent{Message: fmt.Sprintf("[%d] %s: %s", i+1, c.tool, e.Message)})
			})
			g.Go(func() error {
				defer func() { done <- c }()
				begin := time.Now()
				c.result, c.err = d.Caller.Call(own, c.spec.Name, c.spec.Args)
				c.took = time.Since(begin)
				accountOf(ctx).ran(c.is, c.spec.Args, c.err)
				return nil
			})
		}
		if active == 0 {
			break
		}
		c := <-done
		c.state = ended
		active, made = active-1, made+1
		report(tools.ProgressEvent{Done: float64(made), Total: float64(len(calls)), Message: fmt.Sprintf("%d of %d calls have ended", made, len(calls))})
		if asks, ok := errors.AsType[*tools.PendingAsk](c.err); ok {
			if len(calls) == 1 {
				return asks
			}
			c.err = tools.Errorf(tools.Unavailable, "%s: it asks the user, which it cannot in the middle of other calls", c.tool).WithHint("call %s by itself", c.tool)
		}
		stop = stop || in.StopOnError && c.err != nil
	}
	return g.Wait()
}

// ready reports whether the calls that it must not overtake have ended.
func (c *call) ready() bool {
	return !slices.ContainsFunc(c.waits, func(before *call) bool { return before.root().state != ended })
}

// status is the line above the result of a call.
func (c *call) status(calls []*call) string {
	name := c.tool
	if c.Tool != c.tool {
		name += ", called as " + c.Tool
	}
	if c.ID != "" {
		name += " (" + c.ID + ")"
	}
	line := fmt.Sprintf("[%d] %s: ", slices.Index(calls, c)+1, name)
	switch code := c.code(); code {
	case codeOK:
		return line + "ok"
	case codeSame:
		return fmt.Sprintf("%sthe same call as %d", line, slices.Index(calls, c.same)+1)
	case codeLeft:
		return line + "not made, since another has failed"
	}
	return line + "failed"
}

// Codes of calls that have no error.
const (
	codeOK   = "ok"
	codeSame = "same"
	codeLeft = "not_made"
)

func (c *call) code() string {
	switch {
	case c.err != nil:
		return string(tools.AsError(c.err).Code)
	case c.same != nil:
		return codeSame
	case c.state == waiting:
		return codeLeft
	}
	return codeOK
}

// status is the line above all results.
func (o ParallelCallsOut) status() string {
	count := map[string]int{}
	for _, c := range o.calls {
		switch of := c.root(); {
		case of.err != nil:
			count["failed"]++
		case of.state == waiting:
			count["not made"]++
		default:
			count[codeOK]++
		}
	}
	words := []string{fmt.Sprintf("%d of %d calls ok", count[codeOK], len(o.calls))}
	for _, word := range []string{"failed", "not made"} {
		if count[word] > 0 {
			words = append(words, fmt.Sprintf("%d %s", count[word], word))
		}
	}
	return strings.Join(words, ", ") + " in " + durations.Rough(o.took) + "\n"
}

// root returns the call that was made for c.
func (c *call) root() *call {
	if c.same != nil {
		return c.same
	}
	return c
}

// Content returns a status, and for each call its status and its blocks. Texts between two
// blocks of another kind are one: clients differ in how they put several together.
func (o ParallelCallsOut) Content() []tools.Block {
	blocks := []tools.Block{tools.Text(o.status())}
	add := func(b tools.Block) {
		last := &blocks[len(blocks)-1]
		if b.Kind == tools.TextBlock && last.Kind == tools.TextBlock {
			last.Text += strings.TrimSuffix(b.Text, "\n") + "\n"
			return
		}
		blocks = append(blocks, b)
	}
	for _, c := range o.calls {
		add(tools.Text("\n" + c.status(o.calls)))
		if c.err != nil {
			add(tools.Text(tools.AsError(c.err).Error()))
		}
		for _, b := range c.result.Content {
			add(b)
		}
	}
	return blocks
}

// Meta has, for programs, how each call ended and the meta of its result.
func (o ParallelCallsOut) Meta() map[string]any {
	list := make([]map[string]any, len(o.calls))
	for i, c := range o.calls {
		list[i] = map[string]any{"tool": c.tool, "code": c.code(), "ms": c.took.Milliseconds()}
		if c.ID != "" {
			list[i]["id"] = c.ID
		}
		if len(c.result.Meta) > 0 {
			list[i]["meta"] = c.result.Meta
		}
	}
	return map[string]any{"toolcrib/calls": list}
}
