package protocol

import (
	"fmt"
	"strings"

	"toolcrib/.ci/measure/rawhttp"
)

// protocols are requests that are wrong as HTTP.
func protocols() []attack {
	// smuggled follows a request whose end two readers may see in two places.
	smuggled := func(t target) string { return "GET /smuggled HTTP/1.1\r\nHost: " + t.addr + "\r\n\r\n" }
	framed := func(body string, headers ...string) func(t target) script {
		return func(t target) script {
			r := t.right().saying("")
			for _, h := range headers {
				name, value, _ := strings.Cut(h, ": ")
				r = r.plus(name, value)
			}
			return script{sends: append(r.head(), body+smuggled(t)...)}
		}
	}
	both := func(t target) script { // a right message in chunks, with a length too
		r := t.right()
		body := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(r.body), r.body)
		r = r.saying("").plus("Content-Length", "5").plus("Transfer-Encoding", "chunked")
		return script{sends: append(r.head(), body+smuggled(t)...), wants: []string{"200", "400"}}
	}
	return []attack{
		{name: "huge headers", heavy: true, want: []string{"431", "closed"}, script: oneOf(
			func(t target) script { return asIs(t.right().plus("X-Huge", strings.Repeat("a", 1<<20))) },
			func(t target) script {
				r := t.right()
				for i := range 20_000 {
					r.headers = append(r.headers, [2]string{fmt.Sprintf("X-Many-%d", i), "a"})
				}
				return asIs(r)
			},
			func(t target) script {
				return asIs(t.right().to("POST /mcp?" + strings.Repeat("a", 1<<20) + " HTTP/1.1"))
			},
			func(t target) script {
				return asIs(t.right().with("Authorization", "Bearer "+strings.Repeat("a", 1<<20)))
			},
			func(t target) script { return asIs(t.right().with("Mcp-Session-Id", strings.Repeat("a", 1<<20))) },
		)},
		{name: "a length and chunks", want: []string{"400"}, script: oneOf(both, framed("0\r\n\r\n", "Content-Length: 5", "Transfer-Encoding: chunked"),
			framed("0\r\n\r\n", "Transfer-Encoding: chunked", "Content-Length: 0"))},
		{name: "other lengths and codings that two readers read in two ways", want: []string{"400", "501"}, script: oneOf(
			framed("{}", "Content-Length: 2", "Content-Length: 40"),
			framed("{}", "Content-Length: 2, 40"),
			framed("{}", "Content-Length: +2"),
			framed("{}", "Content-Length: -2"),
			framed("{}", "Content-Length: 0x2"),
			framed("{}", "Content-Length: 18446744073709551618"),
			framed("{}", "Content-Length : 2"),
			framed("0\r\n\r\n", "Transfer-Encoding: xchunked"),
			framed("0\r\n\r\n", "Transfer-Encoding: chunked, identity"),
			framed("0\r\n\r\n", "Transfer-Encoding: identity, chunked"),
			framed("0\r\n\r\n", "Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
			framed("0\r\n\r\n", "Transfer-Encoding : chunked"),
			framed("0\r\n\r\n", "Transfer-Encoding: \x0bchunked"),
			framed("0\r\n\r\n", "X: y\r\n Transfer-Encoding: chunked", "Content-Length: 2\x00"),
		)},
		{name: "bad sizes of chunks", want: []string{"400"}, script: oneOf(
			framed("zz\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
			framed("-2\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
			framed("10000000000000002\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
			framed("2{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
			framed("2\r\n{}xx0\r\n\r\n", "Transfer-Encoding: chunked"),
			framed("2;"+strings.Repeat("a", 100_000)+"\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
			framed("0x2\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
			framed("\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
		)},
		{name: "what is not HTTP/1", want: []string{"400", "403", "505", "closed"}, script: oneOf(
			func(target) script { return script{sends: []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")} },
			func(target) script {
				return script{sends: []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")}
			},
			func(target) script { return script{sends: []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n\n")} },
			func(t target) script { return asIs(t.right().to("POST /mcp HTTP/9.9")) },
			func(t target) script { return asIs(t.right().to("POST /mcp")) },
			func(t target) script { return asIs(t.right().to("POST  /mcp  HTTP/1.1")) },
		)},
		{name: "other methods", want: []string{"405"}, script: oneOf(
			func(t target) script { return asIs(t.right().to("PUT /mcp HTTP/1.1")) },
			func(t target) script { return asIs(t.right().to("PATCH /mcp HTTP/1.1")) },
			func(t target) script { return asIs(t.right().to("BREW /mcp HTTP/1.1")) },
			func(t target) script { return asIs(t.right().to("post /mcp HTTP/1.1")) },
			func(t target) script { return asIs(t.bare("TRACE", "/mcp")) },
			func(t target) script { return asIs(t.bare("HEAD", "/mcp")) },
			func(t target) script { return asIs(t.bare("OPTIONS", "/mcp")) },
			func(t target) script { return asIs(t.bare("GET", "/mcp").with("MCP-Protocol-Version", "2026-07-28")) },
			func(t target) script {
				return asIs(t.bare("DELETE", "/mcp").with("MCP-Protocol-Version", "2026-07-28"))
			},
		)},
		{name: "other targets", want: []string{"400", "403", "404", "405"}, script: oneOf(
			func(t target) script { return asIs(t.bare("CONNECT", "evil.example:443").with("Host", t.addr)) },
			func(t target) script { return asIs(t.bare("OPTIONS", "*")) },
			func(t target) script { return asIs(t.right().to("POST * HTTP/1.1")) },
			func(t target) script { return asIs(t.right().to("POST mcp HTTP/1.1")) },
		)},
		{name: "unknown paths", want: []string{"404"}, script: each([]string{
			"/", "/mcp/", "/mcp/x", "//mcp", "/MCP", "/mcp%2f", "/mcp;x", "/sse", "/message", "/.well-known/mcp.json",
			"/../etc/passwd", "/mcp/../../etc/passwd", "/mcp/..%2f..%2fetc%2fpasswd", "/mcp%00", "/debug/pprof/", "/metrics",
		}, func(t target, path string) request { return t.right().to("POST " + path + " HTTP/1.1") })},
	}
}

// messages are requests that are wrong as JSON-RPC or as MCP.
func messages() []attack {
	said := func(text string) func(t target) script {
		return func(t target) script { return asIs(t.right().saying(text)) }
	}
	deep := func(open, closing string) string {
		return discoverHead + `},"x":` + strings.Repeat(open, 200_000) + `1` + strings.Repeat(closing, 200_000) + `}}`
	}
	nested, objects := deep("[", "]"), deep(`{"a":`, "}")
	session := func(id string) func(t target) script {
		return func(t target) script { return asIs(t.legacy(id)) }
	}
	return []attack{
		{name: "deep JSON", heavy: true, want: []string{"400", "503", "408"}, script: oneOf(said(nested), said(objects), said(strings.Repeat("[", 200_000)))},
		{name: "what is not UTF-8", want: []string{"400"}, script: oneOf(
			said(discoverHead+",\"x.example/\xff\":1}}}"), said(discoverHead+",\"x.example/a\":\"\xc0\xaf\"}}}"), said("\xff\xfe{\x00}\x00"), said("\xef\xbb\xbf"+discoverHead+"}}}"),
		)},
		{name: "keys twice, or in another case", want: []string{"400"}, script: oneOf(
			said(`{"jsonrpc":"2.0","id":1,"method":"server/discover","method":"tools/list","params":{"_meta":{`+rawhttp.ModernMeta+`}}}`),
			said(`{"jsonrpc":"2.0","id":1,"id":2,"method":"server/discover","params":{"_meta":{`+rawhttp.ModernMeta+`}}}`),
			said(`{"jsonrpc":"2.0","id":1,"method":"server/discover","METHOD":"tools/list","params":{"_meta":{`+rawhttp.ModernMeta+`}}}`),
			said(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{`+rawhttp.ModernMeta+`},"_meta":{}}}`),
			said(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{`+rawhttp.ModernMeta+`},"\u005fmeta":{}}}`),
		)},
		{name: "what is no message", want: []string{"400"}, script: oneOf(
			said(``), said(` `), said(`{`), said(`{}`), said(`[]`), said(`null`), said(`"a"`), said(`1`), said(`{"jsonrpc":"1.0","id":1,"method":"ping"}`),
			said(discoverHead+`}}}`+discoverHead+`}}}`), said(`[`+discoverHead+`}}}]`), said(`{"jsonrpc":"2.0","id":null,"method":"server/discover","params":{"_meta":{`+rawhttp.ModernMeta+`}}}`),
		)},
		{name: "headers that say something else than the body", want: []string{"400"}, script: oneOf(
			func(t target) script { return asIs(t.right().with("Mcp-Method", "tools/list")) },
			func(t target) script { return asIs(t.right().without("Mcp-Method")) },
			func(t target) script { return asIs(t.right().without("MCP-Protocol-Version")) },
			func(t target) script { return asIs(t.right().with("MCP-Protocol-Version", "2025-11-25")) },
			func(t target) script { return asIs(t.right().plus("Mcp-Method", "tools/list")) },
			func(t target) script {
				return asIs(t.call("read_file", `{"path":"hello.txt"}`).with("Mcp-Name", "write_file"))
			},
			func(t target) script { return asIs(t.call("read_file", `{"path":"hello.txt"}`).without("Mcp-Name")) },
		)},
		{name: "forged sessions", want: []string{"404"}, script: oneOf(
			session("mcp-session-00000000-0000-4000-8000-000000000000"), session("1"), session("stdio-1"), session("../../etc/passwd"),
			session(strings.Repeat("A", 26)), session(strings.Repeat("a", 8<<10)), session("%00"), session("\xff\xfe"),
			func(t target) script {
				return asIs(t.bare("DELETE", "/mcp").with("Mcp-Session-Id", "AAAAAAAAAAAAAAAAAAAAAAAAAA"))
			},
			func(t target) script {
				return asIs(t.bare("GET", "/mcp").with("Mcp-Session-Id", "AAAAAAAAAAAAAAAAAAAAAAAAAA"))
			},
		)},
		{name: "no session, where the revision wants one", want: []string{"400", "405"}, script: oneOf(
			session(""),
			func(t target) script { return asIs(t.bare("GET", "/mcp")) },
			func(t target) script { return asIs(t.bare("GET", "/mcp").with("MCP-Protocol-Version", "2025-11-25")) },
			func(t target) script { return asIs(t.bare("GET", "/mcp").with("Last-Event-ID", "1")) },
			func(t target) script { return asIs(t.bare("DELETE", "/mcp")) },
		)},
	}
}
