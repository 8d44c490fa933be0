package files

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolcrib/.ci/measure/harness"
)

const (
	contendedServers = 2
	contendedWorkers = 4 // of each server
	contendedFiles   = 10
)

// Contended has workers of two servers edit the same files at once. Each counts up
// lines of its own, so that an update that is lost is missing at the end.
func Contended(ctx context.Context, env harness.Environment) error {
	base, err := os.MkdirTemp("", "contended")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	c := &contention{dir: filepath.Join(base, "files"), edits: int64(env.Of(100_000, 1000))}
	if err := c.plant(); err != nil {
		return err
	}
	begin := time.Now()
	errs := make([]error, contendedServers*contendedWorkers)
	var wg sync.WaitGroup
	var servers []*harness.Client
	for range contendedServers {
		s, err := harness.Dial(ctx, nil, env.Binary, "serve", "--state-dir", filepath.Join(base, "state"), "--durable=false", c.dir)
		if err == nil {
			err = s.Initialize()
		}
		if err != nil {
			return err
		}
		servers = append(servers, s)
	}
	for i := range errs {
		w := &contender{contention: c, server: servers[i/contendedWorkers], number: i, rnd: rand.New(rand.NewPCG(uint64(begin.UnixNano()), uint64(i)))}
		wg.Go(func() { errs[i] = w.run() })
	}
	wg.Wait()
	took := time.Since(begin)
	err = errors.Join(errs...)
	for _, s := range servers {
		err = errors.Join(err, s.Close())
	}
	if err != nil {
		return err
	}
	lost, err := c.lost()
	if err != nil {
		return err
	}
	conflicts, mute := c.conflicts.Load(), c.mute.Load()
	fmt.Println("| contended edits: 8 workers in 2 processes, 10 files | edits | a second | conflicts of expected_hash | that do not say what changed | refused for another reason | lost updates |\n|---|---|---|---|---|---|---|")
	fmt.Printf("| edit_file | %d | %.0f | %d | %d | %d | %d |\n", c.done.Load(), float64(c.done.Load())/took.Seconds(), conflicts, mute, c.refused.Load(), lost)
	if sample := c.sample.Load(); sample != nil {
		fmt.Println("  " + *sample)
	}
	switch {
	case lost != 0 || mute != 0 || c.refused.Load() != 0:
		return fmt.Errorf("%d updates lost, %d conflicts that do not say what changed, %d calls refused", lost, mute, c.refused.Load())
	case conflicts == 0:
		return errors.New("no two workers ever met: nothing is proved")
	}
	return nil
}

// contention is what all workers share.
type contention struct {
	dir     string
	edits   int64
	counted [contendedServers * contendedWorkers][contendedFiles]int // what each worker was told to have done
	sample  atomic.Pointer[string]

	begun, done, conflicts, mute, refused atomic.Int64
}

func contendedName(file int) string { return fmt.Sprintf("counters-%d.txt", file) }

func contendedLine(worker, count int) string {
	return fmt.Sprintf("worker %d has counted to %d.", worker, count)
}

func (c *contention) plant() error {
	if err := os.Mkdir(c.dir, 0o755); err != nil {
		return err
	}
	var text strings.Builder
	for worker := range c.counted {
		fmt.Fprintln(&text, contendedLine(worker, 0))
	}
	for file := range contendedFiles {
		if err := os.WriteFile(filepath.Join(c.dir, contendedName(file)), []byte(text.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// lost counts the updates that were acknowledged and are not there, and those that
// are there and were not acknowledged.
func (c *contention) lost() (lost int, err error) {
	for file := range contendedFiles {
		data, err := os.ReadFile(filepath.Join(c.dir, contendedName(file)))
		if err != nil {
			return 0, err
		}
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		if len(lines) != len(c.counted) {
			return 0, fmt.Errorf("%s has %d lines", contendedName(file), len(lines))
		}
		for worker, line := range lines {
			count := -1
			if _, err := fmt.Sscanf(line, fmt.Sprintf("worker %d has counted to %%d.", worker), &count); err != nil {
				return 0, fmt.Errorf("%s: line %q: %w", contendedName(file), line, err)
			}
			lost += max(count-c.counted[worker][file], c.counted[worker][file]-count)
		}
	}
	return lost, nil
}

// contender is a worker: it makes one call after another.
type contender struct {
	*contention
	server *harness.Client
	number int
	rnd    *rand.Rand
	calls  int
}

func (w *contender) run() error {
	hashes := [contendedFiles]string{} // what the worker saw last
	for w.begun.Add(1) <= w.edits {
		file := w.rnd.IntN(contendedFiles)
		expected := ""
		if w.rnd.IntN(4) == 0 {
			expected = hashes[file]
		}
		for {
			hash, again, err := w.edit(file, expected)
			if err != nil {
				return fmt.Errorf("worker %d: %w", w.number, err)
			}
			if hashes[file] = hash; !again {
				break
			}
			expected = hash
		}
	}
	return nil
}

var contendedHash = regexp.MustCompile(`hash ([0-9a-f]{12,64})`)

// edit counts one up in a file. It returns the hash that the file has now, and
// whether the call is to be made again since it had another.
func (w *contender) edit(file int, expected string) (hash string, again bool, err error) {
	count := &w.counted[w.number][file]
	args := map[string]any{
		"path":  contendedName(file),
		"edits": []map[string]any{{"old_text": contendedLine(w.number, *count), "new_text": contendedLine(w.number, *count+1)}},
	}
	if expected != "" {
		args["expected_hash"] = expected
	}
	w.calls++
	m, err := w.server.Call(w.number*1_000_000_000+w.calls, "tools/call", map[string]any{"name": "edit_file", "arguments": args})
	if err != nil {
		return "", false, err
	}
	r, err := harness.ResultOf(m)
	if err != nil {
		return "", false, err
	}
	if found := contendedHash.FindStringSubmatch(r.Text); found != nil {
		hash = found[1]
	}
	switch {
	case !r.Failed && hash != "":
		*count++
		w.done.Add(1)
		return hash, false, nil
	case r.Code == "conflict" && expected != "":
		w.conflicts.Add(1)
		if hash == "" || hash == expected || !strings.Contains(r.Text, "\n+worker ") || !strings.Contains(r.Text, "\n-worker ") {
			w.mute.Add(1)
			w.sample.CompareAndSwap(nil, &r.Text)
		}
		return hash, true, nil
	}
	w.refused.Add(1)
	w.sample.CompareAndSwap(nil, &r.Text)
	return "", false, nil
}
