package schedule

import (
	"context"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/durable"
)

func init() { glance = 3 * time.Second } // tests wait for it

// Tick looks once, at a time of the test.
func Tick(ctx context.Context, d Deps, now time.Time) (time.Time, error) {
	k, err := d.keeper(tools.Session(ctx))
	if err != nil {
		return time.Time{}, err
	}
	return k.tick(ctx, now)
}

// Left returns how many runs have not ended, of the newest.
func Left(ctx context.Context, d Deps) (n int, err error) {
	k, err := d.keeper(tools.Session(ctx))
	if err != nil {
		return 0, err
	}
	all, err := k.engine.List(ctx, kind, "", mostRuns)
	for _, run := range all {
		if run.State == durable.Waiting || run.State == durable.Running {
			n++
		}
	}
	return n, err
}

// Now returns the run of a schedule that is running.
func Now(ctx context.Context, d Deps, name string) (string, error) {
	k, err := d.keeper(tools.Session(ctx))
	if err != nil {
		return "", err
	}
	r, err := k.named(ctx, name)
	if err != nil {
		return "", err
	}
	newest, err := k.store.runs(ctx, r.ID, 1)
	if err != nil || len(newest) == 0 || newest[0].State != running {
		return "", err
	}
	return newest[0].Run, nil
}

// Close ends what the tools have started.
func Close(d Deps) error { return d.close() }

// Start watches the clock, as a server does.
func Start(ctx context.Context, d Deps) (stop func()) { return d.start(ctx, nil) }
