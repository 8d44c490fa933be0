package rawhttp

import (
	"fmt"
	"strconv"
)

// Era is a revision as the storm speaks it.
type Era struct {
	Name   string
	Modern bool
}

// Eras are the revisions that figures speak.
var Eras = []Era{{"2025-11-25", false}, {"2026-07-28", true}}

// InitializeCall opens a session of the older era.
const InitializeCall = `{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"storm","version":"1"}}}`

// InitializedNote follows the answer to initializeCall.
const InitializedNote = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// ModernMeta are the members of _meta that a request of the stateless era has.
const ModernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"storm","version":"1"}`

// AppendLook appends a call of a tool that does not count: holdings, or a nap
// that fills the pools of the server.
func AppendLook(dst []byte, era Era, id, tool, args string) []byte {
	meta := ""
	if era.Modern {
		meta = `,"_meta":{` + ModernMeta + `}`
	}
	return fmt.Appendf(dst, `{"jsonrpc":"2.0","id":"%s","method":"tools/call","params":{"name":"%s","arguments":%s%s}}`, id, tool, args, meta)
}

// AppendPost appends a whole POST. tool is for the headers of the stateless era,
// "" for what is not a call.
func AppendPost(dst []byte, addr string, era Era, session, tool string, body []byte) []byte {
	dst = append(append(dst, "POST /mcp HTTP/1.1\r\nHost: "...), addr...)
	dst = append(dst, "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"...)
	if session != "" {
		dst = append(append(append(dst, "Mcp-Session-Id: "...), session...), "\r\nMCP-Protocol-Version: 2025-11-25\r\n"...)
	}
	if era.Modern {
		dst = append(append(dst, "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: "...), tool...)
		dst = append(dst, "\r\n"...)
	}
	dst = strconv.AppendInt(append(dst, "Content-Length: "...), int64(len(body)), 10)
	return append(append(dst, "\r\n\r\n"...), body...)
}

// Session is a session with the connection of its client.
type Session struct {
	Addr, ID string
	Wire     *Wire
}

// OpenSession opens a session as a client does.
func OpenSession(addr string) (*Session, error) { return OpenSessionAs(addr, "") }

// OpenSessionAs is openSession with a token; "" = none.
func OpenSessionAs(addr, token string) (*Session, error) {
	w, err := ConnectAs(addr, token)
	if err != nil {
		return nil, err
	}
	s := &Session{Addr: addr, Wire: w}
	r, body, err := w.Exchange(AppendPost(nil, addr, Eras[0], "", "", []byte(InitializeCall)))
	if err != nil || r.Status != 200 || r.Session == "" {
		return nil, r.Bad("initialize", body, err)
	}
	s.ID = r.Session
	r, body, err = w.Exchange(AppendPost(nil, addr, Eras[0], s.ID, "", []byte(InitializedNote)))
	if err != nil || r.Status != 202 {
		return nil, r.Bad("notifications/initialized", body, err)
	}
	return s, nil
}
