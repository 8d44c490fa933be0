package main

import (
	"fmt"
	"strconv"
)

// era is a revision as the storm speaks it.
type era struct {
	name   string
	modern bool
}

var stormEras = []era{{"2025-11-25", false}, {"2026-07-28", true}}

const initializeCall = `{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"storm","version":"1"}}}`

const initializedNote = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// modernMeta are the members of _meta that a request of the stateless era has.
const modernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"storm","version":"1"}`

// appendLook appends a call of a tool that does not count: holdings, or a nap
// that fills the pools of the server.
func appendLook(dst []byte, era era, id, tool, args string) []byte {
	meta := ""
	if era.modern {
		meta = `,"_meta":{` + modernMeta + `}`
	}
	return fmt.Appendf(dst, `{"jsonrpc":"2.0","id":"%s","method":"tools/call","params":{"name":"%s","arguments":%s%s}}`, id, tool, args, meta)
}

// appendPost appends a whole POST. tool is for the headers of the stateless era,
// "" for what is not a call.
func appendPost(dst []byte, addr string, era era, session, tool string, body []byte) []byte {
	dst = append(append(dst, "POST /mcp HTTP/1.1\r\nHost: "...), addr...)
	dst = append(dst, "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"...)
	if session != "" {
		dst = append(append(append(dst, "Mcp-Session-Id: "...), session...), "\r\nMCP-Protocol-Version: 2025-11-25\r\n"...)
	}
	if era.modern {
		dst = append(append(dst, "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: "...), tool...)
		dst = append(dst, "\r\n"...)
	}
	dst = strconv.AppendInt(append(dst, "Content-Length: "...), int64(len(body)), 10)
	return append(append(dst, "\r\n\r\n"...), body...)
}

// openedSession is a session with the connection of its client.
type openedSession struct {
	addr, id string
	wire     *wire
}

// openSession opens a session as a client does.
func openSession(addr string) (*openedSession, error) { return openSessionAs(addr, "") }

// openSessionAs is openSession with a token; "" = none.
func openSessionAs(addr, token string) (*openedSession, error) {
	w, err := connectAs(addr, token)
	if err != nil {
		return nil, err
	}
	s := &openedSession{addr: addr, wire: w}
	r, body, err := w.exchange(appendPost(nil, addr, stormEras[0], "", "", []byte(initializeCall)))
	if err != nil || r.status != 200 || r.session == "" {
		return nil, r.bad("initialize", body, err)
	}
	s.id = r.session
	r, body, err = w.exchange(appendPost(nil, addr, stormEras[0], s.id, "", []byte(initializedNote)))
	if err != nil || r.status != 202 {
		return nil, r.bad("notifications/initialized", body, err)
	}
	return s, nil
}
