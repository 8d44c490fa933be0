package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolcrib/server/rules"
	"toolcrib/tools"
)

// Explanation describes what would happen to a call and why.
type Explanation struct {
	Tool     string `json:"tool"`
	Verdict  string `json:"verdict"` // allow, ask or deny; skip if a hook answers the call
	Rule     string `json:"rule"`
	From     string `json:"from"` // "policy[n]", "default table", "hooks" or "always", which nothing beats
	Why      string `json:"why,omitempty"`
	Question string `json:"question,omitempty"` // that the user would be asked
	// Session describes the calls that a consent for the session would cover; "" = only
	// this one.
	Session string `json:"session,omitempty"`
	// Effects are those of the call, Commands those it would run, if the tool has plans.
	Effects  string   `json:"effects,omitempty"`
	Commands []Runs   `json:"commands,omitempty"`
	Unknown  string   `json:"unknown,omitempty"` // why it may run others
	Places   []Judged `json:"places,omitempty"`
	// OnOpen reports whether paths that the call does not name are judged when the tool
	// opens them.
	OnOpen bool `json:"guarded,omitempty"`
	// Hooks has what the hooks say that the call concerns, in their order up to a denial.
	Hooks []Said `json:"hooks,omitempty"`
}

// Said is what a Pre hook says of a call.
type Said struct {
	Hook string `json:"hook"` // its name
	Says string `json:"says"`
}

type heard []Said

// add notes what hook n said. A hook that the call does not concern says nothing.
func (h *heard) add(n int, d Decision, err error) {
	s := Said{Hook: cmp.Or(d.By, fmt.Sprintf("pre hook %d", n)), Says: "has no objection"}
	switch {
	case err != nil:
		s.Says = "denies, since it gave no decision: " + cause(err)
	case d.Deny != "":
		s.Says = "denies: " + d.Deny
	case d.Skip != nil:
		s.Says = "answers the call itself"
	case d.Ask != "":
		s.Says = "asks: " + d.Ask
	case d.Args == nil && d.By == "":
		return
	}
	if d.Args != nil {
		s.Says += "; it replaces the arguments by " + string(d.Args)
	}
	*h = append(*h, s)
}

// Runs is a command that a call would run.
type Runs struct {
	Command string `json:"command"`
	// Opens are the paths that it certainly opens; those that it changes have a leading
	// ">".
	Opens []string `json:"opens,omitempty"`
	Hides string   `json:"hides,omitempty"` // why it may run others
	Light bool     `json:"light,omitempty"` // it counts only for the rules that name it
}

// Judged is the judgement of a call at one of its paths; the path is "" if no path
// counts.
type Judged struct {
	Path    string    `json:"path,omitempty"`
	Command string    `json:"command,omitempty"`
	Leads   string    `json:"leads_to,omitempty"` // where the links of the path lead, if elsewhere
	Verdict string    `json:"verdict"`
	Rule    string    `json:"rule"`
	Rules   []Outrank `json:"rules,omitempty"` // of the configuration that concern the call here
}

// same reports whether two judgements are about the same path and command.
func (j Judged) same(k Judged) bool {
	return j.Path == k.Path && j.Command == k.Command && j.Leads == k.Leads
}

// Outrank is a rule that concerns a call. Lost says what beat it; "" if nothing did.
type Outrank struct {
	Rule    string `json:"rule"`
	From    string `json:"from"`
	Verdict string `json:"verdict"`
	Lost    string `json:"lost,omitempty"`
	Maybe   bool   `json:"maybe,omitempty"` // it cannot be known whether it concerns the call
}

// Explain judges a call as Run does before it calls the tool. It asks the Pre hooks, too. It
// returns an error if the arguments are not valid or the tool's own question fails.
func (r *Runner) Explain(ctx context.Context, call Call) (Explanation, error) {
	p := &pass{r: r, call: call, live: r.live.Load(), ground: call.Session.Workspace, id: "explain", heard: new(heard)}
	p.find()
	ctx = tools.WithSession(ctx, &p.call.Session)
	if err := p.bind(); err != nil {
		return Explanation{}, err
	}
	if err := p.foresee(ctx); err != nil {
		return Explanation{}, p.failure(ctx, err)
	}
	stop := p.pre(ctx)
	if stop != nil && p.rule != preHook && !errors.Is(stop, errSkipped) {
		return Explanation{}, p.failure(ctx, stop)
	}
	concern := p.live.Rules.Of(p.tool)
	ru := p.judge(concern)
	x := Explanation{Tool: p.tool.Name, Verdict: ru.verdict.String(), Rule: ru.name, Why: ru.why, From: p.live.Rules.From(ru.name), Hooks: *p.heard}
	x.foresees(p)
	if stop != nil {
		x.Rule, x.From, x.Why = preHook, "hooks", ""
		if x.Verdict = rules.Deny.String(); errors.Is(stop, errSkipped) {
			x.Verdict = "skip"
		}
		return x, nil
	}
	if isAbsolute(ru.name) {
		x.From = "always"
		return x, nil
	}
	x.OnOpen = concern.Placed
	for _, at := range p.spots(concern) {
		if j := p.judged(concern, at); !slices.ContainsFunc(x.Places, j.same) {
			x.Places = append(x.Places, j)
		}
	}
	if ru.verdict == rules.Deny {
		return x, nil
	}
	if err := p.policy(ctx); err != nil {
		return Explanation{}, p.failure(ctx, err)
	}
	switch x.Question = p.question; p.rule {
	case toolAsks:
		x.Verdict, x.Rule, x.From, x.Why = rules.Ask.String(), toolAsks, "the tool itself", ""
	case preHook:
		x.Verdict, x.Rule, x.From, x.Why = rules.Ask.String(), preHook, "hooks", ""
	}
	if p.offer != nil {
		x.Session = p.offer.covers()
	}
	return x, nil
}

func isAbsolute(name string) bool {
	for _, ru := range absolute {
		if ru.name == name {
			return true
		}
	}
	return false
}

// judged returns the judgement at a spot, with each rule that concerns the call there and
// what beat it.
func (p *pass) judged(concern rules.Applicable, at rules.Spot) Judged {
	j := Judged{Path: at.Text}
	if at.Command != nil {
		j.Command = visible(at.Command.String())
	}
	if shown := at.Path.String(); shown != at.Text {
		j.Leads = shown
	}
	list := concern.Matching(nil, p.call.Session.Principal, at)
	won, ok := rules.Winner(list)
	switch {
	case ok:
		j.Verdict, j.Rule = won.Says().String(), won.Name
	case light(won, at.Command):
		j.Verdict, j.Rule = rules.Allow.String(), "no rule names it"
	default:
		usual := p.defaultRule()
		j.Verdict, j.Rule = usual.verdict.String(), usual.name
	}
	for _, c := range list {
		j.Rules = append(j.Rules, Outrank{Rule: c.Name, From: c.From(), Verdict: c.Says().String(), Lost: c.Lost(won, list), Maybe: c.Maybe})
	}
	return j
}

// String returns the explanation as text for people.
func (x Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, by the rule %s\n", x.Tool, x.Verdict, ruleText(x.Rule, x.From))
	if x.Why != "" {
		fmt.Fprintf(&b, "  why: %s\n", x.Why)
	}
	if x.Question != "" {
		fmt.Fprintf(&b, "  the user is asked: %s\n", tools.Clip(x.Question))
		if x.Session != "" {
			fmt.Fprintf(&b, "  allowed for the session, it covers: %s\n", x.Session)
		} else {
			b.WriteString("  the consent is for this call alone\n")
		}
	}
	for _, s := range x.Hooks {
		fmt.Fprintf(&b, "hook %s %s\n", s.Hook, tools.Clip(s.Says))
	}
	x.tellCommands(&b)
	for _, j := range x.Places {
		if len(j.Rules) == 0 && (j.Path == "" || j.Command != "") {
			continue
		}
		place := "the call"
		switch {
		case j.Path != "" && j.Command != "":
			place = tools.Clip(j.Command) + " at " + j.Path
		case j.Path != "":
			place = "at " + j.Path
		case j.Command != "":
			place = tools.Clip(j.Command)
		}
		if j.Leads != "" {
			place += " (that is " + j.Leads + ")"
		}
		fmt.Fprintf(&b, "%s: %s by %s\n", place, j.Verdict, j.Rule)
		for _, r := range j.Rules {
			outcome := "won"
			if r.Lost != "" {
				outcome = "lost: " + r.Lost
			}
			fmt.Fprintf(&b, "  %s: %s, %s\n", ruleText(r.Rule, r.From), r.Verdict, outcome)
		}
	}
	if x.OnOpen {
		b.WriteString("other paths are judged when the tool opens them\n")
	}
	return b.String()
}

// ruleText returns the name of a rule and its position, or only the position if the rule
// has no name.
func ruleText(name, from string) string {
	if name == from {
		return name
	}
	return name + " (" + from + ")"
}

// foresees adds the effects and commands of the call's plan.
func (x *Explanation) foresees(p *pass) {
	if !p.tool.Plans() {
		return
	}
	x.Effects, x.Unknown = p.plan.Effects.String(), p.plan.Unknown
	for i := range p.plan.Commands {
		c := &p.plan.Commands[i]
		if c.Perhaps { // many, of which the rules concern hardly any
			continue
		}
		r := Runs{Command: visible(c.String()), Hides: c.Hides, Light: c.Light}
		for _, touch := range c.Touches {
			if touch.Write {
				r.Opens = append(r.Opens, ">"+touch.Path)
			} else {
				r.Opens = append(r.Opens, touch.Path)
			}
		}
		x.Commands = append(x.Commands, r)
	}
}

// tellCommands prints the effects and commands.
func (x *Explanation) tellCommands(b *strings.Builder) {
	if x.Effects == "" {
		return
	}
	fmt.Fprintf(b, "effects: %s\n", x.Effects)
	for _, r := range x.Commands {
		fmt.Fprintf(b, "runs %s", tools.Clip(r.Command))
		if len(r.Opens) > 0 {
			fmt.Fprintf(b, ", opens %s", strings.Join(r.Opens, " "))
		}
		if r.Hides != "" {
			fmt.Fprintf(b, "; may run others: %s", r.Hides)
		}
		b.WriteByte('\n')
	}
	if x.Unknown != "" {
		fmt.Fprintf(b, "may run other commands: %s\n", x.Unknown)
	}
}
