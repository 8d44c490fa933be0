package sandbox

import (
	"net"
	"os"

	"toolcrib/tools/internal/programs/egress"
)

// gate is the way of a holder's programs to the network.
type gate struct {
	*egress.Gate
	listener net.Listener // in their network
	port     int
}

// openGate serves the socket that a holder has made in its network.
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

// proxy returns the proxy of the engine, which the first gate makes.
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

// reach has the proxy follow new options, which Options.Check has found right.
func (e *Engine) reach(opt Options) {
	if e.platform.proxy == nil {
		return
	}
	if err := e.platform.proxy.Configure(opt.network()); err != nil && opt.Log != nil {
		opt.Log.Error("the hosts that programs may reach stay as they were", "err", err)
	}
}

// pass is the right of one command to the network, nil where there is no gate.
func (h *holder) pass(c Command) (*egress.Pass, error) {
	if h.gate != nil {
		return h.gate.Pass(c.Network), nil
	}
	if c.Network && h.opt.Level != None {
		return nil, &UnavailableError{Level: h.opt.Level, Missing: "the network by host needs a network namespace, that of level full"}
	}
	return nil, nil
}

// variables are those by which programs find the gate.
func (h *holder) variables(p *egress.Pass) []string {
	if p == nil {
		return nil
	}
	return p.Env(h.gate.port)
}
