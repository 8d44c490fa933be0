package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

// copies is this program serving the catalog with copies up to 60 tools.
func copies(dir string) (program, error) {
	self, err := os.Executable()
	return program{"toolcrib with 60 tools", []string{self, "serve", "copies", dir}}, err
}

// start measures the time from the spawn to the answer of tools/list, and the
// resident memory then.
func start(ctx context.Context, env environment) error {
	dir, err := os.MkdirTemp("", "start")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	copies, err := copies(dir)
	if err != nil {
		return err
	}
	servers := []program{env.toolcrib(dir), copies, env.peer(dir)}
	took := make([][]time.Duration, len(servers))
	memory := make([][]float64, len(servers))
	for range env.of(40, 5) {
		for i, s := range servers {
			d, mb, err := startOnce(ctx, s)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			took[i], memory[i] = append(took[i], d), append(memory[i], mb)
		}
	}
	peer := median(took[len(servers)-1])
	fmt.Println("| start: spawn to tools/list answered | median | of the peer's | resident |\n|---|---|---|---|")
	for i, s := range servers {
		fmt.Printf("| %s | %.1f ms | 1/%.0f | %.1f MB |\n", s.name, ms(median(took[i])), float64(peer)/float64(median(took[i])), median(memory[i]))
	}
	if !env.full() {
		return nil
	}
	for i, s := range servers[:2] {
		if ratio := float64(peer) / float64(median(took[i])); ratio < 20 {
			return fmt.Errorf("%s starts in 1/%.1f of the peer's time, want 1/20", s.name, ratio)
		}
		if mb := median(memory[i]); mb > 25 {
			return fmt.Errorf("%s takes %.1f MB, want at most 25", s.name, mb)
		}
	}
	return nil
}

func startOnce(ctx context.Context, s program) (time.Duration, float64, error) {
	begin := time.Now()
	c, err := dial(ctx, nil, s.args[0], s.args[1:]...)
	if err != nil {
		return 0, 0, err
	}
	if err := c.initialize(); err != nil {
		return 0, 0, err
	}
	if _, err := c.call(1, "tools/list", map[string]any{}); err != nil {
		return 0, 0, err
	}
	took := time.Since(begin)
	mb := resident(c.cmd.Process.Pid)
	return took, mb, c.close()
}
