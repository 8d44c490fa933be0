package files_test

import (
	"crypto/rand"
	"encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/workspace"
	"toolcrib/workspace/recorder"
)

// program is a bench with a program whose changes are recorded.
type program struct {
	bench
	r *recorder.Recorder
}

// command runs a command of a program as a call of its own, and returns what it changed.
func (b bench) command(do func(p program)) recorder.Changes {
	b.Helper()
	p := program{b, recorder.New(b.ws)}
	p.r.Begin(recorder.Label{Tool: "bash", Principal: tools.Local, Call: rand.Text()})
	do(p)
	p.r.Close()
	return p.r.End()
}

func (p program) before(name string, goes bool) string {
	host := p.path(name).Host()
	if rest := p.r.Before(host, goes); rest != nil {
		rest()
	}
	return host
}

func (p program) write(name, text string) {
	p.Helper()
	if err := os.WriteFile(p.before(name, false), []byte(text), 0o644); err != nil {
		p.Fatal(err)
	}
}

func (p program) mkdir(name string) {
	p.Helper()
	if err := os.Mkdir(p.before(name, false), 0o755); err != nil {
		p.Fatal(err)
	}
}

func (p program) remove(name string) {
	p.Helper()
	if err := os.Remove(p.before(name, true)); err != nil {
		p.Fatal(err)
	}
}

// gitIndex is the index of a repository with one file: when that was looked at, and its content.
func gitIndex(looked byte, content string) string {
	data := append([]byte("DIRC"), 0, 0, 0, 2, 0, 0, 0, 1)
	entry := make([]byte, 72)
	entry[7], entry[15], entry[26], entry[61] = looked, looked, 0x81, 1
	copy(entry[40:60], content)
	entry[62] = 'a'
	return string(append(append(data, entry...), binary.BigEndian.AppendUint64(make([]byte, 12), uint64(looked))...))
}

// Commands that only look renew git's index, which is no change and in no undo's way, whoever
// runs them.
func TestUndoPastLookAtRepository(t *testing.T) {
	b := newBench(t, map[string]string{"a": "0\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/index": gitIndex(1, "0")})
	b.command(func(p program) { p.write(".git/index", gitIndex(2, "1")); p.write("a", "1\n") })
	if c := b.command(func(p program) { p.write(".git/index", gitIndex(3, "1")) }); len(c.Changed) > 0 {
		t.Errorf("a look changes %v", c.Changed)
	}
	b.command(func(p program) { p.write(".git/index", gitIndex(4, "1")); p.write("b", "1\n") })
	b.want("undid … bash: 2 paths; …\nb: deleted\n.git/index: restored, 104 B", b.call("restore_file", args{"undo": true}))
	b.host(filepath.FromSlash(".git/index"), gitIndex(4, "1"))
	b.want("undid … bash: 2 paths; …\n.git/index: restored, 104 B\na: restored, 2 B", b.call("restore_file", args{"undo": true}))
	b.tree(map[string]string{"a": "0\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/index": gitIndex(1, "0")})
	b.want("error: not_found: nothing more to undo …", b.call("restore_file", args{"undo": true}))
	b.command(func(p program) { p.write(".git/index", gitIndex(5, "1")) })
	b.host(filepath.FromSlash(".git/index"), gitIndex(6, "2"))
	b.want("error: conflict: … left it: .git/index …", b.call("restore_file", args{"undo": true}))
}

// A file comes back with its permissions, or none, and with those that others gave it since if the
// command gave it no others.
func TestUndoOfModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs: permissions: Windows has others")
	}
	b := newBench(t, map[string]string{"a": "0\n", "b": "0\n"})
	chmod := func(mode os.FileMode, names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.Chmod(b.path(name).Host(), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	modes := func(want ...os.FileMode) {
		t.Helper()
		for i, name := range []string{"a", "b"} {
			if info, err := os.Stat(b.path(name).Host()); err != nil || info.Mode() != want[i] {
				t.Errorf("%s: %v, %v, not %v", name, info.Mode(), err, want[i])
			}
		}
	}
	few := os.FileMode(0)
	if runtime.GOOS != "linux" && os.Getuid() != 0 {
		few = 0o640 // elsewhere a file must be readable
	}
	chmod(0o644, "a", "b")
	b.command(func(p program) { p.before("a", false); chmod(few, "a"); p.write("b", "1\n") })
	chmod(0o755, "b")
	undo := b.call("restore_file", args{"undo": true})
	b.want("undid … bash: 2 paths; …\na: …restored…\nb: restored, 2 B", undo)
	modes(0o644, 0o755)
	b.tree(map[string]string{"a": "0\n", "b": "0\n"})
	b.redo(undo)
	modes(few, 0o755)
	chmod(0o600, "a")
	b.want("error: conflict: nothing is undone: not as the change … left it: a has mode 0600 (…)", b.call("restore_file", args{"undo": true}))
	modes(0o600, 0o755)
	b.want("undid …\na: …restored…\n...", b.call("restore_file", args{"undo": true, "overwrite": true}))
	modes(0o644, 0o755)
}

// A hard link does not come back as one, which the undo says.
func TestUndoOfHardLinks(t *testing.T) {
	b := newBench(t, map[string]string{"a": "0\n", "b": "0\n"})
	for _, name := range []string{"a", "b"} {
		if err := os.Link(b.path(name).Host(), b.path(name).Host()+".other"); err != nil {
			t.Skip("needs: hard links: " + err.Error())
		}
	}
	b.command(func(p program) { p.remove("a"); p.write("b", "1\n") })
	b.want("undid … bash: 2 paths; …\n…\n…\nnote: a had 2 hard links; it comes back as a file of its own\nnote: b had 2 hard links; this name is now a file of its own", b.call("restore_file", args{"undo": true}))
}

// Another client of the same user is named whose change an undo takes back.
func TestUndoOfOtherClient(t *testing.T) {
	b := newBench(t, map[string]string{"a": "0\n"})
	if _, err := b.ws.Apply(t.Context(), workspace.Change{Tool: "write_file", Principal: tools.Local, Client: "other-client", Ops: []workspace.Op{b.write("a", "1\n")}}); err != nil {
		t.Fatal(err)
	}
	b.want("1 change\n… write_file by other-client a …", b.call("file_history", args{}))
	b.want("undid … write_file by other-client: 1 path; …\n...", b.call("restore_file", args{"undo": true}))
}

// The undo of a command does what is possible, and says what it leaves.
func TestUndoOfRest(t *testing.T) {
	b := newBench(t, map[string]string{"a": "0\n", "b": "0\n", "was.dir": "0\n"})
	large(t, b.dir, workspace.MaxKept+1) // big.log
	if c := b.command(func(p program) {
		p.remove("a")
		p.remove("big.log")
		p.remove("was.dir")
		p.mkdir("was.dir")
		p.write("was.dir/x", "x\n")
	}); c.Lost {
		t.Error("a is kept, and the command does not know")
	}
	b.want("undid … bash: 3 paths; redo: …\nwas.dir/: deleted\na: restored, 2 B\nwas.dir: restored, 2 B\nnote: not undone: big.log was larger than 67 MB, which is not kept", b.call("restore_file", args{"undo": true}))
	b.tree(map[string]string{"a": "0\n", "b": "0\n", "was.dir": "0\n"})
}

// The undo of a command takes away no file that the history cannot keep: it may be the only copy.
func TestUndoLeavesLargeFiles(t *testing.T) {
	for _, to := range []string{"new.log", "a", "d/new.log"} {
		b := newBench(t, map[string]string{"a": "0\n", "b": "0\n"})
		large(t, b.dir, workspace.MaxKept+1) // big.log
		b.command(func(p program) {
			p.write("b", "1\n")
			p.mkdir("d")
			if err := os.Rename(p.before("big.log", true), p.before(to, false)); err != nil {
				t.Fatal(err)
			}
		})
		records, _, err := b.ws.History(t.Context(), workspace.HistoryQuery{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, overwrite := range []bool{false, true} {
			text := b.call("restore_file", args{"undo": true, "version": records[0].ID, "overwrite": overwrite})
			if !strings.Contains(text, to+" stays: it is larger than 67 MB, which is not kept") {
				t.Errorf("%s: %s", to, text)
			}
			if info, err := os.Stat(b.path(to).Host()); err != nil || info.Size() != workspace.MaxKept+1 {
				t.Errorf("%s: %v", to, err)
			}
		}
		if data, err := os.ReadFile(b.path("b").Host()); err != nil || string(data) != "0\n" {
			t.Errorf("b holds %q, %v", data, err)
		}
	}
}

// A change that cannot be undone is named, with the way to the one before.
func TestUndoPastWhatCannotBe(t *testing.T) {
	b := newBench(t, map[string]string{"a": "0\n", "b": "0\n"})
	large(t, b.dir, workspace.MaxKept+1) // big.log
	b.command(func(p program) { p.write("a", "1\n") })
	b.command(func(p program) { p.write("b", "1\n") })
	if c := b.command(func(p program) { p.remove("big.log") }); !c.Lost {
		t.Error("big.log is lost, and the command does not know")
	}
	text := b.call("restore_file", args{"undo": true})
	b.want("error: too_large: the change … cannot be undone: big.log was larger than 67 MB, which is not kept (undo=true version=… takes back the change before)", text)
	before := regexp.MustCompile(`version=(\w+) takes back the change before`)
	b.want("undid … bash: 1 path; …\nb: restored, 2 B", b.call("restore_file", args{"undo": true, "version": before.FindStringSubmatch(text)[1]}))
	b.command(func(p program) { p.write("b", "2\n") })
	b.host("b", "3\n")
	text = b.call("restore_file", args{"undo": true})
	b.want("error: conflict: nothing is undone: not as the change … left it: b (…overwrite=true everything; undo=true version=… takes back the change before)", text)
	b.tree(map[string]string{"a": "1\n", "b": "3\n"})
	b.want("", b.question("restore_file", args{"undo": true}))
	text = b.call("restore_file", args{"undo": true, "version": before.FindStringSubmatch(text)[1]})
	b.want("error: too_large: …big.log…undo=true version=… takes back the change before)", text)
	b.call("restore_file", args{"undo": true, "version": before.FindStringSubmatch(text)[1]})
	b.tree(map[string]string{"a": "0\n", "b": "3\n"})
}

// The permissions that a command gave a directory come and go with an undo and its redo.
func TestRedoOfDirectoryMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs: permission bits of directories")
	}
	b := newBench(t, map[string]string{"d/a": "0\n"})
	b.command(func(p program) {
		if err := os.Chmod(p.before("d", false), 0o700); err != nil {
			t.Fatal(err)
		}
	})
	mode := func(want os.FileMode) {
		t.Helper()
		if info, err := os.Stat(b.path("d").Host()); err != nil || info.Mode().Perm() != want {
			t.Errorf("d is %v, %v", info.Mode(), err)
		}
	}
	undo := b.call("restore_file", args{"undo": true})
	mode(0o755)
	b.redo(undo)
	mode(0o700)
	b.call("restore_file", args{"undo": true})
	mode(0o755)
}

// What an undo brings back does not pass through the memory.
func TestUndoOfMuch(t *testing.T) {
	const size = 16 << 20
	b := newBench(t, nil)
	names := []string{"a", "b", "c", "rewritten"}
	for _, name := range names {
		b.host(name, name)
		if err := os.Truncate(b.path(name).Host(), size); err != nil {
			t.Fatal(err)
		}
	}
	b.command(func(p program) {
		for _, name := range names[:3] {
			p.remove(name)
		}
		p.write(names[3], "x")
		if err := os.Truncate(p.path(names[3]).Host(), size); err != nil {
			t.Fatal(err)
		}
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.want("undid … bash: 4 paths; …\n...", b.call("restore_file", args{"undo": true}))
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > size {
		t.Errorf("it took %d bytes", took)
	}
	for _, name := range names {
		info, err := os.Stat(b.path(name).Host())
		if err != nil || info.Size() != size {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// What a command made unreadable or read-only comes back with its content.
func TestUndoOfLockedFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs: Linux")
	}
	for _, mode := range []os.FileMode{0, 0o200, 0o400} {
		b := newBench(t, map[string]string{"a": "0\n", "b": "0\n"})
		for _, name := range []string{"a", "b"} {
			if err := os.Chmod(b.path(name).Host(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		b.command(func(p program) {
			p.before("a", false)
			p.write("b", "1\n")
			for _, name := range []string{"a", "b"} {
				if err := os.Chmod(b.path(name).Host(), mode); err != nil {
					t.Fatal(err)
				}
			}
		})
		undo := b.call("restore_file", args{"undo": true})
		b.want("undid … bash: 2 paths; …\na: …\nb: …", undo)
		b.tree(map[string]string{"a": "0\n", "b": "0\n"})
		for _, name := range []string{"a", "b"} {
			if info, err := os.Stat(b.path(name).Host()); err != nil || info.Mode() != 0o644 {
				t.Errorf("%s after %v: %v, %v", name, mode, info.Mode(), err)
			}
		}
		b.redo(undo)
		b.want("undid … restore_file undoing …\n...", b.call("restore_file", args{"undo": true}))
		b.tree(map[string]string{"a": "0\n", "b": "0\n"})
	}
}
