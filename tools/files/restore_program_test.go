package files_test

import (
	"crypto/rand"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"toolcrib/tools"
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
	b.host(filepath.FromSlash(".git/index"), gitIndex(4, "1"))
	b.want("undid … bash: 2 paths; …\n.git/index: restored, 104 B\na: restored, 2 B", b.call("restore_file", args{"undo": true}))
	b.tree(map[string]string{"a": "0\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/index": gitIndex(1, "0")})
	b.want("error: not_found: nothing more to undo …", b.call("restore_file", args{"undo": true}))
	b.command(func(p program) { p.write(".git/index", gitIndex(5, "1")) })
	b.host(filepath.FromSlash(".git/index"), gitIndex(6, "2"))
	b.want("error: conflict: … left it: .git/index …", b.call("restore_file", args{"undo": true}))
}
