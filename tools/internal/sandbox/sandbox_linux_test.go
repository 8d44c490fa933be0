package sandbox_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/sandbox"
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
	dir := t.TempDir()
	ws, err := workspace.Open([]string{dir}, workspace.Options{StateBase: t.TempDir()})
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
	return &box{e, ctx, dir, root}
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
