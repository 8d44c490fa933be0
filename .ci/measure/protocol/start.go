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

// The most memory of a server, in MB. Resident are 25 for files, search and the shell, and the 9
// that the categories after them may add: most of it is the program's file in the page cache, which
// the kernel maps in larger or smaller pieces. What a server has of its own does not depend on that.
const (
	mostResident = 34
	mostOwn      = 8
)

// Start measures the time from the spawn to the answer of tools/list, and the memory then.
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
	resident, own := make([][]float64, len(servers)), make([][]float64, len(servers))
	for range env.Of(40, 5) {
		for i, s := range servers {
			o, err := startOnce(ctx, s)
			if err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			took[i], resident[i], own[i] = append(took[i], o.took), append(resident[i], o.resident), append(own[i], o.own)
		}
	}
	peer := harness.Median(took[len(servers)-1])
	fmt.Println("| start: spawn to tools/list answered | median | of the peer's | resident | its own |\n|---|---|---|---|---|")
	for i, s := range servers {
		fmt.Printf("| %s | %.1f ms | 1/%.0f | %.1f MB | %.1f MB |\n", s.Name, harness.Milliseconds(harness.Median(took[i])), float64(peer)/float64(harness.Median(took[i])), harness.Median(resident[i]), harness.Median(own[i]))
	}
	if !env.Full() {
		return nil
	}
	for i, s := range servers[:2] {
		if ratio := float64(peer) / float64(harness.Median(took[i])); ratio < 20 {
			return fmt.Errorf("%s starts in 1/%.1f of the peer's time, want 1/20", s.Name, ratio)
		}
		if mb := harness.Median(own[i]); mb > mostOwn {
			return fmt.Errorf("%s has %.1f MB of its own, want at most %d", s.Name, mb, mostOwn)
		}
	}
	if mb := harness.Median(resident[0]); mb > mostResident {
		return fmt.Errorf("%s takes %.1f MB, want at most %d", servers[0].Name, mb, mostResident)
	}
	return nil
}

// started is one start; memory is in MB.
type started struct {
	took          time.Duration
	resident, own float64
}

func startOnce(ctx context.Context, s harness.Program) (o started, err error) {
	begin := time.Now()
	c, err := harness.Dial(ctx, nil, s.Args[0], s.Args[1:]...)
	if err != nil {
		return o, err
	}
	if err := c.Initialize(); err != nil {
		return o, err
	}
	if _, err := c.Call(1, "tools/list", map[string]any{}); err != nil {
		return o, err
	}
	o.took = time.Since(begin)
	o.resident = harness.Resident(c.Cmd.Process.Pid)
	if o.own, err = harness.Private(c.Cmd.Process.Pid); err != nil {
		return o, err
	}
	return o, c.Close()
}
