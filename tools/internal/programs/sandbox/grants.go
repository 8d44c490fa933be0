package sandbox

import (
	"context"
	"fmt"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/egress"
)

// grantee is the session to whose programs the user has allowed private hosts.
type grantee struct{ principal, client string }

// grantsOf returns the grants of a session, nil if its user cannot be asked: only the user who
// started the server knows its network.
func (e *Engine) grantsOf(s *tools.SessionInfo) *egress.Grants {
	if s.Principal != tools.Local || !s.Client.Forms {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	who := grantee{s.Principal, s.Client.Name}
	g := e.grants[who]
	if g == nil {
		for other, old := range e.grants {
			if old.Idle() {
				delete(e.grants, other)
			}
		}
		if e.grants == nil {
			e.grants = map[grantee]*egress.Grants{}
		}
		g = &egress.Grants{}
		e.grants[who] = g
	}
	g.Use()
	return g
}

// AskHosts asks the user about the private hosts that earlier programs of the session of ctx
// were refused; those that are allowed can be reached as long as the session lasts. A tool
// calls it before it starts a program with the network, and returns its error.
func (e *Engine) AskHosts(ctx context.Context) error {
	g := e.grantsOf(tools.Session(ctx))
	if g == nil {
		return nil
	}
	hosts := g.Wanted()
	if len(hosts) == 0 {
		return nil
	}
	answer, err := tools.Ask(ctx, tools.Form{Message: fmt.Sprintf(
		"let commands reach %s in your private network, for this session; a command was refused it before", strings.Join(hosts, ", "))})
	if err != nil {
		if tools.AsError(err).Code == tools.Unavailable {
			return nil // the program is refused them again, and says what allows them
		}
		return err
	}
	g.Settle(hosts, answer.Action == tools.Accept)
	return nil
}
