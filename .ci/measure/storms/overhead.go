package storms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"time"

	"toolcrib/.ci/measure/harness"
	"toolcrib/server/audit"
	"toolcrib/server/records"
	"toolcrib/server/rules"
	"toolcrib/server/run"
	"toolcrib/server/telemetry"
	"toolcrib/server/workers"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
	"toolcrib/workspace/redact"
	"toolcrib/workspace/state"
)

const (
	// overheadRounds is how often the two pipelines take turns.
	overheadRounds = 15
	// overheadAtMost is what all of control may add to a call.
	overheadAtMost = 25 * time.Microsecond
)

// Overhead has a trivial call go through the pipeline with everything that controls
// and shows calls, and through the bare one, in turn.
func Overhead(ctx context.Context, env harness.Environment) error {
	dir, err := os.MkdirTemp("", "overhead")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	pool := workers.New()
	defer pool.Close()
	bare := run.Config{Settings: run.Settings{Tools: []tools.Tool{echoTool()}}, Go: pool.Go}
	full, closeFull, err := controlled(ctx, dir, bare)
	if err != nil {
		return err
	}
	n := env.Of(20_000, 500)
	without, with := run.New(bare), run.New(full)
	var took, added []time.Duration
	for range overheadRounds {
		a, errA := perCall(ctx, without, n)
		b, errB := perCall(ctx, with, n)
		if err := errors.Join(errA, errB); err != nil {
			return errors.Join(err, closeFull())
		}
		took, added = append(took, a), append(added, b-a)
	}
	slices.Sort(added)
	micros := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
	fmt.Println("| overhead of a trivial call | without | added, median | from to |\n|---|---|---|---|")
	fmt.Printf("| rules, audit log, metrics, traces to a collector, a Go hook; %d x %d calls | %.1f µs | %.1f µs | %.1f to %.1f µs |\n",
		overheadRounds, n, micros(harness.Median(took)), micros(harness.Median(added)), micros(added[0]), micros(added[len(added)-1]))
	if err := closeFull(); err != nil {
		return err
	}
	if d := harness.Median(added); d > overheadAtMost && env.Full() {
		return fmt.Errorf("%v added, want at most %v", d, overheadAtMost)
	}
	return nil
}

// controlled is a configuration with everything on. What it opens lies in dir until
// it is closed.
func controlled(ctx context.Context, dir string, cfg run.Config) (_ run.Config, closeAll func() error, err error) {
	var closing []func() error
	end := func() error {
		var errs []error
		for _, f := range slices.Backward(closing) {
			errs = append(errs, f())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, end())
		}
	}()
	shared, err := state.Shared(filepath.Join(dir, "state"))
	if err != nil {
		return cfg, nil, err
	}
	closing = append(closing, shared.Close)
	secrets := redact.New(nil)
	log, err := audit.Open(ctx, audit.Options{
		Dir: filepath.Join(dir, "audit"), State: shared, Digested: tools.Digested(catalog.Tools(catalog.All(new(catalog.Services)))), Redact: secrets.JSON, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return cfg, nil, err
	}
	closing = append(closing, log.Close)
	cfg.Audit = records.New(log, secrets)
	cfg.Rules, err = rules.New([]rules.Rule{
		{Verdict: "deny", Principal: []string{"guest*"}},
		{Verdict: "ask", Access: []string{"write"}, Path: []string{"**/*.go"}},
		{Verdict: "allow", Access: []string{"read"}, Principal: []string{tools.Local}},
	}, cfg.Tools)
	if err != nil {
		return cfg, nil, err
	}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	closing = append(closing, func() error { collector.Close(); return nil })
	exporter, err := exporterTo(collector.URL)
	if err != nil {
		return cfg, nil, err
	}
	closing = append(closing, func() error { exporter.Close(); return nil })
	cfg.Observe = exporter.Observer()
	cfg.Hooks.Pre = append(cfg.Hooks.Pre, func(context.Context, run.View) (run.Decision, error) { return run.Decision{}, nil })
	return cfg, end, nil
}

// exporterTo exports to a collector as the variables of OpenTelemetry would have it.
func exporterTo(url string) (*telemetry.Exporter, error) {
	opt, err := telemetry.FromEnv(func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": url}[name]
	}, "0")
	if err != nil {
		return nil, err
	}
	return telemetry.NewExporter(opt, true, slog.New(slog.DiscardHandler)), nil
}

// perCall returns the time of one of n calls.
func perCall(ctx context.Context, r *run.Runner, n int) (time.Duration, error) {
	call := run.Call{Tool: "echo", Args: json.RawMessage(`{"message":"hello"}`), Session: tools.SessionInfo{Principal: tools.Local}}
	begin := time.Now()
	for range n {
		if out := r.Run(ctx, call); out.Err != nil {
			return 0, out.Err
		}
	}
	return time.Since(begin) / time.Duration(n), nil
}
