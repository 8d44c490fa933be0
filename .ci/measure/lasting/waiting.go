package lasting

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"toolcrib/.ci/measure/harness"
)

// What schedules may cost that wait.
const (
	scheduled  = 100
	mostIdle   = 50 * time.Millisecond  // of CPU time a minute more where nothing is scheduled: what noise makes
	mostWaits  = 300 * time.Millisecond // a minute: half a per cent of a core
	mostMemory = 8.0                    // MB
	// rest is after how long a server has given back what its last calls needed: the runtime
	// collects every two minutes of rest, and needs two collections.
	rest = 240 * time.Second
)

// idle is a server that waits, and what it has cost.
type idle struct {
	name    string
	cpu     []time.Duration // a minute
	private []float64       // MB
}

// waiting compares servers that rest: without the tools of schedules, with them and nothing
// scheduled, with a hundred schedules that were made in it, and with as many that it found when
// it started.
func waiting(ctx context.Context, env harness.Environment) error {
	without, nothing := &idle{name: "without the tools of schedules"}, &idle{name: "nothing is scheduled"}
	made, found := &idle{name: fmt.Sprintf("%d wait, made in it", scheduled)}, &idle{name: fmt.Sprintf("%d wait, found at its start", scheduled)}
	all := []*idle{without, nothing, made, found}
	dir, remove, err := harness.Temporary("waiting")
	if err != nil {
		return err
	}
	defer remove()
	var servers []*harness.ToolUser // in rounds, one of each kind
	for round := range env.Of(3, 1) {
		four, err := resting(ctx, env, filepath.Join(dir, fmt.Sprint(round)))
		if err != nil {
			return err
		}
		servers = append(servers, four...)
	}
	time.Sleep(max(time.Duration(float64(rest)*env.Scale), 100*time.Millisecond))
	before := make([]time.Duration, len(servers))
	for n, u := range servers {
		if before[n], err = harness.CPU(u.Cmd.Process.Pid); err != nil {
			return err
		}
	}
	minute := max(time.Duration(float64(time.Minute)*env.Scale), time.Second)
	time.Sleep(minute)
	for n, u := range servers {
		after, err := harness.CPU(u.Cmd.Process.Pid)
		if err != nil {
			return err
		}
		mb, err := harness.Private(u.Cmd.Process.Pid)
		if err != nil {
			return err
		}
		i := all[n%len(all)]
		i.cpu = append(i.cpu, time.Duration(float64(after-before[n])*float64(time.Minute)/float64(minute)))
		i.private = append(i.private, mb)
		if err := u.Close(); err != nil {
			return err
		}
	}
	fmt.Println("| a server at rest | CPU time a minute | private memory | more than with nothing scheduled |\n|---|---|---|---|")
	cpu, more := map[*idle]time.Duration{}, map[*idle]float64{}
	for _, i := range all {
		var differences []float64
		for n, mb := range i.private {
			differences = append(differences, mb-nothing.private[n])
		}
		cpu[i], more[i] = harness.Median(i.cpu), harness.Median(differences)
		fmt.Printf("| %s | %d ms | %.1f MB | %.1f MB |\n", i.name, cpu[i].Milliseconds(), harness.Median(i.private), more[i])
	}
	switch {
	case !env.Full():
		return nil
	case cpu[nothing] > cpu[without]+mostIdle:
		return errors.New("schedules cost CPU time where there are none")
	case max(cpu[made], cpu[found]) > mostWaits:
		return errors.New("schedules that wait cost more than half a per cent of a core")
	case max(more[made], more[found]) > mostMemory:
		return fmt.Errorf("schedules that wait take more than %.0f MB", mostMemory)
	}
	return nil
}

// resting starts one server of each kind.
func resting(ctx context.Context, env harness.Environment, dir string) (servers []*harness.ToolUser, err error) {
	const maker = 2
	for n, c := range []struct{ state, tools string }{{"without", "search"}, {"nothing", "search,schedule"}, {"waiting", "search,schedule"}, {"waiting", "search,schedule"}} {
		root := filepath.Join(dir, c.state)
		if err := os.MkdirAll(root, 0o700); err != nil {
			return nil, err
		}
		u, err := harness.UseCommand(exec.CommandContext(ctx, env.Binary, "serve", "--toolsets", c.tools, "--state-dir", root+".state", root))
		if err != nil {
			return nil, err
		}
		servers = append(servers, u)
		if _, err := u.Must("glob", map[string]any{"pattern": "*"}); err != nil {
			return nil, err
		}
		if n != maker {
			continue
		}
		far := time.Now().Add(12 * time.Hour).Hour() // none runs meanwhile
		for i := range scheduled {
			if _, err := u.Must("schedule_create", map[string]any{
				"name": fmt.Sprint("daily-", i), "when": fmt.Sprintf("%d %d * * *", i%60, far), "tool": "glob", "arguments": map[string]any{"pattern": "**/*.iso"},
			}); err != nil {
				return nil, err
			}
		}
	}
	return servers, nil
}
