package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"toolcrib/.ci/measure/harness"
)

// coldMemory runs each class once and takes the memory of the process. It comes
// before all else, of all trees, while this program is small: see spawn.
func (b *searchBench) coldMemory(ctx context.Context) error {
	most := 0.0
	var each []string
	for _, k := range searchClasses() {
		if k.stat {
			continue
		}
		c, err := coldly(ctx, b.env, b.tree, k.on(b.tree), io.Discard)
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		most = max(most, c.peak)
		each = append(each, fmt.Sprintf("%s %.0f", k.name, c.peak))
		b.want(c.peak < 60, "%s: a cold process had %.0f MB resident, want less than 60", k.name, c.peak)
	}
	own, err := harness.PeakResident(os.Getpid())
	if err != nil {
		return err
	}
	if own >= most {
		return fmt.Errorf("this program has %.0f MB resident, which hides the %.0f MB of what it measures", own, most)
	}
	fmt.Printf("%s: a cold process had at most %.0f MB resident: %s\n", b.tree.name, most, strings.Join(each, ", "))
	return nil
}

// watching starts a server that may watch, lets the first search have it build
// what it holds, and prints what that has cost.
func (b *searchBench) watching(ctx context.Context) (*searchServer, error) {
	p := b.env.Toolcrib(b.tree.dir)
	s, err := serveSearch(exec.CommandContext(ctx, p.Args[0], p.Args[1:]...))
	if err != nil {
		return nil, err
	}
	q := searchClasses()[0].on(b.tree)
	var runs []cost
	for range b.env.Of(5, 1) {
		c, err := ripgrep(ctx, b.rg, b.tree, q, io.Discard)
		if err != nil {
			return nil, err
		}
		runs = append(runs, c)
	}
	first, err := s.page(q.call())
	if err != nil {
		return nil, err
	}
	begin, pid := time.Now(), s.Cmd.Process.Pid
	before := harness.Resident(pid)
	built, err := s.settle(ctx)
	if err != nil {
		return nil, err
	}
	took := time.Since(begin)
	second, err := s.page(q.call())
	if err != nil {
		return nil, err
	}
	rg := harness.Median(valuesOf(runs, cpuOf))
	fmt.Printf("%s: the first answer by %s; then %.0f ms of CPU, %.1f runs of ripgrep, within %.1f s; memory from %.0f to %.0f MB; the next answer by %s\n",
		b.tree.name, first.state, harness.Milliseconds(built), float64(built)/float64(rg), took.Seconds(), before, harness.Resident(pid), second.state)
	b.want(second.state.ready(), "a server at rest answers by %s", second.state)
	b.want(built <= 6*rg, "what the server holds took %.1f runs of ripgrep to build, want 6", float64(built)/float64(rg))
	if !second.state.ready() { // nothing was built: nothing to hold up calls, nor to keep up to date
		return s, nil
	}
	if err := b.updating(ctx, s); err != nil {
		return nil, err
	}
	return s, b.meanwhile(ctx, took)
}

// updating measures what one changed file costs a server, apart from the search itself.
func (b *searchBench) updating(ctx context.Context, s *searchServer) error {
	file := filepath.Join(b.tree.dir, "measure-updating.c") // no rule ignores it
	text := bytes.Repeat([]byte("static int measured(void) { return 0; }\n"), 256)
	n := b.env.Of(20, 2)
	plain, err := b.searches(ctx, s, n, func(int) error { return b.touch() })
	if err != nil {
		return err
	}
	changing, err := b.searches(ctx, s, n, func(i int) error {
		return os.WriteFile(file, append(text, byte('a'+i), '\n'), 0o644)
	})
	if err := errors.Join(err, os.Remove(file)); err != nil {
		return err
	}
	each := (changing - plain) / time.Duration(n)
	fmt.Printf("%s: a changed file of %d kB takes %.2f ms of CPU\n", b.tree.name, len(text)>>10, harness.Milliseconds(each))
	b.want(each < time.Millisecond, "a changed file takes %.2f ms, want less than 1", harness.Milliseconds(each))
	return nil
}

// searches makes n searches, each after a change and with what the server does after
// it, and returns their CPU.
func (b *searchBench) searches(ctx context.Context, s *searchServer, n int, change func(i int) error) (time.Duration, error) {
	before, err := cpuTime(s.Cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	for i := range n {
		if err := change(i); err != nil {
			return 0, err
		}
		if _, err := s.page(searchClasses()[0].on(b.tree).call()); err != nil {
			return 0, err
		}
		if _, err := s.settle(ctx); err != nil {
			return 0, err
		}
	}
	after, err := cpuTime(s.Cmd.Process.Pid)
	return after - before, err
}

// meanwhile compares how long calls take while a server builds what it holds, for so
// long as that has taken another one, with how long they take when it rests.
func (b *searchBench) meanwhile(ctx context.Context, took time.Duration) error {
	scan := searchClasses()[0].on(b.tree)
	scan.fresh = true // the same work before and after
	kinds := []struct {
		name string
		call harness.Call
	}{
		{"read_file", harness.Call{Tool: "read_file", Args: map[string]any{"path": map[string]string{"linux": "MAINTAINERS", "gosrc": "make.bash"}[b.tree.name]}}},
		{"a scan by grep", scan.call()},
	}
	const reads = 20 // to a scan
	timed := make([][2][]time.Duration, len(kinds))
	for range b.env.Of(10, 1) {
		p := b.env.Toolcrib(b.tree.dir)
		s, err := serveSearch(exec.CommandContext(ctx, p.Args[0], p.Args[1:]...))
		if err != nil {
			return err
		}
		if _, err := s.page(searchClasses()[0].on(b.tree).call()); err != nil {
			return err
		}
		made := 0
		for phase := range 2 {
			begin := time.Now()
			for n := 0; phase == 0 && time.Since(begin) < took || phase == 1 && n < made; n++ {
				i := 0
				if n%reads == reads-1 {
					i = 1
				}
				begin := time.Now()
				if _, err := s.page(kinds[i].call); err != nil {
					return err
				}
				timed[i][phase] = append(timed[i][phase], time.Since(begin))
				if phase == 0 {
					made++
				}
			}
			if _, err := s.settle(ctx); err != nil {
				return err
			}
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	for i, k := range kinds {
		during, after := nearly(timed[i][0]), nearly(timed[i][1])
		fmt.Printf("%s: %s, 95th percentile of %d: %.2f ms while the server builds, %.2f ms at rest\n", b.tree.name, k.name, len(timed[i][0]), harness.Milliseconds(during), harness.Milliseconds(after))
		b.want(during <= 2*after, "%s takes %.1f times as long while the server builds, want 2", k.name, float64(during)/float64(after))
	}
	return nil
}

// nearly is the 95th percentile.
func nearly(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)*95/100]
}

// validating starts a server in a user namespace that has no watches to give, so
// that it has to validate by stat. Without one it says why.
func (b *searchBench) validating(ctx context.Context) (server *searchServer, why string) {
	p := b.env.Toolcrib(b.tree.dir)
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", `echo 0 >/proc/sys/user/max_inotify_watches && exec "$@"`, "sh"}, p.Args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	s, err := serveSearch(cmd)
	if err != nil {
		return nil, fmt.Sprintf("no server without watches: %v", err)
	}
	if _, err := s.page(searchClasses()[0].on(b.tree).call()); err != nil {
		return nil, harness.Brief(err.Error())
	}
	if _, err := s.settle(ctx); err != nil {
		return nil, harness.Brief(err.Error())
	}
	return s, ""
}

// serveSearch starts a server and opens the session.
func serveSearch(cmd *exec.Cmd) (*searchServer, error) {
	u, err := harness.UseCommand(cmd)
	if err != nil {
		return nil, err
	}
	return &searchServer{u}, nil
}
