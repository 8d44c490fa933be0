package run

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolcrib/server/rules"
	"toolcrib/tools"
)

// Hooks are functions that see every call, in the order given. Of Post, Error
// and Skip exactly one list runs for a call, once; none runs for a call that
// asks its user, and Pre does not run again when the answer is there.
//
// Hooks may be called by several goroutines and must heed their context.
type Hooks struct {
	// Pre runs between the validation of the arguments and the policy. A hook that
	// returns an error or panics denies the call. If the error is a *tools.Error, the
	// client sees its text; its cause is only logged.
	Pre []func(ctx context.Context, v View) (Decision, error)
	// Post runs after a tool has done its work; out is its result, which may be shared
	// with other calls and must not be changed.
	Post []func(ctx context.Context, v View, out any)
	// Error runs after a call that ended in an error, at whichever stage.
	Error []func(ctx context.Context, v View, err *tools.Error)
	// Skip runs after a call that a Pre hook answered instead of the tool.
	Skip []func(ctx context.Context, v View, res tools.Result)
	// Redact returns the Redactor for the client's view of a call, or nil to leave it
	// unchanged; a nil Redact is never called. Nothing else changes a result. Other hooks
	// and kept results have it unredacted.
	Redact func(v View) Redactor
}

// Redactor removes secrets. JSON stays valid JSON.
type Redactor interface {
	String(text string) string
	JSON(raw json.RawMessage) json.RawMessage
}

// Then returns hooks that run these, and then those.
func (h Hooks) Then(next Hooks) Hooks {
	h.Pre = slices.Concat(h.Pre, next.Pre)
	h.Post = slices.Concat(h.Post, next.Post)
	h.Error = slices.Concat(h.Error, next.Error)
	h.Skip = slices.Concat(h.Skip, next.Skip)
	first, then := h.Redact, next.Redact
	switch {
	case first == nil:
		h.Redact = then
	case then != nil:
		h.Redact = func(v View) Redactor { return both(first(v), then(v)) }
	}
	return h
}

// both returns a Redactor that does what both do; either may be nil.
func both(a, b Redactor) Redactor {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return redactors{a, b}
}

type redactors struct{ a, b Redactor }

func (r redactors) String(text string) string { return r.b.String(r.a.String(text)) }

func (r redactors) JSON(raw json.RawMessage) json.RawMessage { return r.b.JSON(r.a.JSON(raw)) }

// View is a call as hooks see it.
type View struct {
	ID       string
	Tool     tools.Tool      // the zero Tool where the name was unknown
	Args     json.RawMessage // canonical; as sent where they were not valid
	Redacted json.RawMessage // the arguments for a log, which must still redact secrets
	Paths    []string        // the path arguments, as in Args
	Plan     tools.Plan      // of the call; zero for a tool that has no plans
	Session  tools.SessionInfo
}

// Decision is the result of a Pre hook. The zero Decision lets the call go on. Of several
// decisions a denial beats a skip, a skip beats an ask, and an ask beats going on.
type Decision struct {
	By   string          // the name of the hook, for an explanation; "" = it had nothing to decide
	Deny string          // the reason; denies the call
	Hint string          // with Deny: what to do instead
	Skip *tools.Result   // answers the call in the tool's place
	Ask  string          // the question of consent, as by a rule of the policy
	Args json.RawMessage // replaces the arguments; they are validated again
}

// errSkipped stops a call that a hook has answered; the answer is the value.
var errSkipped = errors.New("answered by a hook")

// pre asks every Pre hook. Each sees the arguments as the ones before it left
// them. The first denial ends the round, since nothing beats it.
func (p *pass) pre(ctx context.Context) error {
	if p.settled != nil {
		return nil
	}
	var skip *tools.Result
	for i, hook := range p.live.Hooks.Pre {
		inside, end := p.observe(ctx, PartPre, i+1)
		d, err := await(ctx, p.r.spawn, func() (Decision, error) { return hook(inside, p.view()) })
		end(ended(err))
		if p.heard != nil {
			p.heard.add(i+1, d, err)
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return err
		case err != nil:
			p.log().Error("pre hook", "hook", cmp.Or(d.By, fmt.Sprint(i+1)), "err", cause(err))
			if own, ok := errors.AsType[*tools.Error](err); ok {
				return p.denied(&tools.Error{Code: tools.Denied, Msg: own.Msg, Hint: own.Hint})
			}
			return p.denied(tools.Errorf(tools.Denied, "%s: pre hook %d gave no decision", p.tool.Name, i+1))
		case d.Deny != "" && d.By != "":
			return p.denied(&tools.Error{Code: tools.Denied, Msg: fmt.Sprintf("%s: %s (hook %s)", p.tool.Name, d.Deny, d.By), Hint: d.Hint})
		case d.Deny != "":
			return p.denied(&tools.Error{Code: tools.Denied, Msg: d.Deny, Hint: d.Hint})
		case d.Args != nil:
			if p.bound, err = p.tool.Bind(d.Args); err != nil {
				p.log().Error("arguments of a pre hook", "hook", i+1, "err", err)
				return p.denied(tools.Errorf(tools.Denied, "%s: pre hook %d replaced the arguments by ones that are not valid", p.tool.Name, i+1))
			}
			p.replaced = true
			if err := p.foresee(ctx); err != nil {
				return err
			}
		}
		if d.Skip != nil && skip == nil {
			skip = d.Skip
		}
		if d.Ask != "" {
			p.asked = append(p.asked, d.Ask)
		}
	}
	if skip != nil {
		p.value, p.source = *skip, sourceHook
		return errSkipped
	}
	return nil
}

// heed turns an allowed call into one that the user is asked about, if a Pre hook wants
// that.
func (p *pass) heed() {
	if len(p.asked) == 0 {
		return
	}
	p.verdict, p.rule, p.offer = rules.Ask, preHook, nil // it is asked again for the next call
	p.question = strings.TrimSpace(strings.Join(append(p.asked, p.question), "\n"))
	p.cause = strings.Join(append(p.asked, p.cause), "\n")
}

// preHook is the rule's name for decisions of Pre hooks.
const preHook = "pre-hook"

// cause returns the text of an error for the log: that of its cause, if it has one.
func cause(err error) string {
	if own, ok := errors.AsType[*tools.Error](err); ok && own.Err != nil {
		return own.Err.Error()
	}
	return err.Error()
}

func (p *pass) denied(err *tools.Error) error {
	p.verdict, p.rule = rules.Deny, preHook
	return err
}

// post runs the one list of hooks that matches how the call ended. The hooks may take as
// long as they need unless the call is cancelled.
func (p *pass) post(ctx context.Context, stop error) {
	hooks := &p.live.Hooks
	switch err := stop.(type) {
	case nil:
		fire(ctx, p, "post", hooks.Post, p.value)
	case *tools.Error:
		fire(ctx, p, "error", hooks.Error, err)
	case *tools.PendingAsk:
	default: // errSkipped
		fire(ctx, p, "skip", hooks.Skip, p.value.(tools.Result))
	}
}

func fire[T any](ctx context.Context, p *pass, kind string, hooks []func(context.Context, View, T), v T) {
	own := context.WithoutCancel(ctx) // they have work to do after a cancelled call too
	for i, hook := range hooks {
		inside, end := p.observe(own, PartPost, i+1)
		_, err := await(ctx, p.r.spawn, func() (struct{}, error) {
			hook(inside, p.view(), v)
			return struct{}{}, nil
		})
		end(ended(err))
		if err != nil {
			p.log().Error(kind+" hook", "hook", i+1, "err", err)
		}
	}
}

func (p *pass) view() View {
	args := p.bound.Canonical
	if args == nil {
		args = p.call.Args
	}
	v := View{ID: p.id, Tool: p.tool, Args: bytes.Clone(args), Redacted: bytes.Clone(p.redactedArgs()), Session: p.call.Session, Plan: p.plan}
	for _, arg := range p.bound.Paths {
		v.Paths = append(v.Paths, arg.Value)
	}
	return v
}
