package files_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/files"
	"toolcrib/tools/files/internal/view"
	"toolcrib/workspace"
)

// Each undo goes back one call further; a redo makes its change one that can be
// undone again.
func TestUndoStack(t *testing.T) {
	b := newBench(t, map[string]string{"a": "0\n", "b": "0\n"})
	for _, content := range []string{"1\n", "2\n", "3\n"} {
		b.call("write_file", args{"path": "a", "content": content})
	}
	b.call("write_file", args{"path": "b", "content": "1\n"})
	undo := func(a args) string {
		a["undo"] = true
		return b.call("restore_file", a)
	}
	at := func(first, second string) {
		t.Helper()
		b.tree(map[string]string{"a": first + "\n", "b": second + "\n"})
	}
	undo(args{"path": "a"})
	at("2", "1")
	second := undo(args{"path": "a"})
	at("1", "1")
	undo(args{})
	at("1", "0")
	b.redo(second)
	at("2", "0")
	undo(args{})
	at("1", "0")
	undo(args{})
	at("0", "0")
	b.want("error: not_found: nothing more to undo …", undo(args{}))
	b.want("error: not_found: nothing more to undo …", undo(args{"path": "a"}))
	b.call("write_file", args{"path": "a", "content": "4\n"})
	undo(args{})
	at("0", "0")
	b.want("error: not_found: nothing more to undo …", undo(args{}))
	history := b.call("file_history", args{})
	if n := strings.Count(history, " restore_file undoing "); n != 7 {
		t.Errorf("%d undos in\n%s", n, history)
	}
}

// An undo that finds all as before names the way to the change before.
func TestUndoOfNothing(t *testing.T) {
	b := newBench(t, map[string]string{"a": "0\n", "b": "0\n"})
	b.call("write_file", args{"path": "a", "content": "1\n"})
	b.call("write_file", args{"path": "b", "content": "1\n"})
	if err := os.WriteFile(filepath.Join(b.dir, "b"), []byte("0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	text := b.call("restore_file", args{"undo": true})
	b.want("nothing to do: all is as before …\nnote: restore_file undo=true version=… takes back the change before", text)
	id := regexp.MustCompile(`version=(\w+)`).FindStringSubmatch(text)
	b.call("restore_file", args{"undo": true, "version": id[1]})
	b.tree(map[string]string{"a": "0\n", "b": "0\n"})
}

// An undo that took several changes is done again as a whole.
func TestRedoOfSeveralChanges(t *testing.T) {
	b := newBench(t, map[string]string{"tree/x": "1\n", "other/q": "9\n"})
	b.call("move_path", args{"source": "tree", "destination": "other", "overwrite": true})
	undo := b.call("restore_file", args{"undo": true})
	b.tree(map[string]string{"tree/x": "1\n", "other/q": "9\n"})
	b.redo(undo)
	b.tree(map[string]string{"other/x": "1\n"})
	b.call("restore_file", args{"undo": true})
	b.tree(map[string]string{"tree/x": "1\n", "other/q": "9\n"})
}

// A deleted tree comes back with what is protected in it.
func TestUndoOfTreeWithProtected(t *testing.T) {
	tree := map[string]string{"p/.claude/settings.json": "{}\n", "p/.git/config": "[core]\n", "p/main.go": "package main\n"}
	b := newBench(t, tree)
	b.want("p: deleted, 3 files; …", b.call("delete_path", args{"path": "p", "recursive": true}))
	b.want("undid …\n...", b.call("restore_file", args{"undo": true}))
	b.tree(tree)
}

// The user is asked before what the history does not keep goes.
func TestIrreversibleAsks(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a\n", "link": "-> a.txt", "empty/": "", "d/x": "1\n"})
	large(t, b.dir, workspace.MaxKept+1) // big.log
	const tooLarge = "big.log (67 MB); the history does not keep files above 67 MB, so it cannot be undone"
	const none = "; no history is kept, so it cannot be undone"
	plain, err := workspace.Open([]string{b.dir}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	for _, c := range []struct {
		tool          string
		args          args
		kept, without string
	}{
		{"write_file", args{"path": "big.log", "content": "x"}, "overwrite " + tooLarge, "overwrite big.log (67 MB)" + none},
		{"write_file", args{"path": "big.log", "content": "x", "mode": "append"}, "", ""},
		{"write_file", args{"path": "big.log", "content": "x", "mode": "create"}, "", ""},
		{"write_file", args{"path": "a.txt", "content": "x"}, "", "overwrite a.txt (2 B)" + none},
		{"write_file", args{"path": "new", "content": "x"}, "", ""},
		{"delete_path", args{"path": "big.log"}, "delete " + tooLarge, "delete big.log (67 MB)" + none},
		{"delete_path", args{"path": "a.txt"}, "", "delete a.txt (2 B)" + none},
		{"delete_path", args{"path": "link"}, "", "delete link" + none},
		{"delete_path", args{"path": "empty"}, "", ""},
		{"move_path", args{"source": "a.txt", "destination": "big.log", "overwrite": true}, "move a.txt over " + tooLarge, "move a.txt over big.log (67 MB)" + none},
		{"copy_path", args{"source": "big.log", "destination": "a.txt", "overwrite": true}, "", "copy big.log over a.txt (2 B)" + none},
		{"copy_path", args{"source": "a.txt", "destination": "big.log"}, "", ""},
		{"delete_path", args{"path": ".", "recursive": true}, "error: invalid_argument: . is a root …", "error: invalid_argument: . is a root …"},
	} {
		b.want(c.kept, b.question(c.tool, c.args))
		without := b
		without.ws = plain
		b.want(c.without, without.question(c.tool, c.args))
	}
	b.want("error: invalid_argument: . is a root of the workspace, which is not deleted …", b.call("delete_path", args{"path": "."}))
	b.want("a.txt -> big.log: moved, 2 B, replacing a file; change …; cannot be undone: big.log is larger than 67 MB",
		b.call("move_path", args{"source": "a.txt", "destination": "big.log", "overwrite": true}))
	large(t, b.dir, workspace.MaxKept+1)
	b.want("big.log: overwritten, …; cannot be undone: big.log is larger than 67 MB\n...", b.call("write_file", args{"path": "big.log", "content": "x\n"}))
}

// An undo that overwrites what is not kept asks too.
func TestUndoOverLargeAsks(t *testing.T) {
	b := newBench(t, map[string]string{"big.log": "x\n"})
	b.call("write_file", args{"path": "big.log", "content": "y\n"})
	if err := os.Remove(filepath.Join(b.dir, "big.log")); err != nil {
		t.Fatal(err)
	}
	large(t, b.dir, workspace.MaxKept+1)
	b.want("restore what was before the change … write_file; the history does not keep what is above 67 MB now: big.log",
		b.question("restore_file", args{"undo": true, "overwrite": true}))
}

// seeing is a bench whose tools remember what was seen.
func seeing(b bench) func(tool string, a args) string {
	d := files.Deps{Seen: view.NewSeen(1 << 20)}
	return func(name string, a args) string {
		b.Helper()
		for _, tool := range files.Tools(d) {
			if tool.Name == name {
				return b.run(tools.Local, tool, a)
			}
		}
		b.Fatalf("no tool is called %q", name)
		return ""
	}
}

// What others made of a file that the caller knows is not overwritten or deleted
// unseen.
func TestStale(t *testing.T) {
	b := newBench(t, map[string]string{"f": "one\ntwo\n", "g": "g\n"})
	call := seeing(b)
	call("read_file", args{"path": "f"})
	b.host("f", "one\n2\n")
	diff := "\nwhat changed:\n--- seen\n+++ now\n@@ -1,2 +1,2 @@\n one\n-two\n+2"
	now := short("one\n2\n")
	b.want("error: conflict: f has changed since you saw it last (expected_hash="+now+" overwrites it)"+diff, call("write_file", args{"path": "f", "content": "x\n"}))
	b.want("error: conflict: f has changed since you saw it last (expected_hash="+now+" deletes it)"+diff, call("delete_path", args{"path": "f"}))
	b.tree(map[string]string{"f": "one\n2\n", "g": "g\n"})
	b.want("f: unchanged, …", call("write_file", args{"path": "f", "content": "one\n2\n"}))
	b.want("f: appended …", call("write_file", args{"path": "f", "content": "3\n", "mode": "append"}))
	b.want("f: overwritten, …\n...", call("write_file", args{"path": "f", "content": "x\n"}))
	b.host("f", "y\n")
	b.want("f: overwritten, …\n...", call("write_file", args{"path": "f", "content": "z\n", "expected_hash": sum("y\n")}))
	b.host("g", "other\n") // never seen
	b.want("g: overwritten, …\n...", call("write_file", args{"path": "g", "content": "z\n"}))
	b.host("g", "y\n")
	b.want("g: deleted, …", call("delete_path", args{"path": "g", "expected_hash": sum("y\n")}))
	b.host("f", "w\n")
	call("read_file", args{"path": "f"})
	b.want("f: deleted, …", call("delete_path", args{"path": "f"}))
}

// What the caller itself did is no surprise.
func TestStaleNeverOfOwnChanges(t *testing.T) {
	b := newBench(t, map[string]string{"a": "a\n", "b": "b\n", "d/x": "1\n", "e/x": "2\n"})
	call := seeing(b)
	for _, path := range []string{"a", "b", "d/x", "e/x"} {
		call("read_file", args{"path": path})
	}
	ok := func(path, content string) {
		t.Helper()
		b.want(path+": overwritten, …\n...", call("write_file", args{"path": path, "content": content}))
	}
	call("move_path", args{"source": "a", "destination": "b", "overwrite": true})
	ok("b", "B\n")
	call("restore_file", args{"undo": true})
	ok("b", "C\n")
	call("move_path", args{"source": "d", "destination": "e", "overwrite": true})
	ok("e/x", "3\n")
	call("delete_path", args{"path": "e", "recursive": true})
	b.host("e/x", "new\n")
	ok("e/x", "4\n")
	b.host("a", strings.Repeat("a line of some length\n", 500_000))
	call("read_file", args{"path": "a", "limit": 1})
	b.want("a: appended …", call("write_file", args{"path": "a", "content": "1\n", "mode": "append"}))
	b.want("a: overwritten, …\n...", call("write_file", args{"path": "a", "content": "1\n"}))
	b.host("a", strings.Repeat("a line of some length\n", 500_000))
	call("write_file", args{"path": "a", "content": "1\n", "mode": "append"})
	b.host("a", "of others\n")
	b.want("error: conflict: a has changed since you saw it last …", call("write_file", args{"path": "a", "content": "1\n"}))
}

func TestHistoryOfMoves(t *testing.T) {
	b := newBench(t, map[string]string{"n.txt": "n\n", "m.txt": "m\n", "o.txt": "o\n"})
	b.call("move_path", args{"source": "n.txt", "destination": "d/m.txt"})
	b.want("1 change\n… move_path n.txt -> d/m.txt moved, 2 B", b.call("file_history", args{}))
	b.want("1 change of n.txt\n… move_path n.txt -> d/m.txt moved, 2 B", b.call("file_history", args{"path": "n.txt"}))
	b.call("move_path", args{"source": "m.txt", "destination": "o.txt", "overwrite": true})
	b.call("write_file", args{"path": "x/y/z", "content": "1\n"})
	b.change("apply_patch", workspace.Op{Kind: workspace.OpMove, From: b.path("o.txt"), Path: b.path("two/o")}, b.write("two/p", "p\n"))
	b.want("4 changes\n… apply_patch 2 files\n  o.txt -> two/o moved, 2 B\n  two/p new, 2 B\n… write_file x/y/z new, 2 B\n… move_path m.txt -> o.txt moved, replacing a file, 2 B\n… move_path …", b.call("file_history", args{}))
}

// A content that the history has forgotten is said to be that.
func TestUndoOfForgotten(t *testing.T) {
	b := newBench(t, map[string]string{"a": "a\n"})
	b.call("write_file", args{"path": "a", "content": "b\n"})
	gone := 0
	if err := filepath.WalkDir(b.ws.StateBase(), func(host string, e os.DirEntry, err error) error {
		if err != nil || filepath.Base(filepath.Dir(filepath.Dir(host))) != "objects" {
			return err
		}
		gone++
		return os.Remove(host)
	}); err != nil || gone == 0 {
		t.Fatalf("%d contents are kept, %v", gone, err)
	}
	b.want("error: not_found: nothing is restored: a was kept, but is forgotten by now (what was done cannot be undone; file_history lists the other changes)",
		b.call("restore_file", args{"undo": true}))
	b.tree(map[string]string{"a": "b\n"})
}

// The parity of a chain of undos is right though its beginning lies far back.
func TestUndoFarBack(t *testing.T) {
	b := newBench(t, map[string]string{"a": "0\n"})
	b.call("write_file", args{"path": "a", "content": "1\n"})
	for i := range 120 {
		b.as("another", "write_file", args{"path": "b", "content": strings.Repeat("x", i)})
	}
	undo := b.call("restore_file", args{"undo": true})
	b.want("undid … write_file: 1 path; …\n...", undo)
	for i := range 120 {
		b.as("another", "write_file", args{"path": "b", "content": strings.Repeat("y", i)})
	}
	b.redo(undo)
	b.want("error: not_found: …", b.as("nobody", "restore_file", args{"undo": true}))
	b.want("undid …"+redoHint+"…\na: restored, 2 B", b.call("restore_file", args{"undo": true}))
	b.want("error: not_found: nothing more to undo …", b.call("restore_file", args{"undo": true}))
}

func TestSeenForget(t *testing.T) {
	s := view.NewSeen(1 << 20)
	for _, name := range []string{"a", "d/x", "d/e/y", "dd", "/host/z"} {
		s.Note("p", name, "h"+name, []byte(name))
		s.Note("q", name, "h"+name, []byte(name))
	}
	s.Forget("p", "a", "d", "/host")
	for name, want := range map[string]bool{"a": false, "d/x": false, "d/e/y": false, "dd": true, "/host/z": false} {
		if _, _, ok := s.Last("p", name); ok != want {
			t.Errorf("%s is remembered: %t", name, ok)
		}
		if _, _, ok := s.Last("q", name); !ok {
			t.Errorf("another principal has forgotten %s", name)
		}
	}
	if _, ok := s.ByHash("p", "hd/x"); !ok {
		t.Error("a content is forgotten with its path")
	}
}

// An undo of some paths leaves the others, which can be undone later.
func TestUndoOfPaths(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a\n", "d/b.txt": "b\n", "d/c.txt": "c\n"})
	b.change("apply_patch", b.write("a.txt", "A\n"), b.write("d/b.txt", "B\n"), b.write("d/c.txt", "C\n"))
	b.want("error: invalid_argument: paths limits an undo, and undo is not given (add undo=true, or give one path with version)", b.call("restore_file", args{"paths": []string{"a.txt"}}))
	b.want("error: not_found: the change … did nothing at or below these paths …", b.call("restore_file", args{"undo": true, "paths": []string{"e"}}))
	text := b.call("restore_file", args{"undo": true, "paths": []string{"d"}})
	b.want("undid … apply_patch: 2 paths; redo: …\nd/b.txt: restored, 2 B\nd/c.txt: restored, 2 B\nnote: 1 path of the change not undone: …", text)
	b.tree(map[string]string{"a.txt": "A\n", "d/b.txt": "b\n", "d/c.txt": "c\n"})
	version := regexp.MustCompile(`undo=true version=(\w+) takes back more`).FindStringSubmatch(text)[1]
	b.want("undid … apply_patch: 1 path; redo: …\na.txt: restored, 2 B\nnote: …", b.call("restore_file", args{"undo": true, "version": version, "paths": []string{"a.txt"}}))
	b.tree(map[string]string{"a.txt": "a\n", "d/b.txt": "b\n", "d/c.txt": "c\n"})
}
