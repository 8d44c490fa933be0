package run

import (
	"context"
	"fmt"

	"toolcrib/tools"
	"toolcrib/workspace"
)

// verdict is what a rule says of a call.
type verdict uint8

const (
	unjudged verdict = iota // the call ended before the policy
	allows
	asks
	denies
)

var verdictNames = [...]string{"", "allow", "ask", "deny"}

func (v verdict) String() string { return verdictNames[v] }

// rule judges the calls that it matches. Its name stands in denials and in the
// audit log.
type rule struct {
	name    string
	verdict verdict
	matches func(p *pass) bool
	why     string // of an ask or a denial: "the server is read-only"
	hint    string // of a denial: the way out
}

// rules is the default table; the first rule that matches decides. A tool may
// ask for consent beyond it by its own question.
var rules = [...]rule{
	{
		name: "read-only-server", verdict: denies,
		matches: func(p *pass) bool {
			return p.live.ReadOnly && p.tool.Access != tools.Read && p.tool.Access != tools.Delegates
		},
		why:  "the server is read-only",
		hint: "the user can start it without --read-only",
	},
	{
		name: "protected-path", verdict: denies,
		matches: func(p *pass) bool {
			return !p.live.AllowProtected && p.tool.Access == tools.Write && protectedPath(p) != ""
		},
		why:  "the path is protected, since programs run what stands there",
		hint: "tell the user what to change there; a tool cannot, unless the server runs with --allow-protected",
	},
	{
		name: "delegates", verdict: allows, // each inner call is judged by itself
		matches: access(tools.Delegates),
	},
	{
		name: "read", verdict: allows,
		matches: access(tools.Read),
	},
	{
		name: "leaves-the-roots", verdict: asks,
		matches: func(p *pass) bool { return p.tool.Effects.Has(tools.Outside) },
		why:     "it changes things outside the roots",
	},
	{
		name: "destroys-without-history", verdict: asks,
		matches: func(p *pass) bool {
			return p.tool.Access == tools.Write && p.tool.Effects.Has(tools.Destroys) && !p.tool.Effects.Has(tools.Workspace)
		},
		why: "it destroys what no history keeps",
	},
	{
		name: "write", verdict: allows,
		matches: access(tools.Write),
	},
	{
		name: "exec-with-network", verdict: asks,
		matches: func(p *pass) bool { return p.tool.Access == tools.Exec && p.tool.Effects.Has(tools.Network) },
		why:     "it runs a program with the network on",
	},
	{
		name: "external-destroys", verdict: asks,
		matches: func(p *pass) bool { return p.tool.Access == tools.External && p.tool.Effects.Has(tools.Destroys) },
		why:     "it changes or deletes things on another machine",
	},
	{
		name: "exec", verdict: allows, // contained by the sandbox
		matches: access(tools.Exec),
	},
	{
		name: "external", verdict: allows, // private addresses are refused when they are dialled
		matches: access(tools.External),
	},
}

// protectedPath returns the first path argument that leads to a protected place
// by its text, "" if none does. Where its links lead, the workspace judges when it
// writes.
func protectedPath(p *pass) string {
	for _, arg := range p.bound.Paths {
		if workspace.Protected(arg.Value, arg.Kind != "file") {
			return arg.Value
		}
	}
	return ""
}

func access(a tools.Access) func(*pass) bool {
	return func(p *pass) bool { return p.tool.Access == a }
}

// policy judges the call by the rules, then lets the tool put its own question.
// What an earlier pass was allowed or consented to stays so, unless a rule denies it
// by now: the settings may have changed since.
func (p *pass) policy(ctx context.Context) error {
	ru := p.judge()
	if p.settled != nil && ru.verdict != denies {
		return nil
	}
	p.verdict, p.rule = ru.verdict, ru.name
	if ru.verdict == denies {
		subject := p.tool.Name
		if path := protectedPath(p); ru.name == "protected-path" && path != "" {
			subject = path
		}
		return tools.Errorf(tools.Denied, "%s: %s (rule %s)", subject, ru.why, ru.name).WithHint("%s", ru.hint)
	}
	var q tools.Question
	if p.tool.Asks() {
		limited, cancel := context.WithTimeout(ctx, p.tool.Timeout)
		defer cancel()
		var err error
		q, err = await(limited, p.r.spawn, func() (tools.Question, error) { return p.tool.Question(limited, p.bound) })
		if err != nil {
			return err
		}
	}
	switch {
	case q.Message != "":
		if p.verdict != asks {
			p.verdict, p.rule = asks, "tool-asks"
		}
		p.question = q.Message
	case p.verdict == asks:
		p.question = fmt.Sprintf("%s: %s. Arguments: %s", p.tool.Title, ru.why, excerpt(string(p.bound.Canonical), maxShownArgs))
	}
	return nil
}

// maxShownArgs is the most bytes of arguments that a question shows.
const maxShownArgs = 400

// judge returns the first rule that matches. A call that none matches is denied.
func (p *pass) judge() rule {
	for _, ru := range rules {
		if ru.matches(p) {
			return ru
		}
	}
	return rule{name: "none", verdict: denies, why: "no rule allows it", hint: "call another tool"}
}
