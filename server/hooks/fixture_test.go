package hooks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"toolcrib/server/hooks"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/workspace/redact"
)

// In is what the tools of these tests take.
type In struct {
	Path string   `json:"path,omitempty" path:"any" jsonschema_description:"a path"`
	Text string   `json:"text,omitempty" jsonschema_description:"a text"`
	List []string `json:"list,omitempty" jsonschema_description:"a list"`
	N    int      `json:"n,omitempty" jsonschema:"minimum=0,maximum=10" jsonschema_description:"a number"`
}

// Out tells what the tool was given.
type Out struct{ In }

func (o Out) Text() string {
	data, err := json.Marshal(o.In)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func tool(name string, a tools.Access, e tools.Effects) tools.Tool {
	return tools.New(tools.Def[In, Out]{
		Name: name, Title: "Test " + name, Doc: "Does a thing.", Access: a, Effects: e,
		Run: func(_ context.Context, in In) (Out, error) {
			if in.Text == "fail" {
				return Out{}, tools.Errorf(tools.NotFound, "no such thing")
			}
			return Out{in}, nil
		},
	})
}

func catalog() []tools.Tool {
	return []tools.Tool{
		tool("look", tools.Read, tools.None), tool("write", tools.Write, tools.Workspace), tool("write_all", tools.Write, tools.Workspace|tools.Destroys),
	}
}

// journal is a log that may be read while it is written.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

// fixture is a runner with hooks of a configuration.
type fixture struct {
	*run.Runner
	log *journal
}

func options(log *slog.Logger, r *redact.Redactor) hooks.Options {
	return hooks.Options{Tools: catalog(), Environ: os.Environ(), LookPath: exec.LookPath, Redactor: r, Log: log}
}

func start(t *testing.T, specs ...hooks.Spec) fixture {
	t.Helper()
	j := &journal{}
	r := redact.New([]string{"the-known-secret"})
	log := slog.New(r.Handler(slog.NewTextHandler(j, nil)))
	h, err := hooks.New(specs, options(log, r))
	if err != nil {
		t.Fatal(err)
	}
	return fixture{run.New(run.Config{Settings: run.Settings{Tools: catalog(), Hooks: h}, Log: log}), j}
}

var askable = tools.SessionInfo{Principal: "someone", Client: tools.Client{Name: "test", Version: "1", Forms: true}}

func (f fixture) call(t *testing.T, name, args string) run.Outcome {
	t.Helper()
	return f.Run(t.Context(), run.Call{Tool: name, Args: json.RawMessage(args), Session: askable})
}

// ending returns the text of an outcome.
func ending(out run.Outcome) string {
	switch {
	case out.Err != nil:
		return out.Err.Error()
	case out.Ask != nil:
		return "asked: " + out.Ask.Forms["consent"].Message
	}
	var b strings.Builder
	for _, block := range out.Result.Content {
		b.WriteString(block.Text)
	}
	return b.String()
}

// script makes an executable of a shell script.
func script(t *testing.T, body string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs: sh")
	}
	file := filepath.Join(t.TempDir(), "hook.sh")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

func says(t *testing.T, answer string) []string {
	t.Helper()
	return []string{script(t, "cat >/dev/null; printf '%s' \"$1\""), answer}
}
