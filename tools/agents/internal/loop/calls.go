package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"toolcrib/tools/agents/internal/model"
)

// Limits of calls.
const (
	mostParallel = 8
	mostResult   = 50_000 // bytes of a result
)

// calls gives every open call its result: first those that must not be carried out, then the
// others, and the run's own result last.
func (r *run) calls(ctx context.Context) error {
	var todo []*model.Call
	var result *model.Call
	for _, c := range slices.Clone(r.open) {
		text, settled := r.settled(c)
		switch {
		case settled:
			if err := r.answer(ctx, c, Record{Text: text, Error: true}); err != nil {
				return err
			}
		case c.Name == submit && r.Output != nil:
			result = c
		default:
			todo = append(todo, c)
		}
	}
	if r.Asks != "" {
		for _, c := range todo {
			if c.Name == r.Asks {
				return r.write(ctx, Record{Kind: End, Status: InputRequired, Output: c.Arguments, Call: c.ID})
			}
		}
	}
	batches := [][]*model.Call{todo}
	if slices.ContainsFunc(todo, func(c *model.Call) bool { return !r.tool(c.Name).Reads }) {
		batches = slices.Collect(slices.Chunk(todo, 1))
	}
	for _, batch := range batches {
		if err := r.carryOut(ctx, batch); err != nil {
			return err
		}
	}
	if result != nil {
		return r.submitted(ctx, result)
	}
	return nil
}

func (r *run) tool(name string) Tool {
	for _, t := range r.Tools {
		if t.Name == name {
			return t
		}
	}
	return Tool{}
}

// settled returns the result of a call that must not be carried out.
func (r *run) settled(c *model.Call) (text string, settled bool) {
	begin, begun := r.begun[c.ID]
	switch {
	case c.Cut:
		return "not carried out: your answer was cut at the limit of its tokens within this call; make it shorter", true
	case c.Wrong != "":
		return fmt.Sprintf("not carried out: the arguments are not a JSON object: %s", cutText(c.Wrong, 200)), true
	case c.Name == submit && r.Output != nil:
		return "", false
	case !slices.ContainsFunc(r.Tools, func(t Tool) bool { return t.Name == c.Name }):
		return fmt.Sprintf("denied: you have no tool %q", cutText(c.Name, 100)), true
	case begun && !r.tool(c.Name).Repeatable:
		return fmt.Sprintf("outcome unknown: the call began at %s and did not report, since its process was killed; look before you repeat it", begin.At.Format(time.RFC3339)), true
	}
	return "", false
}

// submitted takes the agent's result.
func (r *run) submitted(ctx context.Context, c *model.Call) error {
	if err := r.Check(c.Arguments); err != nil {
		if err := r.answer(ctx, c, Record{Text: "the result does not fit: " + err.Error(), Error: true}); err != nil {
			return err
		}
		if r.wrong >= mostWrong {
			return r.end(ctx, Failed, NoOutput)
		}
		return nil
	}
	if err := r.answer(ctx, c, Record{Text: "taken"}); err != nil {
		return err
	}
	return r.write(ctx, Record{Kind: End, Status: Completed, Output: c.Arguments})
}

// answer keeps the result of a call.
func (r *run) answer(ctx context.Context, c *model.Call, result Record) error {
	result.Kind, result.Call, result.Tool, result.Text = Result, c.ID, c.Name, Kept(result.Text)
	return r.write(ctx, result)
}

// carryOut carries out calls at once, and keeps their results in the order of the calls. Equal
// calls of tools that only read run once.
func (r *run) carryOut(ctx context.Context, calls []*model.Call) error {
	type outcome struct {
		result Record
		done   chan struct{}
	}
	outcomes := make([]*outcome, len(calls))
	turns := make(chan struct{}, mostParallel)
	var all sync.WaitGroup
	defer all.Wait()
	same, spent := map[string]*outcome{}, r.spent
	for i, c := range calls {
		if left(ctx) {
			return ErrLeft // the next process begins what has not begun
		}
		key := c.Name + " " + string(c.Arguments)
		if o := same[key]; o != nil && r.tool(c.Name).Reads {
			outcomes[i] = o
			continue
		}
		if ctx.Err() == nil && !r.tool(c.Name).Reads {
			if err := r.write(ctx, Record{Kind: Begin, Call: c.ID, Tool: c.Name}); err != nil {
				return err
			}
		}
		o := &outcome{done: make(chan struct{})}
		same[key], outcomes[i] = o, o
		all.Go(func() {
			defer close(o.done)
			turns <- struct{}{}
			defer func() { <-turns }()
			o.result = r.carryOne(ctx, spent, c)
		})
	}
	if err := r.keep(ctx); err != nil {
		return err
	}
	for i, c := range calls {
		<-outcomes[i].done
		if left(ctx) && r.tool(c.Name).Reads {
			return ErrLeft
		}
		o := outcomes[i]
		if err := r.answer(ctx, c, o.result); err != nil {
			return err
		}
		o.result = Record{Text: o.result.Text, Error: o.result.Error, MS: o.result.MS} // what was done counts once
	}
	return nil
}

func (r *run) carryOne(ctx context.Context, spent Spent, c *model.Call) Record {
	if ctx.Err() != nil {
		return Record{Text: "not carried out: " + stopped(ctx), Error: true}
	}
	begin := r.Now()
	result, err := r.Call(ctx, spent, c.Name, json.RawMessage(c.Arguments))
	result.MS = r.Now().Sub(begin).Milliseconds()
	if err != nil {
		result.Text, result.Error = err.Error(), true
		if ctx.Err() != nil {
			result.Text = stopped(ctx) + "; what the call had done by then stays: " + result.Text
		}
	}
	return result
}

// left reports whether another process is to go on with the run.
func left(ctx context.Context) bool { return errors.Is(context.Cause(ctx), ErrLeft) }

func stopped(ctx context.Context) string {
	if why := reason(ctx); why != "" {
		return why
	}
	return "the run was stopped"
}

// Kept returns a result as the records have it: without the middle of a long one.
func Kept(text string) string { return cutText(text, mostResult) }

// cutText keeps the beginning and the end of a long text.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := most*3/4, len(text)-most/4
	for !utf8.RuneStart(text[head]) {
		head--
	}
	for !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", text[:head], tail-head, text[tail:])
}
