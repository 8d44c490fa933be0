package egress

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"toolcrib/tools/outbound"
)

// Pass is the right of one command to use a gate. Several goroutines may call its methods.
type Pass struct {
	gate    *Gate
	secret  string
	network bool
	grant   *outbound.Grant // of its session, nil = the user cannot be asked
	guard   *outbound.Guard // nil = that of the proxy
	reached func(string)    // nil = nobody hears
	life    context.Context // ends with the command
	end     context.CancelFunc
	count   counters

	mu      sync.Mutex
	open    int
	refused []Refusal
	more    int
}

// Refusal is a host that a command was refused.
type Refusal struct {
	Host  string // with its port, as the program named it
	Why   string
	Times int
	Asked bool // the user will be asked about it with the next command
}

// mostRefusals is how many refused hosts of one command are remembered.
const mostRefusals = 20

// Use has the command reach the hosts of a guard of its own, instead of those of the proxy and
// of its session. It must be called before the command starts.
func (p *Pass) Use(guard *outbound.Guard) { p.guard = guard }

// Tell has a function hear of each connection that the command has opened, by the host, from any
// goroutine. It must be called before the command starts.
func (p *Pass) Tell(reached func(host string)) { p.reached = reached }

// reaches returns the guard of the command; usual is that of the proxy.
func (p *Pass) reaches(usual *outbound.Guard) *outbound.Guard {
	if p.guard != nil {
		return p.guard
	}
	return p.grant.Extend(usual)
}

// Reach describes in a few words which hosts the command may reach; "off" = none.
func (p *Pass) Reach() string {
	if !p.network {
		return "off"
	}
	if p.guard != nil {
		return p.guard.Bounds()
	}
	return p.gate.proxy.Bounds()
}

// Close invalidates the pass and ends its connections. p may be nil.
func (p *Pass) Close() {
	if p == nil {
		return
	}
	p.gate.mu.Lock()
	delete(p.gate.passes, p.secret)
	p.gate.mu.Unlock()
	p.end()
}

// Usage returns the traffic of the command.
func (p *Pass) Usage() Usage { return p.count.usage() }

// Refused returns the hosts that the command was refused, in the order of its requests, and
// how many more there were.
func (p *Pass) Refused() (hosts []Refusal, more int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.refused), p.more
}

// enter counts a connection of the command; the caller must call leave afterwards. The
// returned context ends with the pass.
func (p *Pass) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life.Err() != nil {
		return ctx, nil, errEnded
	}
	if p.open >= mostOfPass {
		return ctx, nil, errMany
	}
	p.open++
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(p.life, cancel)
	return ctx, func() {
		stop()
		cancel()
		p.mu.Lock()
		p.open--
		p.mu.Unlock()
	}, nil
}

var (
	errEnded = errors.New("the command of this proxy address has ended")
	errMany  = fmt.Errorf("the command has %d connections open, and may have no more", mostOfPass)
)

func (p *Pass) note(host string, no *outbound.Refusal) {
	why, asked := no.Why, p.grant.Want(no)
	p.count.refused.Add(1)
	p.gate.total.refused.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.refused {
		if p.refused[i].Host == host && p.refused[i].Why == why {
			p.refused[i].Times++
			return
		}
	}
	if len(p.refused) == mostRefusals {
		p.more++
		return
	}
	p.refused = append(p.refused, Refusal{host, why, 1, asked})
}

func (p *Pass) opened(t outbound.Target) {
	if p.reached != nil {
		p.reached(t.Hostname())
	}
	p.count.connections.Add(1)
	p.gate.total.connections.Add(1)
}

func (p *Pass) sent(n int) {
	p.count.sent.Add(int64(n))
	p.gate.total.sent.Add(int64(n))
}

func (p *Pass) received(n int) {
	p.count.received.Add(int64(n))
	p.gate.total.received.Add(int64(n))
}
