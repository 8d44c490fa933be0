package recorder_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
	"toolcrib/workspace/recorder"
)

// fixture is a workspace with a program whose changes are recorded.
type fixture struct {
	*testing.T
	dir, state string
	ws         *workspace.Workspace
	r          *recorder.Recorder
	calls      uint64
}

func start(t *testing.T) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{T: t, dir: dir, state: t.TempDir()}
	f.open()
	return f
}

// open opens the workspace as a new server does.
func (f *fixture) open() {
	f.Helper()
	ws, err := workspace.Open([]string{f.dir}, workspace.Options{StateBase: f.state})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { ws.Close() })
	f.ws, f.r = ws, recorder.New(ws)
	f.r.Begin(recorder.Label{Tool: "bash", Principal: "local", Call: "1"})
}

// hear has the recorder hear of the next system call of a program with one thread.
func (f *fixture) hear(report func()) {
	f.calls++
	f.r.Hear(recorder.Call{Thread: 1, ID: f.calls})
	report()
	f.r.Heard()
}

func (f *fixture) path(name string) string { return filepath.Join(f.dir, name) }

// plant makes files without a record.
func (f *fixture) plant(files ...string) {
	f.Helper()
	for _, name := range files {
		f.must(errors.Join(os.MkdirAll(filepath.Dir(f.path(name)), 0o755), os.WriteFile(f.path(name), []byte("old "+name), 0o644)))
		f.age(name)
	}
}

// age makes a file old, so that it has not changed since the begin of the call.
func (f *fixture) age(name string) {
	f.Helper()
	f.must(os.Chtimes(f.path(name), time.Time{}, time.Now().Add(-time.Hour)))
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) before(name string, goes bool) {
	if rest := f.r.Before(f.path(name), goes); rest != nil {
		rest()
	}
}

// The changes of a program, as its observer reports them.
func (f *fixture) write(name, text string) {
	f.Helper()
	f.before(name, false)
	f.must(os.WriteFile(f.path(name), []byte(text), 0o644))
}

// timed gives a file its time back after a change.
func (f *fixture) timed(name string, change func()) {
	f.Helper()
	info, err := os.Stat(f.path(name))
	f.must(err)
	change()
	f.must(os.Chtimes(f.path(name), time.Time{}, info.ModTime()))
}

func (f *fixture) remove(name string) {
	f.Helper()
	f.before(name, true)
	f.must(os.Remove(f.path(name)))
}

func (f *fixture) mkdir(name string) {
	f.Helper()
	f.before(name, false)
	f.must(os.Mkdir(f.path(name), 0o755))
}

func (f *fixture) rename(from, to string) {
	f.Helper()
	f.r.Move(f.path(from), f.path(to))
	f.must(os.Rename(f.path(from), f.path(to)))
}

// records lists the history from the oldest change on: "delete b: old b".
func (f *fixture) records() []string {
	f.Helper()
	list, _, err := f.ws.History(f.Context(), workspace.HistoryQuery{})
	f.must(err)
	var lines []string
	for _, rec := range slices.Backward(list) {
		for _, c := range rec.Files {
			line := string(c.Kind) + " " + c.Path
			if c.From != "" {
				line += " from " + c.From
			}
			if c.Before != nil && c.Before.Kept {
				r, _, err := f.ws.Kept(f.Context(), c.Before)
				f.must(err)
				text, err := io.ReadAll(r)
				f.must(errors.Join(err, r.Close()))
				line += ": " + string(text)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func TestRecord(t *testing.T) {
	large := strings.Repeat("large ", 1<<17)
	tests := []struct {
		name    string
		files   []string
		program func(f *fixture)
		changes recorder.Changes
		want    []string
	}{
		{"nothing", []string{"a"}, func(*fixture) {}, recorder.Changes{}, nil},
		{
			"written, deleted, made", []string{"a", "b"}, func(f *fixture) { f.write("a", "x"); f.remove("b"); f.mkdir("d"); f.write("d/c", "y") },
			recorder.Changes{Created: []string{"d/c"}, Changed: []string{"a"}, Deleted: []string{"b"}},
			[]string{"write a: old a", "delete b: old b", "directory d", "write d/c"},
		},
		{"the first state counts", []string{"a"}, func(f *fixture) { f.write("a", "x"); f.write("a", "y"); f.remove("a") }, recorder.Changes{Deleted: []string{"a"}}, []string{"delete a: old a"}},
		{"made and gone", nil, func(f *fixture) { f.write("a", "x"); f.remove("a") }, recorder.Changes{}, nil},
		{"as it was", []string{"a"}, func(f *fixture) { f.write("a", "old a") }, recorder.Changes{Changed: []string{"a"}}, nil},
		{"announced only", []string{"a"}, func(f *fixture) { f.before("a", true) }, recorder.Changes{}, nil},
		{"opened for writing only", []string{"a"}, func(f *fixture) { f.before("a", false) }, recorder.Changes{}, nil},
		{"written, with its old time again", []string{"a"}, func(f *fixture) { f.timed("a", func() { f.write("a", "new a") }) }, recorder.Changes{Changed: []string{"a"}}, []string{"write a: old a"}},
		{
			"renamed, then written: the link that was taken is another file's by then", []string{"a"}, func(f *fixture) { f.rename("a", "b"); f.write("b", "x") },
			recorder.Changes{Created: []string{"b"}, Deleted: []string{"a"}}, []string{"delete a: old a", "write b"},
		},
		{"renamed over another", []string{"a", "b"}, func(f *fixture) { f.rename("a", "b") }, recorder.Changes{Changed: []string{"b"}, Deleted: []string{"a"}}, []string{"delete a: old a", "write b: old b"}},
		{
			"a directory moved, and a file in it changed before and after", []string{"d/a"}, func(f *fixture) { f.write("d/a", "x"); f.rename("d", "e"); f.write("e/a", "y") },
			recorder.Changes{Changed: []string{"d/a", "e/a"}, Moved: [][2]string{{"d", "e"}}}, []string{"write d/a: old d/a", "move e from d", "write e/a: x"},
		},
		{
			"renamed, its directory moved, then written", []string{"d/a"}, func(f *fixture) { f.rename("d/a", "d/b"); f.rename("d", "e"); f.write("e/b", "x") },
			recorder.Changes{Created: []string{"d/b"}, Changed: []string{"e/b"}, Deleted: []string{"d/a"}, Moved: [][2]string{{"d", "e"}}},
			[]string{"delete d/a: old d/a", "write d/b", "move e from d", "write e/b: old d/a"},
		},
		{
			"a directory that the program made, moved", nil, func(f *fixture) { f.mkdir("d"); f.write("d/a", "x"); f.rename("d", "e") },
			recorder.Changes{Created: []string{"e/a"}}, []string{"directory e", "write e/a"},
		},
		{"a move that fails", []string{"d/a", "e/b"}, func(f *fixture) { f.r.Move(f.path("d"), f.path("e")); f.write("d/a", "x") }, recorder.Changes{Changed: []string{"d/a"}}, []string{"write d/a: old d/a"}},
		{"a directory moved and deleted", []string{"d/a"}, func(f *fixture) { f.rename("d", "e"); f.remove("e/a"); f.remove("e") }, recorder.Changes{Deleted: []string{"e/a"}, Moved: [][2]string{{"d", "e"}}}, []string{"move e from d", "delete e", "delete e/a: old d/a"}},
		{
			"what is ignored is left out", []string{".gitignore", "build/a", "a.o"}, func(f *fixture) { f.remove("build/a"); f.write("build/b", "x"); f.remove("a.o") },
			recorder.Changes{Deleted: []string{"a.o"}, NotKept: "1 deleted or replaced in directories that git ignores, such as build/a"}, []string{"delete a.o: old a.o"},
		},
		{"an ignored directory that is made", []string{".gitignore"}, func(f *fixture) { f.mkdir("build"); f.write("build/b", "x") }, recorder.Changes{}, nil},
		{
			"a link in the place of a directory", []string{"d/a", "e/a"}, func(f *fixture) {
				f.remove("d/a")
				f.remove("d")
				f.before("d", false)
				f.must(os.Symlink("e", f.path("d")))
			},
			recorder.Changes{Changed: []string{"d"}, Deleted: []string{"d/a"}}, []string{"symlink d", "delete d/a: old d/a"},
		},
		{
			"a directory that exchanges its name with a file", []string{"d/a", "b"}, func(f *fixture) {
				f.r.Exchange(f.path("d"), f.path("b"))
				f.must(errors.Join(os.Rename(f.path("d"), f.path("x")), os.Rename(f.path("b"), f.path("d")), os.Rename(f.path("x"), f.path("b"))))
			},
			recorder.Changes{Created: []string{"b/a"}, Changed: []string{"b", "d"}, Deleted: []string{"d/a"}}, []string{"write b: old b", "write b/a", "write d", "delete d/a: old d/a"},
		},
		{"a file that is copied while others go on", nil, func(f *fixture) {
			f.must(os.WriteFile(f.path("a"), []byte(large), 0o644))
			f.age("a")
			f.write("a", "x")
		}, recorder.Changes{Changed: []string{"a"}}, []string{"write a: " + large}},
		{
			"another file renamed than was seen", []string{"a", "b"}, func(f *fixture) {
				f.r.Move(f.path("a"), f.path("c"))
				f.must(os.Rename(f.path("b"), f.path("c")))
			},
			recorder.Changes{Created: []string{"c"}, NotKept: "c has come from a file that was not seen"}, []string{"write c"},
		},
		{
			"a file renamed that was not seen", []string{"a"}, func(f *fixture) {
				f.r.Move("", f.path("c"))
				f.must(os.Rename(f.path("a"), f.path("c")))
			},
			recorder.Changes{Created: []string{"c"}, NotKept: "c has come from a file that was not seen"}, []string{"write c"},
		},
		{"a rename that fails, then a new file", nil, func(f *fixture) {
			f.r.Move(f.path("a"), f.path("c"))
			f.write("c", "x")
		}, recorder.Changes{Created: []string{"c"}}, []string{"write c"}},
		{"outside the roots", nil, func(f *fixture) { f.r.Before("/etc/passwd", true); f.r.Move("/etc", "/usr") }, recorder.Changes{}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := start(t)
			f.plant(tt.files...)
			if slices.Contains(tt.files, ".gitignore") {
				f.must(errors.Join(os.Mkdir(f.path(".git"), 0o755), os.WriteFile(f.path(".gitignore"), []byte("build/\n*.o\n"), 0o644)))
			}
			tt.program(f)
			if d := cmp.Diff(tt.changes, f.r.End()); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tt.want, f.records()); d != "" {
				t.Error(d)
			}
		})
	}
}

// A file too large to be kept counts only if it has changed.
func TestTooLarge(t *testing.T) {
	f := start(t)
	for _, name := range []string{"opened", "written"} {
		f.must(os.WriteFile(f.path(name), nil, 0o644))
		f.must(os.Truncate(f.path(name), 65<<20))
		f.age(name)
	}
	f.before("opened", false)
	f.write("written", "x")
	want := recorder.Changes{Changed: []string{"written"}, NotKept: "written is not kept: it is larger than 67 MB"}
	if d := cmp.Diff(want, f.r.End()); d != "" {
		t.Error(d)
	}
}

// The copy of a large file stops no other system call, also if the file loses its name.
func TestRest(t *testing.T) {
	f := start(t)
	f.plant("a")
	f.must(errors.Join(os.Truncate(f.path("a"), 1<<20), os.Link(f.path("a"), f.path("b"))))
	if f.r.Before(f.path("a"), true) == nil {
		t.Error("a file with another name is copied at once")
	}
}

// The end of a change waits for the calls that were reported for it: they are carried out after
// their reports were answered.
func TestUnderWay(t *testing.T) {
	write := func(f *fixture) { f.must(os.WriteFile(f.path("a"), []byte("new a"), 0o644)) }
	rename := func(from, to string) (report, land func(*fixture)) {
		return func(f *fixture) { f.r.Move(f.path(from), f.path(to)) }, func(f *fixture) { f.must(os.Rename(f.path(from), f.path(to))) }
	}
	file, fileLands := rename("a", "b")
	dir, dirLands := rename("d", "e")
	for _, c := range []struct {
		name         string
		files        []string
		report, land func(*fixture)
		want         []string
	}{
		{"made", nil, func(f *fixture) { f.before("a", false) }, write, []string{"write a"}},
		{"written", []string{"a"}, func(f *fixture) { f.before("a", false) }, write, []string{"write a: old a"}},
		{"deleted", []string{"a"}, func(f *fixture) { f.before("a", true) }, func(f *fixture) { f.must(os.Remove(f.path("a"))) }, []string{"delete a: old a"}},
		{"renamed over another", []string{"a", "b"}, file, fileLands, []string{"delete a: old a", "write b: old b"}},
		{"a directory moved", []string{"d/a"}, dir, dirLands, []string{"move e from d"}},
		{"a directory of its own moved", nil, func(f *fixture) { f.mkdir("d"); f.write("d/a", "new a"); dir(f) }, dirLands, []string{"directory e", "write e/a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := start(t)
			f.plant(c.files...)
			looks := 0
			f.r.UnderWay = func(by recorder.Call) bool {
				if looks++; looks == 3 {
					c.land(f)
				}
				return looks < 3 || by.ID != f.calls
			}
			f.hear(func() { c.report(f) })
			if got := f.r.End(); got.NotKept != "" || looks != 3 {
				t.Errorf("%+v after %d looks", got, looks)
			}
			if d := cmp.Diff(c.want, f.records()); d != "" {
				t.Error(d)
			}
		})
	}
	f := start(t)
	f.r.UnderWay = func(recorder.Call) bool { return true }
	f.hear(func() { f.before("a", false) })
	if got := f.r.End(); !strings.Contains(got.NotKept, "still under way") {
		t.Errorf("a call that does not land: %+v", got)
	}
	f.before("b", false)
	f.r.Close()
	if got := f.r.End(); got.NotKept != "" {
		t.Errorf("a program that has ended: %+v", got)
	}
}

// TestThin makes and deletes many files: a program that runs for days must not fill the memory.
func TestThin(t *testing.T) {
	f := start(t)
	f.plant("kept")
	f.write("kept", "x")
	for i := range 60_000 {
		f.before(fmt.Sprint(i), false)
	}
	if n := f.r.Entries(); n > 10_000 {
		t.Errorf("%d entries", n)
	}
	if c := f.r.End(); !slices.Equal(c.Changed, []string{"kept"}) {
		t.Errorf("%+v", c)
	}
}

// TestOthers has the file index name what changed without a report.
func TestOthers(t *testing.T) {
	f := start(t)
	f.plant("a", "b", "d/c", "e", "hard", "gone", "early", "late", "seen", "unseen")
	f.must(os.Link(f.path("hard"), f.path("link")))
	root, err := f.ws.Resolve(f.dir)
	f.must(err)
	x, err := fileindex.New(t.Context(), root, fileindex.Options{})
	f.must(err)
	t.Cleanup(func() { _ = x.Close() })
	if how, err := x.Sync(t.Context()); how != fileindex.Watched {
		t.Skip("needs: reports of the system on changes of files: ", err)
	}
	f.r.Begin(recorder.Label{Tool: "bash", Principal: "local", Call: "2"})
	f.write("a", "x")
	f.rename("d", "moved")
	f.remove("link") // which changes the status of hard
	f.must(os.WriteFile(f.path("b"), []byte("unseen"), 0o644))
	f.must(errors.Join(os.Remove(f.path("gone")), os.Mkdir(f.path("new"), 0o755), os.Remove(f.path("early"))))
	f.before("early", true) // a report that comes too late
	f.must(os.WriteFile(f.path("moved/c"), []byte("of a moved directory"), 0o644))
	f.before("seen", false)
	f.must(errors.Join(os.Chmod(f.path("unseen"), 0o600), os.Chmod(f.path("seen"), 0o600), os.Chmod(f.path("late"), 0o600)))
	f.before("late", false)
	want := recorder.Changes{Changed: []string{"a", "seen"}, Deleted: []string{"link"}, Moved: [][2]string{{"d", "moved"}}, Others: []string{"b", "early", "gone", "late", "new", "unseen"}}
	if d := cmp.Diff(want, f.r.End()); d != "" {
		t.Error(d)
	}
	f.must(os.WriteFile(f.path("e"), []byte("between calls"), 0o644))
	f.r.Begin(recorder.Label{Tool: "bash", Principal: "local", Call: "3"})
	if c := f.r.End(); c.Others != nil {
		t.Errorf("what was changed before the call: %v", c.Others)
	}
}

// A file that changed without a report is named also without a file index, once there is one. An
// object of git has got a new time alone.
func TestLate(t *testing.T) {
	const object = ".git/objects/ab/cdef"
	f := start(t)
	f.plant("a", "b", object)
	f.write("a", "x")
	time.Sleep(10 * time.Millisecond) // clocks of files are coarse
	f.must(errors.Join(os.WriteFile(f.path("b"), []byte("unseen"), 0o644), os.Chtimes(f.path(object), time.Time{}, time.Now())))
	time.Sleep(10 * time.Millisecond)
	f.write("b", "seen")
	f.remove(object)
	want := recorder.Changes{Changed: []string{"a", "b"}, Deleted: []string{object}, Others: []string{"b"}}
	if d := cmp.Diff(want, f.r.End()); d != "" {
		t.Error(d)
	}
}

// Calls have changes of their own; so has what a program does later, without a call.
func TestCalls(t *testing.T) {
	f := start(t)
	f.plant("a", "b", "c")
	f.write("a", "x")
	f.r.Begin(recorder.Label{Tool: "bash", Principal: "local", Call: "2"})
	f.write("b", "x")
	if c := f.r.End(); !slices.Equal(c.Changed, []string{"b"}) {
		t.Errorf("the second call: %+v", c)
	}
	f.write("c", "x")
	f.r.Close()
	list, _, err := f.ws.History(t.Context(), workspace.HistoryQuery{})
	f.must(err)
	var calls []string
	for _, rec := range slices.Backward(list) {
		calls = append(calls, rec.Call+" "+rec.Files[0].Path)
	}
	if d := cmp.Diff([]string{"1 a", "2 b", "2+1 c"}, calls); d != "" {
		t.Error(d)
	}
}

// What changes outside of a call lose is said once.
func TestLost(t *testing.T) {
	f := start(t)
	for _, name := range []string{"in a call", "later"} {
		f.must(os.WriteFile(f.path(name), nil, 0o644))
		f.must(os.Truncate(f.path(name), 65<<20))
	}
	f.remove("in a call")
	if f.r.End().NotKept == "" {
		t.Error("the call does not say what it loses")
	}
	f.remove("later")
	f.r.Close()
	for _, want := range []string{"later is not kept: it is larger than 67 MB", ""} {
		if got := f.r.Lost(); got != want {
			t.Errorf("lost: %q, want %q", got, want)
		}
	}
}

// A call learns its changes also if the program has ended.
func TestClose(t *testing.T) {
	f := start(t)
	f.plant("a")
	f.write("a", "x")
	f.r.Close()
	if c := f.r.End(); !slices.Equal(c.Changed, []string{"a"}) {
		t.Errorf("%+v", c)
	}
}

// TestRecover lets the next server complete what a killed one had under way.
func TestRecover(t *testing.T) {
	f := start(t)
	f.plant("a", "b", "d/c", "f")
	f.rename("f", "g") // which keeps the file that was taken by a link
	f.write("a", "x")
	f.remove("b")
	f.rename("d", "e")
	f.write("e/c", "y")
	f.mkdir("n")
	f.rename("n", "m")
	f.must(f.r.Abandon())
	f.open()
	n, err := recorder.Recover(t.Context(), f.ws)
	f.must(err)
	if n != 1 {
		t.Errorf("%d changes", n)
	}
	want := []string{"write a: old a", "delete b: old b", "delete f: old f", "write g", "move e from d", "write e/c: old d/c", "directory m"}
	if d := cmp.Diff(want, f.records()); d != "" {
		t.Error(d)
	}
	if n, err := recorder.Recover(context.Background(), f.ws); n != 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}
}

// TestShare lets programs have half of the history: their oldest contents go, and none of the
// tools' contents.
func TestShare(t *testing.T) {
	f := start(t)
	f.must(f.ws.Close())
	ws, err := workspace.Open([]string{f.dir}, workspace.Options{StateBase: f.state, History: workspace.HistoryBounds{Bytes: 1 << 20}})
	f.must(err)
	t.Cleanup(func() { ws.Close() })
	f.ws = ws
	text := strings.Repeat("x", 150<<10)
	p, err := ws.Resolve("edited")
	f.must(err)
	for range 2 {
		_, err = ws.Apply(t.Context(), workspace.Change{Tool: "edit_file", Principal: "local", Ops: []workspace.Op{{
			Kind: workspace.OpWrite, Path: p, New: func(old workspace.Old) ([]byte, error) { return append(old.Data, text...), nil },
		}}})
		f.must(err)
	}
	for i := range 8 {
		name := fmt.Sprint(i)
		f.must(os.WriteFile(f.path(name), []byte(name+text), 0o644))
		f.r = recorder.New(ws)
		f.r.Begin(recorder.Label{Tool: "bash", Principal: "local", Call: name})
		f.remove(name)
		f.r.Close()
	}
	list, _, err := ws.History(t.Context(), workspace.HistoryQuery{})
	f.must(err)
	h, err := p.Anchor().Store().History(p.Anchor().Given())
	f.must(err)
	f.must(h.Prune(t.Context(), 0))
	kept := ""
	for _, rec := range slices.Backward(list) {
		for _, c := range rec.Files {
			if c.Before == nil {
				continue
			}
			if r, _, err := ws.Kept(t.Context(), c.Before); err == nil {
				kept += c.Path + " "
				f.must(r.Close())
			}
		}
	}
	if kept != "edited 4 5 6 7 " {
		t.Errorf("kept: %s", kept)
	}
}
