package run

import (
	"fmt"
	"time"

	"toolcrib/server/rules"
	"toolcrib/tools"
)

// Limiter limits the calls of principals; its methods may be called by several
// goroutines.
type Limiter interface {
	// Enter lets a call begin; the caller must call leave when it ends. If a limit is
	// reached, leave is nil and wait is the time until the next try. inside is true for a
	// call that another call makes.
	Enter(principal, tool string, inside bool) (leave func(), wait time.Duration)
}

// LimitError is the cause of a refusal because the principal has reached a limit.
type LimitError struct {
	Wait time.Duration // before it is worth trying again
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the limit is reached for %s", e.Wait.Round(time.Millisecond))
}

// roundUp rounds a wait up for the text and the data of an error: to whole seconds, below
// one second to whole milliseconds.
func roundUp(wait time.Duration) time.Duration {
	unit := time.Second
	if wait < unit {
		unit = time.Millisecond
	}
	return max((wait + unit - 1).Truncate(unit), time.Millisecond)
}

// limit counts the call among those of its principal until finish.
func (p *pass) limit() error {
	if p.r.cfg.Limits == nil || p.dry {
		return nil
	}
	leave, wait := p.r.cfg.Limits.Enter(p.call.Session.Principal, p.tool.Name, p.parent != nil)
	if leave == nil {
		wait = roundUp(wait)
		e := tools.Errorf(tools.Unavailable, "%s: too many calls", p.tool.Name).
			WithHint("wait %s and call it again; fewer calls at once get through", wait)
		e.Err = &LimitError{wait}
		return e
	}
	p.leave = leave
	return nil
}

// The rules about who makes a call: a token that does not allow it, or call_read_tool.
// They come before hooks and all other rules, on every pass: the user's consent does not widen
// a token.
const (
	scopeRule  = "scope"
	readerRule = "called-to-read"
)

// reach is a bit set over the indexes of the tools: which of them the session may call
// and its client has the abilities for.
func (l *live) reach(s *tools.SessionInfo) string {
	bits := make([]byte, (len(l.Tools)+7)/8)
	for i := range l.Tools {
		if t := &l.Tools[i]; s.Allows(t) && (t.Needs == nil || len(t.Lacks(s.Client)) == 0) {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return string(bits)
}

// granted denies a call that the principal may not make, and one that does more than read for
// a call that only reads. It judges the tool, and then what the plan leaves of it.
func (p *pass) granted() error {
	what := p.tool.Name
	if p.declared != nil {
		what = fmt.Sprintf("this call of %s with access %s", what, p.tool.Access)
	}
	for outer := p.parent; outer != nil && p.tool.Least != tools.Read; outer = outer.parent {
		if outer.tool.Leads() && outer.tool.Access == tools.Read {
			p.verdict, p.rule = rules.Deny, readerRule
			return tools.Errorf(tools.Denied, "%s: %s calls only what reads (rule %s)", what, outer.tool.Name, readerRule).
				WithHint("leave out arguments that do more than read, or call it directly")
		}
	}
	if p.call.Session.Allows(&p.tool) {
		return nil
	}
	p.verdict, p.rule = rules.Deny, scopeRule
	why, hint := p.unscoped()
	return tools.Errorf(tools.Denied, "%s: %s (rule %s)", what, why, scopeRule).WithHint("%s", hint)
}

// unscoped returns why the session does not allow a tool, and what helps.
func (p *pass) unscoped() (why, hint string) {
	if p.call.Session.Group != "" {
		return "the agent was not given it", "find another way, or say in your answer what is to be done"
	}
	return "the token of this client does not let it be called", "the user can give the client a token with the scopes for it"
}

// refusal returns why every call of the pass's tool would be refused, with any
// arguments: by the token, for lack of a client's ability, or by the policy. "" = a call
// may go on.
func (p *pass) refusal() string {
	if !p.call.Session.Allows(&p.tool) {
		why, _ := p.unscoped()
		return why
	}
	if lacking := p.tool.Lacks(p.call.Session.Client); len(lacking) > 0 {
		return fmt.Sprintf("this client lacks the ability %s", lacking[0])
	}
	if ru := p.judge(p.live.Rules.Of(p.tool.Mildest()).Anywhere()); ru.verdict == rules.Deny {
		return ru.why
	}
	return ""
}
