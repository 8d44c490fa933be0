package agents

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/model"
)

// account is that of a call of an agent: what the call does and uses while it is at work, with
// the agents that it calls.
type account struct {
	above  *account    // of the call in which the agent is at work; nil = of nobody's agent
	limits loop.Limits // that the agent shares
	spent  loop.Spent  // by the agent before the call

	mu     sync.Mutex
	result loop.Record // what the call has done and used
}

type accountKey struct{}

// accountOf returns that of the call of an agent which ctx is inside of; nil = of none.
func accountOf(ctx context.Context) *account {
	a, _ := ctx.Value(accountKey{}).(*account)
	return a
}

// opened returns a context whose changes, requests and agents go to the account.
func (a *account) opened(ctx context.Context) context.Context {
	ctx = tools.WithChanges(ctx, func(path string) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if !slices.Contains(a.result.Files, path) {
			a.result.Files = append(a.result.Files, path)
		}
	})
	ctx = tools.WithReached(ctx, func(host string) {
		a.note(func(of *account) {
			if !slices.Contains(of.result.Hosts, host) {
				of.result.Hosts = append(of.result.Hosts, host)
			}
		})
	})
	return context.WithValue(ctx, accountKey{}, a)
}

// note changes the account and all above it.
func (a *account) note(change func(*account)) {
	for ; a != nil; a = a.above {
		a.mu.Lock()
		change(a)
		a.mu.Unlock()
	}
}

// ran notes a call that has ended, of a tool that runs programs. One that was refused has run none.
func (a *account) ran(tool tools.Tool, arguments json.RawMessage, err error) {
	if tool.Access != tools.Exec {
		return
	}
	if err != nil {
		if code := tools.AsError(err).Code; code == tools.Denied || code == tools.Declined || code == tools.InvalidArgument {
			return
		}
	}
	a.note(func(of *account) { of.result.Ran = append(of.result.Ran, called(tool.Name, arguments)) })
}

// used notes what a turn of an agent that was called has taken.
func (a *account) used(u model.Use, cost float64) {
	a.note(func(of *account) {
		if of.result.Use != nil {
			u := of.result.Use.Add(u)
			of.result.Use, of.result.Cost = &u, of.result.Cost+cost
			return
		}
		of.result.Use, of.result.Cost = &u, cost
	})
}

// done returns what the call has done and used so far.
func (a *account) done() loop.Record {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.result
	r.Files, r.Ran, r.Hosts = slices.Clone(r.Files), slices.Clone(r.Ran), slices.Clone(r.Hosts)
	return r
}

// soFar is what the agent has spent with the call.
func (a *account) soFar() loop.Spent {
	s, r := a.spent, a.done()
	if r.Use != nil {
		s.Use, s.Cost = s.Use.Add(*r.Use), s.Cost+r.Cost
	}
	return s
}

// within narrows the limits of an agent that is called to what is left of those above it.
func (a *account) within(l loop.Limits) (loop.Limits, error) {
	if over := a.over(); over != "" {
		return l, tools.Errorf(tools.Denied, "nothing is left of %s", over).WithHint("finish with what you have")
	}
	for ; a != nil; a = a.above {
		l = l.Within(a.limits, a.soFar())
	}
	return l, nil
}

// over returns the limit that is used up above an agent that is called, "" = none.
func (a *account) over() string {
	for ; a != nil; a = a.above {
		if over, _ := a.limits.Reached(a.soFar()); over != "" {
			return "the caller's " + over
		}
	}
	return ""
}
