package server

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	"toolcrib/server/outlet"
	"toolcrib/server/wire"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxBatch is the most messages of a batch.
const maxBatch = 1000

// batch gathers the answers to a batch of requests: one line answers it.
type batch struct {
	out outlet.Outlet

	mu    sync.Mutex
	open  int    // parts that are not there yet, and one while the batch is read
	parts []part // in the order of the requests
}

type part struct {
	req  *request // nil: the answer to a message that is refused
	line []byte
}

// acceptBatch takes an array of messages, which only revision 2025-03-26 has.
// The line that answers it goes to out.
func (l *link) acceptBatch(ctx context.Context, raw json.RawMessage, out outlet.Outlet, spawn func(func())) *wire.Fault {
	if p := l.peer.Load(); p == nil || p.version != mcp.ProtocolVersion20250326 {
		return wire.Refuse(mcp.INVALID_REQUEST, "batches exist only in protocol revision %s; send one message at a time", mcp.ProtocolVersion20250326)
	}
	items, more := wire.Elements(raw, maxBatch)
	if len(items) == 0 || more {
		return wire.Refuse(mcp.INVALID_REQUEST, "a batch holds 1 to %d messages", maxBatch)
	}
	b := &batch{out: out, open: 1}
	for _, item := range items {
		m, bad := wire.Parse(item)
		if m != nil && m.Method == string(mcp.MethodInitialize) {
			bad = &wire.Fault{ID: m.ID, Code: mcp.INVALID_REQUEST, Msg: "initialize cannot be part of a batch"}
		}
		if m != nil && (m.Modern() || m.Lasting()) {
			bad = &wire.Fault{ID: m.ID, Code: mcp.INVALID_REQUEST, Msg: "a request of revision " + mcp.ProtocolVersion20260728 + " cannot be part of a batch"}
		}
		switch {
		case bad != nil:
			b.set(b.expect(), part{line: bad.Line()})
		case m != nil:
			l.accept(ctx, m, out, b, spawn)
		}
	}
	b.done()
	return nil
}

// expect announces a part and returns its place.
func (b *batch) expect() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open++
	b.parts = append(b.parts, part{})
	return len(b.parts) - 1
}

// set brings a part that was announced.
func (b *batch) set(place int, p part) {
	b.mu.Lock()
	b.parts[place] = p
	b.mu.Unlock()
	b.done()
}

// done writes the answer when the last part is there. A batch whose requests
// were all abandoned, or that has only notifications, is not answered.
func (b *batch) done() {
	b.mu.Lock()
	b.open--
	last := b.open == 0
	b.mu.Unlock()
	if !last {
		return
	}
	b.out.Finish(outlet.Ending{Status: http.StatusOK}, func() []byte {
		line := []byte{'['}
		for _, p := range b.parts {
			if p.req != nil && !p.req.leave() {
				continue
			}
			line = append(append(line, p.line...), ',')
		}
		if len(line) == 1 {
			return nil
		}
		return slices.Replace(line, len(line)-1, len(line), ']')
	})
}
