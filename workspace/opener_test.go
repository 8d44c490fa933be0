package workspace_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"toolcrib/workspace"
)

// TestOpener opens files of a tree one after the other, each in a way of its own, and
// holds what it gets to what a path gives by itself.
func TestOpener(t *testing.T) {
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newTree(t)
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			tr.write(t, "ws/dir/"+name, "text of "+name)
		}
		tr.write(t, "ws/dir/long", strings.Repeat("long ", 100_000))
		ws := tr.open(t, opt, "ws", "two")
		var o workspace.Opener
		defer o.Close()
		for _, step := range []struct {
			name   string
			before func() error
		}{
			{name: "f"}, {name: "~"}, {name: "..foo"}, {name: "dir/a"}, {name: "dir/b"}, {name: "dir/a"}, {name: "sub/deep/g"},
			{name: tr.path("two/f")}, {name: "dir/none"}, {name: "dir/long"}, {name: "dir"}, {name: "dir/"}, {name: "none/x"}, {name: "none/y"}, {name: "dir/a"},
			{"dir/b", func() error { return os.Remove(tr.path("ws/dir/b")) }},
			{"dir/c", func() error {
				return errors.Join(os.Remove(tr.path("ws/dir/c")), os.Symlink(tr.path("out/secret"), tr.path("ws/dir/c")))
			}},
			{"dir/d", func() error { return errors.Join(os.Remove(tr.path("ws/dir/d")), os.Symlink("a", tr.path("ws/dir/d"))) }},
			{"dir/e", func() error { return errors.Join(os.Remove(tr.path("ws/dir/e")), os.Mkdir(tr.path("ws/dir/e"), 0o755)) }},
		} {
			if step.before != nil {
				if err := step.before(); err != nil {
					t.Fatal(err)
				}
			}
			p, err := ws.Resolve(step.name)
			if err != nil {
				t.Fatal(err)
			}
			if entry, err := p.Root().Join(strings.TrimPrefix(step.name, tr.path("two")+"/")); err == nil {
				p = entry // as a walk has it
			}
			got, gotInfo, gotErr := drain(o.Open(p))
			want, wantInfo, wantErr := drain(p.Open())
			if got != want || gotInfo != wantInfo || (gotErr == nil) != (wantErr == nil) {
				t.Errorf("%s: %d bytes, %+v, %v; want %d, %+v, %v", step.name, len(got), gotInfo, gotErr, len(want), wantInfo, wantErr)
			}
		}
	})
}

// TestOpenerMovedDirectory goes on below a directory that is held open.
func TestOpenerMovedDirectory(t *testing.T) {
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newTree(t)
		tr.write(t, "ws/dir/a", "a")
		tr.write(t, "ws/dir/b", "b")
		ws := tr.open(t, opt, "ws")
		var o workspace.Opener
		defer o.Close()
		open := func(name string) string {
			p, err := ws.Resolve(".")
			if err != nil {
				t.Fatal(err)
			}
			if p, err = p.Join(name); err != nil {
				t.Fatal(err)
			}
			text, _, _ := drain(o.Open(p))
			return text
		}
		if open("dir/a") != "a" || open("dir/b") != "b" {
			t.Fatal("what is there cannot be read")
		}
		if err := errors.Join(os.Rename(tr.path("ws/dir"), tr.path("ws/moved")), os.Symlink(tr.path("out"), tr.path("ws/dir"))); err != nil {
			t.Fatal(err)
		}
		if text := open("dir/secret"); text != "" {
			t.Errorf("read through a link that leads out: %q", text)
		}
		o.Close()
		if text := open("dir/a") + open("dir/a"); text != "" {
			t.Errorf("read through a link that leads out: %q", text)
		}
	})
}

// drain reads a file that was opened, and closes it.
func drain(f workspace.File, err error) (string, workspace.Info, error) {
	if err != nil {
		return "", workspace.Info{}, err
	}
	text, err := io.ReadAll(f)
	info := f.Info()
	if err = errors.Join(err, f.Close()); err != nil { // a directory, by now
		return "", workspace.Info{}, err
	}
	return string(text), info, nil
}
