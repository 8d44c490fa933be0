package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"toolcrib/.ci/measure/harness"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
	"toolcrib/workspace"
)

// Spawn measures what the sandbox adds to the start and end of a small program, in one
// process that has the whole catalog linked; for comparison, bubblewrap.
func Spawn(ctx context.Context, env harness.Environment) (err error) {
	dir, err := os.MkdirTemp("", "spawn")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	state, err := os.MkdirTemp("", "spawn-state")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	ws, err := workspace.Open([]string{dir}, workspace.Options{StateBase: state})
	if err != nil {
		return err
	}
	defer ws.Close()
	root, err := ws.Resolve(".")
	if err != nil {
		return err
	}
	ctx = tools.WithSession(ctx, &tools.SessionInfo{Principal: tools.Local, Workspace: ws})
	engine := new(catalog.Services).Sandbox()
	defer func() { err = errors.Join(err, engine.Close()) }()
	command := []string{"bash", "-c", "true"}
	ways := []struct {
		name string
		run  func() error
	}{
		{"a bare spawn", func() error {
			cmd := exec.CommandContext(ctx, command[0], command[1:]...)
			cmd.Dir = dir
			return cmd.Run()
		}},
		{"the sandbox", func() error {
			p, err := engine.Start(ctx, catalog.Command{Args: command, Dir: root})
			if err != nil {
				return err
			}
			<-p.Done()
			if exit := p.Exit(); exit.Code != 0 || exit.Left != 0 || p.Report().Level.String() != "full" {
				return fmt.Errorf("it ended with %+v at %s", exit, p.Report().Level)
			}
			return nil
		}},
		{"bubblewrap", func() error {
			args := []string{"--unshare-all", "--cap-drop", "ALL", "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--tmpfs", "/tmp", "--tmpfs", "/run", "--proc", "/proc", "--dev", "/dev", "--bind", dir, dir, "--chdir", dir, "--"}
			return exec.CommandContext(ctx, "bwrap", append(args, command...)...).Run()
		}},
	}
	took := make([][]time.Duration, len(ways))
	for i := range env.Of(1000, 20) + 5 {
		for w, way := range ways {
			begin := time.Now()
			if err := way.run(); err != nil {
				return fmt.Errorf("%s: %w", way.name, err)
			}
			if i >= 5 { // the first makes the sandbox
				took[w] = append(took[w], time.Since(begin))
			}
		}
	}
	for w, way := range ways {
		fmt.Printf("%-14s median %.2f ms, p95 %.2f ms\n", way.name, harness.Milliseconds(harness.Median(took[w])), harness.Milliseconds(slowest(took[w])))
	}
	if more := harness.Median(took[1]) - harness.Median(took[0]); env.Full() && more > 5*time.Millisecond {
		return fmt.Errorf("the sandbox adds %.2f ms to a spawn, 5 are allowed", harness.Milliseconds(more))
	}
	return nil
}

// slowest is what 95 of 100 stay below.
func slowest(took []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(took))
	return sorted[len(sorted)*95/100]
}
