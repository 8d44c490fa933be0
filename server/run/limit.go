package run

import (
	"fmt"
	"time"

	"toolcrib/tools"
)

// Limiter bounds the calls of principals; its methods may be called by several
// goroutines.
type Limiter interface {
	// Enter lets a call begin; leave is to be called when it ends. Where a limit is
	// reached, leave is nil and wait says when to try again. inside is a call that
	// another call makes.
	Enter(principal, tool string, inside bool) (leave func(), wait time.Duration)
}

// LimitError is the cause of a call that is refused since its principal has reached a
// limit.
type LimitError struct {
	Wait time.Duration // before it is worth trying again
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the limit is reached for %s", e.Wait.Round(time.Millisecond))
}

// roundUp returns a wait as the text and the data of an error both say it: whole seconds,
// below one whole milliseconds, and never less than what is to be waited.
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
