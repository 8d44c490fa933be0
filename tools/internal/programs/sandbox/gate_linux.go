package sandbox

import (
	"context"
	"net"
	"os"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/egress"
)

// gate connects the private network of a zygote's programs to the proxy.
type gate struct {
	*egress.Gate
	listener net.Listener // in their network
	port     int
}

// openGate serves the listening socket that a zygote has made in its network.
func (e *Engine) openGate(opt Options, fd, port int) (*gate, error) {
	socket := os.NewFile(uintptr(fd), "gate")
	l, err := net.FileListener(socket)
	socket.Close()
	if err != nil {
		return nil, err
	}
	proxy, err := e.proxy(opt)
	if err != nil {
		l.Close()
		return nil, err
	}
	g := &gate{Gate: proxy.Gate(), listener: l, port: port}
	go func() { _ = g.Serve(l) }() // until it is closed
	return g, nil
}

func (g *gate) close() {
	if g != nil {
		g.listener.Close()
		g.Close()
	}
}

// proxy returns the proxy of the engine. The first call makes it.
func (e *Engine) proxy(opt Options) (*egress.Proxy, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.platform.proxy == nil {
		p, err := egress.New(opt.network())
		if err != nil {
			return nil, err
		}
		e.platform.proxy = p
	}
	return e.platform.proxy, nil
}

// reach passes new options to the proxy. Options.Check must have accepted them.
func (e *Engine) reach(opt Options) {
	if e.platform.proxy == nil {
		return
	}
	if err := e.platform.proxy.Configure(opt.network()); err != nil && opt.Log != nil {
		opt.Log.Error("the hosts that programs may reach stay as they were", "err", err)
	}
}

// pass returns the right of one command to use the network, nil = there is no gate. The hosts that
// it reaches are noted for the call of ctx, but not those of a guard of its own, which the
// configuration names.
func (z *zygote) pass(ctx context.Context, c Command) (*egress.Pass, error) {
	if z.gate != nil && c.Guard != nil {
		p := z.gate.Pass(c.Network, nil)
		p.Use(c.Guard)
		return p, nil
	}
	if z.gate != nil {
		p := z.gate.Pass(c.Network, z.engine.grants.Of(tools.Session(ctx)))
		p.Tell(func(host string) { tools.Reached(ctx, host) })
		return p, nil
	}
	if c.Network && z.opt.Level != None {
		return nil, &UnavailableError{Level: z.opt.Level, Missing: "the network by host needs a network namespace, that of level full"}
	}
	return nil, nil
}

// variables returns the environment variables with which programs find the gate.
func (z *zygote) variables(p *egress.Pass) []string {
	if p == nil {
		return nil
	}
	return p.Env(z.gate.port)
}
