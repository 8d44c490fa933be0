//go:build unix

package hooks_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server/hooks"
	"toolcrib/server/run"
)

func TestDecisions(t *testing.T) {
	for _, tc := range []struct{ name, answer, want string }{
		{"allow", `{"decision":"allow"}`, `{"n":1}`},
		{"allow with a reason", `{"decision":"allow","reason":"fine","arguments":null}`, `{"n":1}`},
		{"arguments", `{"decision":"allow","arguments":{"n":7}}`, `{"n":7}`},
		{"deny", `{"decision":"deny","reason":"not on Sundays","hint":"wait"}`, "denied: look: not on Sundays (hook guard) (wait)"},
		{"deny without a reason", `{"decision":"deny"}`, "denied: look: denied (hook guard)"},
		{"ask", `{"decision":"ask","reason":"really?"}`, "asked: really?"},
		{"ask without a reason", `{"decision":"ask"}`, `asked: Test look: the hook guard wants your consent. Arguments: {"n":1}`},
		{"skip", `{"decision":"skip","result":{"text":"from the hook"}}`, "from the hook"},
		{"skip with a text", `{"decision":"skip","result":"from the hook"}`, "from the hook"},
		{"nothing", "", `{"n":1}`},
		{"spaces alone", " \n", `{"n":1}`},
		{"an empty object", `{}`, `{"n":1}`},
		{"arguments alone", `{"arguments":{"n":7}}`, `{"n":7}`},
		{"as Claude Code: allow", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"fine"}}`, `{"n":1}`},
		{"deny", `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"not on Sundays"}}`, "denied: look: not on Sundays (hook guard)"},
		{"ask", `{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"really?"}}`, "asked: really?"},
		{"updatedInput", `{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"n":7}}}`, `{"n":7}`},
		{"updatedInput alone", `{"hookSpecificOutput":{"updatedInput":{"n":7}}}`, `{"n":7}`},
		{"block", `{"decision":"block","reason":"not on Sundays"}`, "denied: look: not on Sundays (hook guard)"},
		{"approve", `{"decision":"approve"}`, `{"n":1}`},
		{"continue false", `{"continue":false,"stopReason":"enough"}`, "denied: look: enough (hook guard)"},
		{"continue true", `{"continue":true,"suppressOutput":true,"systemMessage":"hello"}`, `{"n":1}`},
		{"the stronger of both forms", `{"decision":"approve","hookSpecificOutput":{"permissionDecision":"deny"}}`, "denied: look: denied (hook guard)"},
		{"spaces", " \n{ \"decision\" : \"skip\", \"result\" : {\"text\":\"\"} }\n", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := start(t, hooks.Spec{Name: "guard", Event: "pre", Command: says(t, tc.answer)})
			if got := ending(f.call(t, "look", `{"n":1}`)); got != tc.want {
				t.Errorf("ended in %q, want %q; log %s", got, tc.want, f.log)
			}
			if log := f.log.String(); log != "" {
				t.Errorf("logged %s", log)
			}
		})
	}
}

// TestExitCode2 has commands that deny by their exit code, with the reason on stderr.
func TestExitCode2(t *testing.T) {
	for body, want := range map[string]string{
		`echo "not on Sundays" >&2; exit 2`: "denied: look: not on Sundays (hook guard)",
		`exit 2`:                            "denied: look: denied (hook guard)",
		`echo '{"decision":"allow"}'; echo no >&2; exit 2`: "denied: look: no (hook guard)",
	} {
		f := start(t, hooks.Spec{Name: "guard", Event: "pre", Command: []string{script(t, body)}})
		if got := ending(f.call(t, "look", `{"n":1}`)); got != want {
			t.Errorf("%s: ended in %q, want %q", body, got, want)
		}
	}
}

// TestHelp has the example of the help at work.
func TestHelp(t *testing.T) {
	help, err := os.ReadFile(filepath.FromSlash("../cli/help/hooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(help), "```sh\n#!/bin/sh\n")
	body, _, found := strings.Cut(body, "```")
	if !found {
		t.Fatal("the help has no example")
	}
	f := start(t, hooks.Spec{Name: "freeze", Event: "pre", Command: []string{script(t, body)}})
	for args, want := range map[string]string{
		`{"path":"release/a.txt"}`: "denied: look: frozen until Monday (hook freeze)",
		`{"path":"drafts/a.txt"}`:  `{"path":"drafts/a.txt"}`,
	} {
		if got := ending(f.call(t, "look", args)); got != want {
			t.Errorf("%s: ended in %q, want %q", args, got, want)
		}
	}
}

// TestExplained has what hooks say in an explanation, in which nothing is called.
func TestExplained(t *testing.T) {
	for _, tc := range []struct {
		answer, verdict string
		want            []run.Said
	}{
		{"", "allow", []run.Said{{Hook: "guard", Says: "has no objection"}}},
		{`{"decision":"deny","reason":"no"}`, "deny", []run.Said{{Hook: "guard", Says: "denies: no"}}},
		{`{"decision":"ask","reason":"sure?"}`, "ask", []run.Said{{Hook: "guard", Says: "asks: sure?"}}},
		{`{"decision":"skip","result":"x"}`, "skip", []run.Said{{Hook: "guard", Says: "answers the call itself"}}},
		{`{"arguments":{"n":7}}`, "allow", []run.Said{{Hook: "guard", Says: `has no objection; it replaces the arguments by {"n":7}`}}},
		{`{"decision":"alow"}`, "deny", []run.Said{{Hook: "guard", Says: `denies, since it gave no decision: decision: there is no "alow"; did you mean "allow"`}}},
	} {
		f := start(t, hooks.Spec{Name: "other", Event: "pre", Tool: []string{"write"}, Command: says(t, `{"decision":"deny"}`)},
			hooks.Spec{Name: "guard", Event: "pre", Command: says(t, tc.answer)})
		x, err := f.Explain(t.Context(), run.Call{Tool: "look", Args: json.RawMessage(`{"n":1}`), Session: askable})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, x.Hooks); diff != "" || x.Verdict != tc.verdict {
			t.Errorf("%s: %s, hooks (-want +got):\n%s", tc.answer, x.Verdict, diff)
		}
		if text := x.String(); !strings.Contains(text, "hook guard "+tc.want[0].Says) {
			t.Errorf("%s: the text is %s", tc.answer, text)
		}
	}
}

// TestOrder has hooks in the order of the file: each sees the arguments as those
// before it left them, and a denial beats a skip, a skip an ask, an ask an allow.
func TestOrder(t *testing.T) {
	const allow, ask, skip, deny = `{"decision":"allow"}`, `{"decision":"ask","reason":"sure?"}`, `{"decision":"skip","result":{"text":"skipped"}}`, `{"decision":"deny","reason":"no"}`
	for _, tc := range []struct {
		answers []string
		want    string
	}{
		{[]string{allow, allow}, `{"n":1}`},
		{[]string{allow, ask}, "asked: sure?"}, {[]string{ask, allow}, "asked: sure?"}, {[]string{ask, ask}, "asked: sure?\nsure?"},
		{[]string{ask, skip}, "skipped"}, {[]string{skip, ask, allow}, "skipped"},
		{[]string{skip, deny}, "denied: look: no (hook hooks[2])"}, {[]string{ask, allow, deny}, "denied: look: no (hook hooks[3])"}, {[]string{deny, skip}, "denied: look: no (hook hooks[1])"},
		{[]string{`{"decision":"allow","arguments":{"n":2}}`, `{"decision":"allow","arguments":{"n":3}}`, allow}, `{"n":3}`},
	} {
		var specs []hooks.Spec
		for _, a := range tc.answers {
			specs = append(specs, hooks.Spec{Event: "pre", Command: says(t, a)})
		}
		if got := ending(start(t, specs...).call(t, "look", `{"n":1}`)); got != tc.want {
			t.Errorf("%s: ended in %q, want %q", tc.answers, got, tc.want)
		}
	}
}

// TestLaterHooksSeeReplacedArguments also has a function of the process before the
// hooks of the configuration.
func TestLaterHooksSeeReplacedArguments(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	configured, err := hooks.New([]hooks.Spec{
		{Builtin: "rewrite", Rewrite: []hooks.Rewrite{{Argument: "text", Do: "replace", Pattern: "^a", With: "b"}}},
		{Event: "pre", Command: []string{script(t, `cat >"$1"; echo '{"decision":"allow"}'`), seen}},
	}, options(slog.New(slog.DiscardHandler), nil))
	if err != nil {
		t.Fatal(err)
	}
	first := run.Hooks{Pre: []func(context.Context, run.View) (run.Decision, error){func(context.Context, run.View) (run.Decision, error) {
		return run.Decision{Args: json.RawMessage(`{"text":"abc"}`)}, nil
	}}}
	f := fixture{run.New(run.Config{Settings: run.Settings{Tools: catalog(), Hooks: first.Then(configured)}}), &journal{}}
	if got := ending(f.call(t, "look", `{"n":1}`)); got != `{"text":"bbc"}` {
		t.Errorf("ended in %q", got)
	}
	data, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	if m["call"] == "" {
		t.Error("no id of the call")
	}
	delete(m, "call")
	want := map[string]any{
		"event": "pre", "tool": "look", "access": "read", "effects": []any{"none"}, "principal": "someone",
		"client": map[string]any{"name": "test", "version": "1"}, "arguments": map[string]any{"text": "bbc"},
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("the hook is told (-want +got):\n%s", diff)
	}
}

// TestAnsweredOnce has a hook that asks: when the answer is there, no hook runs
// again, and the call goes on with the arguments that the hook left.
func TestAnsweredOnce(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	f := start(t, hooks.Spec{Event: "pre", Command: []string{script(t, `cat >/dev/null; echo x >>"$1"; echo '{"decision":"ask","reason":"sure?","arguments":{"n":7}}'`), runs}})
	call := run.Call{Tool: "look", Args: json.RawMessage(`{"n":1}`), Session: askable}
	running := f.Start(t.Context(), call)
	if got := ending(running.Wait()); got != "asked: sure?" {
		t.Fatalf("ended in %q", got)
	}
	if err := running.Answer(accepted()); err != nil {
		t.Fatal(err)
	}
	if got := ending(running.Wait()); got != `{"n":7}` {
		t.Errorf("ended in %q", got)
	}
	if data, err := os.ReadFile(runs); err != nil || string(data) != "x\n" {
		t.Errorf("the hook ran %q times (%v)", data, err)
	}
}

func TestAfterTheCall(t *testing.T) {
	file := filepath.Join(t.TempDir(), "told")
	tells := func(event string) hooks.Spec {
		return hooks.Spec{Event: event, Command: []string{script(t, `cat >>"$1"`), file}}
	}
	f := start(t, tells("post"), tells("error"), tells("skip"), hooks.Spec{Event: "pre", Argument: map[string]string{"text": "^skip$"}, Command: says(t, `{"decision":"skip","result":{"text":"mine"}}`)})
	f.call(t, "look", `{"text":"fine"}`)
	f.call(t, "look", `{"text":"fail"}`)
	f.call(t, "look", `{"text":"skip"}`)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(data)) {
		var m struct {
			Event  string
			Result struct{ Text string }
			Error  struct{ Code, Message string }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.TrimSpace(m.Event+" "+m.Result.Text+m.Error.Code+" "+m.Error.Message))
	}
	if diff := cmp.Diff([]string{`post {"text":"fine"}`, "error not_found no such thing", "skip mine"}, got); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// TestAfterTheCallNothingChanges has hooks that fail or say nonsense when it is
// over: the result stays, and the log tells.
func TestAfterTheCallNothingChanges(t *testing.T) {
	const patient, short = "10s", "100ms"
	for _, tc := range []struct{ body, log, timeout string }{
		{`exit 4`, "it ended with exit code 4", patient},
		{`echo garbage`, "no JSON object", patient},
		{`echo '{"decision":"deny"}'`, "cannot be changed", patient},
		{`echo '{"decision":"allow","arguments":{}}'`, "cannot be changed", patient},
		{`exec sleep 60`, "no answer within", short},
	} {
		for event, text := range map[string]string{"post": "fine", "error": "fail"} {
			f := start(t, hooks.Spec{Event: event, Command: []string{script(t, tc.body)}, Timeout: tc.timeout})
			want := `{"text":"fine"}`
			if text == "fail" {
				want = "not_found: no such thing"
			}
			if got := ending(f.call(t, "look", `{"text":"`+text+`"}`)); got != want {
				t.Errorf("%s %s: ended in %q", event, tc.body, got)
			}
			if !strings.Contains(f.log.String(), tc.log) {
				t.Errorf("%s %s: log %s", event, tc.body, f.log)
			}
		}
	}
}

func TestEnvironmentAndStderr(t *testing.T) {
	t.Setenv("SOME_API_TOKEN", "not for hooks")
	t.Setenv("LC_ALL", "C")
	file := filepath.Join(t.TempDir(), "env")
	f := start(t, hooks.Spec{
		Event: "pre", Env: map[string]string{"MINE": "given"},
		Command: []string{script(t, `env >"$1"; pwd >>"$1"; echo "I saw the-known-secret" >&2; echo '{"decision":"allow"}'`), file},
	})
	if got := ending(f.call(t, "look", `{}`)); got != "{}" {
		t.Fatalf("ended in %q", got)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	env := string(data)
	if strings.Contains(env, "SOME_API_TOKEN") || !strings.Contains(env, "MINE=given\n") || !strings.Contains(env, "LC_ALL=C\n") || !strings.Contains(env, "PATH=") || !strings.HasSuffix(env, "\n/\n") {
		t.Errorf("got %s", env)
	}
	if log := f.log.String(); !strings.Contains(log, "I saw [redacted]") || strings.Contains(log, "the-known-secret") {
		t.Errorf("log %s", log)
	}
}

// TestTreeIsKilled has a hook with a child that would live on.
func TestTreeIsKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	f := start(t, hooks.Spec{Event: "pre", Timeout: "500ms", Command: []string{script(t, `sleep 300 & echo $! >"$1"; wait`), file}})
	if got := ending(f.call(t, "look", `{}`)); !strings.HasPrefix(got, "denied") {
		t.Errorf("ended in %q", got)
	}
	gone(t, file)
}

// TestChildHoldsThePipe has a hook that decides and leaves a child behind which
// keeps its stdout open.
func TestChildHoldsThePipe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	f := start(t, hooks.Spec{Event: "pre", Command: []string{script(t, `sleep 300 & echo $! >"$1"; echo '{"decision":"allow"}'`), file}})
	begin := time.Now()
	if got := ending(f.call(t, "look", `{}`)); got != "{}" {
		t.Errorf("ended in %q; log %s", got, f.log)
	}
	if took := time.Since(begin); took > 4*time.Second {
		t.Errorf("took %s", took)
	}
	gone(t, file)
}

// gone waits until the process that a file names has ended.
func gone(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	for ctx := t.Context(); ctx.Err() == nil; {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(stat), ") Z ") { // a zombie waits for a parent
			return
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

func TestCancelledCallDoesNotWait(t *testing.T) {
	f := start(t, hooks.Spec{Event: "pre", Command: []string{script(t, `exec sleep 60`)}, Timeout: "1m"})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	out := f.Run(ctx, run.Call{Tool: "look", Args: json.RawMessage(`{}`), Session: askable})
	if out.Err == nil || out.Err.Code != "timeout" || time.Since(begin) > 5*time.Second {
		t.Errorf("ended in %q after %s", ending(out), time.Since(begin))
	}
}

func TestManyAtOnce(t *testing.T) {
	var now, most atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		defer now.Add(-1)
		var m struct{ Arguments struct{ N int } }
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil || r.Header.Get("Authorization") != "Bearer x" {
			http.Error(w, "odd", http.StatusBadRequest)
			return
		}
		_, _ = w.Write([]byte(`{"decision":"allow","arguments":{"n":` + strconv.Itoa(m.Arguments.N) + `,"text":"seen"}}`))
	}))
	defer s.Close()
	f := start(t, hooks.Spec{Event: "pre", URL: s.URL, Header: map[string]string{"authorization": "Bearer x"}})
	var group sync.WaitGroup
	for i := range 64 {
		group.Go(func() {
			n := strconv.Itoa(1 + i%10)
			if got := ending(f.call(t, "look", `{"n":`+n+`}`)); got != `{"text":"seen","n":`+n+`}` {
				t.Errorf("ended in %q; log %s", got, f.log)
			}
		})
	}
	group.Wait()
	if most.Load() > 16 {
		t.Errorf("%d at once", most.Load())
	}
}
