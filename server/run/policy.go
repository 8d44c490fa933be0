package run

import (
	"cmp"
	"context"
	"fmt"

	"toolcrib/server/rules"
	"toolcrib/tools"
	"toolcrib/workspace/protect"
)

// rule judges the calls that it matches. Its name appears in denials and in the audit
// log.
type rule struct {
	name    string
	verdict rules.Verdict
	matches func(p *pass) bool
	why     string // of an ask or a denial: "the server is read-only"
	hint    string // of a denial: the way out
	subject string // the path or the command that it is about, "" = the tool
	final   bool   // the tool's own question is not put
}

// absolute holds the rules that no configuration can override; the first that matches
// decides.
var absolute = [...]rule{
	{
		name: "read-only-server", verdict: rules.Deny,
		matches: func(p *pass) bool {
			return p.live.ReadOnly && !p.tool.Reads() && (p.declared != nil || !p.tool.MayRead())
		},
		why:  "the server is read-only",
		hint: "leave out arguments that do more than read; the user can start the server without --read-only",
	},
	{
		name: protectedRule, verdict: rules.Deny,
		matches: func(p *pass) bool {
			return !p.live.AllowProtected && p.tool.Access == tools.Write && protectedPath(p) != ""
		},
		why:  "the path is protected, since programs run or obey it",
		hint: "tell the user what to change there; a tool cannot, unless the server runs with --allow-protected",
	},
}

// table is the default table. It applies if no rule of the configuration concerns the
// call; the first rule that matches decides. A tool can also ask for consent by its own
// question.
var table = [...]rule{
	{name: "delegates", verdict: rules.Allow, matches: access(tools.Delegates)}, // each inner call is judged by itself
	{name: "read", verdict: rules.Allow, matches: access(tools.Read)},
	{
		name: "opens-ports", verdict: rules.Ask,
		matches: func(p *pass) bool { return p.plan.Ports },
		why:     "ports are reached from outside the sandbox, which the user must allow; without ports it runs all the same",
	},
	{
		name: "leaves-the-roots", verdict: rules.Ask,
		matches: func(p *pass) bool { return p.tool.Effects.Has(tools.Outside) },
		why:     "it changes things outside the roots",
	},
	{
		name: "destroys-without-history", verdict: rules.Ask,
		matches: func(p *pass) bool {
			return p.tool.Access == tools.Write && p.tool.Effects.Has(tools.Destroys) && !p.tool.Effects.Has(tools.Workspace)
		},
		why: "it destroys what no history keeps",
	},
	{name: "write", verdict: rules.Allow, matches: access(tools.Write)},
	{
		name: "exec-with-network", verdict: rules.Ask,
		matches: func(p *pass) bool { return p.tool.Access == tools.Exec && p.tool.Effects.Has(tools.Network) },
		why:     "it runs a program with the network on",
	},
	{
		name: "external-destroys", verdict: rules.Ask,
		matches: func(p *pass) bool { return p.tool.Access == tools.External && p.tool.Effects.Has(tools.Destroys) },
		why:     "it changes or deletes things on another machine",
	},
	{name: "exec", verdict: rules.Allow, matches: access(tools.Exec)},         // contained by the sandbox
	{name: "external", verdict: rules.Allow, matches: access(tools.External)}, // private addresses are refused when they are dialled
}

const protectedRule = "protected-path"

// protectedPath returns the first path argument whose text names a protected path, "" if
// none does. The workspace checks the targets of links when it writes.
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

// policy judges the call, then lets the tool ask its own question. An allowance or
// consent of an earlier pass stays valid unless a rule now denies the call: the settings
// may have changed since.
func (p *pass) policy(ctx context.Context) error {
	concern := p.live.Rules.Of(p.tool)
	ru := p.judge(concern)
	if p.settled != nil && ru.verdict != rules.Deny {
		p.restrict(concern, ru.verdict)
		return nil
	}
	p.verdict, p.rule = ru.verdict, ru.name
	if ru.verdict == rules.Deny {
		return p.denial(ru)
	}
	p.restrict(concern, ru.verdict)
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
	case q.Message != "" && p.verdict == rules.Ask && p.plan.Shows != "":
		p.question, p.cause = q.Message+"\n"+p.shows(ru), q.Message+"\n"+ru.reason() // the tool does not ask about all that the call does
	case q.Message != "":
		if p.verdict != rules.Ask {
			p.verdict, p.rule = rules.Ask, toolAsks
		}
		p.question, p.cause = q.Message, q.Message
	case p.verdict == rules.Ask:
		p.question = fmt.Sprintf("%s: %s. Arguments: %s", p.tool.Title, ru.why, excerpt(string(p.bound.Canonical), maxShownArgs))
		if p.plan.Shows != "" {
			p.question = p.shows(ru)
		}
		p.offer, p.cause = p.offers(), ru.reason()
	}
	p.heed()
	return nil
}

// denial returns the error of a call that a rule denies.
func (p *pass) denial(ru rule) *tools.Error {
	return tools.Errorf(tools.Denied, "%s: %s (rule %s)", cmp.Or(ru.subject, p.tool.Name), ru.why, ru.name).WithHint("%s", ru.hint)
}

// reason returns why the rule asks or denies, and for which part of the call.
func (ru rule) reason() string {
	if ru.subject == "" {
		return ru.why
	}
	return ru.subject + ": " + ru.why
}

// toolAsks is the rule's name for a tool's own question.
const toolAsks = "tool-asks"

// maxShownArgs is the most bytes of arguments that a question shows.
const maxShownArgs = 400

// judge returns the rule that decides on the call: an absolute one, else the strictest of
// those that decide at its spots.
func (p *pass) judge(concern rules.Applicable) rule {
	for _, ru := range absolute {
		if ru.matches(p) {
			if ru.name == protectedRule {
				ru.subject = protectedPath(p)
			} else {
				ru.why += ", and this call has the effects " + p.tool.Effects.String()
			}
			return ru
		}
	}
	usual := p.defaultRule()
	if len(concern.Rules) == 0 {
		return usual
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
		won, ok := concern.Decide(principal, at)
		if !settles(won, at.Command) {
			if r := concern.Hidden(principal); r != nil {
				strictest(unseenBy(r, at.Command, at.Command.Hides))
			}
		}
		switch {
		case light(won, at.Command):
			continue
		case ok:
			strictest(ruleAt(won, at))
		default:
			strictest(usual)
		}
		judged = true
	}
	if r := concern.Hidden(principal); r != nil && p.plan.Unknown != "" {
		strictest(unseenBy(r, nil, p.plan.Unknown))
	}
	if judged {
		return worst
	}
	for _, at := range p.unordered(concern, nil) {
		if won, ok := concern.Decide(principal, at); ok {
			strictest(ruleAt(won, at))
		} else {
			strictest(usual)
		}
	}
	return worst
}

// settles reports whether a command leaves nothing to ask: it hides nothing, or the
// winning rule allows it by name.
func settles(won rules.Match, c *tools.Command) bool {
	return c == nil || c.Hides == "" || won.Compiled != nil && won.Effect == rules.Allow && len(won.Commands) > 0
}

// light reports whether the command itself does nothing that the winning rule is about. A
// command that hides the program that it runs is never light.
func light(won rules.Match, c *tools.Command) bool {
	return c != nil && c.Light && c.Hides == "" && (won.Compiled == nil || len(won.Commands) == 0 && len(won.Paths) == 0)
}

// defaultRule returns the rule of the default table. A call that none matches is denied.
func (p *pass) defaultRule() rule {
	for _, ru := range table {
		if ru.matches(p) {
			return ru
		}
	}
	return rule{name: "none", verdict: rules.Deny, why: "no rule allows it", hint: "call another tool"}
}

// ruleOf converts a ruling to the type of the default table.
func ruleOf(r *rules.Compiled) rule {
	ru := rule{name: r.Name, verdict: r.Effect, why: r.Source.Why, hint: "do without it; the user can change the rule in the configuration"}
	if ru.why == "" {
		ru.why = "the configuration says " + r.Source.Verdict
	}
	ru.final = r.NamesAllowed()
	return ru
}

// places returns the paths at which the call is judged: its path arguments, by their text
// and by where their links lead. It returns only the zero path if there are none or no
// rule has a path, and for a path that cannot be resolved, which the tool refuses.
func (p *pass) places(placedRules bool) []rules.Location {
	ws := p.ground
	if !placedRules || ws == nil || len(p.bound.Paths) == 0 {
		return []rules.Location{{}}
	}
	var list []rules.Location
	for _, arg := range p.bound.Paths {
		at, err := ws.Resolve(arg.Value)
		list = append(list, rules.Location{Path: at, Text: arg.Value})
		if err == nil {
			list = append(list, rules.Location{Path: at.Landing(), Text: arg.Value})
		}
	}
	return list
}
