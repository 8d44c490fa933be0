package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

const (
	undoHint = "; undo: restore_file undo=true"
	redoHint = "; redo: restore_file undo=true version="
)

var redoOf = regexp.MustCompile(redoHint + "([0-9a-z]{10,})\n")

// redo does again what the undo with that result took back.
func (b bench) redo(undo string) string {
	b.Helper()
	m := redoOf.FindStringSubmatch(undo)
	if m == nil {
		b.Fatalf("no redo is named: %s", undo)
	}
	return b.call("restore_file", args{"undo": true, "version": m[1]})
}

// Every kind of change is taken back, with everything as it was, and done again by
// a redo.
func TestUndoAndRedo(t *testing.T) {
	tree := map[string]string{
		"a.txt": "a\n", "b.txt": "b\n", "run.sh": "#!/bin/sh\n", "link": "-> a.txt",
		"tree/x": "1\n", "tree/.y": "2\n", "tree/d/e/": "", "tree/l": "-> ../b.txt", "tree/d/z": "3\n", "other/q": "9\n",
	}
	for _, c := range []struct {
		name string
		do   func(b bench)
		want string
	}{
		{"edit", func(b bench) { b.change("edit_file", b.write("a.txt", "A\n")) }, "a.txt: restored, 2 B"},
		{"new file in new directories", func(b bench) { b.change("write_file", b.write("n/m/f", "1\n")) }, "n/: deleted"},
		{"several", func(b bench) {
			b.change("apply_patch", b.write("a.txt", "A\n"), b.remove("b.txt"), b.write("n/f", "1\n"), b.write("c.txt", "c\n"))
		}, "c.txt: deleted\nn/: deleted\na.txt: restored, 2 B\nb.txt: restored, 2 B"},
		{"delete a file", func(b bench) { b.change("delete_path", b.remove("run.sh")) }, "run.sh: restored, 10 B"},
		{"delete a link", func(b bench) { b.change("delete_path", b.remove("link")) }, "link: restored"},
		{"delete a tree", func(b bench) { b.change("delete_path", b.remove("tree")) },
			"tree/: made again\n...\ntree/d/e/: made again\n...\ntree/l: restored"},
		{"make a directory", func(b bench) { b.change("make_directory", b.directory("m/n")) }, "m/: deleted"},
		{"move a file", func(b bench) { b.change("move_path", b.move("a.txt", "n/a")) }, "n/a -> a.txt: moved back\nn/: deleted"},
		{"move a tree", func(b bench) { b.change("move_path", b.move("tree", "n/t")) }, "n/t -> tree: moved back\nn/: deleted"},
		{"move a link", func(b bench) { b.change("move_path", b.move("link", "l2")) }, "l2 -> link: moved back"},
		{"move over a file", func(b bench) {
			b.change("move_path", b.move("a.txt", "b.txt"))
		}, "b.txt -> a.txt: moved back\nb.txt: restored, 2 B"},
		{"move a tree over one", func(b bench) {
			b.change("move_path", b.move("tree", "other"))
		}, "other -> tree: moved back\nother/: made again\nother/q: restored, 2 B"},
		{"copy a file", func(b bench) { b.change("copy_path", b.duplicate("a.txt", "n/c")) }, "n/: deleted"},
		{"copy over a file", func(b bench) {
			b.change("copy_path", b.duplicate("a.txt", "b.txt"))
		}, "b.txt: restored, 2 B"},
		{"copy a tree", func(b bench) { b.change("copy_path", b.duplicate("tree", "n/t")) }, "n/: deleted"},
		{"copy a tree over one", func(b bench) {
			b.change("copy_path", b.duplicate("tree", "other"))
		}, "other/: deleted\nother/: made again\nother/q: restored, 2 B"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, tree)
			for name, mode := range map[string]os.FileMode{"run.sh": 0o750, "tree/x": 0o600, "tree/d": 0o700} {
				if err := os.Chmod(filepath.Join(b.dir, name), mode); err != nil {
					t.Fatal(err)
				}
			}
			before := modes(t, b.dir)
			c.do(b)
			after := modes(t, b.dir)
			if before == after {
				t.Fatal("nothing was changed")
			}
			dry := b.call("restore_file", args{"undo": true, "dry_run": true})
			if now := modes(t, b.dir); now != after {
				t.Errorf("the dry run changed the tree:\n%s\nto\n%s", after, now)
			}
			real := b.call("restore_file", args{"undo": true})
			b.want("undid … path…"+redoHint+"…\n"+c.want, real)
			_, steps, _ := strings.Cut(real, "\n")
			if _, plan, _ := strings.Cut(dry, "\n"); plan != steps || !strings.HasPrefix(dry, "dry run, nothing is changed: would undo ") {
				t.Errorf("the dry run says\n%s\nthe real one\n%s", dry, real)
			}
			if now := modes(t, b.dir); now != before {
				t.Errorf("the undo left\n%s\nit was\n%s", now, before)
			}
			b.want("error: not_found: nothing more to undo …", b.call("restore_file", args{"undo": true}))
			b.want("undid … restore_file undoing …: …"+undoHint+"\n...", b.redo(real))
			if now := modes(t, b.dir); now != after {
				t.Errorf("the redo left\n%s\nit was\n%s", now, after)
			}
			b.want("undid … path…"+redoHint+"…\n...", b.call("restore_file", args{"undo": true}))
			if now := modes(t, b.dir); now != before {
				t.Errorf("the undo after a redo left\n%s\nit was\n%s", now, before)
			}
		})
	}
}

// modes describes a tree with its permissions.
func modes(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	if err := filepath.Walk(dir, func(host string, info os.FileInfo, err error) error {
		if err != nil || host == dir {
			return err
		}
		rel, err := filepath.Rel(dir, host)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%v %s", info.Mode(), rel)
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(host)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %q", data)
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(host)
			if err != nil {
				return err
			}
			b.WriteString(" -> " + target)
		}
		b.WriteByte('\n')
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What has changed since is not overwritten unless the caller says so.
func TestUndoConflicts(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "gone": "g\n"})
	id := b.change("apply_patch", b.write("a.txt", "A\n"), b.write("b.txt", "B\n"), b.remove("gone"), b.write("new", "n\n"))
	b.host("a.txt", "mine\n")
	b.host("gone", "mine too\n")
	b.host("new", "and mine\n")
	now := map[string]string{"a.txt": "mine\n", "b.txt": "B\n", "gone": "mine too\n", "new": "and mine\n"}
	want := "error: conflict: nothing is undone: not as the change " + id + " left it: …" +
		" (file_history version=" + id + " diff=current shows what would be lost; paths=[...] undoes the others, overwrite=true everything)"
	got := b.call("restore_file", args{"undo": true})
	b.want(want, got)
	for _, name := range []string{"a.txt", "gone", "new"} {
		if !strings.Contains(got, name) {
			t.Errorf("%s is not named: %s", name, got)
		}
	}
	b.tree(now)
	undo := b.call("restore_file", args{"undo": true, "overwrite": true})
	b.want("undid … apply_patch: 4 paths; …\n...", undo)
	b.tree(map[string]string{"a.txt": "a\n", "b.txt": "b\n", "gone": "g\n"})
	b.want("undid … restore_file undoing "+id+": 4 paths; …\n...", b.redo(undo))
	b.tree(now)
}

// What is as before already needs nothing, and is no conflict.
func TestUndoOfWhatIsUndone(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	id := b.change("apply_patch", b.write("a.txt", "A\n"), b.write("b.txt", "B\n"))
	b.host("a.txt", "a\n")
	b.want("undid … apply_patch: 1 path; …\nb.txt: restored, 2 B", b.call("restore_file", args{"undo": true, "version": id}))
	b.want("nothing to do: all is as before "+id+" …", b.call("restore_file", args{"undo": true, "version": id}))
	moved := b.change("move_path", b.move("a.txt", "c.txt"))
	b.change("move_path", b.move("c.txt", "a.txt"))
	b.want("nothing to do: all is as before "+moved+" …", b.call("restore_file", args{"undo": true, "version": moved}))
}

// A directory that came to hold something else stays, and a copied tree in which
// somebody worked is not thrown away.
func TestUndoKeepsWhatIsOthers(t *testing.T) {
	b := newBench(t, map[string]string{"src/a": "1\n"})
	b.change("write_file", b.write("n/m/f", "1\n"))
	b.host("n/other", "x\n")
	b.want("undid … write_file: 1 path; …\nn/m/: deleted\nnote: n/ stays: it holds something else by now", b.call("restore_file", args{"undo": true}))
	b.tree(map[string]string{"src/a": "1\n", "n/other": "x\n"})

	b.change("copy_path", b.duplicate("src", "dst"))
	b.host("dst/mine", "x\n")
	b.want("error: conflict: nothing is undone: not as the change … left it: dst, dst/mine …", b.call("restore_file", args{"undo": true}))
	undo := b.call("restore_file", args{"undo": true, "overwrite": true})
	b.want("undid … copy_path: 1 path; …\ndst/: deleted", undo)
	b.want("undid …\n...", b.redo(undo))
	b.tree(map[string]string{"src/a": "1\n", "n/other": "x\n", "dst/a": "1\n", "dst/mine": "x\n"})
}

// Undo takes back the last change of the caller, not that of another.
func TestUndoIsTheCallers(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"})
	b.want("error: not_found: the history has no change of yours to undo …", b.call("restore_file", args{"undo": true}))
	b.changeAs("alice", "delete_path", b.remove("a.txt"))
	b.change("delete_path", b.remove("b.txt"))
	last := b.changeAs("bob", "delete_path", b.remove("c.txt"))
	b.want("dry run, nothing is changed: would undo … delete_path by bob: 1 path\nc.txt: restored, 2 B", b.call("restore_file", args{"undo": true, "version": last, "dry_run": true}))
	b.want("undid …Z delete_path: 1 path; …\na.txt: restored, 2 B", b.as("alice", "restore_file", args{"undo": true}))
	b.want("undid …Z delete_path: 1 path; …\nb.txt: restored, 2 B", b.call("restore_file", args{"undo": true, "path": "b.txt"}))
	b.tree(map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
}

// A version is the content before that change, whatever came after it.
func TestRestoreVersion(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "one\n", "tree/x": "1\n", "tree/y/z": "2\n", "tree/e/": ""})
	if err := os.Chmod(filepath.Join(b.dir, "a.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	first := b.change("write_file", b.write("a.txt", "two\n"))
	second := b.change("write_file", b.write("a.txt", "three\n"), b.write("new", "n\n"))
	b.change("delete_path", b.remove("a.txt"))
	b.want("restored what was before "+first+" …Z write_file: 1 path; change …"+undoHint+"\na.txt: restored, 4 B", b.call("restore_file", args{"path": "a.txt", "version": first}))
	b.tree(map[string]string{"a.txt": "one\n", "new": "n\n", "tree/x": "1\n", "tree/y/z": "2\n", "tree/e/": ""})
	if info, err := os.Stat(filepath.Join(b.dir, "a.txt")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a.txt: %v, %v", info, err)
	}
	b.want("nothing to do: …", b.call("restore_file", args{"path": "a.txt", "version": first}))
	b.call("restore_file", args{"path": "a.txt", "version": second})
	gone := b.change("delete_path", b.remove("tree"))
	b.want("restored what was before … delete_path: 2 paths; …\ntree/y/: made again\ntree/y/z: restored, 2 B", b.call("restore_file", args{"path": "tree/y", "version": gone}))
	b.tree(map[string]string{"a.txt": "two\n", "new": "n\n", "tree/y/z": "2\n"})
	b.host("new2", "x\n")
	both := b.change("apply_patch", b.write("new", "N\n"), b.write("new2", "2\n"), b.remove("tree"))
	b.want("restored …: 1 path; …\nnew: restored, 2 B", b.call("restore_file", args{"path": "new", "version": both}))
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"path": "new", "version": second}, "error: not_found: new did not exist before the change " + second + " (undo=true version=" + second + " takes the change back)"},
		{args{"path": "tree", "version": second}, "error: not_found: no change " + second + " of tree is in the history …"},
		{args{"version": second}, "error: invalid_argument: version=" + second + " alone does not say what to restore …"},
		{args{"path": "a.txt"}, "error: invalid_argument: path alone does not say which content to restore …"},
		{args{}, "error: invalid_argument: nothing says what to restore …"},
		{args{"path": "../x", "undo": true}, "error: denied: …"},
	} {
		b.want(c.want, b.call("restore_file", c.args))
	}
}

// What the history does not keep cannot come back, and then nothing does.
func TestRestoreOfWhatIsNotKept(t *testing.T) {
	b := newBench(t, map[string]string{"d/a": "1\n"})
	large(t, filepath.Join(b.dir, "d"), workspace.MaxKept+1)
	deleted := b.change("delete_path", b.remove("d"))
	b.want("error: too_large: nothing is undone of the change …: d/big.log was larger than 67 MB, which is not kept (undo=true version="+deleted+" paths=[...] undoes the others)", b.call("restore_file", args{"undo": true}))
	b.tree(map[string]string{})
	records, _, err := b.ws.History(t.Context(), workspace.HistoryQuery{})
	if err != nil {
		t.Fatal(err)
	}
	b.want("error: too_large: nothing is restored: d/big.log was larger than 67 MB, which is not kept (file_history lists the other versions)",
		b.call("restore_file", args{"path": "d/big.log", "version": records[0].ID}))
	b.want("restored …\nd/a: restored, 2 B", b.call("restore_file", args{"path": "d/a", "version": records[0].ID}))
}

// A large tree comes back whole.
func TestRestoreLarge(t *testing.T) {
	tree := many("t", 150)
	b := newBench(t, tree)
	b.change("delete_path", b.remove("t"))
	if q := b.question("restore_file", args{"undo": true}); q != "" {
		t.Errorf("asks before it restores: %s", q)
	}
	text := b.call("restore_file", args{"undo": true})
	b.want("undid …Z delete_path: 158 paths"+redoHint+"…\nt/: made again\n...\n… 138 more: 138 restored", text)
	if n := strings.Count(text, "\n"); n != 21 {
		t.Errorf("%d lines", n)
	}
	if diff := tooltest.Differ(tree, tooltest.Contents(t, b.dir)); diff != "" {
		t.Error(diff)
	}
	redo := redoOf.FindStringSubmatch(text)[1]
	if q := b.question("restore_file", args{"undo": true, "version": redo}); q != "" {
		t.Errorf("asks before it deletes what can be undone: %s", q)
	}
}

// Names that no call can give come back too.
func TestUndoOfUnnamablePaths(t *testing.T) {
	b := newBench(t, map[string]string{"d/ok": "1\n"})
	for _, name := range []string{"d/caf\xe9", "d/sub\xff/x"} {
		host := filepath.Join(b.dir, name)
		if err := os.MkdirAll(filepath.Dir(host), 0o755); err != nil {
			t.Skip("needs: a file system that takes any bytes as names: " + err.Error())
		}
		if err := os.WriteFile(host, []byte("2\n"), 0o644); err != nil {
			t.Skip("needs: a file system that takes any bytes as names: " + err.Error())
		}
	}
	before := modes(t, b.dir)
	b.change("delete_path", b.remove("d"))
	b.want("undid …\n...\nd/caf…\n...", b.call("restore_file", args{"undo": true}))
	if now := modes(t, b.dir); now != before {
		t.Errorf("the undo left\n%s\nit was\n%s", now, before)
	}
	b.change("copy_path", b.duplicate("d", "e/d"))
	b.want("undid … copy_path: 1 path; …\ne/: deleted", b.call("restore_file", args{"undo": true}))
	if now := modes(t, b.dir); now != before {
		t.Errorf("the undo left\n%s\nit was\n%s", now, before)
	}
}

// What a tool deleted comes back though it is protected; anything else stays as it is.
func TestUndoOfProtected(t *testing.T) {
	b := newBench(t, map[string]string{"hooks/pre-commit": "#!/bin/sh\n"})
	free, err := workspace.Open([]string{b.dir}, workspace.Options{StateBase: b.ws.StateBase(), NoSync: true, AllowProtected: true})
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	kept := b.ws
	b.ws = free
	b.host(".git/hooks/pre-commit", "#!/bin/sh\n")
	b.change("delete_path", b.remove(".git/hooks/pre-commit"))
	b.ws = kept
	b.want("undid …\n.git/hooks/pre-commit: restored, 10 B", b.call("restore_file", args{"undo": true}))
	b.ws = free
	b.change("write_file", b.write(".git/hooks/pre-commit", "#!/bin/sh\nx\n"))
	b.ws = kept
	b.want("error: denied: .git/hooks/pre-commit is protected…", b.call("restore_file", args{"undo": true}))
}
