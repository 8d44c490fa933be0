package protocol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolcrib/.ci/measure/harness"
	"toolcrib/server"
)

const (
	// mostFuzzed is how many bytes more may live in the second half of the requests.
	mostFuzzed = 4 << 20
)

// Fuzzed sends requests that a grammar makes and breaks, over stdio and over HTTP, to
// the whole server. Each that has an id that can be used must be answered, no answer may
// have a character that deceives, nothing may crash, and what lives after a collection
// must not grow between the half of the requests and the end.
func Fuzzed(ctx context.Context, env harness.Environment) error {
	seed := env.Seed
	if seed == 0 {
		seed = harness.NewSeed()
	}
	fmt.Println("| fuzzed | requests: whole, changed, damaged | answered: results, errors, no id that is sure | sent and not to be answered | heap at the half and at the end | resident | goroutines |\n|---|---|---|---|---|---|---|")
	return errors.Join(
		fuzzedOver(ctx, env, "stdio", seed, fuzzStdio),
		fuzzedOver(ctx, env, "HTTP", seed, fuzzHTTP),
	)
}

// fuzzTarget is a server that is being fuzzed.
type fuzzTarget struct {
	send   func(from, to int) error // the requests of these numbers; returns when what is to be answered is
	pid    int
	stop   func() error
	stderr fmt.Stringer
}

func fuzzedOver(ctx context.Context, env harness.Environment, name string, seed uint64, open func(context.Context, fuzzRun) (fuzzTarget, error)) (err error) {
	base, dir, err := env.Scratch("fuzzed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	if err := harness.WriteTree(dir, fuzzTree()); err != nil {
		return err
	}
	place := fuzzRun{dir: dir, base: base, seed: seed, tally: new(fuzzTally)}
	f, err := open(ctx, place)
	if err != nil {
		return err
	}
	stopped := false
	defer func() {
		if !stopped {
			err = errors.Join(err, f.stop())
		}
	}()
	n := env.Of(500_000, 5000)
	if err := f.send(0, n/2); err != nil {
		return err
	}
	half, err := place.weigh(f.pid)
	if err != nil {
		return err
	}
	if err := f.send(n/2, n); err != nil {
		return err
	}
	end, err := place.weigh(f.pid)
	if err != nil {
		return err
	}
	stopped = true
	stop := f.stop()
	grown := int64(end.Heap) - int64(half.Heap)
	fmt.Printf("| %s, %d | %s | %.2f and %.2f MB: %+.2f MiB | %.1f and %.1f MB | %d and %d |\n", name, n, place.tally,
		float64(half.Heap)/1e6, float64(end.Heap)/1e6, float64(grown)/(1<<20), half.Resident, end.Resident, half.Goroutines, end.Goroutines)
	var errs []error
	if grown > mostFuzzed && env.Full() {
		errs = append(errs, fmt.Errorf("%s: %.2f MiB more live after the second half, want at most %d", name, float64(grown)/(1<<20), mostFuzzed>>20))
	}
	if d := end.Goroutines - half.Goroutines; d > harness.IdleWorkers {
		errs = append(errs, fmt.Errorf("%s: %+d goroutines", name, d))
	}
	for line := range strings.Lines(f.stderr.String()) {
		if strings.Contains(line, "panic") || strings.Contains(line, "internal error") {
			place.tally.fault("the log says", []byte(line))
		}
	}
	return errors.Join(append(errs, stop, place.tally.err(name))...)
}

// fuzzTree has the files that the calls of tools can look at.
func fuzzTree() map[string]string {
	tree := map[string]string{"d/e/f.go": "package e\n\nfunc F() {}\n", "empty": "", "naïve.md": "# Überschrift\n\nΑβγ 漢字\n"}
	for i := range 20 {
		tree[fmt.Sprintf("d/%d.txt", i)] = strings.Repeat(fmt.Sprintf("line of file %d\n", i), 40)
	}
	return tree
}

// fuzzRun is a run of messages against a server.
type fuzzRun struct {
	dir, base string
	seed      uint64
	tally     *fuzzTally
}

// command is the server: this program as toolcrib, which can be weighed.
func (p fuzzRun) command(more ...string) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{self, "weighed", p.socket(), "serve", "--preset", "all", "--audit", "--log-level", "error", "--state-dir", filepath.Join(p.base, "state")}
	return append(append(args, more...), p.dir), nil
}

// grammar makes the messages of one sender.
func (p fuzzRun) grammar(sender int) *grammar {
	return &grammar{rnd: rand.New(rand.NewPCG(p.seed, uint64(sender))), root: p.dir, sender: sender}
}

func (p fuzzRun) socket() string { return filepath.Join(p.base, "weigh") }

// weigh asks the server what it holds after two collections.
func (p fuzzRun) weigh(pid int) (harness.Weighed, error) {
	time.Sleep(2 * time.Second) // for the server to see that connections are closed
	conn, err := net.Dial("unix", p.socket())
	if err != nil {
		return harness.Weighed{}, err
	}
	defer conn.Close()
	text, err := io.ReadAll(conn)
	if err != nil {
		return harness.Weighed{}, err
	}
	h, err := harness.ParseHoldings(string(text))
	return harness.Weighed{Holdings: h, Resident: harness.Resident(pid)}, err
}

// RunWeighed is toolcrib with these arguments. It reports its memory to each client that
// connects to the socket.
func RunWeighed(socket string, args []string) error {
	ln, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			h, err := harness.Held(new(atomic.Int64))
			if err == nil {
				_, err = io.WriteString(conn, h.Text())
			}
			_ = errors.Join(err, conn.Close()) // the client that asks notices that it is missing
		}
	}()
	asToolcrib(args, server.Fixtures{})
	return nil
}

// fuzzTally counts what came of the requests.
type fuzzTally struct {
	mu      sync.Mutex
	kinds   [3]int // whole, changed, damaged
	results int
	errors  int
	nobody  int // answers with the id null
	silent  int // messages that are not to be answered
	faults  int
	samples []string
}

func (t *fuzzTally) String() string {
	return fmt.Sprintf("%d, %d, %d | %d, %d, %d | %d", t.kinds[0], t.kinds[1], t.kinds[2], t.results, t.errors, t.nobody, t.silent)
}

// sent counts a message.
func (t *fuzzTally) sent(m made, w wanted) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kinds[m.kind]++
	if w.silent {
		t.silent++
	}
}

// fault notes something that must not be.
func (t *fuzzTally) fault(what string, texts ...[]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.faults++; len(t.samples) < 5 {
		for _, text := range texts {
			what += fmt.Sprintf("\n\t%.400q", text)
		}
		t.samples = append(t.samples, what)
	}
}

func (t *fuzzTally) err(name string) error {
	if t.faults == 0 {
		return nil
	}
	return fmt.Errorf("%s: %d faults, the first:\n%s", name, t.faults, strings.Join(t.samples, "\n"))
}
