package protocol

import (
	"context"
	"fmt"
	"os"
	"time"

	"toolcrib/.ci/measure/harness"
)

// copies is this program serving the catalog with copies up to 60 tools.
func copies(dir string) (harness.Program, error) {
	self, err := os.Executable()
	return harness.Program{Name: "toolcrib with 60 tools", Args: []string{self, "serve", "copies", dir}}, err
}

// Start measures the time from the spawn to the answer of tools/list, and the
// resident memory then.
func Start(ctx context.Context, env harness.Environment) error {
	dir, err := os.MkdirTemp("", "start")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	copies, err := copies(dir)
	if err != nil {
		return err
	}
	servers := []harness.Program{env.Toolcrib(dir), copies, env.Peer(dir)}
	took := make([][]time.Duration, len(servers))
	memory := make([][]float64, len(servers))
	for range env.Of(40, 5) {
		for i, s := range servers {
			d, mb, err := startOnce(ctx, s)
			if err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			took[i], memory[i] = append(took[i], d), append(memory[i], mb)
		}
	}
	peer := harness.Median(took[len(servers)-1])
	fmt.Println("| start: spawn to tools/list answered | median | of the peer's | resident |\n|---|---|---|---|")
	for i, s := range servers {
		fmt.Printf("| %s | %.1f ms | 1/%.0f | %.1f MB |\n", s.Name, harness.Milliseconds(harness.Median(took[i])), float64(peer)/float64(harness.Median(took[i])), harness.Median(memory[i]))
	}
	if !env.Full() {
		return nil
	}
	for i, s := range servers[:2] {
		if ratio := float64(peer) / float64(harness.Median(took[i])); ratio < 20 {
			return fmt.Errorf("%s starts in 1/%.1f of the peer's time, want 1/20", s.Name, ratio)
		}
		if mb := harness.Median(memory[i]); mb > 25 {
			return fmt.Errorf("%s takes %.1f MB, want at most 25", s.Name, mb)
		}
	}
	return nil
}

func startOnce(ctx context.Context, s harness.Program) (time.Duration, float64, error) {
	begin := time.Now()
	c, err := harness.Dial(ctx, nil, s.Args[0], s.Args[1:]...)
	if err != nil {
		return 0, 0, err
	}
	if err := c.Initialize(); err != nil {
		return 0, 0, err
	}
	if _, err := c.Call(1, "tools/list", map[string]any{}); err != nil {
		return 0, 0, err
	}
	took := time.Since(begin)
	mb := harness.Resident(c.Cmd.Process.Pid)
	return took, mb, c.Close()
}
