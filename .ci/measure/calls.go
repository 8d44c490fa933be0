package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const inFlight = 64

// kind is one kind of call, as each server spells it.
type kind struct {
	name        string
	ours, peers call
}

type call struct {
	tool string
	args map[string]any
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
		{"read 1 kB", call{"read_file", map[string]any{"path": file}}, call{"read_text_file", map[string]any{"path": file}}},
		{"list a directory", call{"list_directory", map[string]any{"path": dir}}, call{"list_directory", map[string]any{"path": dir}}},
		{"file info", call{"file_info", map[string]any{"paths": []string{file}}}, call{"get_file_info", map[string]any{"path": file}}},
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
		if ratio < 2 {
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
	begin := time.Now()
	if err := flood(n, func(id int) error { _, err := c.call(id+2, "tools/call", params); return err }); err != nil {
		return 0, err
	}
	rate := float64(n) / time.Since(begin).Seconds()
	return rate, c.close()
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
