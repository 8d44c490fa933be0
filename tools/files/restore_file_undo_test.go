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
		b.change("write_file", b.write("a", content))
	}
	b.change("write_file", b.write("b", "1\n"))
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
	b.change("write_file", b.write("a", "4\n"))
	undo(args{})
	at("0", "0")
	b.want("error: not_found: nothing more to undo …", undo(args{}))
	records, _, err := b.ws.History(t.Context(), workspace.HistoryQuery{})
	if err != nil {
		t.Fatal(err)
	}
	undos := 0
	for _, r := range records {
		if r.Undoes != "" {
			undos++
		}
	}
	if undos != 7 {
		t.Errorf("%d undos in the history", undos)
	}
}

// An undo that finds all as before names the way to the change before.
func TestUndoOfNothing(t *testing.T) {
	b := newBench(t, map[string]string{"a": "0\n", "b": "0\n"})
	b.change("write_file", b.write("a", "1\n"))
	b.change("write_file", b.write("b", "1\n"))
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
	b.change("move_path", b.move("tree", "other"))
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
	b.change("delete_path", b.remove("p"))
	b.want("undid …\n...", b.call("restore_file", args{"undo": true}))
	b.tree(tree)
}

// An undo that overwrites what is not kept asks too.
func TestUndoOverLargeAsks(t *testing.T) {
	b := newBench(t, map[string]string{"big.log": "x\n"})
	b.change("write_file", b.write("big.log", "y\n"))
	if err := os.Remove(filepath.Join(b.dir, "big.log")); err != nil {
		t.Fatal(err)
	}
	large(t, b.dir, workspace.MaxKept+1)
	b.want("restore what was before the change … write_file; the history does not keep what is above 67 MB now: big.log",
		b.question("restore_file", args{"undo": true, "overwrite": true}))
}

// A content that the history has forgotten is said to be that.
func TestUndoOfForgotten(t *testing.T) {
	b := newBench(t, map[string]string{"a": "a\n"})
	b.change("write_file", b.write("a", "b\n"))
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
	b.want("error: not_found: the change … cannot be undone: a was kept, but is forgotten by now",
		b.call("restore_file", args{"undo": true}))
	b.tree(map[string]string{"a": "b\n"})
}

// The parity of a chain of undos is right though its beginning lies far back.
func TestUndoFarBack(t *testing.T) {
	b := newBench(t, map[string]string{"a": "0\n"})
	b.change("write_file", b.write("a", "1\n"))
	for i := range 120 {
		b.changeAs("another", "write_file", b.write("b", strings.Repeat("x", i)))
	}
	undo := b.call("restore_file", args{"undo": true})
	b.want("undid … write_file: 1 path; …\n...", undo)
	for i := range 120 {
		b.changeAs("another", "write_file", b.write("b", strings.Repeat("y", i)))
	}
	b.redo(undo)
	b.want("error: not_found: …", b.as("nobody", "restore_file", args{"undo": true}))
	b.want("undid …"+redoHint+"…\na: restored, 2 B", b.call("restore_file", args{"undo": true}))
	b.want("error: not_found: nothing more to undo …", b.call("restore_file", args{"undo": true}))
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
	version := regexp.MustCompile(`undo=true version=(\w+) takes back the rest`).FindStringSubmatch(text)[1]
	b.want("undid … apply_patch: 1 path; redo: …\na.txt: restored, 2 B", b.call("restore_file", args{"undo": true, "version": version, "paths": []string{"a.txt"}}))
	b.tree(map[string]string{"a.txt": "a\n", "d/b.txt": "b\n", "d/c.txt": "c\n"})
}

// After undos of some paths, an undo takes back the rest, and nothing that was taken back already.
func TestUndoOfRestOfPaths(t *testing.T) {
	b := newBench(t, map[string]string{"a": "0\n", "b": "0\n", "c": "0\n", "d": "0\n"})
	b.change("write_file", b.write("d", "1\n"))
	b.change("apply_patch", b.write("a", "1\n"), b.write("b", "1\n"), b.write("c", "1\n"))
	undo := func(a args) string {
		a["undo"] = true
		return b.call("restore_file", a)
	}
	part := undo(args{"paths": []string{"a"}})
	b.host("a", "by the user\n") // no way of the rest
	b.want("undid … apply_patch: 2 paths; redo: …\nb: restored, 2 B\nc: restored, 2 B", undo(args{}))
	b.tree(map[string]string{"a": "by the user\n", "b": "0\n", "c": "0\n", "d": "1\n"})
	b.want("4 changes\n… restore_file undoing … 2 files\n  b …\n  c …\n… restore_file undoing a part of … a …\n...", b.call("file_history", args{}))
	b.host("a", "0\n")
	b.redo(part)
	b.tree(map[string]string{"a": "1\n", "b": "0\n", "c": "0\n", "d": "1\n"})
	b.want("undid … restore_file undoing …: 1 path; …\na: restored, 2 B", undo(args{}))
	b.want("undid … write_file: 1 path; redo: …\nd: restored, 2 B", undo(args{}))
	b.tree(map[string]string{"a": "0\n", "b": "0\n", "c": "0\n", "d": "0\n"})
	b.want("error: not_found: nothing more to undo …", undo(args{}))
}

// Undos of all paths of a change, one after another, leave nothing of it.
func TestUndoOfPathAfterPath(t *testing.T) {
	b := newBench(t, map[string]string{"a": "0\n", "b": "0\n", "c": "0\n"})
	b.change("write_file", b.write("c", "1\n"))
	b.change("apply_patch", b.write("a", "1\n"), b.write("b", "1\n"))
	b.want("undid … apply_patch: 1 path; …\na: restored, 2 B\nnote: 1 path of …", b.call("restore_file", args{"path": "a", "undo": true}))
	b.want("undid … apply_patch: 1 path; …\nb: restored, 2 B", b.call("restore_file", args{"path": "b", "undo": true}))
	b.want("undid … write_file: 1 path; …\nc: restored, 2 B", b.call("restore_file", args{"undo": true}))
}

// An undo with a path takes back what was done there, and nothing else.
func TestUndoOfPath(t *testing.T) {
	b := newBench(t, map[string]string{"a": "0\n", "b": "0\n", "d/c": "0\n"})
	b.call("write_file", args{"path": "b", "content": "1\n"})
	b.change("bash", b.write("a", "1\n"), b.write("b", "2\n"), b.write("d/c", "1\n"))
	undo := func(a args) string {
		a["undo"] = true
		return b.call("restore_file", a)
	}
	first := undo(args{"path": "a"})
	b.want("undid … bash: 1 path; redo: …\na: restored, 2 B\nnote: 2 paths of the change not undone: undo=true version=… takes back the rest", first)
	b.tree(map[string]string{"a": "0\n", "b": "2\n", "d/c": "1\n"})
	b.want("undid … bash: 2 paths; redo: …\nb: restored, 2 B\nd/c: restored, 2 B", undo(args{"path": "b", "paths": []string{"d"}}))
	b.tree(map[string]string{"a": "0\n", "b": "1\n", "d/c": "0\n"})
	b.redo(first)
	b.tree(map[string]string{"a": "1\n", "b": "1\n", "d/c": "0\n"})
	b.want("undid … write_file: 1 path; redo: …\nb: restored, 2 B", undo(args{"path": "b"}))
	b.want("undid … restore_file undoing …: 1 path; …\na: restored, 2 B", undo(args{"path": "a"}))
	b.tree(map[string]string{"a": "0\n", "b": "0\n", "d/c": "0\n"})
	b.want("error: not_found: nothing more to undo …", undo(args{"path": "a"}))
}

// Both paths of a move stand for it.
func TestUndoOfMovedPath(t *testing.T) {
	for _, path := range []string{"a", "e", "e/b"} {
		b := newBench(t, map[string]string{"a": "0\n", "d/c": "0\n"})
		b.change("apply_patch", workspace.Op{Kind: workspace.OpMove, From: b.path("a"), Path: b.path("e/b")}, b.write("d/c", "1\n"))
		b.want("undid … apply_patch: …\ne/b -> a: moved back\n...", b.call("restore_file", args{"path": path, "undo": true}))
		want := map[string]string{"a": "0\n", "d/c": "1\n", "e/": ""}
		if path == "e" {
			delete(want, "e/")
		}
		b.tree(want)
	}
}

// A change of several parts is undone in those that touch the paths.
func TestUndoOfPathsInParts(t *testing.T) {
	b := newBench(t, map[string]string{"tree/x": "1\n", "other/q": "9\n"})
	b.call("move_path", args{"source": "tree", "destination": "other", "overwrite": true})
	undo := b.call("restore_file", args{"undo": true})
	b.want("undid … restore_file undoing …\nother/q: deleted\n...", b.call("restore_file", args{"undo": true, "version": redoOf.FindStringSubmatch(undo)[1], "paths": []string{"other/q"}}))
	b.tree(map[string]string{"tree/x": "1\n", "other/": ""})
}

// What an undo brought back is not what the caller saw last.
func TestUndoForgetsWhatWasSeen(t *testing.T) {
	b := newBench(t, map[string]string{"a": "a\n"})
	seen := view.NewSeen(1 << 20)
	b.change("write_file", b.write("a", "A\n"))
	seen.Note(tools.Local, "a", sum("A\n"), []byte("A\n"))
	b.want("undid …\n...", b.run(tools.Local, tool(t, "restore_file", files.Deps{Seen: seen}), args{"undo": true}))
	if hash, _, ok := seen.Last(tools.Local, "a"); ok && hash != sum("a\n") {
		t.Errorf("%s is the hash that the caller saw last", hash)
	}
}

func TestRestoreWithoutState(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a\n"})
	b.ws = b.stateless()
	b.want("error: unavailable: no state is kept: …", b.call("restore_file", args{"undo": true}))
}

// A view undoes of a change only what lies in it.
func TestRestoreInNarrowedView(t *testing.T) {
	b := newBench(t, map[string]string{"in/a": "1\n", "out/b": "1\n"})
	id := b.change("apply_patch", b.write("in/a", "2\n"), b.write("out/b", "2\n"))
	view, err := b.ws.Narrow([]string{"in"})
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	b.ws = view
	b.want("error: denied: 1 file of the change "+id+" are outside the workspace of this call, or are denied to it …", b.call("restore_file", args{"undo": true}))
	b.want("restored what was before …\nin/a: restored, 2 B", b.call("restore_file", args{"path": "in/a", "version": id}))
}

// An undo says that a log of the history was cut.
func TestUndoOfCutHistory(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a\n"})
	b.cutHistory()
	b.want("error: conflict: …; "+historyCut+" (…)", b.call("restore_file", args{"undo": true}))
	b.want("undid … write_file: 1 path; redo: restore_file undo=true version=…\na.txt: restored, 2 B\nnote: "+historyCut, b.call("restore_file", args{"undo": true, "overwrite": true}))
}
