package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/workspace"
)

// box is an engine with a workspace.
type box struct {
	*sandbox.Engine
	ctx  context.Context
	dir  string // the root
	root workspace.Path
}

func newBox(t *testing.T, level sandbox.Level) *box {
	t.Helper()
	if level == sandbox.None { // programs have the directories of the user
		t.Setenv("HOME", t.TempDir())
		t.Setenv("TMPDIR", t.TempDir())
	}
	return openBox(t, level, t.TempDir(), t.TempDir())
}

func openBox(t *testing.T, level sandbox.Level, state string, roots ...string) *box {
	t.Helper()
	ws, err := workspace.Open(roots, workspace.Options{StateBase: state})
	if err != nil {
		t.Fatal(err)
	}
	root, err := ws.Resolve(".")
	if err != nil {
		t.Fatal(err)
	}
	e := sandbox.New()
	e.Configure(sandbox.Options{Level: level})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		ws.Close()
	})
	ctx := tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: ws})
	return &box{e, ctx, roots[0], root}
}

// sh runs a script and returns what it prints, on both streams.
func (b *box) sh(t *testing.T, script string) (string, sandbox.Exit) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Start(b.ctx, sandbox.Command{Args: []string{"bash", "-c", script}, Dir: b.root, Stdout: w, Stderr: w})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := io.Copy(&out, r); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	return strings.TrimSpace(out.String()), p.Exit()
}

func TestRun(t *testing.T) {
	for _, level := range []sandbox.Level{sandbox.Full, sandbox.Landlock, sandbox.None} {
		t.Run(level.String(), func(t *testing.T) {
			b := newBox(t, level)
			for _, tt := range []struct {
				script, want string
				code         int
			}{
				{"echo hi", "hi", 0},
				{"exit 3", "", 3},
				{"kill -9 $$", "", 137},
				{"pwd", b.dir, 0},
				{"echo x > made && cat made", "x", 0},
				{"echo x > $HOME/kept; cat $HOME/kept; rm $HOME/kept", "x", 0},
				{"f=$(mktemp) && echo t > $f && cat $f && rm $f", "t", 0},
				{"cat", "", 0},
				{"(sleep 100 &) ; setsid sleep 100 & echo left", "left", 0},
			} {
				out, exit := b.sh(t, tt.script)
				if out != tt.want || exit.Code != tt.code {
					t.Errorf("%s: %q, %+v, want %q, %d", tt.script, out, exit, tt.want, tt.code)
				}
			}
			if _, err := os.Stat(filepath.Join(b.dir, "made")); err != nil {
				t.Error(err)
			}
		})
	}
}

// A program that cannot be started is named by the error, and ends no other program.
func TestNoProgram(t *testing.T) {
	for _, level := range []sandbox.Level{sandbox.Full, sandbox.Landlock, sandbox.None} {
		t.Run(level.String(), func(t *testing.T) {
			b := newBox(t, level)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			other, err := b.Start(b.ctx, sandbox.Command{Args: []string{"cat"}, Dir: b.root, Stdin: r})
			if err != nil {
				t.Fatal(err)
			}
			for _, terminal := range []*sandbox.Size{nil, {Rows: 24, Columns: 80}} {
				for name, want := range map[string]string{
					"nope": "nope: no such file or directory", "./nope": "./nope: no such file or directory", b.dir: "permission denied",
					strings.Repeat("x", 9000): "no such file or directory", "": "no program is named",
				} {
					p, err := b.Start(b.ctx, sandbox.Command{Args: []string{name}, Dir: b.root, Terminal: terminal})
					if p != nil || err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%.20q: %v, want %q", name, err, want)
					}
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			<-other.Done()
			if exit := other.Exit(); exit.Code != 0 {
				t.Errorf("the other program: %+v", exit)
			}
		})
	}
}

// TestKept has what decides which programs run later, and what a HOME holds that was
// prepared to lead the sandbox astray.
func TestKept(t *testing.T) {
	b := newBox(t, sandbox.Full)
	for _, name := range []string{".git/hooks", ".claude"} {
		if err := os.MkdirAll(filepath.Join(b.dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".git/config", ".mcp.json"} {
		if err := os.WriteFile(filepath.Join(b.dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, script := range []string{
		"echo x >> .git/config", "touch .git/hooks/pre-commit", "mv .git .git2", "mv .git/hooks .git/hooks2", "rm .git/config", "touch new && mv new .git/config",
		"echo x > .mcp.json", "rm .mcp.json", "touch .claude/settings.json", "mv .claude .claude2",
	} {
		if out, exit := b.sh(t, script); exit.Code == 0 {
			t.Errorf("%s: done, %s", script, out)
		}
	}
	if out, exit := b.sh(t, "touch .git/index .git/HEAD.lock && mv .git/HEAD.lock .git/HEAD && mkdir -p .git/objects/aa"); exit.Code != 0 {
		t.Error(out)
	}
}

// No program leaves a file behind that gives others the rights of the user, and what uses
// modes without that works.
func TestNoSetUserID(t *testing.T) {
	for _, level := range []sandbox.Level{sandbox.Full, sandbox.Landlock} {
		t.Run(level.String(), func(t *testing.T) {
			b := newBox(t, level)
			for _, script := range []string{"cp /bin/true a; chmod 4755 a", "cp /bin/true b; chmod 2755 b", "cp /bin/true c; chmod u+s c", "mkdir d; chmod g+s d", "install -m 4755 /bin/true e"} {
				if out, exit := b.sh(t, script); exit.Code == 0 || !strings.Contains(out, "not permitted") {
					t.Errorf("%s: %d, %s", script, exit.Code, out)
				}
			}
			for _, script := range []string{"install -m 755 /bin/true f", "install -d -m 1777 g", "umask 077; touch h; chmod 640 h; cp -a h i", "mkdir -p j/k; tar cf l j h; mkdir m; tar xpf l -C m", "mkfifo -m 600 n"} {
				if out, exit := b.sh(t, script); exit.Code != 0 {
					t.Errorf("%s: %d, %s", script, exit.Code, out)
				}
			}
			files, err := os.ReadDir(b.dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if info, err := f.Info(); err != nil || info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
					t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
				}
			}
		})
	}
}

// A program has as many processes as the setting says, the first time as later, and as
// many one after the other as it likes.
func TestProcesses(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{20, 320} {
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			if _, err := exec.LookPath("python3"); err != nil {
				t.Skip("needs: python3")
			}
			b := newBox(t, sandbox.Full)
			b.Configure(sandbox.Options{Level: sandbox.Full, Limits: sandbox.Limits{Processes: limit}})
			if out, exit := b.sh(t, "for i in {1..700}; do (exit 0) || exit; done; echo one by one"); out != "one by one" {
				t.Errorf("%q, %+v", out, exit)
			}
			out, exit := b.sh(t, fmt.Sprintf(`exec python3 -c '
import os, time
made = 1
try:
	for i in range(%d):
		if os.fork() == 0:
			time.sleep(60)
			os._exit(0)
		made += 1
except OSError: print(made)'`, 2*limit+400))
			if out != strconv.Itoa(limit) {
				t.Errorf("%s at a time, want %d (%+v)", out, limit, exit)
			}
		})
	}
}

// A crowd of processes leaves one processor to others, also what it starts then; a few
// have all.
func TestCrowd(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs: python3")
	}
	var own unix.CPUSet
	if err := unix.SchedGetaffinity(0, &own); err != nil || own.Count() < 2 {
		t.Skip("needs: two processors")
	}
	b := newBox(t, sandbox.Full)
	b.Configure(sandbox.Options{Level: sandbox.Full, Limits: sandbox.Limits{Processes: 600}})
	for processes, want := range map[int]int{20: own.Count(), 300: own.Count() - 1} {
		out, exit := b.sh(t, fmt.Sprintf(`exec python3 -c '
import os, time
for i in range(%d):
	if os.fork() == 0:
		os.setsid()
		time.sleep(60)
		os._exit(0)
for wait in range(100):
	time.sleep(0.02)
	if len(os.sched_getaffinity(0)) == %d and wait > 30: break
if os.fork() == 0:
	print(len(os.sched_getaffinity(0)), flush=True)
	os._exit(0)
os.wait()'`, processes, want))
		if out != strconv.Itoa(want) {
			t.Errorf("%d processes have %s processors, want %d (%+v)", processes, out, want, exit)
		}
	}
}

func TestHomeLeadsNowhere(t *testing.T) {
	dir, state, home := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	for _, name := range []string{"go/pkg/mod/m", ".cargo/bin", "project"} {
		if err := os.MkdirAll(filepath.Join(home, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func(script string) (string, sandbox.Exit) {
		b := openBox(t, sandbox.Full, state, filepath.Join(home, "project"), dir)
		defer b.Close()
		return b.sh(t, script)
	}
	// What is a mount point while this runs is not one when the next sandbox is made.
	if out, exit := run("mkdir $HOME/x && echo old > $HOME/old && mv $HOME/go $HOME/go2; mv $HOME/.cargo $HOME/.c2; ln -s /etc $HOME/.cargo; ln -s " + dir + " $HOME/go; true"); exit.Code != 0 {
		t.Fatal(out)
	}
	out, exit := run("cat $HOME/old; ls -d $HOME/go/pkg/mod/m; ls -A " + dir)
	if want := "old\n" + home + "/go/pkg/mod/m"; out != want || exit.Code != 0 {
		t.Errorf("%q, %+v, want %q", out, exit, want)
	}
}
