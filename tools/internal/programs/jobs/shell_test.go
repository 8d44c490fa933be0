package jobs_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/workspace"
)

// manager makes a manager and the spec of a command in a new workspace.
func manager(t *testing.T) (*jobs.Manager, jobs.Spec, context.Context) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("needs: bash")
	}
	ws, err := workspace.Open([]string{t.TempDir()}, workspace.Options{StateBase: t.TempDir(), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	engine := sandbox.New()
	t.Cleanup(func() { engine.Close() })
	m := jobs.New(engine)
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	dir, err := ws.Resolve(".")
	if err != nil {
		t.Fatal(err)
	}
	ctx := tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: ws})
	return m, jobs.Spec{Principal: tools.Local, Workspace: ws, Command: sandbox.Command{Dir: dir}}, ctx
}

func output(t *testing.T, j *jobs.Job) string {
	t.Helper()
	select {
	case <-j.Done():
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: has not ended", j.Text)
	}
	data, _, err := j.Log().Read(0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestShell(t *testing.T) {
	m, spec, ctx := manager(t)
	for _, c := range []struct {
		command, want string
		code          int
	}{
		{"mkdir -p sub; cd sub; x=1; f() { echo f$x; }; alias say='echo said'", "", 0},
		{"basename $PWD; f; say it", "sub\nf1\nsaid it\n", 0},
		{"echo out; echo err >&2; echo out2; (exit 3)", "out\nerr\nout2\n", 3},
		{"echo $?", "3\n", 0},
		{"cat; read x; echo [$x]", "[]\n", 0}, // nothing to read, least of all the next command
		{"if then", "...", 2},
		{"echo 'a\nb'\n# a comment", "a\nb\n", 0},
		{"ls /proc/self/fd | grep -c '^19[89]$'", "0\n", 1},
		{"printf 'no line feed'", "no line feed", 0},
		{"head -c 300000 /dev/zero | tr '\\0' x | wc -c; head -c 300000 /dev/zero", "...", 0},
		{"trap", "trap -- ':' SIGINT\n", 0},
	} {
		j, err := m.StartIn(ctx, spec, "s", c.command)
		if err != nil {
			t.Fatal(c.command, err)
		}
		got := output(t, j)
		exit, _ := j.Exit()
		if exit.Code != c.code || got != c.want && c.want != "..." || !j.After().Lives {
			t.Errorf("%s: exit %d, in %+v, want %d\n%.500s\nwant\n%s", c.command, exit.Code, j.After(), c.code, got, c.want)
		}
	}
	j, err := m.StartIn(ctx, spec, "s", "exit 7")
	if err != nil {
		t.Fatal(err)
	}
	output(t, j)
	if exit, _ := j.Exit(); exit.Code != 7 || j.After() != (jobs.After{}) {
		t.Errorf("exit %d, in %+v, want 7 and the end of the shell", exit.Code, j.After())
	}
	if m.Known(spec, "s") {
		t.Error("the shell has ended and is known")
	}
}

// Whatever a command makes of its shell, the call ends, with the exit code of the command;
// the shell goes on, or ends and says so.
func TestShellMisused(t *testing.T) {
	const unknown = -1
	for _, c := range []struct {
		command string
		code    int
		lives   bool
		broken  bool
	}{
		{"builtin() { :; }; (exit 3)", 3, false, true},
		{"builtin() { return 1; }; (exit 3)", 3, false, true},
		{"builtin() { echo x; cat; }; (exit 3)", 3, false, true},
		{"export -f builtin; builtin() { :; }; export -f builtin; (exit 3)", 3, false, true},
		{"enable -n builtin; (exit 4)", 4, false, true},
		{"enable -n printf; (exit 4)", 4, false, true},
		{"enable -n read; (exit 4)", 4, true, false},
		{"enable -n eval; (exit 4)", 4, true, false},
		{"alias builtin=: bash=: until=:; (exit 5)", 5, true, false},
		{"printf() { :; }; read() { :; }; eval() { :; }; exec() { :; }; trap() { :; }; return() { :; }; command() { :; }; (exit 6)", 6, true, false},
		{"break; echo no", 0, false, true},
		{"while :; do break; done; (exit 2)", 2, true, false},
		{"continue; echo no", 0, true, false},
		{"false; continue 3", 0, true, false},
		{"eval 'set -n'; echo no", 0, false, false},
		{"x='set -n'; $x; echo no", 0, false, false},
		{"shopt -s extdebug; trap false DEBUG; echo no", 0, false, false},
		{"set -r; (exit 7)", 7, true, false},
		{"set -euo pipefail; :", 0, true, false},
		{"set -e; false; echo no", 1, false, false},
		{"set -u; unset PWD; :", 0, true, false},
		{"PWD=/nowhere; (exit 3)", 3, true, false},
		{"readonly IFS; (exit 3)", 3, true, false},
		{"unset ${!__toolcrib*}; unset -f __toolcrib_status; (exit 3)", 3, true, false},
		{"for i in {3..255}; do eval \"exec $i>&-\"; done 2>/dev/null; (exit 3)", unknown, false, true},
		{"ulimit -n 6; (exit 3)", unknown, false, true},
		{"exec 2>&- 1>&-; (exit 3)", 3, true, false},
		{"mkdir d; cd d; rmdir ../d; (exit 3)", 3, true, false},
		{"trap 'exit 9' DEBUG; :", 9, false, false},
		{"PATH=; (exit 3)", 3, true, false},
		{"set -o posix; (exit 3)", 3, true, false},
		{"POSIXLY_CORRECT=1; (exit 3)", 3, true, false},
		{"set -xv; (exit 3)", 3, true, false},
		{"exec bash -c 'exit 3'", 3, false, false},
		{"return 3; (exit 4)", 4, true, false},
		{"", 0, true, false},
		{"echo a \\", 0, true, false},
	} {
		t.Run(c.command, func(t *testing.T) {
			m, spec, ctx := manager(t)
			spec.Timeout = 10 * time.Second
			j, err := m.StartIn(ctx, spec, "s", c.command)
			if err != nil {
				t.Fatal(err)
			}
			text := output(t, j)
			exit, why := j.Exit()
			if exit.Err != nil {
				exit.Code = unknown
			}
			if after := j.After(); why != jobs.ByItself || exit.Code != c.code || after.Lives != c.lives || after.Broken != c.broken || strings.Contains(text, "no\n") {
				t.Errorf("%s, exit %d (%v), %+v, want %d, lives %v, broken %v\n%.500s", why, exit.Code, exit.Err, after, c.code, c.lives, c.broken, text)
			}
			if j, err = m.StartIn(ctx, spec, "s", "echo ran"); err != nil {
				t.Fatal(err)
			}
			text = output(t, j)
			if exit, why := j.Exit(); why != jobs.ByItself || exit.Err != nil && strings.Contains(text, "ran") {
				t.Errorf("the next command: %s, %+v\n%s", why, exit, text)
			}
		})
	}
}

func TestShellTimeout(t *testing.T) {
	m, spec, ctx := manager(t)
	first, err := m.StartIn(ctx, spec, "s", "x=kept")
	if err != nil {
		t.Fatal(err)
	}
	output(t, first)
	spec.Timeout = 300 * time.Millisecond
	j, err := m.StartIn(ctx, spec, "s", "while :; do :; done")
	if err != nil {
		t.Fatal(err)
	}
	busy, err := m.StartIn(ctx, spec, "s", "true")
	if e, ok := errors.AsType[*jobs.BusyError](err); !ok || e.Job != j {
		t.Errorf("a second command: %v, %v", busy, err)
	}
	output(t, j)
	if _, why := j.Exit(); why != jobs.ByTimeout || j.After().Lives {
		t.Errorf("ended by %q, in %+v", why, j.After())
	}
}

func TestStart(t *testing.T) {
	m, spec, ctx := manager(t)
	spec.Command.Args = []string{"bash", "-c", "echo a; echo b >&2; echo c; exit 4"}
	j, err := m.Start(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	if got := output(t, j); got != "a\nb\nc\n" {
		t.Errorf("got %q", got)
	}
	if exit, _ := j.Exit(); exit.Code != 4 {
		t.Errorf("exit %+v", exit)
	}
	if _, err := m.Get("another", j.ID); !errors.Is(err, jobs.ErrUnknown) {
		t.Errorf("another principal: %v", err)
	}
	first := "a"
	if j.ID[0] == 'a' {
		first = "b"
	}
	_, err = m.Get("local", first+j.ID[1:])
	if _, ok := errors.AsType[*jobs.ElsewhereError](err); !ok {
		t.Errorf("the handle of another server: %v", err)
	}
	if len(j.ID) != 8 {
		t.Errorf("a handle is %s", j.ID)
	}
	spec.Principal = tools.Anonymous
	if j, err = m.Start(ctx, spec); err != nil || len(j.ID) != 26 {
		t.Errorf("a handle of anonymous is %v, %v", j, err)
	}
}

func TestInput(t *testing.T) {
	m, spec, ctx := manager(t)
	spec.Command.Args, spec.Input = []string{"bash", "-c", "read a; echo got $a; cat; echo end"}, true
	j, err := m.Start(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one\n", "two\n"} {
		if _, err := j.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.CloseInput(); err != nil {
		t.Fatal(err)
	}
	if got := output(t, j); got != "got one\ntwo\nend\n" {
		t.Errorf("got %q", got)
	}
}
