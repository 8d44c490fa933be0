package server_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"toolcrib/server"
	"toolcrib/tools"
)

// waiting is a tool that tells when it runs and when it was cancelled, and
// otherwise ends after a time.
func waiting(lasts time.Duration) (tool tools.Tool, running, cancelled *atomic.Int32) {
	running, cancelled = new(atomic.Int32), new(atomic.Int32)
	return tools.New(tools.Def[nothingIn, textOut]{
		Name: "await", Title: "Await", Doc: "Waits.", Access: tools.Write, Effects: tools.State, Timeout: time.Hour,
		Run: func(ctx context.Context, _ nothingIn) (textOut, error) {
			running.Add(1)
			defer running.Add(-1)
			select {
			case <-ctx.Done():
				cancelled.Add(1)
				return textOut{}, ctx.Err()
			case <-time.After(lasts):
				return textOut{"waited"}, nil
			}
		},
	}), running, cancelled
}

func with(ts ...tools.Tool) func(*server.Options) {
	return func(o *server.Options) { o.Hidden = append(o.Hidden, ts...) }
}

// TestHTTPSession goes through the life of a session.
func TestHTTPSession(t *testing.T) {
	w := serveHTTP(t, newServer(t), server.HTTP{Auth: gate(t)})
	session := w.hello(`{}`)
	legacy := eras()[0]
	for _, c := range []struct {
		message string
		h       headers
		status  int
		want    string
	}{
		{legacy.request("1", "ping", "", ""), session, 200, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{legacy.call("2", "echo", `"text":"hi"`, ""), session, 200, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"hi"}]}}`},
		{legacy.call("3", "echo", `"text":"hi"`, ""), headers{"Mcp-Session-Id": session["Mcp-Session-Id"], "Mcp-Protocol-Version": ""}, 200, `"hi"`},
		{legacy.call("4", "ecko", ``, ""), session, 200, `did you mean \"echo\"`},
		{initDone, session, 202, ""},
		{`{"jsonrpc":"2.0","id":"ask-9","result":{}}`, session, 202, ""},
		{`[` + legacy.request("5", "ping", "", "") + `]`, session, 400, "2025-03-26"},
	} {
		res, messages := w.post(c.message, c.h)
		if got := strings.Join(messages, "\n"); res.StatusCode != c.status || !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s\n%d %s", c.message, res.StatusCode, got)
		}
	}
	res, err := w.http.Do(w.request(t.Context(), http.MethodDelete, "", session))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusNoContent {
		t.Errorf("DELETE: %d", res.StatusCode)
	}
	if res, messages := w.post(legacy.request("6", "ping", "", ""), session); res.StatusCode != http.StatusNotFound {
		t.Errorf("after DELETE: %d %q", res.StatusCode, messages)
	}
}

// TestHTTPBatch sends an array in the revision that has them.
func TestHTTPBatch(t *testing.T) {
	w := serveHTTP(t, newServer(t), server.HTTP{Auth: gate(t)})
	res, _ := w.post(strings.Replace(initialize, "2025-11-25", "2025-03-26", 1), nil)
	session := headers{"Mcp-Session-Id": res.Header.Get("Mcp-Session-Id")}
	legacy := eras()[0]
	_, messages := w.post(fmt.Sprintf("[%s,%s,%s]", legacy.request("1", "ping", "", ""), initDone, legacy.call("2", "echo", `"text":"hi"`, "")), session)
	want := `[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"hi"}]}}]`
	if len(messages) != 1 || messages[0] != want {
		t.Errorf("%q", messages)
	}
	if res, messages := w.post("["+initDone+"]", session); res.StatusCode != http.StatusAccepted || len(messages) > 0 {
		t.Errorf("notifications alone: %d %q", res.StatusCode, messages)
	}
	// A reader of the headers alone must not take it for something else.
	for version, status := range map[string]int{"2025-03-26": http.StatusOK, "2026-07-28": http.StatusBadRequest, "1999-01-01": http.StatusBadRequest, "v999": http.StatusBadRequest} {
		res, messages := w.post("["+legacy.request("3", "ping", "", "")+"]", merge(session, headers{"Mcp-Protocol-Version": version}))
		if refused := len(messages) == 1 && strings.Contains(messages[0], `"code":-32600`); res.StatusCode != status || refused != (status != http.StatusOK) {
			t.Errorf("under a header of revision %s: %d %q", version, res.StatusCode, messages)
		}
	}
}

// TestHTTPProgress wants every event of a call before its answer, in order, and
// the answer as the last message.
func TestHTTPProgress(t *testing.T) {
	w := serveHTTP(t, newServer(t), server.HTTP{Auth: gate(t)})
	session := w.hello(`{}`)
	for _, e := range eras() {
		h := session
		if e.meta != "" {
			h = nil
		}
		for i := range 50 {
			_, messages := w.post(e.call("1", "steps", `"n":5`, fmt.Sprintf(`"progressToken":%d`, i)), h)
			if len(messages) != 6 {
				t.Fatalf("%s: %q", e.name, messages)
			}
			for n, message := range messages[:5] {
				if m := readLine(t, message); m.Params.Progress != float64(n+1) || string(m.Params.Token) != fmt.Sprint(i) {
					t.Errorf("%s: event %d is %s", e.name, n, message)
				}
			}
		}
		_, messages := w.post(e.call("1", "steps", `"n":5`, `"progressToken":1`), merge(h, headers{"Accept": "application/json"}))
		if len(messages) != 1 || !strings.Contains(messages[0], "done") {
			t.Errorf("%s, without events: %q", e.name, messages)
		}
		res, messages := w.post(e.call("1", "echo", `"text":"hi"`, ""), merge(h, headers{"Accept": "text/event-stream"}))
		if len(messages) != 1 || res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("X-Accel-Buffering") != "no" {
			t.Errorf("%s, only events: %q %q", e.name, res.Header, messages)
		}
	}
}

func merge(a, b headers) headers {
	all := headers{}
	for _, h := range []headers{a, b} {
		maps.Copy(all, h)
	}
	return all
}

// TestHTTPDisconnect drops the connection of a running call.
func TestHTTPDisconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool, running, cancelled := waiting(time.Hour)
		w := serveHTTP(t, newServer(t, with(tool)), server.HTTP{Auth: gate(t)})
		session := w.hello(`{}`)
		for i, e := range eras() {
			ctx, drop := context.WithCancel(t.Context())
			message := e.call("1", "await", "", "")
			h := merge(modernHeaders(message), nil)
			if e.meta == "" {
				h = session
			}
			go func() {
				if res, err := w.http.Do(w.request(ctx, http.MethodPost, message, h)); err == nil {
					res.Body.Close()
				}
			}()
			synctest.Wait()
			if running.Load() != 1 {
				t.Fatalf("%s: %d calls run", e.name, running.Load())
			}
			drop()
			synctest.Wait()
			time.Sleep(time.Second)
			if running.Load() != 0 || int(cancelled.Load()) != i+1 {
				t.Errorf("%s: %d calls run, %d were cancelled", e.name, running.Load(), cancelled.Load())
			}
		}
	})
}

// TestHTTPCancel cancels a call by a notification: its answer ends without a
// message.
func TestHTTPCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool, _, cancelled := waiting(time.Hour)
		w := serveHTTP(t, newServer(t, with(tool)), server.HTTP{Auth: gate(t)})
		session := w.hello(`{}`)
		ended := make(chan []string)
		go func() {
			_, messages := w.post(eras()[0].call("7", "await", "", ""), session)
			ended <- messages
		}()
		synctest.Wait()
		w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, session)
		if messages := <-ended; len(messages) > 0 || cancelled.Load() != 1 {
			t.Errorf("%q after %d cancelled calls", messages, cancelled.Load())
		}
	})
}

// TestHTTPAsk asks the user in the middle of a call of a session: the question
// goes out on the stream of the call, the answer comes as a message of its own.
func TestHTTPAsk(t *testing.T) {
	w := serveHTTP(t, newServer(t), server.HTTP{Auth: gate(t)})
	session := w.hello(`{"elicitation":{}}`)
	res := w.open(t.Context(), eras()[0].call("1", "greet", "", ""), session)
	var messages []string
	for message := range events(res.Body) {
		messages = append(messages, message)
		if m := readLine(t, message); m.Method == "elicitation/create" {
			answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"name":"Ann"}}}`, m.ID)
			if res, _ := w.post(answer, session); res.StatusCode != http.StatusAccepted {
				t.Errorf("the answer: %d", res.StatusCode)
			}
		}
	}
	if len(messages) != 2 || !strings.Contains(messages[1], `accept \"Ann\"`) {
		t.Errorf("%q", messages)
	}
	_, messages = w.post(eras()[0].call("2", "greet", "", ""), merge(session, headers{"Accept": "application/json"}))
	if len(messages) != 1 || !strings.Contains(messages[0], "cancel") {
		t.Errorf("a client that takes no events: %q", messages)
	}
}

// TestHTTPNews tells of a changed list: a session on its GET stream, of which the
// newest counts, and a listener of the stateless era on its own.
func TestHTTPNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		w := serveHTTP(t, s, server.HTTP{Auth: gate(t)})
		session := w.hello(`{}`)
		streams := map[string]*[]string{}
		open := func(name string, req *http.Request) {
			res, err := w.http.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != http.StatusOK {
				t.Fatalf("%s: %d", name, res.StatusCode)
			}
			heard := new([]string)
			streams[name] = heard
			go func() {
				defer res.Body.Close()
				for message := range events(res.Body) {
					*heard = append(*heard, message)
				}
				*heard = append(*heard, "end")
			}()
			synctest.Wait()
		}
		open("old", w.request(t.Context(), http.MethodGet, "", session))
		open("new", w.request(t.Context(), http.MethodGet, "", session))
		listen := eras()[1].request(`"l"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "")
		open("listener", w.request(t.Context(), http.MethodPost, listen, modernHeaders(listen)))
		listed, hidden := toys()
		if err := s.SetTools(listed[:2], hidden, nil, nil, nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(16 * time.Second)
		w.stop()
		synctest.Wait()
		for name, want := range map[string][]string{
			"old":      {"end"},
			"new":      {"notifications/tools/list_changed", ": alive", "end"},
			"listener": {"notifications/subscriptions/acknowledged", "notifications/tools/list_changed", ": alive", `"id":"l"`, "end"},
		} {
			got := *streams[name]
			if !slices.EqualFunc(got, want, strings.Contains) {
				t.Errorf("%s: %q", name, got)
			}
		}
	})
}

// TestHTTPAlive says that a long call is alive.
func TestHTTPAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool, _, _ := waiting(40 * time.Second)
		w := serveHTTP(t, newServer(t, with(tool)), server.HTTP{Auth: gate(t)})
		_, messages := w.post(eras()[1].call("1", "await", "", ""), nil)
		if len(messages) != 3 || messages[0] != ": alive" || messages[1] != ": alive" || !strings.Contains(messages[2], "waited") {
			t.Errorf("%q", messages)
		}
		_, messages = w.post(eras()[1].call("1", "await", "", ""), headers{"Accept": "application/json"})
		if len(messages) != 1 || !strings.Contains(messages[0], "waited") {
			t.Errorf("without events: %q", messages)
		}
	})
}

// TestHTTPShutdown lets a running call end, but not for ever, and takes no other.
func TestHTTPShutdown(t *testing.T) {
	for lasts, want := range map[time.Duration]string{5 * time.Second: "waited", time.Hour: "cancelled"} {
		synctest.Test(t, func(t *testing.T) {
			tool, running, _ := waiting(lasts)
			w := serveHTTP(t, newServer(t, with(tool)), server.HTTP{Auth: gate(t)})
			answers := make(chan []string, 1)
			go func() {
				_, messages := w.post(eras()[1].call("1", "await", "", ""), nil)
				answers <- messages
			}()
			synctest.Wait()
			begin := time.Now()
			w.stop()
			if err := <-w.done; err != nil {
				t.Error(err)
			}
			w.done <- nil
			if took := time.Since(begin); took > 11*time.Second {
				t.Errorf("the shutdown took %s", took)
			}
			if messages := <-answers; len(messages) != 1 || !strings.Contains(messages[0], want) || running.Load() != 0 {
				t.Errorf("a call of %s: %q, %d run", lasts, messages, running.Load())
			}
		})
	}
}

// TestHTTPSessionsEnd lets sessions pass their time and their number.
func TestHTTPSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveHTTP(t, newServer(t), server.HTTP{Auth: gate(t), SessionIdle: time.Minute})
		ping := func(session headers) int {
			res, _ := w.post(eras()[0].request("1", "ping", "", ""), session)
			return res.StatusCode
		}
		used, idle, followed := w.hello(`{}`), w.hello(`{}`), w.hello(`{}`)
		res, err := w.http.Do(w.request(t.Context(), http.MethodGet, "", followed))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		go func() {
			for range events(res.Body) { // read, or the connection would break
			}
		}()
		for range 5 {
			time.Sleep(40 * time.Second)
			if got := ping(used); got != http.StatusOK {
				t.Fatalf("a session in use: %d", got)
			}
		}
		if got := ping(idle); got != http.StatusNotFound {
			t.Errorf("a session that was not used: %d", got)
		}
		if got := ping(followed); got != http.StatusOK {
			t.Errorf("a session with an open stream: %d", got)
		}
		for range server.MaxSessions - 1 {
			w.hello(`{}`)
		}
		if got := ping(used); got != http.StatusNotFound {
			t.Errorf("the session unused for longest, when there are too many: %d", got)
		}
		if got := ping(followed); got != http.StatusOK {
			t.Errorf("a session in use, when there are too many: %d", got)
		}
	})
}

// TestHTTPSessionHoldsLittle: a client that opens session after session, and says much of
// itself, has the server keep little of that.
func TestHTTPSessionHoldsLittle(t *testing.T) {
	w := serveHTTP(t, newServer(t), server.HTTP{Auth: gate(t)})
	post := func(message string, h headers) (session string) {
		res, err := w.http.Do(w.request(t.Context(), http.MethodPost, message, h))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode/100 != 2 {
			t.Fatalf("status %d, %v", res.StatusCode, err)
		}
		return res.Header.Get("Mcp-Session-Id")
	}
	long := strings.Repeat("x", 16<<10)
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"experimental":{"x":"` + long +
		`"},"extensions":{"y":["` + long + `"]}},"clientInfo":{"name":"` + long + `","version":"` + long + `"}}}`
	open := func() { post(initDone, headers{"Mcp-Session-Id": post(hello, nil)}) }
	open()
	heap, goroutines := heapOf(), runtime.NumGoroutine()
	const n = 200
	for range n {
		open()
	}
	after, running := heapOf(), runtime.NumGoroutine()
	if each := (after - heap) / n; each > 4<<10 {
		t.Errorf("a session holds %d bytes", each)
	}
	if running > goroutines+n/10 {
		t.Errorf("%d goroutines more for %d sessions", running-goroutines, n)
	}
}

// heapOf is what lives in this process, in bytes.
func heapOf() int {
	runtime.GC()
	runtime.GC() // what pools hold is let go by the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestLargeBodyIsLetGo: the memory for a large message is not kept for ever.
func TestLargeBodyIsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveHTTP(t, newServer(t), server.HTTP{Auth: gate(t)})
		time.Sleep(time.Hour)
		before := heapOf()
		if res, _ := w.post(strings.Repeat(" ", 1<<20)+initDone, nil); res.StatusCode != http.StatusBadRequest {
			t.Errorf("status %d", res.StatusCode)
		}
		time.Sleep(2 * time.Minute)
		if more := heapOf() - before; more > 8<<20 {
			t.Errorf("%d bytes are kept", more)
		}
	})
}
