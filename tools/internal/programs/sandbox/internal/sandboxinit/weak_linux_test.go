package sandboxinit_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/programs/sandbox/internal/sandboxinit"
	"toolcrib/workspace"
)

// TestWeak leaves out one means of the sandbox after the other. The self-test finds what
// a program could do then, and nothing runs.
func TestWeak(t *testing.T) {
	t.Setenv("TMPDIR", "/tmp") // a root that is in it tells whether it is private
	for _, level := range []sandbox.Level{sandbox.Full, sandbox.Landlock} {
		t.Run(level.String(), func(t *testing.T) {
			if ran, err := start(t, level); !ran {
				if _, refused := errors.AsType[*sandbox.UnavailableError](err); refused {
					t.Skipf("needs: the sandbox: %v", err)
				}
				t.Fatal(err)
			}
			for means := range sandboxinit.Means {
				if means == sandboxinit.KeptCapabilities && (os.Getuid() != 0 || level != sandbox.Full) {
					continue
				}
				if level != sandbox.Full && (strings.Contains(means, "mounts") || strings.Contains(means, "/tmp")) {
					continue // it has none
				}
				t.Run(means, func(t *testing.T) { weaken(t, level, means) })
			}
		})
	}
}

// start starts a program in a sandbox of its own, and reports whether it ran.
func start(t *testing.T, level sandbox.Level) (ran bool, err error) {
	t.Helper()
	root := t.TempDir()
	ws, err := workspace.Open([]string{root}, workspace.Options{StateBase: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	dir, err := ws.Resolve(".")
	if err != nil {
		t.Fatal(err)
	}
	e := sandbox.New()
	e.Configure(sandbox.Options{Level: level})
	ctx := tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: ws})
	p, err := e.Start(ctx, sandbox.Command{Args: []string{"sh", "-c", "echo ran > ran"}, Dir: dir})
	if err == nil {
		<-p.Done()
	}
	if failed := e.Close(); failed != nil {
		t.Error(failed)
	}
	_, missing := os.Stat(filepath.Join(root, "ran"))
	return missing == nil, err
}

func weaken(t *testing.T, level sandbox.Level, means string) {
	file := sandboxinit.WeakFile(os.Getpid())
	if err := os.WriteFile(file, []byte(means), 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file)
	ran, err := start(t, level)
	if means == sandboxinit.NothingLeftOut {
		if !ran || err != nil {
			t.Errorf("the sandbox as it is: %v", err)
		}
		return
	}
	if ran {
		t.Error("the program ran")
	}
	refused, ok := errors.AsType[*sandbox.UnavailableError](err)
	if !ok {
		t.Fatalf("%v, want a refusal", err)
	}
	if want := found[means]; want == "" || !strings.HasPrefix(refused.Missing, "its self-test found that ") || !strings.Contains(refused.Missing, "a program inside could "+want) {
		t.Errorf("got %q, want %q", refused.Missing, want)
	}
}

// found is what the self-test says of each.
var found = map[string]string{
	"no rules of Landlock":          "make what Landlock forbids to make",
	"no filter of system calls":     "trace a process",
	"mounts that can be written to": "see /usr mounted to be written to",
	"no private /tmp":               "read a file outside",
	"no mounts at all":              "write a file outside",
	sandboxinit.KeptCapabilities:    "keep a capability",
}
