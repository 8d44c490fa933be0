package run

import (
	"fmt"

	"toolcrib/server/rules"
	"toolcrib/tools"
)

// scopeRule is the rule that denies what the token of the principal does not let be
// called. It comes before hooks and all other rules, and on every pass: consent of
// the user does not widen a token.
const scopeRule = "scope"

// reach is a set of bits, by the places of the tools: which of them a session may call
// and its client has the abilities for.
func (l *live) reach(s *tools.SessionInfo) string {
	bits := make([]byte, (len(l.Tools)+7)/8)
	for i := range l.Tools {
		if t := &l.Tools[i]; s.Allows(t) && len(t.Lacks(s.Client)) == 0 {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return string(bits)
}

// granted denies a call that the principal may not make.
func (p *pass) granted() error {
	if p.call.Session.Allows(&p.tool) {
		return nil
	}
	p.verdict, p.rule = rules.Deny, scopeRule
	return tools.Errorf(tools.Denied, "%s: the token of this client does not let it be called (rule %s)", p.tool.Name, scopeRule).
		WithHint("the user can give the client a token with the scopes for it")
}

// refusal says why no call of the pass's tool can go on, whatever its arguments: by the
// token, by what the client lacks, or by the policy. "" = one may.
func (p *pass) refusal() string {
	if !p.call.Session.Allows(&p.tool) {
		return "the token of this client does not let it be called"
	}
	if lacking := p.tool.Lacks(p.call.Session.Client); len(lacking) > 0 {
		return fmt.Sprintf("this client lacks the ability %s", lacking[0])
	}
	if ru := p.judge(p.live.Rules.Of(p.tool).Anywhere()); ru.verdict == rules.Deny {
		return ru.why
	}
	return ""
}
