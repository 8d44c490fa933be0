package cli_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/server"
	"toolcrib/server/app"
	"toolcrib/server/config"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/workspace"
)

// auditDirs is a root, and a state with an audit log.
type auditDirs struct{ root, state string }

func newAuditDirs(t *testing.T) auditDirs {
	t.Helper()
	return auditDirs{t.TempDir(), t.TempDir()}
}

func (a auditDirs) call(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return invocation{
		args:    append(args, "--state-dir="+a.state, "--durable=false"),
		catalog: append(fixtures(new([]string)), keepTool("keep"), keepTool("mend"), lookTool()),
	}.start(t)
}

type keepIn struct {
	Path    string `json:"path,omitempty" path:"any" jsonschema_description:"where to keep it"`
	Content string `json:"content,omitempty" record:"digest" jsonschema_description:"what to keep"`
}

// keepTool says that it has changed a file: a.txt, unless the call names one.
func keepTool(name string) tools.Tool {
	return tools.New(tools.Def[keepIn, textOut]{
		Name: name, Title: "Keep", Doc: "Keeps a text.", Access: tools.Write, Effects: tools.Workspace,
		Run: func(ctx context.Context, in keepIn) (textOut, error) {
			path, err := tools.Resolve(ctx, cmp.Or(in.Path, "a.txt"))
			if err == nil {
				tools.Changed(ctx, path.String())
			}
			return textOut{"kept"}, err
		},
	})
}

func lookTool() tools.Tool {
	return tools.New(tools.Def[eraseIn, textOut]{
		Name: "look", Title: "Look", Doc: "Looks at a path.", Access: tools.Read, Effects: tools.None,
		Run: func(context.Context, eraseIn) (textOut, error) { return textOut{"seen"}, nil },
	})
}

// do calls a tool with the log on.
func (a auditDirs) do(t *testing.T, tool, args string) {
	t.Helper()
	if _, stderr, code := a.call(t, "call", tool, args, a.root, "--audit"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
}

// TestAudit takes calls from the command line to the records that tell of them.
func TestAudit(t *testing.T) {
	a := newAuditDirs(t)
	a.do(t, "keep", `{"path":"a.txt","content":"hunter2\n"}`)
	a.do(t, "mend", `{"content":"hunter3\n"}`)
	a.do(t, "look", `{"path":"a.txt"}`)
	stdout, _, code := a.call(t, "audit", "show", "--json")
	if code != 0 || strings.Contains(stdout, "hunter") {
		t.Errorf("exit %d: %s", code, stdout)
	}
	var got []string
	for line := range strings.Lines(stdout) {
		var rec struct {
			Event, Tool, Principal, Code, Digest string
			Arguments                            json.RawMessage
			Paths, Changed                       []string
		}
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if rec.Principal != "local" || len(rec.Digest) != 32 {
			t.Errorf("got %s", line)
		}
		got = append(got, strings.Join([]string{rec.Event, rec.Tool, rec.Code, strings.Join(rec.Paths, ","), strings.Join(rec.Changed, ",")}, " "))
	}
	want := []string{
		"begin keep  a.txt ", "end keep ok a.txt a.txt",
		"begin mend   ", "end mend ok  a.txt",
		"end look ok a.txt ",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAuditShow(t *testing.T) {
	a := newAuditDirs(t)
	a.do(t, "keep", `{"path":"a\u001b[31m.txt","content":""}`)
	a.do(t, "look", `{"path":"."}`)
	for _, tt := range []struct {
		args []string
		want int // records
	}{
		{nil, 3}, {[]string{"--tool=look"}, 1}, {[]string{"--code=ok"}, 2}, {[]string{"--code=denied"}, 0},
		{[]string{"--since=1h"}, 3}, {[]string{"--since=0s"}, 0}, {[]string{"--since=2001-01-01T00:00:00Z", "--limit=2"}, 2},
		{[]string{"--principal=nobody"}, 0}, {[]string{"--limit=0"}, 3},
	} {
		stdout, stderr, code := a.call(t, append([]string{"audit", "show"}, tt.args...)...)
		if n := strings.Count(stdout, "\n") - 1; code != 0 || n != tt.want || strings.Contains(stdout, "\x1b") {
			t.Errorf("%q: exit %d, %d records, want %d: %q, %s", tt.args, code, n, tt.want, stdout, stderr)
		}
	}
	for given, want := range map[string]string{
		"deined": `--code: no call ends in "deined"; did you mean "denied"`,
		"404":    `--code: no call ends in "404"; did you mean "401"`,
		"nope":   `--code: no call ends in "nope"`,
	} {
		_, stderr, code := a.call(t, "audit", "show", "--code="+given)
		if code != 2 || !strings.HasPrefix(stderr, "toolcrib: "+want+"\n  there are: ok, asked, ") {
			t.Errorf("--code=%s: exit %d, %s, want %s", given, code, stderr, want)
		}
	}
	if stdout, _, _ := a.call(t, "audit", "show"); !strings.Contains(stdout, `changed a\u{1b}[31m.txt`) {
		t.Errorf("got %s", stdout)
	}
}

func TestAuditVerify(t *testing.T) {
	a := newAuditDirs(t)
	if _, stderr, code := a.call(t, "audit", "verify"); code != 2 || !strings.Contains(stderr, "no audit log is known") {
		t.Errorf("without a log: exit %d, %s", code, stderr)
	}
	a.do(t, "look", `{"path":"."}`)
	stdout, stderr, code := a.call(t, "audit", "verify")
	if code != 0 || !strings.Contains(stdout, "2 records (1 to 2) in 1 files; nobody has changed it\nhead 2 ") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	heads, err := filepath.Glob(filepath.Join(a.state, "shared", "audit_heads.d", "*"))
	if err != nil || len(heads) != 1 {
		t.Fatalf("heads: %q, %v", heads, err)
	}
	head, err := os.ReadFile(heads[0])
	if err != nil {
		t.Fatal(err)
	}
	for how, lose := range map[string]func() error{
		"emptied": func() error { return os.Truncate(heads[0], 0) },
		"removed": func() error { return os.RemoveAll(filepath.Dir(heads[0])) },
	} {
		if err := lose(); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, code := a.call(t, "audit", "verify")
		if code != 1 || !strings.Contains(stdout, "the head in the state directory: it was removed or emptied") || !strings.Contains(stdout, "2 records (1 to 2)") {
			t.Errorf("head %s: exit %d: %s%s", how, code, stdout, stderr)
		}
		if stdout, stderr, code = a.call(t, "audit", "show"); code != 0 || !strings.Contains(stdout, "look") {
			t.Errorf("head %s: show: exit %d: %s%s", how, code, stdout, stderr)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(heads[0]), 0o700), os.WriteFile(heads[0], head, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(a.state, "audit", "audit-00000001.jsonl")
	data, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(strings.Replace(string(data), `"code":"ok"`, `"code":"no"`, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	stdout, _, code = a.call(t, "audit", "verify")
	if code != 1 || !strings.Contains(stdout, "audit-00000001.jsonl:2: record 2 was changed") {
		t.Errorf("exit %d: %s", code, stdout)
	}
	stdout, _, code = a.call(t, "audit", "verify", "--json")
	if code != 1 || !strings.Contains(stdout, `"what": "record 2 was changed"`) {
		t.Errorf("exit %d: %s", code, stdout)
	}
	if err := os.RemoveAll(filepath.Join(a.state, "audit")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // and after the next start
		stdout, _, code = a.call(t, "audit", "verify")
		if code != 1 || !strings.Contains(stdout, "TAMPERED") {
			t.Errorf("exit %d: %s", code, stdout)
		}
		a.do(t, "look", `{"path":"."}`)
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(a.state, "audit")), os.RemoveAll(filepath.Dir(heads[0]))); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		stdout, _, code = a.call(t, "audit", "verify")
		if code != 1 || !strings.Contains(stdout, "was removed, and its head in the state directory too") {
			t.Errorf("the log and its head removed: exit %d: %s", code, stdout)
		}
		a.do(t, "look", `{"path":"."}`)
	}
}

func TestAuditRefuses(t *testing.T) {
	a := newAuditDirs(t)
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"inside a root":    {[]string{"call", "look", `{"path":"."}`, a.root, "--audit-dir", filepath.Join(a.root, "log")}, "inside the root"},
		"nothing to do":    {[]string{"audit"}, "wants to know what to do"},
		"another thing":    {[]string{"audit", "verfy"}, `did you mean "verify"`},
		"two things":       {[]string{"audit", "show", "tail"}, "one argument too many"},
		"a bad time":       {[]string{"audit", "show", "--since=yesterday"}, "neither a duration nor a time"},
		"a bad number":     {[]string{"audit", "show", "--limit=-1"}, "no number of records"},
		"a filter in vain": {[]string{"audit", "verify", "--tool=x"}, "verify looks at every record"},
	} {
		if name == "a bad time" || name == "a bad number" {
			a.do(t, "look", `{"path":"."}`)
		}
		if _, stderr, code := a.call(t, tt.args...); code != 2 || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: exit %d, %s", name, code, stderr)
		}
	}
}

// opened returns what a server of the place keeps its records with.
func (a auditDirs) opened(tb testing.TB, change ...func(*config.Config)) *app.Auditor {
	tb.Helper()
	cfg := config.Config{Audit: true, StateDir: a.state, Token: "a-secret-that-is-known"}
	for _, c := range change {
		c(&cfg)
	}
	opt, err := cfg.Workspace()
	if err != nil {
		tb.Fatal(err)
	}
	ws, err := workspace.Open([]string{a.root}, opt)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { ws.Close() })
	rec, err := new(app.Process).OpenAudit(tb.Context(), cfg, ws, slog.New(slog.DiscardHandler), new(app.Process).Redactor(cfg))
	if err != nil {
		tb.Fatal(err)
	}
	return rec
}

// Of refused requests some are told and all are counted, a call that has not ended
// is told, and no secret is.
func TestAuditOfServer(t *testing.T) {
	a := newAuditDirs(t)
	rec := a.opened(t)
	for range 1000 {
		rec.Refused(server.Refusal{Status: 401, From: "192.0.2.1:5", Why: "no a-secret-that-is-known"})
	}
	for _, r := range []run.Record{
		{Event: run.EventBegin, ID: "x-1", Tool: "write_file", Effects: "workspace", Arguments: json.RawMessage(`{"path":"a"}`)},
		{Event: run.EventEnd, ID: "x-2", Tool: "a-secret-that-is-known", Client: "AKIAIOSFODNN7EXAMPLE", Code: "not_found", Arguments: json.RawMessage(`{"broken`)},
	} {
		if err := rec.Record(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	stdout, _, code := a.call(t, "audit", "show", "--json", "--limit=0")
	for _, secret := range []string{"a-secret-that-is-known", "AKIAIOSFODNN7EXAMPLE"} {
		if strings.Contains(stdout, secret) {
			t.Errorf("%s is in the log", secret)
		}
	}
	refused, abandoned := strings.Count(stdout, `"event":"refused"`), strings.Count(stdout, `"event":"abandoned","id":"x-1"`)
	if code != 0 || refused < 6 || refused > 20 || abandoned != 1 || !strings.Contains(stdout, " refused requests") {
		t.Errorf("exit %d, %d refused, %d abandoned: %s", code, refused, abandoned, stdout)
	}
}

// BenchmarkRecord is the record of a call that only reads, in the way of that call.
func BenchmarkRecord(b *testing.B) {
	rec := auditDirs{b.TempDir(), b.TempDir()}.opened(b)
	for b.Loop() {
		if err := rec.Record(run.Record{
			Event: run.EventEnd, ID: "ABCDEFGH-1", Tool: "read_file", Principal: "local", Client: "a client", Access: "read", Effects: "none",
			Verdict: "allow", Rule: "read", Code: "ok", Micros: 120, Attempts: 1, Arguments: json.RawMessage(`{"path":"a/b.go","start_line":10}`), Paths: []string{"a/b.go"},
		}); err != nil {
			b.Fatal(err)
		}
	}
	if err := rec.Close(); err != nil {
		b.Error(err)
	}
}
