package egress

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"time"

	"toolcrib/tools/outbound"
)

// SOCKS of RFC 1928, with the user name and password of RFC 1929.
const (
	socksVersion   = 5
	passwordMethod = 2
	noMethod       = 0xff
	connectCommand = 1

	toIPv4, toName, toIPv6 = 1, 3, 4
)

// The replies.
const (
	socksDone        = 0
	socksFailed      = 1
	socksRefused     = 2
	socksUnreachable = 4
	socksNoCommand   = 7
	socksNoAddress   = 8
)

// errSOCKS says that a client has violated the protocol.
var errSOCKS = errors.New("not a request of SOCKS 5")

// serveSOCKS serves a client whose first byte is that of SOCKS.
func (p *Proxy) serveSOCKS(c *clientConn) {
	defer c.Close()
	pass, err := greet(c, c.gate)
	if err != nil || pass == nil {
		return
	}
	ctx, leave, err := pass.enter(context.Background())
	if err != nil {
		return
	}
	defer leave()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	t, code, err := readSOCKS(c)
	if err != nil {
		if code != 0 {
			reply(c, code)
		}
		return
	}
	host, err := p.connect(ctx, pass, t)
	if err != nil {
		code := byte(socksUnreachable)
		if _, ok := errors.AsType[*outbound.Refusal](err); ok {
			code = socksRefused
		}
		reply(c, code)
		return
	}
	_ = c.SetDeadline(time.Now().Add(handshakeTime))
	if !reply(c, socksDone) {
		_ = host.Close()
		return
	}
	tunnel(ctx, pass, c, host)
}

// greet negotiates and reads a password. The returned pass is nil if the password is wrong.
func greet(rw io.ReadWriter, g *Gate) (*Pass, error) {
	var head [2]byte
	if _, err := io.ReadFull(rw, head[:]); err != nil {
		return nil, err
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(rw, methods); err != nil || head[0] != socksVersion {
		return nil, errSOCKS
	}
	chosen := byte(noMethod)
	for _, m := range methods {
		if m == passwordMethod {
			chosen = m
		}
	}
	if _, err := rw.Write([]byte{socksVersion, chosen}); err != nil || chosen == noMethod {
		return nil, err
	}
	var version [1]byte
	if _, err := io.ReadFull(rw, version[:]); err != nil || version[0] != 1 {
		return nil, errSOCKS
	}
	user, err := readText(rw)
	if err != nil {
		return nil, err
	}
	secret, err := readText(rw)
	if err != nil {
		return nil, err
	}
	pass := g.passOf(user, secret)
	status := byte(1)
	if pass != nil {
		status = 0
	}
	_, err = rw.Write([]byte{1, status})
	return pass, err
}

// readText reads a byte count and as many bytes.
func readText(r io.Reader) (string, error) {
	var n [1]byte
	if _, err := io.ReadFull(r, n[:]); err != nil {
		return "", err
	}
	text := make([]byte, n[0])
	_, err := io.ReadFull(r, text)
	return string(text), err
}

// readSOCKS reads the request of a client. If it is refused, code is the reply.
func readSOCKS(r io.Reader) (_ outbound.Target, code byte, _ error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return outbound.Target{}, 0, err
	}
	if head[0] != socksVersion {
		return outbound.Target{}, 0, errSOCKS
	}
	var host string
	var err error
	switch head[3] {
	case toIPv4:
		host, err = readAddress(r, 4)
	case toIPv6:
		host, err = readAddress(r, 16)
	case toName:
		host, err = readText(r)
	default:
		return outbound.Target{}, socksNoAddress, errSOCKS
	}
	if err != nil {
		return outbound.Target{}, 0, err
	}
	var port [2]byte
	if _, err := io.ReadFull(r, port[:]); err != nil {
		return outbound.Target{}, 0, err
	}
	if head[1] != connectCommand {
		return outbound.Target{}, socksNoCommand, errSOCKS
	}
	n := binary.BigEndian.Uint16(port[:])
	if n == 0 {
		return outbound.Target{}, socksFailed, outbound.ErrPort
	}
	t, err := outbound.NewTarget(host, n)
	if err != nil {
		return outbound.Target{}, socksRefused, err
	}
	return t, 0, nil
}

func readAddress(r io.Reader, size int) (string, error) {
	raw := make([]byte, size)
	if _, err := io.ReadFull(r, raw); err != nil {
		return "", err
	}
	a, _ := netip.AddrFromSlice(raw)
	return a.String(), nil
}

func reply(c net.Conn, code byte) bool {
	_, err := c.Write([]byte{socksVersion, code, 0, toIPv4, 0, 0, 0, 0, 0, 0})
	return err == nil
}
