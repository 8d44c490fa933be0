package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// kind is one kind of call, as each server spells it.
type kind struct {
	name        string
	ours, peers call
	more        bool // ours does more than the peer's: shown, not judged
}

// calls measures calls per second with 64 in flight, the two servers in turn.
func calls(ctx context.Context, env environment) error {
	dir, err := os.MkdirTemp("", "calls")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "one-kilobyte.txt")
	if err := os.WriteFile(file, []byte(strings.Repeat("sixteen bytes..\n", 64)), 0o644); err != nil {
		return err
	}
	kinds := []kind{
		{"read 1 kB", call{"read_file", map[string]any{"path": file}}, call{"read_text_file", map[string]any{"path": file}}, false},
		{"list a directory", call{"list_directory", map[string]any{"path": dir}}, call{"list_directory", map[string]any{"path": dir}}, false},
		{"file info (ours adds hash, type, encoding, lines)", call{"file_info", map[string]any{"paths": []string{file}}}, call{"get_file_info", map[string]any{"path": file}}, true},
	}
	fmt.Println("| calls per second on stdio, 64 in flight | toolcrib | server-filesystem | ratio |\n|---|---|---|---|")
	var failed error
	for _, k := range kinds {
		var ours, peers []float64
		for range 5 {
			a, err := throughput(ctx, env.toolcrib(dir), k.ours, env.of(20_000, 500))
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			b, err := throughput(ctx, env.peer(dir), k.peers, env.of(20_000, 500))
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			ours, peers = append(ours, a), append(peers, b)
		}
		ratio := median(ours) / median(peers)
		fmt.Printf("| %s | %.0f | %.0f | %.1f |\n", k.name, median(ours), median(peers), ratio)
		if ratio < 2 && !k.more && env.full() {
			failed = fmt.Errorf("%s: %.1f times the peer's calls per second, want 2", k.name, ratio)
		}
	}
	return failed
}

func throughput(ctx context.Context, s program, k call, n int) (float64, error) {
	c, err := dial(ctx, nil, s.args[0], s.args[1:]...)
	if err != nil {
		return 0, err
	}
	if err := c.initialize(); err != nil {
		return 0, err
	}
	params := map[string]any{"name": k.tool, "arguments": k.args}
	first, err := c.call(1, "tools/call", params)
	if err != nil {
		return 0, err
	}
	if strings.Contains(string(first.Result), `"isError":true`) {
		return 0, fmt.Errorf("%s: %s", s.name, first.Result)
	}
	line, err := json.Marshal(params)
	if err != nil {
		return 0, err
	}
	rate, err := drive(c, n, line)
	return rate, errors.Join(err, c.close())
}

// drive makes n calls with the same params, 64 in flight, and returns the calls
// per second. It does as little as can be for each, so that the server is what
// is measured.
func drive(c *client, n int, params []byte) (float64, error) {
	const first = 1000
	answered, wrong := make(chan struct{}, n), atomic.Int64{}
	c.onLine.Store(new(func(line []byte) {
		if !bytes.Contains(line, []byte(`"result"`)) || bytes.Contains(line, []byte(`"isError":true`)) {
			wrong.Add(1)
		}
		answered <- struct{}{}
	}))
	defer c.onLine.Store(nil)
	begin := time.Now()
	var line []byte
	for sent, got := 0, 0; got < n; got++ {
		for sent < min(n, got+inFlight) {
			line = fmt.Appendf(line[:0], `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, first+sent, params)
			if err := c.send(line); err != nil {
				return 0, err
			}
			sent++
		}
		select {
		case <-answered:
		case <-c.done:
			return 0, errors.New("the server ended")
		}
	}
	if wrong.Load() > 0 {
		return 0, fmt.Errorf("%d calls failed", wrong.Load())
	}
	return float64(n) / time.Since(begin).Seconds(), nil
}

// flood runs n calls, 64 at a time, and returns the first error.
func flood(n int, do func(id int) error) error {
	var next atomic.Int64
	var first atomic.Pointer[error]
	var wg sync.WaitGroup
	for range inFlight {
		wg.Go(func() {
			for {
				id := int(next.Add(1)) - 1
				if id >= n || first.Load() != nil {
					return
				}
				if err := do(id); err != nil {
					first.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	wg.Wait()
	if err := first.Load(); err != nil {
		return *err
	}
	return nil
}
