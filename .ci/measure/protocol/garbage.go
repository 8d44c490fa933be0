package protocol

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"toolcrib/.ci/measure/harness"
)

// Garbage sends random and mutated lines and one of 64 MiB, and then a call.
func Garbage(ctx context.Context, env harness.Environment) error {
	dir, err := os.MkdirTemp("", "garbage")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := env.Toolcrib(dir)
	c, err := harness.Dial(ctx, nil, s.Args[0], s.Args[1:]...)
	if err != nil {
		return err
	}
	if err := c.Initialize(); err != nil {
		return err
	}
	n, peak := env.Of(100_000, 1000), 0.0
	rnd := rand.New(rand.NewPCG(harness.NewSeed(), 1))
	for i := range n {
		if err := c.Send(mutated(rnd)); err != nil {
			return fmt.Errorf("line %d: %w", i, err)
		}
		if i == n/2 {
			if err := c.Send(bytes.Repeat([]byte{'x'}, 64<<20)); err != nil {
				return fmt.Errorf("the long line: %w", err)
			}
		}
		if i%1000 == 0 {
			peak = max(peak, harness.Resident(c.Cmd.Process.Pid))
		}
	}
	begin := time.Now()
	if _, err := c.Call(1_000_000_007, "tools/call", map[string]any{"name": "list_directory", "arguments": map[string]any{}}); err != nil {
		return fmt.Errorf("the call afterwards: %w", err)
	}
	took := time.Since(begin)
	peak = max(peak, harness.Resident(c.Cmd.Process.Pid))
	fmt.Println("| garbage on stdio | lines | longest | next call | peak resident |\n|---|---|---|---|---|")
	fmt.Printf("| random and mutated | %d | 64 MiB | answered after %.0f ms | %.0f MB |\n", n, harness.Milliseconds(took), peak)
	if peak >= 200 {
		return fmt.Errorf("%.0f MB resident, want under 200", peak)
	}
	return c.Close()
}

var seeds = []string{
	`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"a"}}}`,
	`{"jsonrpc":"2.0","id":"s","method":"tools/list","params":{}}`,
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`,
	`{"jsonrpc":"2.0","id":8,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
	`{"jsonrpc":"2.0","id":null,"method":"ping"}`,
	`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
	`{"jsonrpc":"2.0","id":9,"result":{}}`,
}

// mutated returns random bytes or a message with some of its bytes changed.
// No line holds a newline.
func mutated(rnd *rand.Rand) []byte {
	var line []byte
	if rnd.IntN(4) == 0 {
		line = make([]byte, rnd.IntN(300))
		for i := range line {
			line[i] = byte(rnd.IntN(256))
		}
	} else {
		line = []byte(seeds[rnd.IntN(len(seeds))])
		for range rnd.IntN(6) {
			switch i := rnd.IntN(len(line)); rnd.IntN(4) {
			case 0:
				line[i] = byte(rnd.IntN(256))
			case 1:
				line = append(line[:i], line[min(i+rnd.IntN(9), len(line)):]...)
			case 2:
				line = append(line[:i:i], append([]byte("{[\"\\u0000:,"), line[i:]...)...)
			default:
				line = append(line[:i:i], append(bytes.Clone(line[i:]), line[:i]...)...)
			}
			if len(line) == 0 {
				break
			}
		}
	}
	return bytes.ReplaceAll(line, []byte{'\n'}, []byte{' '})
}
