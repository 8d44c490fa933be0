package files_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

func TestHistoryOfNothing(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a\n", "d/": ""})
	b.want("no change is in the history", b.call("file_history", args{}))
	b.want("no change of a.txt is in the history", b.call("file_history", args{"path": "a.txt"}))
	b.want("no change of d is in the history", b.call("file_history", args{"path": "d"}))
	b.want("error: not_found: b.txt does not exist (nearest existing path: a.txt)", b.call("file_history", args{"path": "b.txt"}))
	b.want("error: not_found: no change abc is in the history (file_history lists those that there are)", b.call("file_history", args{"version": "abc"}))
	b.want(`error: not_found: no change abc of a.txt is in the history (file_history path="a.txt" lists those that there are)`,
		b.call("file_history", args{"version": "abc", "path": "a.txt"}))
}

// A list says that the log of the history was cut.
func TestHistoryCut(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a\n"})
	b.cutHistory()
	b.want("1 change; "+historyCut+"\n… write_file a.txt +1 -1, 2 B", b.call("file_history", args{}))
	b.want("error: not_found: no change abc is in the history; "+historyCut+" (file_history lists those that there are)", b.call("file_history", args{"version": "abc"}))
}

func TestHistoryList(t *testing.T) {
	b := newBench(t, map[string]string{
		"src/a.go": "package a\n\nvar x = 1\n", "src/b.go": "b\n", "bin": "\x00\x01", "tree/x": "12345\n", "tree/d/y": "1\n", "tree/none/": "", "l": "-> bin",
	})
	b.change("edit_file", b.write("src/a.go", "package a\n\nvar x = 2\nvar y = 3\n"))
	b.change("write_file", b.write("src/new.go", "new\n"))
	b.change("write_file", b.write("bin", "\x00\x02"))
	b.change("move_path", b.move("src/b.go", "src/c.go"))
	b.change("delete_path", b.remove("tree"))
	b.change("delete_path", b.remove("l"))
	b.change("make_directory", b.directory("made/in"))
	b.change("copy_path", b.duplicate("src", "lib"))
	b.change("apply_patch", b.write("p1", "1\n"), b.write("p2", "2\n"), b.remove("bin"), b.write("src/a.go", "package a\n"), b.write("p3", "3\n"), b.write("p4", "4\n"), b.write("p5", "5\n"))
	if _, err := b.ws.Apply(t.Context(), workspace.Change{Tool: "write_file", Principal: "somebody", Ops: []workspace.Op{b.write("theirs", "1\n")}}); err != nil {
		t.Fatal(err)
	}
	b.want(`10 changes
… …Z write_file by somebody theirs new, 2 B
… …Z apply_patch 7 files
  p1 new, 2 B
  p2 new, 2 B
  bin deleted, 2 B
  src/a.go +0 -3, 10 B
  p3 new, 2 B
  … 2 more: version=…
… …Z copy_path src -> lib copied
… …Z make_directory made/in made
… …Z delete_path l deleted
… …Z delete_path tree deleted, 2 files, 8 B
… …Z move_path src/b.go -> src/c.go moved, 2 B
… …Z write_file bin changed, 2 B
… …Z write_file src/new.go new, 4 B
… …Z edit_file src/a.go +2 -1, 31 B`, b.call("file_history", args{}))
	b.want("2 changes of src/a.go\n… apply_patch src/a.go +0 -3, 10 B\n… edit_file src/a.go +2 -1, 31 B", b.call("file_history", args{"path": "src/a.go"}))
	b.want("1 change of src/b.go\n… move_path src/b.go -> src/c.go moved, 2 B", b.call("file_history", args{"path": "src/b.go"}))
	b.want("1 change of tree/d/y\n… delete_path tree/d/y deleted, 2 B", b.call("file_history", args{"path": "tree/d/y"}))
	b.want("10 changes; 3-4, newest first; next: offset=4\n… copy_path …\n… make_directory …", b.call("file_history", args{"offset": 2, "limit": 2}))
	b.want("10 changes; 10-10, newest first\n… edit_file …", b.call("file_history", args{"offset": 9}))
	b.want("offset=10 is past the end: 10 changes; the last is offset=9", b.call("file_history", args{"offset": 10}))
}

// The pages, followed by the hints of the results, are the whole.
func TestHistoryPages(t *testing.T) {
	b := newBench(t, nil)
	var wanted []string
	for i := range 23 {
		wanted = append([]string{fmt.Sprintf("f%d new, 2 B", i)}, wanted...)
		b.change("write_file", b.write(fmt.Sprintf("f%d", i), "x\n"))
	}
	var got []string
	for offset := 0; offset >= 0; {
		text := b.call("file_history", args{"offset": offset, "limit": 7})
		status, rest, _ := strings.Cut(text, "\n")
		for line := range strings.SplitSeq(rest, "\n") {
			_, what, _ := strings.Cut(line, "write_file ")
			got = append(got, what)
		}
		if _, next, ok := strings.Cut(status, "next: offset="); !ok {
			offset = -1
		} else if _, err := fmt.Sscan(next, &offset); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Join(got, "\n") != strings.Join(wanted, "\n") {
		t.Errorf("the pages: %q", got)
	}
}

func TestHistoryVersion(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "one\ntwo\nthree\n", "win.txt": "\xff\xfea\x00\n\x00", "bin": "\x00\x01"})
	id := b.change("apply_patch", b.write("a.txt", "one\n2\nthree\n"), b.write("new.txt", "new\n"), b.write("bin", "\x00\x02"), b.write("win.txt", "\xff\xfeb\x00\n\x00"))
	b.want(id+` …Z apply_patch: 4 files
a.txt +1 -1, 12 B
--- a.txt before
+++ a.txt after
@@ -1,3 +1,3 @@
 one
-two
+2
 three
new.txt new, 4 B
--- new.txt before
+++ new.txt after
@@ -0,0 +1 @@
+new
bin changed, 2 B
(no diff: not text, too large, or not kept)
win.txt +1 -1, 6 B
--- win.txt before
+++ win.txt after
@@ -1 +1 @@
-a
+b`, b.call("file_history", args{"version": id}))
	b.host("a.txt", "one\n2\nthree\nfour\n") // what the change left is not kept now
	b.want(id+` …: 1 file
a.txt changed, 12 B
--- a.txt before
+++ a.txt now
@@ -1,3 +1,4 @@
 one
-two
+2
 three
+four`, b.call("file_history", args{"version": id, "path": "a.txt", "diff": "current"}))
	b.want(id+" …: 4 files; 2-3; next: offset=3\nnew.txt new, 4 B\nbin changed, 2 B", b.call("file_history", args{"version": id, "diff": "none", "offset": 1, "limit": 2}))
	b.want("offset=4 is past the end: 4 files; the last is offset=3", b.call("file_history", args{"version": id, "offset": 4}))
	b.host("a.txt", "one\ntwo\nthree\n")
	b.want(id+" …: 1 file\na.txt …, 12 B\n(as before the change)", b.call("file_history", args{"version": id, "path": "a.txt", "diff": "current"}))
}

// A change of many files and large diffs stays within the limits and says
// how to get the rest.
func TestHistoryLarge(t *testing.T) {
	tree := many("t", 300)
	long := strings.Repeat("some line of text\n", 3000)
	tree["a.txt"], tree["b.txt"] = long, long
	b := newBench(t, tree)
	b.change("delete_path", b.remove("t"))
	id := b.change("edit_file", b.write("a.txt", strings.ReplaceAll(long, "line", "LINE")), b.write("b.txt", strings.ReplaceAll(long, "line", "LINE")))
	text := b.call("file_history", args{"version": id})
	if len(text) > 25_000 {
		t.Errorf("%d bytes", len(text))
	}
	b.want("...\nb.txt changed, 54 kB\n(no room for its diff: path=\"b.txt\" version="+id+" shows it)", strings.Replace(text, "b.txt +3000 -3000", "b.txt changed", 1))
	b.want("2 changes\n… edit_file 2 files\n  a.txt …\n  b.txt …\n… delete_path t deleted, 300 files, 600 B", b.call("file_history", args{}))
	records, _, err := b.ws.History(t.Context(), workspace.HistoryQuery{Path: b.path("t")})
	if err != nil {
		t.Fatal(err)
	}
	b.want(records[0].ID+" …: 308 files; 1-200; next: offset=200\n...", b.call("file_history", args{"version": records[0].ID, "diff": "none", "limit": 200}))
}

// A view shows of a change only what lies in it.
func TestHistoryOfNarrowedView(t *testing.T) {
	b := newBench(t, map[string]string{"in/a": "1\n", "out/b": "1\n"})
	id := b.change("apply_patch", b.write("in/a", "2\n"), b.write("out/b", "2\n"))
	b.change("write_file", b.write("out/b", "3\n"))
	view, err := b.ws.Narrow([]string{"in"})
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	b.ws = view
	b.want("1 change\n"+id+" … apply_patch in/a +1 -1, 2 B", b.call("file_history", args{}))
	b.want(id+" …: 1 file; left out: 1 outside the workspace of this call, or denied to it\nin/a +1 -1, 2 B", b.call("file_history", args{"version": id, "diff": "none"}))
}

// A name that would break a line is quoted.
func TestHistoryOddNames(t *testing.T) {
	b := newBench(t, nil)
	const odd = "a\n0000 write_file fake"
	b.change("write_file", b.write(odd, "x\n"))
	b.want(`1 change`+"\n"+`… write_file "a\u000a0000 write_file fake" new, 2 B`, b.call("file_history", args{}))
}

func TestHistoryWithoutState(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a\n"})
	b.ws = b.stateless()
	b.want("error: unavailable: no state is kept: …", b.call("file_history", args{}))
}

func TestHistoryCancelled(t *testing.T) {
	b := newBench(t, nil)
	b.change("write_file", b.write("a", "1\n"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, a := range []args{{}, {"version": "x"}} {
		if _, err := tooltest.Call(ctx, b.ws, b.tool("file_history"), a.json()); tools.AsError(err).Code != tools.Cancelled {
			t.Errorf("%v: %v", a, err)
		}
	}
}

func TestHistoryOfMoves(t *testing.T) {
	b := newBench(t, map[string]string{"n.txt": "n\n", "m.txt": "m\n", "o.txt": "o\n"})
	b.change("move_path", b.move("n.txt", "d/m.txt"))
	b.want("1 change\n… move_path n.txt -> d/m.txt moved, 2 B", b.call("file_history", args{}))
	b.want("1 change of n.txt\n… move_path n.txt -> d/m.txt moved, 2 B", b.call("file_history", args{"path": "n.txt"}))
	b.change("move_path", b.move("m.txt", "o.txt"))
	b.change("write_file", b.write("x/y/z", "1\n"))
	b.change("apply_patch", workspace.Op{Kind: workspace.OpMove, From: b.path("o.txt"), Path: b.path("two/o")}, b.write("two/p", "p\n"))
	b.want("4 changes\n… apply_patch 2 files\n  o.txt -> two/o moved, 2 B\n  two/p new, 2 B\n… write_file x/y/z new, 2 B\n… move_path m.txt -> o.txt moved, replacing a file, 2 B\n… move_path …", b.call("file_history", args{}))
}

// What an agent's run changed is one change: in the list, by its handle, and in an undo.
func TestHistoryOfRun(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "one\n", "b.txt": "b\n"})
	const run = "k3bq7xya"
	for i, content := range []string{"two\n", "three\n"} {
		_, err := b.ws.Apply(t.Context(), workspace.Change{
			Tool: "write_file", Principal: tools.Local, Call: fmt.Sprint("c", i), Group: run, Ops: []workspace.Op{b.write("a.txt", content), b.write("new"+content[:3], "x\n")},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	b.change("write_file", b.write("b.txt", "B\n"))
	b.want("3 changes\n… write_file b.txt +1 -1, 2 B\n"+run+" …Z agent: 2 changes of 3 files\n  a.txt +1 -1, 6 B\n  newthr new, 2 B\n  newtwo new, 2 B", b.call("file_history", args{}))
	b.want("run "+run+": 2 changes\n… write_file 2 files\n  a.txt +1 -1, 6 B\n  newthr new, 2 B\n… write_file 2 files\n  a.txt +1 -1, 4 B\n  newtwo new, 2 B", b.call("file_history", args{"version": run}))
	b.want("error: not_found: no change "+run+" of b.txt is in the history (…)", b.call("file_history", args{"version": run, "path": "b.txt"}))
	b.want("run "+run+": 2 changes; 1-1, newest first; next: offset=1\n...", b.call("file_history", args{"version": run, "limit": 1}))
	undone := b.call("restore_file", args{"undo": true, "version": run})
	if !strings.Contains(undone, "newthr") || !strings.Contains(undone, "newtwo") {
		t.Error(undone)
	}
	b.want("…\n1\tone", b.call("read_file", args{"path": "a.txt"}))
	b.want("run "+run+": 2 changes, all taken back\n… write_file 2 files\n  a.txt +1 -1, 6 B\n  newthr new, 2 B\n...", b.call("file_history", args{"version": run}))
	b.want("error: not_found: all that run "+run+" changed is taken back (…)", b.call("restore_file", args{"undo": true, "version": run}))
}

// A run stands once in the list, at its newest change and with all of its changes, also where pages
// end within it.
func TestHistoryOfRunOverPages(t *testing.T) {
	b := newBench(t, nil)
	const run = "k3bq7xya"
	for i := range 5 {
		if _, err := b.ws.Apply(t.Context(), workspace.Change{
			Tool: "write_file", Principal: tools.Local, Call: fmt.Sprint("c", i), Group: run, Ops: []workspace.Op{b.write(fmt.Sprintf("new%d", i), "x\n")},
		}); err != nil {
			t.Fatal(err)
		}
		b.change("write_file", b.write(fmt.Sprintf("own%d", i), "x\n"))
	}
	var pages []string
	for offset := 0; offset < 10; offset += 3 {
		pages = append(pages, b.call("file_history", args{"limit": 3, "offset": offset}))
	}
	b.want("10 changes; 1-3, newest first; next: offset=3\n… write_file own4 new, 2 B\n"+run+" …Z agent: 5 changes of 5 files\n  new4 new, 2 B\n...\n… write_file own3 new, 2 B", pages[0])
	if whole := strings.Join(pages, "\n"); strings.Count(whole, run) != 1 || strings.Count(whole, "own") != 5 {
		t.Error(whole)
	}
}
