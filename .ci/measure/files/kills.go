// Package files has the figures of files: reading and writing, that nothing is lost when
// processes are killed, faults are injected or workers meet, and that results are whole.
//
// Start at [Kills]. It imports the harness, and no other figures.
package files

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"toolcrib/.ci/measure/harness"
)

const (
	killedLanes   = 2 // servers at once, each with a tree of its own
	killedWorkers = 4 // calls of a server at once
	killedWithin  = 30 * time.Millisecond
)

// Kills kills servers in the middle of what they do to many files, and compares
// what the next start has made of it with what was asked for. The same is done to
// a server that writes files as os.WriteFile does: where the method does not find
// that one out, it proves nothing.
func Kills(ctx context.Context, env harness.Environment) error {
	base, err := os.MkdirTemp("", "kills")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	seed := harness.NewSeed()
	fmt.Println("| kill -9 within 30 ms, 4 calls in flight | kills | a second | acknowledged | in flight: done, not done | restored | torn | missing | half | strays | refused |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|")
	self, err := os.Executable()
	if err != nil {
		return err
	}
	plain := func(dir string, _ int) []string { return []string{self, "serve", "plain", dir} }
	control, err := killMany(ctx, filepath.Join(base, "plain"), plain, env.Of(1000, 60), seed, true)
	if err != nil {
		return err
	}
	control.print("plain os.WriteFile")
	if control.torn+control.missing == 0 {
		return errors.New("a server that writes files in place was never caught: nothing is proved")
	}
	ours := func(dir string, round int) []string {
		return []string{
			env.Binary, "serve", "--confirm", "client", "--state-dir", filepath.Join(base, "state"),
			fmt.Sprintf("--durable=%t", round%2 == 0), dir,
		}
	}
	t, err := killMany(ctx, filepath.Join(base, "trees"), ours, env.Of(10_000, 100), seed, false)
	if err != nil {
		return err
	}
	t.print("toolcrib")
	for _, sample := range append(control.refusals, t.samples...) {
		fmt.Println("  " + sample)
	}
	switch {
	case t.torn+t.missing+t.half+t.strays+t.refused > 0:
		return fmt.Errorf("%d torn, %d missing, %d half, %d strays, %d refused", t.torn, t.missing, t.half, t.strays, t.refused)
	case t.done == 0 || t.undone == 0 || t.restored == 0:
		return errors.New("no call was killed before its end, or none after it, or nothing was restored: nothing is proved")
	}
	return nil
}

// killedTally counts what kills have done.
type killedTally struct {
	mu                                   sync.Mutex
	kills, acknowledged, done, undone    int
	restored                             int // by calls after the start that followed
	torn, missing, half, strays, refused int
	samples, refusals                    []string
	took                                 time.Duration
}

func (t *killedTally) print(name string) {
	fmt.Printf("| %s | %d | %.1f | %d | %d, %d | %d | %d | %d | %d | %d | %d |\n", name, t.kills, float64(t.kills)/t.took.Seconds(),
		t.acknowledged, t.done, t.undone, t.restored, t.torn, t.missing, t.half, t.strays, t.refused)
}

// sample keeps the words for the first of many faults. The caller has the lock.
func (t *killedTally) sample(format string, args ...any) {
	if len(t.samples) < 20 {
		t.samples = append(t.samples, fmt.Sprintf(format, args...))
	}
}

// killMany runs the lanes until there were n kills.
func killMany(ctx context.Context, base string, command func(dir string, round int) []string, n int, seed uint64, plain bool) (*killedTally, error) {
	tally, begin := &killedTally{}, time.Now()
	errs := make([]error, killedLanes)
	var wg sync.WaitGroup
	for i := range killedLanes {
		lane := &killedLane{dir: filepath.Join(base, fmt.Sprint(i)), tally: tally, rnd: rand.New(rand.NewPCG(seed, uint64(i)))}
		for j := range killedWorkers {
			w := &killedWorker{top: fmt.Sprintf("w%d", j), rnd: rand.New(rand.NewPCG(seed, uint64(100*i+j))), tree: killedTree{}, plain: plain}
			lane.workers = append(lane.workers, w)
			if err := w.plant(lane.dir); err != nil {
				return nil, err
			}
		}
		wg.Go(func() {
			for round := 0; round <= n/killedLanes && errs[i] == nil; round++ {
				errs[i] = lane.round(ctx, command(lane.dir, round), round == n/killedLanes)
			}
		})
	}
	wg.Wait()
	tally.took = time.Since(begin)
	return tally, errors.Join(errs...)
}

// killedLane is one tree and the server on it.
type killedLane struct {
	dir     string
	workers []*killedWorker
	tally   *killedTally
	rnd     *rand.Rand
}

// round starts a server, looks what it has made of the last kill, and kills it; the
// last round only looks.
func (l *killedLane) round(ctx context.Context, command []string, last bool) error {
	c, err := harness.Dial(ctx, nil, command[0], command[1:]...)
	if err != nil {
		return err
	}
	if err := c.Initialize(); err != nil {
		return err
	}
	if _, err := c.Call(1, "tools/call", map[string]any{"name": "list_directory", "arguments": map[string]any{}}); err != nil {
		return err
	}
	for _, w := range l.workers {
		if err := w.look(l.dir, l.tally); err != nil {
			return err
		}
	}
	if last {
		return c.Close()
	}
	var wg sync.WaitGroup
	for i, w := range l.workers {
		wg.Go(func() { w.run(c, (i+1)*1_000_000, l.tally) })
	}
	time.Sleep(time.Duration(l.rnd.Int64N(int64(killedWithin))))
	if err := c.Cmd.Process.Kill(); err != nil {
		return fmt.Errorf("the server ended by itself: %w", err)
	}
	wg.Wait()
	<-c.Done
	_ = c.Cmd.Wait() // killed
	l.tally.mu.Lock()
	defer l.tally.mu.Unlock()
	l.tally.kills++
	return nil
}

// run makes calls until the server is dead.
func (w *killedWorker) run(c *harness.Client, id int, tally *killedTally) {
	for ; ; id++ {
		step := w.step()
		w.pending = &step
		m, err := c.Call(id, "tools/call", map[string]any{"name": step.call.Tool, "arguments": step.call.Args})
		if err != nil {
			return // it may have happened or not
		}
		w.pending = nil
		tally.mu.Lock()
		if strings.Contains(string(m.Result), `"isError":true`) {
			tally.refused++
			tally.sample("%s %.200v was refused: %.1000s", step.call.Tool, step.call.Args, m.Result)
		} else {
			tally.acknowledged++
			if step.call.Tool == "restore_file" && w.killed {
				tally.restored++
			}
			w.take(&step)
		}
		w.killed = false
		tally.mu.Unlock()
	}
}

// take makes a step part of what must be.
func (w *killedWorker) take(step *killedStep) {
	w.last, w.was = nil, nil
	if step.path != "" {
		w.last, w.was = step, w.tree
	}
	w.tree = step.after
}
