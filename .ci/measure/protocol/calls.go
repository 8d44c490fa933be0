package protocol

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

	"toolcrib/.ci/measure/harness"
)

// kind is one kind of call, as each server spells it.
type kind struct {
	name        string
	ours, peers harness.Call
	more        bool // ours does more than the peer's: shown, not judged
}

// Calls measures calls per second with 64 in flight, the two servers in turn.
func Calls(ctx context.Context, env harness.Environment) error {
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
		{"read 1 kB", harness.Call{Tool: "read_file", Args: map[string]any{"path": file}}, harness.Call{Tool: "read_text_file", Args: map[string]any{"path": file}}, false},
		{"list a directory", harness.Call{Tool: "list_directory", Args: map[string]any{"path": dir}}, harness.Call{Tool: "list_directory", Args: map[string]any{"path": dir}}, false},
		{"file info (ours adds hash, type, encoding, lines)", harness.Call{Tool: "file_info", Args: map[string]any{"paths": []string{file}}}, harness.Call{Tool: "get_file_info", Args: map[string]any{"path": file}}, true},
	}
	fmt.Println("| calls per second on stdio, 64 in flight | toolcrib | server-filesystem | ratio |\n|---|---|---|---|")
	var failed error
	for _, k := range kinds {
		var ours, peers []float64
		for range 5 {
			a, err := throughput(ctx, env.Toolcrib(dir), k.ours, env.Of(20_000, 500))
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			b, err := throughput(ctx, env.Peer(dir), k.peers, env.Of(20_000, 500))
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			ours, peers = append(ours, a), append(peers, b)
		}
		ratio := harness.Median(ours) / harness.Median(peers)
		fmt.Printf("| %s | %.0f | %.0f | %.1f |\n", k.name, harness.Median(ours), harness.Median(peers), ratio)
		if ratio < 2 && !k.more && env.Full() {
			failed = fmt.Errorf("%s: %.1f times the peer's calls per second, want 2", k.name, ratio)
		}
	}
	return failed
}

func throughput(ctx context.Context, s harness.Program, k harness.Call, n int) (float64, error) {
	c, err := harness.Dial(ctx, nil, s.Args[0], s.Args[1:]...)
	if err != nil {
		return 0, err
	}
	if err := c.Initialize(); err != nil {
		return 0, err
	}
	params := map[string]any{"name": k.Tool, "arguments": k.Args}
	first, err := c.Call(1, "tools/call", params)
	if err != nil {
		return 0, err
	}
	if strings.Contains(string(first.Result), `"isError":true`) {
		return 0, fmt.Errorf("%s: %s", s.Name, first.Result)
	}
	line, err := json.Marshal(params)
	if err != nil {
		return 0, err
	}
	rate, err := drive(c, n, line)
	return rate, errors.Join(err, c.Close())
}

// drive makes n calls with the same params, 64 in flight, and returns the calls
// per second. It does as little as can be for each, so that the server is what
// is measured.
func drive(c *harness.Client, n int, params []byte) (float64, error) {
	const first = 1000
	answered, wrong := make(chan struct{}, n), atomic.Int64{}
	c.OnLine.Store(new(func(line []byte) {
		if !bytes.Contains(line, []byte(`"result"`)) || bytes.Contains(line, []byte(`"isError":true`)) {
			wrong.Add(1)
		}
		answered <- struct{}{}
	}))
	defer c.OnLine.Store(nil)
	begin := time.Now()
	var line []byte
	for sent, got := 0, 0; got < n; got++ {
		for sent < min(n, got+harness.InFlight) {
			line = fmt.Appendf(line[:0], `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, first+sent, params)
			if err := c.Send(line); err != nil {
				return 0, err
			}
			sent++
		}
		select {
		case <-answered:
		case <-c.Done:
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
	for range harness.InFlight {
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
