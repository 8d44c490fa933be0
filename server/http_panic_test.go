package server_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"toolcrib/server"
	"toolcrib/server/run"
	"toolcrib/tools"
)

// trap is a log that panics at the first record with a message: a crash at a
// place where no tool is to blame.
type trap struct {
	slog.Handler
	message string
	sprung  atomic.Bool
}

func (h *trap) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == h.message && !h.sprung.Swap(true) {
		panic("trapped: " + r.Message)
	}
	return h.Handler.Handle(ctx, r)
}

// logText is what was logged so far.
type logText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// trapped makes a server whose log is a trap, and returns what it logs.
func trapped(t *testing.T, message string) (*server.Server, *logText) {
	log := new(logText)
	s := newServer(t, func(o *server.Options) {
		o.Log = slog.New(&trap{Handler: slog.NewTextHandler(log, nil), message: message})
	})
	return s, log
}

// TestHTTPPanic has the transport crash: before anything is sent the client gets
// an error, after that it sees that the answer is cut off.
func TestHTTPPanic(t *testing.T) {
	for _, c := range []struct {
		name   string
		events int
		status int
	}{
		{"before the answer", 0, http.StatusInternalServerError},
		{"after events", 2, http.StatusOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, log := trapped(t, "panic") // which a crash logs
			s.SetRunner(func(_ context.Context, call run.Call) run.Outcome {
				for i := range c.events {
					call.Progress(tools.ProgressEvent{Done: float64(i + 1)})
				}
				panic("crash")
			})
			w := serveHTTP(t, s, server.HTTP{Auth: gate(t)})
			res := w.open(t.Context(), eras()[1].call("1", "steps", `"n":5`, `"progressToken":1`), nil)
			body, err := io.ReadAll(res.Body)
			if res.StatusCode != c.status || strings.Count(string(body), "event: message\n") != c.events {
				t.Errorf("%d %s", res.StatusCode, body)
			}
			if told := strings.Contains(string(body), "internal error"); told != (c.events == 0) {
				t.Errorf("error told: %t: %s", told, body)
			}
			if cut := err != nil; cut != (c.events > 0) {
				t.Errorf("the body ended with %v", err)
			}
			if got := log.String(); !strings.Contains(got, "trapped: panic") {
				t.Errorf("log: %s", got)
			}
		})
	}
}

// TestLearnRootsPanic has the server crash while it asks for the roots outside a
// request: it goes on, and asks again with the next.
func TestLearnRootsPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := trapped(t, "the client did not tell its roots; nothing is narrowed")
		w := serveHTTP(t, s, server.HTTP{Auth: gate(t)})
		session := w.hello(`{"roots":{}}`)
		res, err := w.http.Do(w.request(t.Context(), http.MethodGet, "", session))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		for message := range events(res.Body) {
			m := readLine(t, message)
			if m.Method != "roots/list" {
				t.Fatalf("%s", message)
			}
			w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"no"}}`, m.ID), session)
			break
		}
		res = w.open(t.Context(), eras()[0].call("1", "echo", `"text":"hi"`, ""), session)
		var got []string
		for message := range events(res.Body) {
			got = append(got, message)
			if m := readLine(t, message); m.Method == "roots/list" {
				w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[]}}`, m.ID), session)
			}
		}
		if len(got) != 2 || !strings.Contains(got[0], "roots/list") || !strings.Contains(got[1], `"hi"`) {
			t.Errorf("%q", got)
		}
		synctest.Wait()
		if got := log.String(); !strings.Contains(got, "trapped: the client did not tell") {
			t.Errorf("log: %s", got)
		}
	})
}
