package outbound

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"toolcrib/tools"
)

// grantIdle is how long what a session was granted lasts after its last request or command.
const grantIdle = time.Hour

// mostGrants is how many hosts of a session are asked about and allowed.
const mostGrants = 20

// Grants has the Grant of each session. The zero value is ready, and several goroutines may call
// its methods.
type Grants struct {
	mu       sync.Mutex
	sessions map[grantee]*Grant
}

type grantee struct{ principal, client string }

// Of returns the grant of a session, nil if its user cannot be asked: only the user who started
// the server knows its network.
func (g *Grants) Of(s *tools.SessionInfo) *Grant {
	if s == nil || s.Principal != tools.Local || !s.Client.Forms {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	who := grantee{s.Principal, s.Client.Name}
	one := g.sessions[who]
	if one == nil {
		for other, old := range g.sessions {
			if old.idle() {
				delete(g.sessions, other)
			}
		}
		if g.sessions == nil {
			g.sessions = map[grantee]*Grant{}
		}
		one = new(Grant)
		g.sessions[who] = one
	}
	one.use()
	return one
}

// Grant is the private hosts that the user has allowed to a session, for its tools and its
// commands alike: exact hosts with their ports, never link-local addresses or those of clouds.
// nil allows nothing. Several goroutines may call its methods.
type Grant struct {
	mu      sync.Mutex
	used    time.Time
	wanted  []string        // refused hosts that the user was not asked about
	settled map[string]bool // hosts that the user was asked about, and whether they are allowed
}

func (g *Grant) use() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.settled == nil || time.Since(g.used) > grantIdle {
		g.wanted, g.settled = nil, map[string]bool{}
	}
	g.used = time.Now()
}

func (g *Grant) idle() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Since(g.used) > grantIdle
}

// Want notes the host of a refusal. It reports whether the user can be asked about it.
func (g *Grant) Want(no *Refusal) bool {
	if g == nil || !no.Ask {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.Contains(g.wanted, no.Host) {
		return true
	}
	if _, asked := g.settled[no.Host]; asked || len(g.settled)+len(g.wanted) >= mostGrants {
		return false
	}
	g.wanted = append(g.wanted, no.Host)
	return true
}

// Wanted returns the hosts of Want that the user was not asked about.
func (g *Grant) Wanted() []string {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.wanted)
}

// Ask asks the user about hosts that are wanted; Allows knows the answer. A tool calls it before
// its first effect and returns its error. The code of the error is Unavailable if nobody can be
// asked in this call.
func (g *Grant) Ask(ctx context.Context, hosts []string) error {
	if len(hosts) == 0 {
		return nil
	}
	answer, err := tools.Ask(ctx, tools.Form{Message: fmt.Sprintf(
		"let the tools and commands of this session reach %s in your private network", strings.Join(hosts, ", "))})
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, host := range hosts {
		if i := slices.Index(g.wanted, host); i >= 0 {
			g.wanted = slices.Delete(g.wanted, i, i+1)
			g.settled[host] = answer.Action == tools.Accept
		}
	}
	return nil
}

// Allows reports whether the user has allowed a host with its port.
func (g *Grant) Allows(host string) bool { return slices.Contains(g.allowed(), host) }

// Declined reports whether the user was asked about a host with its port and has not allowed it.
func (g *Grant) Declined(host string) bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	yes, asked := g.settled[host]
	return asked && !yes
}

func (g *Grant) allowed() (hosts []string) {
	if g == nil || g.idle() {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for host, yes := range g.settled {
		if yes {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// Extend returns a guard that also lets the allowed hosts through.
func (g *Grant) Extend(guard *Guard) *Guard { return guard.Also(g.allowed()) }
