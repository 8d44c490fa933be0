package server_test

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolcrib/server"
)

// TestHTTPRefusals lists what is refused, with its status and, where there is
// one, the code of the error. Each is also followed by a request that is
// answered: nothing that is refused may harm the next.
func TestHTTPRefusals(t *testing.T) {
	modern := eras()[1]
	call := modern.call("1", "echo", `"text":"hi"`, "")
	deep := strings.Repeat("[", 200_000)
	for _, c := range []struct {
		name    string
		method  string // "" = POST
		path    string // "" = the endpoint
		message string // "" = call
		headers headers
		status  int
		code    int // 0 = not looked at
	}{
		{name: "as it should be", status: 200},
		{name: "host with another port", headers: headers{"Host": "localhost:1"}, status: 200},
		{name: "IPv6 host", headers: headers{"Host": "[::1]:8080"}, status: 200},
		{name: "named host", headers: headers{"Host": "tools.example"}, status: 200},
		{name: "foreign host", headers: headers{"Host": "evil.example"}, status: 403},
		{name: "look-alike host", headers: headers{"Host": "localhost.evil.example"}, status: 403},
		{name: "address of another machine", headers: headers{"Host": "10.0.0.1:8080"}, status: 403},
		{name: "foreign host elsewhere", path: "/other", headers: headers{"Host": "evil.example"}, status: 403},
		{name: "own origin", headers: headers{"Origin": "http://127.0.0.1:8080"}, status: 200},
		{name: "origin of this machine", headers: headers{"Origin": "http://localhost:3000"}, status: 200},
		{name: "named origin", headers: headers{"Origin": "https://app.example"}, status: 200},
		{name: "null origin", headers: headers{"Origin": "null"}, status: 403},
		{name: "foreign origin", headers: headers{"Origin": "https://evil.example"}, status: 403},
		{name: "look-alike origin", headers: headers{"Origin": "http://localhost.evil.example"}, status: 403},
		{name: "origin with a user", headers: headers{"Origin": "http://localhost@evil.example"}, status: 403},
		{name: "origin with a hidden host", headers: headers{"Origin": "http://evil@localhost"}, status: 403},
		{name: "origin with a path", headers: headers{"Origin": "http://localhost/evil"}, status: 403},
		{name: "origin of an extension", headers: headers{"Origin": "chrome-extension://abc"}, status: 403},
		{name: "prefix of a named origin", headers: headers{"Origin": "https://app.example.evil"}, status: 403},
		{name: "GET of a foreign origin", method: http.MethodGet, headers: headers{"Origin": "https://evil.example"}, status: 403},
		{name: "no token", headers: headers{"Authorization": ""}, status: 401},
		{name: "wrong token", headers: headers{"Authorization": "Bearer " + testToken + "0"}, status: 401},
		{name: "another scheme", headers: headers{"Authorization": "Basic " + testToken}, status: 401},
		{name: "no token for a body too large", message: strings.Repeat(" ", 17<<20), headers: headers{"Authorization": ""}, status: 401},
		{name: "another path", path: "/", status: 404},
		{name: "PUT", method: http.MethodPut, status: 405},
		{name: "OPTIONS of nobody named", method: http.MethodOptions, headers: headers{"Origin": "http://localhost:3000"}, status: 405},
		{name: "GET in the stateless era", method: http.MethodGet, headers: headers{"Mcp-Protocol-Version": "2026-07-28"}, status: 405},
		{name: "DELETE in the stateless era", method: http.MethodDelete, headers: headers{"Mcp-Protocol-Version": "2026-07-28"}, status: 405},
		{name: "GET that takes no events", method: http.MethodGet, headers: headers{"Accept": "application/json"}, status: 406},
		{name: "nothing is accepted", headers: headers{"Accept": "text/html"}, status: 406},
		{name: "anything is accepted", headers: headers{"Accept": "*/*"}, status: 200},
		{name: "text", headers: headers{"Content-Type": "text/plain"}, status: 415},
		{name: "no content type", headers: headers{"Content-Type": ""}, status: 415},
		{name: "another charset", headers: headers{"Content-Type": "application/json; charset=latin1"}, status: 415},
		{name: "a charset that is right", headers: headers{"Content-Type": "application/json; charset=UTF-8"}, status: 200},
		{name: "compressed", headers: headers{"Content-Encoding": "gzip"}, status: 415},
		{name: "no JSON", message: "{", status: 400, code: -32700},
		{name: "nothing", message: " ", status: 400, code: -32700},
		{name: "deep", message: deep, status: 400, code: -32700},
		{name: "not UTF-8", message: "\"\xff\"", status: 400, code: -32700},
		{name: "key that appears twice", message: `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, status: 400, code: -32600},
		{name: "GET without a session", method: http.MethodGet, status: 400},
		{name: "ping without a session", message: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, status: 400, code: -32600},
		{name: "batch without a session", message: `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, status: 400, code: -32600},
		{name: "batch in the stateless era", message: "[" + call + "]", headers: headers{"Mcp-Protocol-Version": "2026-07-28"}, status: 400, code: -32600},
		{name: "forged session", message: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, headers: headers{"Mcp-Session-Id": "forged"}, status: 404, code: -32600},
		{name: "DELETE of a forged session", method: http.MethodDelete, headers: headers{"Mcp-Session-Id": "forged"}, status: 404},
		{name: "revision that does not exist", message: strings.ReplaceAll(call, "2026-07-28", "v999"), status: 400, code: -32022},
		{name: "old revision that does not exist", message: strings.ReplaceAll(call, "2026-07-28", "1999-01-01"), status: 400, code: -32022},
		{name: "revision that does not exist, and no method", message: strings.ReplaceAll(call, "2026-07-28", "v999"), headers: headers{"Mcp-Method": ""}, status: 400, code: -32022},
		{name: "revision that exists only in the header", message: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, headers: headers{"Mcp-Protocol-Version": "v999"}, status: 400, code: -32022},
		{name: "revision that only the body names", headers: headers{"Mcp-Protocol-Version": ""}, status: 400, code: -32020},
		{name: "revision that only the header names", message: `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`, headers: headers{"Mcp-Protocol-Version": "2026-07-28"}, status: 400, code: -32602},
		{name: "two revisions", headers: headers{"Mcp-Protocol-Version": "2025-11-25"}, status: 400, code: -32020},
		{name: "no method", headers: headers{"Mcp-Method": ""}, status: 400, code: -32020},
		{name: "another method", headers: headers{"Mcp-Method": "tools/list"}, status: 400, code: -32020},
		{name: "method in another case", headers: headers{"Mcp-Method": "TOOLS/CALL"}, status: 400, code: -32020},
		{name: "no name", headers: headers{"Mcp-Name": ""}, status: 400, code: -32020},
		{name: "another name", headers: headers{"Mcp-Name": "wipe"}, status: 400, code: -32020},
		{name: "encoded name", headers: headers{"Mcp-Name": "=?base64?ZWNobw==?="}, status: 200},
		{name: "damaged name", headers: headers{"Mcp-Name": "=?base64?ZWNobw?="}, status: 400, code: -32020},
		{name: "no capabilities", message: strings.Replace(call, `"io.modelcontextprotocol/clientCapabilities":{}`, `"a":1`, 1), status: 400, code: -32602},
		{name: "unknown method", message: modern.request("1", "no/such", "", ""), status: 404, code: -32601},
		{name: "initialize in the stateless era", message: modern.request("1", "initialize", "", ""), status: 404, code: -32601},
		{name: "ping in the stateless era", message: modern.request("1", "ping", "", ""), status: 404, code: -32601},
		{name: "unknown tool", message: modern.call("1", "ecko", "", ""), status: 400, code: -32602},
		{name: "response that nobody waits for", message: `{"jsonrpc":"2.0","id":"ask-1","result":{}}`, headers: headers{"Mcp-Protocol-Version": "2026-07-28"}, status: 400},
		{name: "notification", message: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`, headers: headers{"Mcp-Protocol-Version": "2026-07-28"}, status: 202},
	} {
		t.Run(c.name, func(t *testing.T) {
			told := make(chan server.Refusal, 1)
			w := serveHTTP(t, newServer(t, func(o *server.Options) { o.Refused = func(r server.Refusal) { told <- r } }), server.HTTP{Auth: gate(t), Hosts: []string{"tools.example"}, Origins: []string{"https://app.example"}})
			message := c.message
			if message == "" && (c.method == "" || c.method == http.MethodPut) {
				message = call
			}
			h := modernHeaders(message)
			maps.Copy(h, c.headers)
			if c.method == "" {
				c.method = http.MethodPost
			}
			req := w.request(t.Context(), c.method, message, h)
			if c.path != "" {
				req.URL.Path = c.path
			}
			res, err := w.http.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != c.status {
				t.Errorf("status %d, want %d: %s", res.StatusCode, c.status, body)
			}
			close(told)
			r := <-told
			if refused := c.status == http.StatusUnauthorized || c.status == http.StatusForbidden; refused && (r.Status != c.status || r.Why == "" || r.From == "") || !refused && r.Status != 0 {
				t.Errorf("told of %+v", r)
			}
			var answer struct {
				JSONRPC string
				Error   *struct {
					Code    int
					Message string
				}
			}
			if err := json.Unmarshal(body, &answer); c.status >= 400 && (err != nil || answer.Error == nil || answer.Error.Message == "") {
				t.Errorf("no error that says what to do: %q, %v", body, err)
			}
			if c.code != 0 && answer.Error != nil && answer.Error.Code != c.code {
				t.Errorf("code %d, want %d: %s", answer.Error.Code, c.code, answer.Error.Message)
			}
			if res, messages := w.post(call, nil); res.StatusCode != http.StatusOK || len(messages) != 1 {
				t.Errorf("the next call: %d %q", res.StatusCode, messages)
			}
		})
	}
}

// TestCrossOrigin lets the pages of a named origin read answers, and no others.
func TestCrossOrigin(t *testing.T) {
	w := serveHTTP(t, newServer(t), server.HTTP{Auth: gate(t), Origins: []string{"https://app.example"}})
	for origin, allowed := range map[string]string{"https://app.example": "https://app.example", "http://localhost:3000": "", "": ""} {
		res, _ := w.post(eras()[1].call("1", "echo", `"text":"hi"`, ""), headers{"Origin": origin})
		if got := res.Header.Get("Access-Control-Allow-Origin"); got != allowed {
			t.Errorf("answer for %q: %q", origin, got)
		}
	}
	res, err := w.http.Do(w.request(t.Context(), http.MethodOptions, "", headers{
		"Origin": "https://app.example", "Authorization": "", "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,mcp-name",
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got := res.Header.Get("Access-Control-Allow-Headers"); res.StatusCode != http.StatusNoContent || got != "authorization,mcp-name" {
		t.Errorf("preflight: %d, %q", res.StatusCode, got)
	}
}

// TestBodyLimit sends bodies at the limit and a byte over it, with their length
// said and not.
func TestBodyLimit(t *testing.T) {
	w := serveHTTP(t, newServer(t), server.HTTP{})
	for _, size := range []int{100, 8 << 10, 8<<10 + 1, 300 << 10, server.MaxLine, server.MaxLine + 1} {
		for _, chunked := range []bool{false, true} {
			message := eras()[1].call("1", "echo", `"text":"hi"`, "")
			body := message + strings.Repeat(" ", max(size-len(message), 0))
			req := w.request(t.Context(), http.MethodPost, body, modernHeaders(message))
			if chunked {
				req.ContentLength = -1
				req.Body = io.NopCloser(struct{ io.Reader }{strings.NewReader(body)})
			}
			res, err := w.http.Do(req)
			if err != nil {
				t.Fatalf("%d bytes, chunked %t: %v", size, chunked, err)
			}
			res.Body.Close()
			want := http.StatusOK
			if size > server.MaxLine {
				want = http.StatusRequestEntityTooLarge
			}
			if res.StatusCode != want {
				t.Errorf("%d bytes, chunked %t: status %d, want %d", size, chunked, res.StatusCode, want)
			}
		}
	}
}

// TestSlow has somebody send his headers, and his body, too slowly.
func TestSlow(t *testing.T) {
	for _, c := range []struct {
		name, head string
		after      time.Duration
		status     int // 0 = the connection is closed
	}{
		{"headers", "POST /mcp HTTP/1.1\r\nHost: localhost\r\n", 5 * time.Second, 0},
		{"body", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", 30 * time.Second, 408},
		{"nothing", "", 2 * time.Minute, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := serveHTTP(t, newServer(t), server.HTTP{})
				conn, err := w.pipes.dial(t.Context(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				begin := time.Now()
				if _, err := io.WriteString(conn, c.head); err != nil {
					t.Fatal(err)
				}
				res, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err == nil {
					defer res.Body.Close()
				}
				if took := time.Since(begin); took > c.after+2*time.Second {
					t.Errorf("after %s, want %s", took, c.after)
				}
				switch {
				case c.status == 0 && err == nil:
					t.Errorf("answered with %s", res.Status)
				case c.status != 0 && err != nil:
					t.Error(err)
				case c.status != 0 && res.StatusCode != c.status:
					t.Errorf("answered with %s", res.Status)
				}
			})
		})
	}
}

// TestAddresses binds to an address that other machines reach: there an address
// cannot have been rebound, but a name can.
func TestAddresses(t *testing.T) {
	p := newPipes()
	p.addr = &net.TCPAddr{IP: net.IPv4zero, Port: 8080}
	w := &site{tb: t, pipes: p, http: &http.Client{Transport: &http.Transport{DialContext: p.dial}}}
	go func() { _ = newServer(t).ServeStreamable(t.Context(), p, server.HTTP{Auth: gate(t)}) }()
	for host, status := range map[string]int{"192.0.2.7:8080": 200, "localhost": 200, "evil.example": 403} {
		res, messages := w.post(eras()[1].call("1", "echo", `"text":"hi"`, ""), headers{"Host": host})
		if res.StatusCode != status {
			t.Errorf("%s: %d %q", host, res.StatusCode, messages)
		}
	}
	w.http.CloseIdleConnections()
}
