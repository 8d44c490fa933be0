package agents

import (
	"context"
	"time"

	"toolcrib/tools/agents/internal/loop"
)

// Free returns a conflict if another process may be at work on a run, by the time of its last step.
func Free(ctx context.Context, d Deps, run string, last time.Time) error {
	return (&agents{d}).free(ctx, run, loop.Record{Kind: loop.Turn, At: last})
}
