package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
)

// killedWorkers is how many trees a process changes at once.
const killedWorkers = 4

// killedOptions are drawn from the seed, for both sides alike.
func killedOptions(base string, seed uint64) workspace.Options {
	return workspace.Options{StateBase: base, NoSync: seed%2 == 0, Portable: seed/2%2 == 0}
}

func killedTop(worker int) string { return fmt.Sprintf("w%d", worker) }

func killedCall(seed uint64, worker, n int) string { return fmt.Sprintf("%x/%d/%d", seed, worker, n) }

// readModel reads the entries below top.
func readModel(root, top string) (model, error) {
	m := model{}
	err := filepath.WalkDir(filepath.Join(root, top), func(host string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, host)
		if err != nil {
			return err
		}
		if e.IsDir() {
			m[name+"/"] = ""
			return nil
		}
		data, err := os.ReadFile(host)
		m[name] = string(data)
		return err
	})
	return m, err
}

// changeForever changes the tree of each worker, and prints the worker and the
// number of each change that has happened.
func changeForever(base, root, arg string) error {
	seed, err := strconv.ParseUint(arg, 10, 64)
	if err != nil {
		return err
	}
	w, err := workspace.Open([]string{root}, killedOptions(base, seed))
	if err != nil {
		return err
	}
	errs := make(chan error)
	for worker := range killedWorkers {
		m, err := readModel(root, killedTop(worker))
		if err != nil {
			return err
		}
		go func() {
			rnd := rand.New(rand.NewPCG(seed, uint64(worker)))
			for n := 0; ; n++ {
				steps := m.draw(rnd, killedTop(worker), n)
				if err := m.change(w, steps, killedCall(seed, worker, n)); err != nil {
					errs <- fmt.Errorf("change %d of worker %d: %w: %q", n, worker, err, outline(steps))
					return
				}
				fmt.Printf("%d %d\n", worker, n)
			}
		}()
	}
	return <-errs
}

// change does steps to the workspace, and then to the model.
func (m model) change(w *workspace.Workspace, steps []modelStep, call string) error {
	c := workspace.Change{Tool: "test", Call: call}
	for _, s := range steps {
		op, err := s.op(w, m)
		if err != nil {
			return err
		}
		c.Ops = append(c.Ops, op)
	}
	if _, err := w.Apply(context.Background(), c); err != nil {
		return err
	}
	m.do(steps)
	return nil
}

// recoverOnce is a start that has nothing else to do.
func recoverOnce(base, root string) error {
	w, err := workspace.Open([]string{root}, workspace.Options{StateBase: base})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	done, err := w.Recover(context.Background())
	return errors.Join(append(done.Left, err, w.Close())...)
}

// TestKilled kills processes while they change trees, and some of those that
// recover. After the next start each tree is what its last acknowledged change or
// the one after it has made of it, as a whole, and the history has just these
// changes.
func TestKilled(t *testing.T) {
	kills := 60
	if testing.Short() {
		kills = 10
	}
	dir := t.TempDir()
	k := &killed{t: t, base: filepath.Join(dir, "state"), root: filepath.Join(dir, "root"), want: map[string]bool{}}
	if runtime.GOOS == "linux" { // others refuse such a name
		check(t, os.Mkdir(filepath.Join(dir, "not UTF-8: \xff"), 0o755))
		check(t, os.Symlink("not UTF-8: \xff", k.root))
	}
	for worker := range killedWorkers {
		check(t, os.MkdirAll(filepath.Join(k.root, killedTop(worker)), 0o755))
	}
	for range kills {
		k.round(rand.Uint64())
	}
	w, h, err := openHistory(k.base, k.root)
	check(t, err)
	defer w.Close()
	records, _, err := h.Whole(t.Context())
	check(t, err)
	found := map[string]bool{}
	for _, rec := range records {
		if found[rec.Call] {
			t.Errorf("the history has the change %s twice", rec.Call)
		}
		found[rec.Call] = true
	}
	if diff := cmp.Diff(k.want, found); diff != "" {
		t.Errorf("changes in the history (-want +got):\n%s", diff)
	}
	if k.finished == 0 || k.undone == 0 || k.mid == 0 {
		t.Errorf("%d changes finished, %d undone, %d starts killed: nothing is proved", k.finished, k.undone, k.mid)
	}
	t.Logf("%d changes, %d found finished, %d undone, %d starts killed", len(k.want), k.finished, k.undone, k.mid)
}

// killed is the state of the test.
type killed struct {
	t                     *testing.T
	base, root            string
	want                  map[string]bool // the calls whose changes have happened
	finished, undone, mid int
}

func (k *killed) round(seed uint64) {
	t := k.t
	before := make([]model, killedWorkers)
	for worker := range killedWorkers {
		var err error
		before[worker], err = readModel(k.root, killedTop(worker))
		check(t, err)
	}
	lines := k.kill("change", 30*time.Millisecond, k.base, k.root, strconv.FormatUint(seed, 10))
	for rand.IntN(3) == 0 {
		k.kill("recover", 3*time.Millisecond, k.base, k.root)
		k.mid++
	}
	w, err := workspace.Open([]string{k.root}, killedOptions(k.base, seed))
	check(t, err)
	defer w.Close()
	done, err := w.Recover(t.Context())
	check(t, errors.Join(append(done.Left, err)...))
	k.finished += done.Finished
	k.undone += done.Undone

	acknowledged := make([]int, killedWorkers)
	for _, line := range lines {
		var worker, n int
		if _, err := fmt.Sscan(line, &worker, &n); err == nil {
			acknowledged[worker] = n + 1
		}
	}
	for worker, m := range before {
		k.compare(seed, worker, m, acknowledged[worker])
	}
}

// compare replays the changes of a worker.
func (k *killed) compare(seed uint64, worker int, m model, acknowledged int) {
	rnd := rand.New(rand.NewPCG(seed, uint64(worker)))
	for n := range acknowledged {
		m.do(m.draw(rnd, killedTop(worker), n))
		k.want[killedCall(seed, worker, n)] = true
	}
	got, err := readModel(k.root, killedTop(worker))
	check(k.t, err)
	if maps.Equal(m, got) {
		return
	}
	last := maps.Clone(m)
	steps := last.draw(rnd, killedTop(worker), acknowledged)
	last.do(steps)
	if !maps.Equal(last, got) {
		k.t.Fatalf("seed %d, worker %d: %d changes were acknowledged, and the tree is what neither they nor the next has made of it.\nnext: %v\nwithout (-want +got):\n%s\nwith it:\n%s",
			seed, worker, acknowledged, outline(steps), cmp.Diff(short(m), short(got)), cmp.Diff(short(last), short(got)))
	}
	k.want[killedCall(seed, worker, acknowledged)] = true
}

// short has the beginnings of the contents in their place.
func short(m model) model {
	s := model{}
	for name, content := range m {
		s[name] = fmt.Sprintf("%.30q, %d bytes", content, len(content))
	}
	return s
}

func outline(steps []modelStep) (lines []string) {
	for _, s := range steps {
		lines = append(lines, fmt.Sprintf("%s %q from %q", s.kind, s.path, s.from))
	}
	return lines
}

// kill runs the test binary in a role, kills it within limit after its first line,
// and returns what it printed.
func (k *killed) kill(role string, limit time.Duration, args ...string) []string {
	t := k.t
	cmd := process(t, role, args...)
	var ready sync.WaitGroup
	ready.Add(1)
	lines := &killedLines{ready: sync.OnceFunc(ready.Done)}
	cmd.Stdout = lines
	check(t, cmd.Start())
	wait := sync.OnceValue(cmd.Wait)
	go func() {
		wait() //nolint:errcheck // it is looked at below
		lines.ready()
	}()
	ready.Wait()
	time.Sleep(rand.N(limit))
	check(t, notDone(cmd.Process.Kill()))
	if err := wait(); err != nil && cmd.ProcessState.Exited() {
		t.Fatalf("%s ended by itself: %v", role, err)
	}
	return strings.Split(lines.text.String(), "\n")
}

func notDone(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// killedLines collects what a process prints and tells when it has begun.
type killedLines struct {
	text  strings.Builder
	ready func()
}

func (l *killedLines) Write(p []byte) (int, error) {
	l.text.Write(p)
	l.ready()
	return len(p), nil
}
