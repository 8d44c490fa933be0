package run

import (
	"cmp"
	"slices"

	"toolcrib/server/rules"
	"toolcrib/tools"
	"toolcrib/workspace"
)

// restrict restricts the workspace of the call: the tool cannot open paths that rules deny
// to the call, whether it reaches them by a glob, a link, or a text that holds paths. A
// path that a rule asks about is open only if the call names it and that rule decides on
// the call: the user has consented by the time the tool runs. The sandbox restricts the
// tool's programs, see [rules.Set.ForPrograms].
func (p *pass) restrict(c rules.Applicable, by rules.Verdict) {
	if p.ground == nil {
		return
	}
	principal := p.call.Session.Principal
	if p.tool.Access == tools.Exec {
		if denied := p.live.Rules.ForPrograms(c, principal); denied != nil {
			defer func() { p.call.Session.Workspace = p.call.Session.Workspace.ForPrograms(denied) }()
		}
	}
	if !c.Placed {
		return
	}
	if by != rules.Ask {
		p.call.Session.Workspace = p.live.Rules.Seen.Denying(p.ground, p.tool, principal, c)
		return
	}
	var open []workspace.Path
	for _, at := range p.spots(rules.Applicable{Placed: true}) {
		open = append(open, at.Path)
	}
	p.call.Session.Workspace = p.ground.Denying(func(at workspace.Path) string {
		r := c.Judge(principal, at)
		if r != nil && r.Effect == rules.Ask && slices.ContainsFunc(open, at.Within) {
			return ""
		}
		return r.DenyName()
	})
}

// View returns the session for looking up without a call, such as for a list or the
// completion of a path. Its workspace hides the paths that rules deny to any tool that
// reads, or ask about. ok is false if the token or the policy would refuse every call of
// one of the tools in through.
func (r *Runner) View(s tools.SessionInfo, through ...*tools.Tool) (_ tools.SessionInfo, ok bool) {
	l := r.live.Load()
	for _, t := range through {
		p := &pass{r: r, call: Call{Session: s}, live: l, tool: *t}
		if p.refusal() != "" {
			return s, false
		}
	}
	look := tools.Tool{Access: tools.Read, Effects: tools.None}
	if c := l.Rules.Of(look); c.Placed && s.Workspace != nil {
		s.Workspace = s.Workspace.Denying(func(at workspace.Path) string { return c.Judge(s.Principal, at).DenyName() })
	}
	return s, true
}

// Watch returns the session for reading repeatedly what a call would read. Its workspace
// is that of the call. It returns an error if the token or the policy denies the call, or
// if the policy asks about it, since the user cannot be asked each time.
func (r *Runner) Watch(call Call) (tools.SessionInfo, error) {
	p := &pass{r: r, call: call, live: r.live.Load(), ground: call.Session.Workspace}
	p.find()
	if err := p.granted(); err != nil {
		return tools.SessionInfo{}, err
	}
	if err := p.bind(); err != nil {
		return tools.SessionInfo{}, err
	}
	concern := p.live.Rules.Of(p.tool)
	switch ru := p.judge(concern); ru.verdict {
	case rules.Deny:
		return tools.SessionInfo{}, p.denial(ru)
	case rules.Ask:
		return tools.SessionInfo{}, tools.Errorf(tools.Denied, "%s: needs the user's consent (rule %s), which cannot be asked for each look", cmp.Or(ru.subject, p.tool.Name), ru.name).
			WithHint("read it when it is needed")
	}
	p.restrict(concern, rules.Allow)
	return p.call.Session, nil
}
