package egress

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"toolcrib/tools/outbound"
)

// Gate is the proxy for one network namespace. A pass is valid only at its gate.
type Gate struct {
	proxy *Proxy
	slots chan struct{}

	mu     sync.Mutex
	passes map[string]*Pass
	conns  map[net.Conn]struct{}
	closed bool

	total counters
}

// Usage counts traffic.
type Usage struct {
	Connections    int64 // opened ones
	Sent, Received int64 // bytes, as the programs see it
	Refused        int64 // refused connections
}

type counters struct{ connections, sent, received, refused atomic.Int64 }

func (c *counters) usage() Usage {
	return Usage{c.connections.Load(), c.sent.Load(), c.received.Load(), c.refused.Load()}
}

// Gate makes a gate, one for each network that sandboxed programs share.
func (p *Proxy) Gate() *Gate {
	return &Gate{
		proxy: p, slots: make(chan struct{}, mostOfGate),
		passes: map[string]*Pass{}, conns: map[net.Conn]struct{}{},
	}
}

// Usage returns the traffic of the gate since it was made.
func (g *Gate) Usage() Usage { return g.total.usage() }

// Serve serves the connections of a listener until it or the gate is closed.
func (g *Gate) Serve(l net.Listener) error {
	for {
		select {
		case g.slots <- struct{}{}:
		case <-g.proxy.life.Done():
			return net.ErrClosed
		}
		conn, err := l.Accept()
		if err != nil {
			<-g.slots
			if isTemporary(err) {
				time.Sleep(10 * time.Millisecond)
				continue
			}
			return err
		}
		c := &clientConn{Conn: conn, buf: bufio.NewReader(conn), gate: g}
		if !g.keep(c) {
			_ = conn.Close()
			<-g.slots
			return net.ErrClosed
		}
		go g.sort(c)
	}
}

// isTemporary reports whether an error is a temporary lack of file descriptors or memory.
func isTemporary(err error) bool {
	for _, passing := range [...]error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}

// sort detects the protocol of a client.
func (g *Gate) sort(c *clientConn) {
	_ = c.SetReadDeadline(time.Now().Add(handshakeTime))
	first, err := c.buf.Peek(1)
	if err != nil {
		_ = c.Close()
		return
	}
	if first[0] == socksVersion {
		g.proxy.serveSOCKS(c)
		return
	}
	_ = c.SetReadDeadline(time.Time{}) // the server sets its own
	if !g.proxy.conns.give(c) {
		_ = c.Close()
	}
}

func (g *Gate) keep(c net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.conns[c] = struct{}{}
	}
	return !g.closed
}

// Close ends the passes of the gate and their connections. It does not close the listener.
func (g *Gate) Close() {
	g.mu.Lock()
	g.closed = true
	var passes []*Pass
	for _, p := range g.passes {
		passes = append(passes, p)
	}
	conns := make([]net.Conn, 0, len(g.conns))
	for c := range g.conns {
		conns = append(conns, c)
	}
	g.mu.Unlock()
	for _, p := range passes {
		p.Close()
	}
	for _, c := range conns {
		_ = c.Close()
	}
}

// Pass makes the pass of one command. If the network is off for it, the proxy refuses each
// host and says so. So a program learns at once what it lacks, and [Pass.Refused] has it. grant
// is that of its session; nil = the user cannot be asked.
func (g *Gate) Pass(network bool, grant *outbound.Grant) *Pass {
	p := &Pass{gate: g, secret: rand.Text(), network: network, grant: grant}
	p.life, p.end = context.WithCancel(g.proxy.life)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		p.end()
		return p
	}
	g.passes[p.secret] = p
	return p
}

// passOf returns the pass with a secret, nil = none.
func (g *Gate) passOf(user, secret string) *Pass {
	if user != passUser {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.passes[secret]
}

// clientConn is a connection of a program whose first bytes may have been read already.
type clientConn struct {
	net.Conn
	buf  *bufio.Reader
	gate *Gate
	once sync.Once
}

func (c *clientConn) Read(b []byte) (int, error) { return c.buf.Read(b) }

// CloseWrite signals the end of data to the program.
func (c *clientConn) CloseWrite() error { return closeWrite(c.Conn) }

func (c *clientConn) Close() error {
	c.once.Do(func() {
		c.gate.mu.Lock()
		delete(c.gate.conns, c)
		c.gate.mu.Unlock()
		<-c.gate.slots
	})
	return c.Conn.Close()
}
