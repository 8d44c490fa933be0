package egress

import (
	"context"
	"errors"
	"net"

	"toolcrib/tools/outbound"
)

// connect opens a connection of a command to a host. The error is an *outbound.Refusal if the
// command may not reach it.
func (p *Proxy) connect(ctx context.Context, pass *Pass, t outbound.Target) (net.Conn, error) {
	guard := pass.reaches(p.guard.Load())
	if err := pass.check(guard, t); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := guard.Connect(ctx, t)
	if no, ok := errors.AsType[*outbound.Refusal](err); ok {
		pass.note(t.String(), no)
	}
	if err == nil {
		pass.opened(t)
	}
	return conn, err
}

// check returns why the command may not ask for a host, and notes the refusal.
func (p *Pass) check(guard *outbound.Guard, t outbound.Target) error {
	err := guard.Check(t)
	if !p.network {
		err = &outbound.Refusal{Why: whyOff}
	}
	if no, ok := errors.AsType[*outbound.Refusal](err); ok {
		p.note(t.String(), no)
	}
	return err
}

// whyOff is a part of answers to programs, which models read.
const whyOff = "the network is off for this command; network: true asks for it"
