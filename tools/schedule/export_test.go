package schedule

import (
	"context"
	"time"

	"toolcrib/tools"
)

// Tick looks once, at a time of the test.
func Tick(ctx context.Context, d Deps, now time.Time) (time.Time, error) {
	k, err := d.keeper(tools.Session(ctx))
	if err != nil {
		return time.Time{}, err
	}
	return k.tick(ctx, now)
}

// Close ends what the tools have started.
func Close(d Deps) error { return d.close() }

// Start watches the clock, as a server does.
func Start(ctx context.Context, d Deps) (stop func()) { return d.start(ctx, nil) }
