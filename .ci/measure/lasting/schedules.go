package lasting

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
	"toolcrib/workspace/state/postgres"
)

// Schedules lets a schedule run each second over three processes, of which one is killed
// every five seconds, for three minutes and on both databases: each slot has one run, in their
// order, and the effects are as many as the runs say. Before that it tells what schedules cost
// that wait.
func Schedules(ctx context.Context, env harness.Environment) error {
	if err := waiting(ctx, env); err != nil {
		return err
	}
	return harness.WithPostgres(ctx, func(server *postgres.Server) error {
		query := func(q string) *exec.Cmd { return exec.CommandContext(ctx, "psql", "-At", server.URL(), "-c", q) }
		return errors.Join(eachSecond(ctx, env, "SQLite", "", nil), eachSecond(ctx, env, "PostgreSQL", server.URL(), query))
	})
}

func eachSecond(ctx context.Context, env harness.Environment, name, url string, query func(q string) *exec.Cmd) error {
	dir, remove, err := harness.Temporary("schedules")
	if err != nil {
		return err
	}
	defer remove()
	root, base := filepath.Join(dir, "root"), filepath.Join(dir, "state")
	if err := os.Mkdir(root, 0o700); err != nil {
		return err
	}
	if query == nil {
		query = func(q string) *exec.Cmd {
			return exec.CommandContext(ctx, "sqlite3", "-cmd", ".timeout 4000", filepath.Join(base, "shared", "state.db"), q)
		}
	}
	program := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, env.Binary, args...)
		cmd.Env = append(os.Environ(), "TOOLCRIB_DATABASE="+url)
		return cmd
	}
	out, err := program("call", "--state-dir", base, "--confirm", "client", "schedule_create",
		`{"name": "each-second", "when": "* * * * * *", "zone": "UTC", "overlap": "queue", "tool": "bash", "arguments": {"command": "echo x >> effects"}}`, root).CombinedOutput()
	if err != nil {
		return fmt.Errorf("schedule_create: %w: %s", err, out)
	}
	log, err := os.Create(filepath.Join(dir, "log")) // all of them write to it
	if err != nil {
		return err
	}
	defer log.Close()
	start := func() (*exec.Cmd, error) {
		cmd := program("schedule", "run", "--state-dir", base, root)
		cmd.Stderr = log
		return cmd, cmd.Start()
	}
	var running [3]*exec.Cmd
	for i := range running {
		if running[i], err = start(); err != nil {
			return err
		}
	}
	states, late, began := map[string]string{}, 0, map[string]int{}
	look := func() error {
		out, err := query("SELECT run || ' ' || (started - slot) || ' ' || state FROM toolcrib_schedule_runs").Output()
		for line := range strings.Lines(string(out)) {
			run, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			after, state, _ := strings.Cut(rest, " ")
			ms, err := strconv.Atoi(after)
			if err != nil {
				return err
			}
			if states[run] = state; state != "queued" {
				late, began[run] = max(late, ms), ms
			}
		}
		return err
	}
	kills := env.Of(36, 2)
	for range kills {
		for range 5 {
			time.Sleep(time.Second) // while they work
			if err := look(); err != nil {
				return err
			}
		}
		victim := rand.IntN(len(running))
		_ = running[victim].Process.Kill()
		_ = running[victim].Wait()
		if running[victim], err = start(); err != nil {
			return err
		}
	}
	// Those that are in flight end, or are adopted and reported.
	last := time.Now().UTC().Format("20060102T150405Z")
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
		if err := look(); err != nil {
			return err
		}
		if !slices.ContainsFunc(keysUntil(states, last), func(run string) bool { return states[run] == "running" || states[run] == "queued" }) {
			break
		}
	}
	for _, cmd := range running {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}
	if err := look(); err != nil {
		return err
	}
	said, err := os.ReadFile(log.Name())
	if err != nil {
		return err
	}
	if err := count(name, root, states, began, kills, late, string(said)); err != nil {
		bad, _ := query("SELECT run, state, note, result FROM toolcrib_schedule_runs WHERE state IN ('failed', 'skipped')").Output()
		return fmt.Errorf("%w\n%s", err, bad)
	}
	return nil
}

func keysUntil(states map[string]string, last string) (runs []string) {
	for run := range states {
		if run <= last {
			runs = append(runs, run)
		}
	}
	slices.Sort(runs)
	return runs
}

// count compares the runs with the slots and the effects. began is how many ms after its slot
// a run did.
func count(name, root string, states map[string]string, began map[string]int, kills, late int, log string) error {
	runs := keysUntil(states, "9")
	missing, overtaken, by := 0, 0, map[string]int{}
	for i, run := range runs {
		by[states[run]]++
		if i == 0 {
			continue
		}
		this, err := time.Parse("20060102T150405Z", run)
		if err != nil {
			return err
		}
		before, err := time.Parse("20060102T150405Z", runs[i-1])
		if err != nil {
			return err
		}
		missing += int(this.Sub(before)/time.Second) - 1
		if own, ok := began[run]; ok && int(this.Sub(before).Milliseconds())+own < began[runs[i-1]] {
			overtaken++
		}
	}
	effects, err := os.ReadFile(filepath.Join(root, "effects"))
	if err != nil {
		return err
	}
	done := bytes.Count(effects, []byte("x"))
	unsure := by["outcome unknown"] + by["running"] // the latter at the end, when all were stopped
	fmt.Printf("%s: %d slots over 3 processes, %d killed: %d ok, %d reported as unknown, %d in flight and %d queued at the end, %d skipped or failed, %d missed, %d before an earlier one, %d effects, %d doubled; the last to begin did so %d ms after its slot\n",
		name, len(runs), kills, by["ok"], by["outcome unknown"], by["running"], by["queued"], by["skipped"]+by["failed"]+by["cancelled"], missing, overtaken, done, max(0, done-by["ok"]-unsure), late)
	if missing+overtaken > 0 || done > by["ok"]+unsure || done < by["ok"] || by["failed"]+by["skipped"] > 0 {
		return fmt.Errorf("%s: slots were missed or out of order, or effects doubled or lost; runs by how they ended: %v: %s", name, by, harness.Brief(log))
	}
	return nil
}
