package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/sandbox"
)

// TestRootAgain moves a root away and makes it again: programs start in none of the two while it
// is away, and then only in the new one.
func TestRootAgain(t *testing.T) {
	for _, level := range []sandbox.Level{sandbox.Full, sandbox.Landlock, sandbox.None} {
		t.Run(level.String(), func(t *testing.T) {
			first, base := t.TempDir(), t.TempDir()
			second, old := filepath.Join(base, "root"), filepath.Join(base, "old")
			if err := os.Mkdir(second, 0o700); err != nil {
				t.Fatal(err)
			}
			b := openBox(t, level, t.TempDir(), first, second)
			script := "cd " + second + "; echo > made; echo kept >> $HOME/toolcrib-test-again; cat $HOME/toolcrib-test-again"
			if out, exit := b.sh(t, script); exit.Code != 0 {
				t.Fatal(out)
			}
			if err := os.Rename(second, old); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(old, "made")); err != nil {
				t.Fatal(err)
			}
			p, err := b.Start(b.ctx, sandbox.Command{Args: []string{"true"}, Dir: b.root})
			if err == nil {
				<-p.Done()
				t.Error("a program is started while a root is away")
			} else if !strings.Contains(err.Error(), "has been moved away") {
				t.Error(err)
			}
			if err := os.Mkdir(second, 0o700); err != nil {
				t.Fatal(err)
			}
			ws := tools.Session(b.ctx).Workspace.Current()
			b.ctx = tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: ws})
			if b.root, err = ws.Resolve("."); err != nil {
				t.Fatal(err)
			}
			out, exit := b.sh(t, script)
			if exit.Code != 0 || out != "kept\nkept" {
				t.Errorf("exit %d, %q; HOME is that of the principal", exit.Code, out)
			}
			if level == sandbox.None {
				defer os.Remove(filepath.Join(os.Getenv("HOME"), "toolcrib-test-again"))
			}
			if _, err := os.Stat(filepath.Join(second, "made")); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(old, "made")); err == nil {
				t.Error("a program wrote into the former directory")
			}
			if n := len(zygotes(t)); n > 1 {
				t.Errorf("%d sandboxes are kept", n)
			}
		})
	}
}
