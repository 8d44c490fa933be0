package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"toolcrib/server/run"
	"toolcrib/server/telemetry"
	"toolcrib/tools"
)

// secret is in every place where a caller or a tool could have put one.
const secret = "hunter2-secret"

type in struct {
	Path string `json:"path,omitempty" path:"any" jsonschema_description:"a path"`
	Fail bool   `json:"fail,omitempty" jsonschema_description:"whether to fail"`
}

type out struct{ Say string }

func (o out) Text() string { return o.Say }

// toy is a tool that answers, or fails with an error that names its argument.
func toy() tools.Tool {
	return tools.New(tools.Def[in, out]{
		Name: "toy", Title: "Toy", Doc: "Plays.", Access: tools.Write, Effects: tools.State,
		Run: func(_ context.Context, in in) (out, error) {
			if in.Fail {
				return out{}, tools.Errorf(tools.Conflict, "%s is not what it was", in.Path)
			}
			return out{"played"}, nil
		},
	})
}

func call(t *testing.T, r *run.Runner, name, args string, trace run.Trace) {
	t.Helper()
	r.Run(t.Context(), run.Call{
		Tool: name, Args: json.RawMessage(args), Trace: trace,
		Session: tools.SessionInfo{Principal: secret, Client: tools.Client{Name: secret, Protocol: "2026-07-28"}},
	})
}

// collector is a server that takes what is exported.
type collector struct {
	*httptest.Server
	// answer says how a request is answered; nil = it is taken.
	answer func(w http.ResponseWriter, r *http.Request)

	mu     sync.Mutex
	bodies map[string][][]byte // by path
	header http.Header         // of the last request
}

func collect(t *testing.T) *collector {
	c := &collector{bodies: map[string][][]byte{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		c.bodies[r.URL.Path], c.header = append(c.bodies[r.URL.Path], body), r.Header
		c.mu.Unlock()
		if c.answer != nil {
			c.answer(w, r)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// taken returns the bodies that came to a path.
func (c *collector) taken(path string) [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bodies[path]
}

// environ is an environment.
type environ map[string]string

func (e environ) get(name string) string { return e[name] }

// exported runs the calls of play with an exporter that these variables set up, and
// returns what was logged.
func exported(t *testing.T, env environ, play func(r *run.Runner)) string {
	t.Helper()
	opt, err := telemetry.FromEnv(env.get, "v1")
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	e := telemetry.NewExporter(opt, true, slog.New(slog.NewTextHandler(&log, nil)))
	r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{toy()}}, Observe: e.Observer()})
	e.Export(telemetry.Sources{Version: "v1", Started: time.Now(), Stats: r.Stats, Spans: e.Tracer()})
	play(r)
	e.Close()
	return log.String()
}
