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
	late   *account    // of the run: what its calls do after they have ended, by programs that go on

	mu     sync.Mutex
	ended  bool        // the result is taken
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
		a.take(func(r *loop.Record) { r.Files = with(r.Files, path) })
	})
	ctx = tools.WithReached(ctx, func(host string) {
		a.note(func(r *loop.Record) { r.Hosts = with(r.Hosts, host) })
	})
	return context.WithValue(ctx, accountKey{}, a)
}

func with(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// note changes the result of the account and of all above it.
func (a *account) note(change func(*loop.Record)) {
	for ; a != nil; a = a.above {
		a.take(change)
	}
}

// take changes the result of the account, or of the next call of the run if it has ended.
func (a *account) take(change func(*loop.Record)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		a.late.take(change)
		return
	}
	change(&a.result)
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
	a.note(func(r *loop.Record) { r.Ran = append(r.Ran, called(tool.Name, arguments)) })
}

// used notes what a turn of an agent that was called has taken.
func (a *account) used(u model.Use, cost float64) {
	a.note(func(r *loop.Record) {
		if r.Use != nil {
			u := r.Use.Add(u)
			r.Use, r.Cost = &u, r.Cost+cost
			return
		}
		r.Use, r.Cost = &u, cost
	})
}

// end ends the call and returns what it has done and used, with what earlier calls did after
// their end.
func (a *account) end() loop.Record {
	a.late.mu.Lock()
	late := a.late.result
	a.late.result = loop.Record{}
	a.late.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	for _, path := range late.Files {
		a.result.Files = with(a.result.Files, path)
	}
	for _, host := range late.Hosts {
		a.result.Hosts = with(a.result.Hosts, host)
	}
	return a.result
}

// soFar is what the agent has spent with the call.
func (a *account) soFar() loop.Spent {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, r := a.spent, a.result
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
