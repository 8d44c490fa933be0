package run

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"toolcrib/server/rules"
	"toolcrib/tools"
)

// maxDepth is the deepest nesting of calls.
const maxDepth = 8

// Caller is the [tools.Caller] of tools that call tools. The catalog needs it before
// there is a Runner: make a zero Caller, pass it to the catalog, and then to [New]
// together with the tools.
type Caller struct{ r atomic.Pointer[Runner] }

var _ tools.Caller = (*Caller)(nil)

// inner holds the state of the calls that the tool of a call makes.
type inner struct {
	mu      sync.Mutex
	made    int // calls that were begun
	planned int // the most calls of one Preflight
	granted map[grantKey][]*settlement
}

type grantKey struct {
	tool string
	sent [sha256.Size]byte
}

// begin counts a call that is made.
func (in *inner) begin() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.made++
}

// plan notes how many calls are to come.
func (in *inner) plan(n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.planned = max(in.planned, n)
}

// begun reports whether a call was made already.
func (in *inner) begun() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.made > 0
}

// only reports whether at most one call was made or is planned.
func (in *inner) only() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.made <= 1 && in.planned <= 1
}

func (in *inner) grant(p *pass) {
	in.mu.Lock()
	defer in.mu.Unlock()
	s := &settlement{Verdict: p.verdict, Rule: p.rule, Question: p.question, Consented: true}
	if p.replaced {
		s.Args = p.bound.Canonical
	} else {
		s.bound = &p.bound
	}
	if in.granted == nil {
		in.granted = map[grantKey][]*settlement{}
	}
	key := grantKey{p.tool.Name, sha256.Sum256(p.call.Args)}
	in.granted[key] = append(in.granted[key], s)
}

// take returns the settlement of a Preflight for the call, once for each time that the
// Preflight had the call; else nil.
func (in *inner) take(p *pass) *settlement {
	in.mu.Lock()
	defer in.mu.Unlock()
	key := grantKey{p.tool.Name, sha256.Sum256(p.call.Args)}
	left := in.granted[key]
	if len(left) == 0 {
		return nil
	}
	in.granted[key] = left[1:]
	return left[0]
}

// outer returns the call whose handler has this context.
func (c *Caller) outer(ctx context.Context) (*Runner, *pass, error) {
	r := c.r.Load()
	outer, ok := ctx.Value(passKey{}).(*pass)
	if r == nil || !ok {
		return nil, nil, tools.Errorf(tools.Unavailable, "tools can be called from inside a call only")
	}
	depth := 0
	for p := outer; p != nil; p = p.parent {
		depth++
	}
	if depth >= maxDepth {
		return nil, nil, tools.Errorf(tools.Denied, "%d calls inside each other", depth).WithHint("call the tool by itself")
	}
	return r, outer, nil
}

func inside(ctx context.Context, r *Runner, outer *pass, name string, args json.RawMessage) *pass {
	session := *tools.Session(ctx)
	session.Workspace = outer.ground
	return &pass{r: r, parent: outer, call: Call{Tool: name, Args: args, Session: session}}
}

// Call implements [tools.Caller].
func (c *Caller) Call(ctx context.Context, name string, args json.RawMessage) (tools.Result, error) {
	r, outer, err := c.outer(ctx)
	if err != nil {
		return tools.Result{}, err
	}
	outer.inner.begin()
	p := inside(ctx, r, outer, name, args)
	out := p.carry(ctx)
	switch {
	case out.Err != nil:
		return tools.Result{}, out.Err
	case p.pending != nil:
		return tools.Result{}, p.pending
	}
	return out.Result, nil
}

// Tools implements [tools.Caller].
func (c *Caller) Tools(ctx context.Context) (tools.Selected, error) {
	_, outer, err := c.outer(ctx)
	if err != nil {
		return tools.Selected{}, err
	}
	s := outer.live.Selected
	s.Enabled = outer.live.Tools
	return s, nil
}

// Names implements [tools.Caller].
func (c *Caller) Names(ctx context.Context) (*tools.Names, error) {
	_, outer, err := c.outer(ctx)
	if err != nil {
		return nil, err
	}
	return outer.live.names, nil
}

// Refusal implements [tools.Caller].
func (c *Caller) Refusal(ctx context.Context, t tools.Tool) string {
	r, outer, err := c.outer(ctx)
	if err != nil {
		return err.Error()
	}
	p := inside(ctx, r, outer, t.Name, nil)
	p.live, p.tool = outer.live, t
	return p.refusal()
}

// Preflight implements [tools.Caller].
func (c *Caller) Preflight(ctx context.Context, calls []tools.CallSpec) ([]tools.Bound, error) {
	r, outer, err := c.outer(ctx)
	if err != nil {
		return nil, err
	}
	outer.inner.plan(len(calls))
	bound := make([]tools.Bound, len(calls))
	var ready, asking []*pass
	refused := tools.RefusedCalls{Errs: make([]error, len(calls))}
	for i, spec := range calls {
		p := inside(ctx, r, outer, spec.Name, spec.Args)
		p.dry = true
		if out := p.carry(ctx); out.Err != nil {
			refused.Errs[i] = out.Err
			continue
		}
		bound[i] = p.bound
		if p.source == sourceHook {
			continue // the hook answers again when the call is made
		}
		ready = append(ready, p)
		if p.verdict != rules.Ask {
			continue
		}
		if bar := outer.bars(p); bar != nil {
			refused.Errs[i] = bar
			p.unconsented(bar)
			continue
		}
		asking = append(asking, p)
	}
	switch first := refused.Unwrap(); {
	case first == nil:
	case len(calls) == 1:
		return nil, refused.Errs[0]
	default:
		return nil, &refused
	}
	if len(asking) > 0 {
		if err := outer.consent(ctx, asking); err != nil {
			for _, p := range asking {
				if p.verdict == rules.Ask {
					p.unconsented(err)
				}
			}
			return nil, err
		}
	}
	for _, p := range ready {
		outer.inner.grant(p)
	}
	return bound, nil
}

// bars returns why the user cannot be asked about a call inside p, or nil.
func (p *pass) bars(a *pass) *tools.Error {
	switch {
	case p.live.Confirm != ConfirmClient:
		return a.cannotAsk()
	case p.parent != nil:
		return a.mustBeAlone()
	}
	return nil
}

// Judge implements [tools.Caller].
func (c *Caller) Judge(ctx context.Context, call tools.CallSpec) (question string, err error) {
	r, outer, err := c.outer(ctx)
	if err != nil {
		return "", err
	}
	p := inside(ctx, r, outer, call.Name, call.Args)
	p.dry = true
	out := p.carry(ctx)
	switch {
	case out.Err != nil:
		return "", out.Err
	case p.verdict == rules.Ask:
		return p.question, nil
	}
	return "", nil
}

// laterRule is the rule's name for a consent that was given when the call was planned.
const laterRule = "consented-before"

// Later implements [tools.Caller].
func (c *Caller) Later(ctx context.Context, call tools.LaterCall) (tools.Result, error) {
	r := c.r.Load()
	if r == nil {
		return tools.Result{}, tools.Errorf(tools.Unavailable, "no tool can be called yet")
	}
	call.Session.Client.Forms = false
	p := &pass{r: r, absent: true, call: Call{Tool: call.Name, Args: call.Args, Session: call.Session}}
	if call.Consented {
		p.settled = &settlement{Verdict: rules.Ask, Rule: laterRule, Consented: true}
	}
	out := p.carry(ctx)
	switch {
	case out.Err != nil:
		return tools.Result{}, out.Err
	case p.pending != nil:
		return tools.Result{}, p.pending
	}
	return out.Result, nil
}

// consent asks the user once for all calls that need consent, as part of the outer call
// p. After a first inner call it is too late: the outer handler would run again from its
// start.
func (p *pass) consent(ctx context.Context, asking []*pass) error {
	if p.live.Confirm == ConfirmClient {
		for _, a := range asking {
			a.verdict = rules.Allow // the client asks its user about the outer call
		}
		return nil
	}
	form := consentTo(asking)
	if !p.asker.settles(form) {
		asking = slices.DeleteFunc(slices.Clone(asking), (*pass).covered)
		if len(asking) == 0 {
			return nil
		}
		form = consentTo(asking)
	}
	if p.asker.refusal != nil || p.inner.begun() {
		return asking[0].mustBeAlone()
	}
	answers, err := p.asker.Ask(ctx, form)
	if err != nil {
		return err
	}
	for _, a := range asking {
		if err := a.answered(answers[0]); err != nil {
			return err
		}
	}
	return nil
}

// unconsented concludes a call that is not made because its Preflight failed.
func (p *pass) unconsented(why error) {
	out := Outcome{Ask: &Ask{}}
	if _, pending := errors.AsType[*tools.PendingAsk](why); !pending {
		out = Outcome{Err: tools.AsError(why)}
	}
	p.conclude(&out)
}

// covered reports whether a consent for the session covers the call, and then allows it.
func (p *pass) covered() bool {
	if !p.r.consents.has(p) {
		return false
	}
	p.verdict = rules.Allow
	return true
}

// consentTo returns the form that asks about calls. The user can consent for the session
// only if it is a single call.
func consentTo(asking []*pass) tools.Form {
	if len(asking) == 1 {
		return asking[0].offer.form(asking[0].question)
	}
	questions := make([]string, len(asking))
	for i, a := range asking {
		questions[i], a.offer = a.question, nil
	}
	return tools.Form{Message: strings.Join(questions, "\n")}
}
