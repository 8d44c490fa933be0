package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
)

const (
	hugeSize     = 10 << 30 // sparse but for its ends
	millionLines = 1 << 20  // of 100 bytes
)

// readJob is one kind of reading, as each server spells it.
type readJob struct {
	name        string
	file        string
	ours, peers map[string]any // peers nil = its tool cannot do it
	first       string         // the line that ours has to begin with
	fresh       bool           // the file is a new version each time
	more        string         // what the peer's way returns beyond the job
	times       int            // of ours and of the peer's, at full size
	ms, peerMs  []float64
}

// Readfile measures how long reads take, the two servers in turn, and the most
// memory that ours has had when all is done.
func Readfile(ctx context.Context, env harness.Environment) error {
	base, dir, err := env.Scratch("readfile")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	jobs, err := readJobs(env, dir)
	if err != nil {
		return err
	}
	ours, err := harness.UseTools(ctx, env.Writer(dir))
	if err != nil {
		return err
	}
	peer, err := harness.UseTools(ctx, env.Peer(dir))
	if err != nil {
		return err
	}
	fmt.Println("| read: median of one call | toolcrib | server-filesystem | ratio | resident so far, at most | |\n|---|---|---|---|---|---|")
	var failed error
	for i := range jobs {
		if err := jobs[i].take(env, ours, peer); err != nil {
			return fmt.Errorf("%s: %w", jobs[i].name, err)
		}
		mb, err := harness.PeakResident(ours.Cmd.Process.Pid)
		if err != nil {
			return err
		}
		if ratio := jobs[i].print(mb); ratio < 2 && jobs[i].peers != nil && env.Full() {
			failed = errors.Join(failed, fmt.Errorf("%s: %.1f times as fast as the peer, want 2", jobs[i].name, ratio))
		}
	}
	mb, err := harness.PeakResident(ours.Cmd.Process.Pid)
	if err != nil {
		return err
	}
	peerMB, err := harness.PeakResident(peer.Cmd.Process.Pid)
	if err != nil {
		return err
	}
	fmt.Printf("| most memory at once | %.1f MB | %.1f MB | | | |\n", mb, peerMB)
	if mb >= 40 && env.Full() {
		failed = errors.Join(failed, fmt.Errorf("%.1f MB resident, want under 40", mb))
	}
	return errors.Join(failed, ours.Close(), peer.Close())
}

func readJobs(env harness.Environment, dir string) ([]readJob, error) {
	line := func(size int) func(n int) string {
		return func(n int) string { return fmt.Sprintf("%-*d\n", size-1, n) }
	}
	lines := env.Of(millionLines, 20_000)
	asked := lines * 1_000_000 / millionLines
	written := func(name string, size, count int) (string, error) {
		path := filepath.Join(dir, name)
		return path, writeLines(path, 0, count, line(size))
	}
	small, err1 := written("1kB.txt", 16, 64)
	middling, err2 := written("40kB.txt", 64, 640)
	large, err3 := written("1MB.txt", 50, 20_000)
	long, err4 := written("100MB.txt", 100, lines)
	huge, err5 := written("10GB.txt", 100, 10_000)
	err6 := os.Truncate(huge, hugeSize)
	err7 := writeLines(huge, hugeSize-1_000_000, 10_000, line(100))
	number := func(n int) string { return fmt.Sprintf("%d\t%-*d", n, 1, n-1) }
	million := map[string]any{"path": long, "offset": asked, "limit": 100}
	million2 := map[string]any{"path": long, "head": asked + 99}
	return []readJob{
		{name: "1 kB", ours: map[string]any{"path": small}, peers: map[string]any{"path": small}, first: number(1), times: 1000},
		{name: "40 kB", ours: map[string]any{"path": middling}, peers: map[string]any{"path": middling}, first: number(1), times: 1000},
		{
			name: "500 lines from the middle of 1 MB", ours: map[string]any{"path": large, "offset": 10_000, "limit": 500},
			peers: map[string]any{"path": large, "head": 10_499}, first: number(10_000), times: 200,
			more: "it cannot begin at a line: head returns all 10,499",
		}, {
			name: fmt.Sprintf("100 lines at line %d of %d MB, first time", asked, lines/10_000), file: long, fresh: true,
			ours: million, peers: million2, first: number(asked), times: 11, more: "it cannot begin at a line: head returns all of them",
		}, {
			name: "the same, second time", ours: million, first: number(asked), times: 200, more: "nothing is remembered: as the first time",
		}, {
			name: "last 100 lines of 10 GB", ours: map[string]any{"path": huge, "offset": -100}, peers: map[string]any{"path": huge, "tail": 101},
			first: "-100\t9900", times: 200,
		},
	}, errors.Join(err1, err2, err3, err4, err5, err6, err7)
}

// writeLines writes numbered lines into a file from a position on.
func writeLines(path string, at int64, count int, line func(n int) string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	var b strings.Builder
	for n := range count {
		b.WriteString(line(n))
		if b.Len() < 1<<20 && n < count-1 {
			continue
		}
		if _, err := f.WriteAt([]byte(b.String()), at); err != nil {
			return errors.Join(err, f.Close())
		}
		at += int64(b.Len())
		b.Reset()
	}
	return f.Close()
}

func (j *readJob) take(env harness.Environment, ours, peer *harness.ToolUser) error {
	for range env.Of(j.times, min(j.times, 5)) {
		if j.fresh {
			changed := time.Now().Add(-time.Hour) // of what changed just now nothing would be remembered
			if err := os.Chtimes(j.file, changed, changed); err != nil {
				return err
			}
		}
		text, err := ours.Must("read_file", j.ours)
		if err != nil {
			return err
		}
		j.ms = append(j.ms, harness.Milliseconds(time.Duration(ours.Took.Load())))
		_, body, _ := strings.Cut(text, "\n")
		if !strings.HasPrefix(body, j.first) {
			return fmt.Errorf("it begins with %.80q, want %.80q", body, j.first)
		}
		if j.peers == nil || j.fresh && len(j.peerMs) == 5 { // that takes long
			continue
		}
		if _, err := peer.Must("read_text_file", j.peers); err != nil {
			j.peers, j.more = nil, "it cannot do it: "+harness.Brief(err.Error())
			continue
		}
		j.peerMs = append(j.peerMs, harness.Milliseconds(time.Duration(peer.Took.Load())))
	}
	return nil
}

// print prints the row and returns how many times as fast ours is.
func (j *readJob) print(mb float64) float64 {
	if j.peers == nil {
		fmt.Printf("| %s | %.2f ms | – | | %.1f MB | %s |\n", j.name, harness.Median(j.ms), mb, j.more)
		return 0
	}
	ratio := harness.Median(j.peerMs) / harness.Median(j.ms)
	fmt.Printf("| %s | %.2f ms | %.2f ms | %.1f | %.1f MB | %s |\n", j.name, harness.Median(j.ms), harness.Median(j.peerMs), ratio, mb, j.more)
	return ratio
}
