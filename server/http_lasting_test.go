package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolcrib/server"
	"toolcrib/workspace"
)

// TestRefusedBody refuses requests whose bodies never come: none of them keeps
// its connection.
func TestRefusedBody(t *testing.T) {
	for _, head := range []string{
		"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n",
		"POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
		"GET /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n",
		"OPTIONS /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: https://app.example\r\nContent-Length: 100\r\n\r\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			w := serveHTTP(t, newServer(t), server.HTTP{Auth: gate(t), Origins: []string{"https://app.example"}})
			conn, err := w.pipes.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			begin := time.Now()
			if _, err := io.WriteString(conn, head); err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(conn)
			if res, err := http.ReadResponse(in, nil); err == nil {
				res.Body.Close()
			}
			if _, err := io.Copy(io.Discard, in); err != nil {
				t.Logf("the connection ended with %v", err)
			}
			if took := time.Since(begin); took > 35*time.Second {
				t.Errorf("%q: the connection was open for %s", head, took)
			}
		})
	}
}

// TestBatchOfEras refuses members of a batch that revision does not have, and
// answers the others.
func TestBatchOfEras(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newServer(t))
		c.send(strings.Replace(initialize, "2025-11-25", "2025-03-26", 1), initDone)
		legacy, modern := eras()[0], eras()[1]
		c.send(fmt.Sprintf("[%s,%s]", legacy.request("1", "ping", "", ""), modern.request("2", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "")))
		synctest.Wait()
		lines := c.take()
		if last := lines[len(lines)-1]; !strings.Contains(last, `"id":1,"result":{}`) || !strings.Contains(last, `"id":2,"error"`) {
			t.Errorf("%q", lines)
		}
	})
}

// TestRootsChangeWhileAsked tells of other roots while the first are asked for:
// reading goes on, and the answer to the later question counts.
func TestRootsChangeWhileAsked(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	ws, err := workspace.Open([]string{one, two}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	c := connect(t, newServer(t, with(where()), func(o *server.Options) { o.Workspace = ws }))
	c.fresh = make(chan string, 1)
	c.send(strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"roots":{}}`, 1), initDone)
	<-c.fresh
	c.send(eras()[0].call("1", "where", "", ""))
	first := readLine(t, <-c.fresh)
	c.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	tell := func(id any, dir string) {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[{"uri":"file://%s"}]}}`, id, dir))
	}
	tell(first.ID, one)
	second := readLine(t, <-c.fresh)
	if second.Method != "roots/list" {
		t.Fatalf("%+v", second)
	}
	tell(second.ID, two)
	if got := string(readLine(t, <-c.fresh).Result); !strings.Contains(got, `"text":"`+two+`"`) {
		t.Errorf("roots %s", got)
	}
	// A request of the stateless era is not asked, whatever came before it.
	c.send(eras()[1].call("2", "where", "", ""))
	if got := readLine(t, <-c.fresh); got.Method != "" || !strings.Contains(string(got.Result), one) {
		t.Errorf("%+v", got)
	}
}
