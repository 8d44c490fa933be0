package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"toolcrib/tools"
	"toolcrib/workspace"
	"toolcrib/workspace/protect"
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
	subject string // the path or the command that it is about, "" = the tool
	final   bool   // the tool's own question is not put
}

// absolute are the rules that no configuration beats; the first that matches decides.
var absolute = [...]rule{
	{
		name: "read-only-server", verdict: denies,
		matches: func(p *pass) bool {
			return p.live.ReadOnly && p.tool.Access != tools.Read && p.tool.Access != tools.Delegates
		},
		why:  "the server is read-only",
		hint: "the user can start it without --read-only",
	},
	{
		name: protectedRule, verdict: denies,
		matches: func(p *pass) bool {
			return !p.live.AllowProtected && p.tool.Access == tools.Write && protectedPath(p) != ""
		},
		why:  "the path is protected, since programs run what stands there",
		hint: "tell the user what to change there; a tool cannot, unless the server runs with --allow-protected",
	},
}

// table is what holds where no rule of the configuration concerns the call; the first
// rule that matches decides. A tool may ask for consent beyond it by its own question.
var table = [...]rule{
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

const protectedRule = "protected-path"

// protectedPath returns the first path argument that leads to a protected place
// by its text, "" if none does. Where its links lead, the workspace judges when it
// writes.
func protectedPath(p *pass) string {
	for _, arg := range p.bound.Paths {
		if protect.ByName(arg.Value, arg.Kind != "file") {
			return arg.Value
		}
	}
	return ""
}

func access(a tools.Access) func(*pass) bool {
	return func(p *pass) bool { return p.tool.Access == a }
}

// policy judges the call, then lets the tool put its own question. What an earlier pass
// was allowed or consented to stays so, unless a rule denies it by now: the settings may
// have changed since.
func (p *pass) policy(ctx context.Context) error {
	concern := p.live.Rules.of(p.tool)
	ru := p.judge(concern)
	if p.settled != nil && ru.verdict != denies {
		p.fence(concern, ru.verdict)
		return nil
	}
	p.verdict, p.rule = ru.verdict, ru.name
	if ru.verdict == denies {
		return p.denial(ru)
	}
	p.fence(concern, ru.verdict)
	var q tools.Question
	if p.tool.Asks() && !ru.final {
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
			p.verdict, p.rule = asks, toolAsks
		}
		p.question = q.Message
	case p.verdict == asks:
		p.question = fmt.Sprintf("%s: %s. Arguments: %s", p.tool.Title, ru.why, excerpt(string(p.bound.Canonical), maxShownArgs))
		if p.plan.Shows != "" {
			p.question = p.shows(ru)
		}
		p.offer, p.cause = p.offers(), ": "+ru.reason()
	}
	p.heed()
	return nil
}

// denial is the error of a call that a rule denies.
func (p *pass) denial(ru rule) *tools.Error {
	return tools.Errorf(tools.Denied, "%s: %s (rule %s)", cmp.Or(ru.subject, p.tool.Name), ru.why, ru.name).WithHint("%s", ru.hint)
}

// reason is why the rule asks or denies, and about what of the call.
func (ru rule) reason() string {
	if ru.subject == "" {
		return ru.why
	}
	return ru.subject + ": " + ru.why
}

// toolAsks is the name of the rule that the question of a tool is.
const toolAsks = "tool-asks"

// maxShownArgs is the most bytes of arguments that a question shows.
const maxShownArgs = 400

// judge returns the rule that decides on the call: an absolute one, else the strictest
// of those that decide on its places.
func (p *pass) judge(concern concerning) rule {
	for _, ru := range absolute {
		if ru.matches(p) {
			if ru.name == protectedRule {
				ru.subject = protectedPath(p)
			}
			return ru
		}
	}
	standing := p.standing()
	if len(concern.rules) == 0 {
		return standing
	}
	worst := rule{}
	strictest := func(ru rule) {
		if ru.verdict > worst.verdict {
			worst = ru
		}
	}
	principal := p.call.Session.Principal
	judged := false // by more than what names it
	for _, at := range p.spots(concern) {
		won, ok := concern.decide(principal, at)
		if !settles(won, at.command) {
			if r := concern.hidden(principal); r != nil {
				strictest(r.unseen(at.command, at.command.Hides))
			}
		}
		switch {
		case light(won, at.command):
			continue
		case ok:
			strictest(won.on(at))
		default:
			strictest(standing)
		}
		judged = true
	}
	if r := concern.hidden(principal); r != nil && p.plan.Unknown != "" {
		strictest(r.unseen(nil, p.plan.Unknown))
	}
	if judged {
		return worst
	}
	for _, at := range p.unordered(concern, nil) {
		if won, ok := concern.decide(principal, at); ok {
			strictest(won.on(at))
		} else {
			strictest(standing)
		}
	}
	return worst
}

// settles reports whether nothing of a command is left to ask about: it hides nothing, or
// what won allows it by its name.
func settles(won concerned, c *tools.Command) bool {
	return c == nil || c.Hides == "" || won.ruling != nil && won.verdict == allows && len(won.commands) > 0
}

// light reports whether a command does nothing by itself that the rule which won is about.
// One that hides what it runs is what that is.
func light(won concerned, c *tools.Command) bool {
	return c != nil && c.Light && c.Hides == "" && (won.ruling == nil || len(won.commands) == 0 && len(won.paths) == 0)
}

// standing returns the rule of the default table. A call that none matches is denied.
func (p *pass) standing() rule {
	for _, ru := range table {
		if ru.matches(p) {
			return ru
		}
	}
	return rule{name: "none", verdict: denies, why: "no rule allows it", hint: "call another tool"}
}

// rule is the ruling as the default table has its own.
func (r *ruling) rule() rule {
	ru := rule{name: r.name, verdict: r.verdict, why: r.Why, hint: "do without it; the user can change the rule in the configuration"}
	if ru.why == "" {
		ru.why = "the configuration says " + r.Verdict
	}
	ru.final = r.verdict == allows && slices.ContainsFunc(r.tools, func(g glob) bool { return g.rank == named && g.text != "" })
	return ru
}

// placed is a path argument as rules see it.
type placed struct {
	path workspace.Path
	text string // as the caller wrote it
}

// places returns what the call is judged at: its path arguments, by their text and by
// where their links lead. Without any, or where no rule has a path, that is nowhere; so
// is a path that cannot be resolved, which the tool refuses.
func (p *pass) places(placedRules bool) []placed {
	ws := p.ground
	if !placedRules || ws == nil || len(p.bound.Paths) == 0 {
		return []placed{{}}
	}
	var list []placed
	for _, arg := range p.bound.Paths {
		at, err := ws.Resolve(arg.Value)
		list = append(list, placed{at, arg.Value})
		if err == nil {
			list = append(list, placed{at.Landing(), arg.Value})
		}
	}
	return list
}
