package egress

import (
	"slices"
	"sync"
	"time"

	"toolcrib/tools/outbound"
)

// grantIdle is how long the grants of a session last after its last command with the network.
const grantIdle = time.Hour

// mostGrants is how many hosts of a session are asked about and allowed.
const mostGrants = 20

// Grants are the private hosts that the user has allowed to the commands of a session: exact
// hosts with their ports, never link-local addresses or those of clouds. A nil Grants allows
// nothing. Several goroutines may call its methods.
type Grants struct {
	mu      sync.Mutex
	used    time.Time
	wanted  []string        // refused hosts that the user was not asked about
	settled map[string]bool // hosts that the user was asked about
	allowed []string
}

// Use notes that a command of the session begins.
func (g *Grants) Use() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.settled == nil || time.Since(g.used) > grantIdle {
		g.wanted, g.settled, g.allowed = nil, map[string]bool{}, nil
	}
	g.used = time.Now()
}

// Idle reports whether the grants have ended.
func (g *Grants) Idle() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Since(g.used) > grantIdle
}

// Wanted returns the hosts that commands were refused and that the user can be asked about.
func (g *Grants) Wanted() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.wanted)
}

// Settle takes the user's answer about hosts that were wanted.
func (g *Grants) Settle(hosts []string, allow bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, host := range hosts {
		i := slices.Index(g.wanted, host)
		if i < 0 {
			continue
		}
		g.wanted = slices.Delete(g.wanted, i, i+1)
		g.settled[host] = true
		if allow {
			g.allowed = append(g.allowed, host)
		}
	}
}

// want notes a host that was refused. It reports whether the user will be asked about it.
func (g *Grants) want(host string) bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.Contains(g.wanted, host) {
		return true
	}
	if g.settled[host] || len(g.settled)+len(g.wanted) >= mostGrants {
		return false
	}
	g.wanted = append(g.wanted, host)
	return true
}

// extend returns a guard that also lets the allowed hosts through.
func (g *Grants) extend(guard *outbound.Guard) *outbound.Guard {
	if g == nil || g.Idle() {
		return guard
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.allowed) == 0 {
		return guard
	}
	return guard.Also(g.allowed)
}
