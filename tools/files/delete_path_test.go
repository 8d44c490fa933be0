package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/files"
	"toolcrib/tools/files/internal/view"
	"toolcrib/workspace"
)

func TestDelete(t *testing.T) {
	tree := map[string]string{
		"a.txt": "a\n", "link": "-> dir", "out": "-> ../..", "dangling": "-> nothing", "empty/": "",
		"dir/x": "1\n", "dir/.y": "2\n", "dir/sub/": "", "file": "f\n", ".git/config": "[core]\n",
	}
	b := newBench(t, tree)
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"path": "none"}, "error: not_found: none does not exist …"},
		{args{"path": "dir"}, "error: invalid_argument: dir is a directory with 3 entries (recursive=true deletes it with all that is in it)"},
		{args{"path": "link/"}, `error: invalid_argument: link/ leads to the directory by a symlink …`},
		{args{"path": "file/"}, "error: invalid_argument: file/ is a file, not a directory …"},
		{args{"path": "dir", "recursive": true, "expected_hash": "v:1-2-3"}, "error: invalid_argument: dir is a directory, and expected_hash is that of a file …"},
		{args{"path": "a.txt", "expected_hash": "v:1-2-3"}, "error: conflict: a.txt is not what expected_hash names: …\n..."},
		{args{"path": "link", "expected_hash": "v:1-2-3"}, "error: conflict: …\n..."},
		{args{"path": ".", "recursive": true}, "error: invalid_argument: …"},
		{args{"path": ".git", "recursive": true}, "error: denied: .git is protected…"},
		{args{"path": "out/x", "recursive": true}, "error: denied: out/x leads outside …"},
	} {
		b.want(c.want, b.call("delete_path", c.args))
	}
	b.tree(tree)
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"path": "a.txt"}, "a.txt: deleted, 2 B; change …; undo: restore_file undo=true"},
		{args{"path": "link", "recursive": true}, "link: deleted, a symlink; change …"},
		{args{"path": "out"}, "out: deleted, a symlink; change …"},
		{args{"path": "dangling"}, "dangling: deleted, a symlink; change …"},
		{args{"path": "empty"}, "empty: deleted, 0 files; change …"},
		{args{"path": "dir/", "recursive": true}, "dir: deleted, 2 files; change …"},
	} {
		b.want(c.want, b.call("delete_path", c.args))
	}
	b.tree(map[string]string{"file": "f\n", ".git/config": "[core]\n"})
}

// The question names how much goes and whether it can come back.
func TestDeleteAsks(t *testing.T) {
	tree := many("full", 120)
	tree["a.txt"], tree["link"], tree["empty/"], tree["dirs/a/b/"] = "a\n", "-> full", "", ""
	b := newBench(t, tree)
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"path": "a.txt"}, ""},
		{args{"path": "link", "recursive": true}, ""},
		{args{"path": "empty", "recursive": true}, ""},
		{args{"path": "full"}, ""},
		{args{"path": "none", "recursive": true}, ""},
		{args{"path": "full", "recursive": true}, ""}, // which can be undone
		{args{"path": "dirs", "recursive": true}, ""},
	} {
		if got := b.question("delete_path", c.args); got != c.want {
			t.Errorf("%v: asks %q, want %q", c.args, got, c.want)
		}
	}
	large(t, filepath.Join(b.dir, "full"), workspace.MaxKept+1)
	b.want("delete the directory full with 121 files (67 MB); the history does not keep 1 file above 67 MB, which cannot come back, such as full/big.log",
		b.question("delete_path", args{"path": "full", "recursive": true}))

	plain, err := workspace.Open([]string{b.dir}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	b.ws = plain
	b.want("delete the directory full with 121 files (67 MB); no history is kept, so it cannot be undone", b.question("delete_path", args{"path": "full", "recursive": true}))
	b.want("a.txt: deleted, 2 B; cannot be undone: …", b.call("delete_path", args{"path": "a.txt"}))
	if _, err := os.Lstat(filepath.Join(b.dir, "a.txt")); err == nil {
		t.Error("a.txt is still there")
	}
}

// Of thousands of notes and steps a result has the first.
func TestNotesAreBounded(t *testing.T) {
	notes := make([]string, 3000)
	for i := range notes {
		notes[i] = fmt.Sprint(i)
	}
	text := files.DeletePathOut{Status: "s", Notes: notes}.Text()
	if !strings.HasSuffix(text, "\nnote: 19\n… 2980 more notes") {
		t.Errorf("it ends with %q", text[max(len(text)-100, 0):])
	}
	if text := (files.DeletePathOut{Status: "s", Notes: notes[:20]}).Text(); !strings.HasSuffix(text, "\nnote: 19") {
		t.Errorf("of twenty: %q", text)
	}
}

// A file is deleted only if it is the one that the caller expects.
func TestDeleteExpected(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a\n"})
	b.want("error: conflict: …\n...", b.call("delete_path", args{"path": "a.txt", "expected_hash": strings.Repeat("0", 12)}))
	b.want("a.txt: deleted, …", b.call("delete_path", args{"path": "a.txt", "expected_hash": short("a\n")}))
}

// What others made of a file that the caller knows is not deleted unseen.
func TestDeleteStale(t *testing.T) {
	b := newBench(t, map[string]string{"f": "one\ntwo\n", "g": "g\n"})
	seen := view.NewSeen(1 << 20)
	remove := func(a args) string { return b.run(tools.Local, tool(t, "delete_path", files.Deps{Seen: seen}), a) }
	seen.Note(tools.Local, "f", sum("one\ntwo\n"), []byte("one\ntwo\n"))
	seen.Note(tools.Local, "g", sum("g\n"), []byte("g\n"))
	b.host("f", "one\n2\n")
	b.want("error: conflict: f has changed since you saw it last (expected_hash="+short("one\n2\n")+" deletes it)"+
		"\nwhat changed:\n--- seen\n+++ now\n@@ -1,2 +1,2 @@\n one\n-two\n+2", remove(args{"path": "f"}))
	b.tree(map[string]string{"f": "one\n2\n", "g": "g\n"})
	b.host("g", "y\n")
	b.want("g: deleted, …", remove(args{"path": "g", "expected_hash": sum("y\n")}))
	b.host("f", "w\n")
	seen.Note(tools.Local, "f", sum("w\n"), []byte("w\n"))
	b.want("f: deleted, …", remove(args{"path": "f"}))
}

// The user is asked before what the history does not keep goes.
func TestDeleteAsksBeforeALoss(t *testing.T) {
	b := losing(t, "delete_path", []loss{
		{args{"path": "big.log"}, "delete " + lostLarge, "delete big.log (67 MB)" + lostWithout},
		{args{"path": "a.txt"}, "", "delete a.txt (2 B)" + lostWithout},
		{args{"path": "link"}, "", "delete link" + lostWithout},
		{args{"path": "empty"}, "", ""},
		{args{"path": ".", "recursive": true}, "error: invalid_argument: . is a root …", "error: invalid_argument: . is a root …"},
	})
	b.want("error: invalid_argument: . is a root of the workspace, which is not deleted …", b.call("delete_path", args{"path": "."}))
	b.host("full/a", "1\n")
	large(t, filepath.Join(b.dir, "full"), workspace.MaxKept+1)
	b.want("full: deleted, 2 files; change …; cannot be undone: full/big.log is larger than 67 MB", b.call("delete_path", args{"path": "full", "recursive": true}))
}

// What is protected in a directory is deleted with it.
func TestDeleteTreeWithProtected(t *testing.T) {
	b := newBench(t, map[string]string{"p/.claude/settings.json": "{}\n", "p/.git/config": "[core]\n", "p/main.go": "package main\n"})
	b.want("p: deleted, 3 files; …", b.call("delete_path", args{"path": "p", "recursive": true}))
	b.tree(map[string]string{})
}
