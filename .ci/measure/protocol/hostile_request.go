package protocol

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"toolcrib/.ci/measure/rawhttp"
)

// target is the server that is attacked.
type target struct{ addr, token string }

// request is an HTTP request that may be wrong in any way.
type request struct {
	line    string // method, target, version
	headers [][2]string
	body    []byte
}

// post is a right request that carries a message. The headers are those that the
// stateless era wants for method and name.
func (t target) post(method, name string, body []byte) request {
	r := request{line: "POST /mcp HTTP/1.1", body: body}.
		with("Host", t.addr).
		with("Content-Type", "application/json").
		with("Accept", "application/json, text/event-stream").
		with("MCP-Protocol-Version", "2026-07-28").
		with("Mcp-Method", method)
	if name != "" {
		r = r.with("Mcp-Name", name)
	}
	if t.token != "" {
		r = r.with("Authorization", "Bearer "+t.token)
	}
	return r
}

// call is a right call of a tool.
func (t target) call(tool, args string) request {
	return t.post("tools/call", tool, rawhttp.AppendLook(nil, rawhttp.Eras[1], "normal", tool, args))
}

const discoverHead = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{` + rawhttp.ModernMeta

// right is a right request with a small answer.
func (t target) right() request { return t.post("server/discover", "", []byte(discoverHead+`}}}`)) }

// legacy is a right request of the older revisions, but for its session.
func (t target) legacy(session string) request {
	r := t.post("", "", []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)).without("Mcp-Method").with("MCP-Protocol-Version", "2025-11-25")
	if session != "" {
		r = r.with("Mcp-Session-Id", session)
	}
	return r
}

// bare is a request without a body.
func (t target) bare(method, path string) request {
	r := request{line: method + " " + path + " HTTP/1.1"}.with("Host", t.addr).with("Accept", "application/json, text/event-stream")
	if t.token != "" {
		r = r.with("Authorization", "Bearer "+t.token)
	}
	return r
}

func (r request) without(name string) request {
	r.headers = slices.DeleteFunc(slices.Clone(r.headers), func(h [2]string) bool { return strings.EqualFold(h[0], name) })
	return r
}

// with sets a header, plus adds one.
func (r request) with(name, value string) request { return r.without(name).plus(name, value) }

func (r request) plus(name, value string) request {
	r.headers = append(slices.Clone(r.headers), [2]string{name, value})
	return r
}

func (r request) to(line string) request {
	r.line = line
	return r
}

func (r request) saying(body string) request {
	r.body = []byte(body)
	return r
}

// head is what precedes the body; it tells the length of the body unless the
// headers say it some way.
func (r request) head() []byte {
	var b bytes.Buffer
	b.WriteString(r.line + "\r\n")
	told := len(r.body) == 0
	for _, h := range r.headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
		told = told || strings.EqualFold(h[0], "Content-Length") || strings.EqualFold(h[0], "Transfer-Encoding")
	}
	if !told {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(r.body))
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

func (r request) bytes() []byte { return append(r.head(), r.body...) }
