package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/.ci/measure/harness"
)

// cost is the cost of one search.
type cost struct {
	cpu  time.Duration // user and system, of all threads and children
	wall time.Duration
	peak float64 // most resident memory, in MB; of a process of its own
}

// spawn runs a program in a directory and reads all that it prints.
//
// The kernel counts the memory of this program to that of one that it starts: a
// peak is right only above what this program has had itself.
func spawn(ctx context.Context, dir string, out io.Writer, name string, args ...string) (cost, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	var complaints strings.Builder
	cmd.Stderr = &complaints
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return cost{}, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return cost{}, err
	}
	// Without their own ways of copying, whose pieces are small.
	_, copied := io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{pipe}, make([]byte, 256<<10))
	err = cmd.Wait()
	c := cost{wall: time.Since(begin)}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.cpu = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		c.peak = float64(usage.Maxrss) / 1024
	}
	if err != nil {
		err = fmt.Errorf("%w: %s", err, harness.Brief(complaints.String()))
	}
	return c, errors.Join(err, copied)
}

// ripgrep runs ripgrep on a tree.
func ripgrep(ctx context.Context, rg string, t tree, q searchQuery, out io.Writer) (cost, error) {
	c, err := spawn(ctx, t.dir, out, rg, q.rg()...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		err = nil // no match
	}
	return c, err
}

// coldly makes a search in a process of its own.
func coldly(ctx context.Context, e harness.Environment, t tree, q searchQuery, out io.Writer) (cost, error) {
	k := q.call()
	text, err := json.Marshal(k.Args)
	if err != nil {
		return cost{}, err
	}
	args := []string{"call", "--state-dir", e.State}
	if q.form != firstForm {
		args = append(args, "--all")
	}
	return spawn(ctx, t.dir, out, e.Binary, append(args, k.Tool, string(text), t.dir)...)
}

// searchServer is a running server that searches are made of.
type searchServer struct {
	*harness.ToolUser
}

// searchAnswer is a page.
type searchAnswer struct {
	text  string
	state searchState
	next  map[string]any // arguments of the next page, nil after the last
}

// searchState is the server's description of an answer.
type searchState struct {
	Freshness string `json:"toolcrib/freshness"` // watch, stat or scan
	Index     string `json:"toolcrib/index"`     // ready where it was used
}

// ready reports whether the answer came from what the server holds.
func (s searchState) ready() bool { return s.Freshness == "watch" || s.Freshness == "stat" }

// String is the state as the tables show it.
func (s searchState) String() string {
	switch {
	case s.Freshness == "":
		return "untold"
	case s.Index == "":
		return s.Freshness
	default:
		return s.Freshness + ", index " + s.Index
	}
}

// page makes one call.
func (s *searchServer) page(k harness.Call) (searchAnswer, error) {
	m, err := s.Call(int(s.Last.Add(1)), "tools/call", map[string]any{"name": k.Tool, "arguments": k.Args})
	if err != nil {
		return searchAnswer{}, err
	}
	var r struct {
		Meta struct {
			searchState
			Next map[string]any `json:"toolcrib/next"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		return searchAnswer{}, err
	}
	a, err := harness.ResultOf(m)
	if err == nil && a.Failed {
		err = errors.New(a.Text)
	}
	return searchAnswer{a.Text, r.Meta.searchState, r.Meta.Next}, err
}

// pages makes a search to its last page and hands over each.
func (s *searchServer) pages(q searchQuery, each func(page string)) (searchState, error) {
	k := q.call()
	for {
		a, err := s.page(k)
		if err != nil {
			return a.state, err
		}
		each(a.text)
		if a.next == nil || q.form == firstForm {
			return a.state, nil
		}
		maps.Copy(k.Args, a.next)
	}
}

// warmly makes a search at least once, and of one that costs little so many more
// that the cost is more than noise, each after what before does. It returns what one
// has cost.
func (s *searchServer) warmly(q searchQuery, before func() error) (cost, searchState, error) {
	const (
		enough = 20 * time.Millisecond
		most   = 20
	)
	first, err := cpuTime(s.Cmd.Process.Pid)
	if err != nil {
		return cost{}, searchState{}, err
	}
	begin := time.Now()
	for n := 1; ; n++ {
		if err := before(); err != nil {
			return cost{}, searchState{}, err
		}
		state, err := s.pages(q, func(string) {})
		if err != nil {
			return cost{}, state, err
		}
		after, err := cpuTime(s.Cmd.Process.Pid)
		if err != nil {
			return cost{}, state, err
		}
		if spent := after - first; spent > enough || n == most {
			return cost{cpu: spent / time.Duration(n), wall: time.Since(begin) / time.Duration(n)}, state, nil
		}
	}
}

// settle waits until a server is at rest, which has nothing left to build then,
// and returns the CPU that it has taken meanwhile.
func (s *searchServer) settle(ctx context.Context) (time.Duration, error) {
	const (
		pause = 50 * time.Millisecond
		quiet = 10 // so many pauses in a row
		idle  = time.Millisecond
	)
	begin, err := cpuTime(s.Cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	last, worked := begin, begin
	for still := 0; still < quiet; {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(pause):
		}
		now, err := cpuTime(s.Cmd.Process.Pid)
		if err != nil {
			return 0, err
		}
		if still++; now-last > idle {
			still, worked = 0, now
		}
		last = now
	}
	return worked - begin, nil
}

// cpuTime is the CPU that a process has taken so far, in all its threads, those
// that have ended too.
func cpuTime(pid int) (time.Duration, error) {
	const scheduler = 2 // the clock of a process that the scheduler keeps, in ns
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduler), &t); err != nil {
		return 0, fmt.Errorf("CPU time of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}
