package runs

import (
	"context"

	"toolcrib/tools/agents/internal/loop"
)

// Marked returns why a run is to end.
var Marked = (*Store).marked

// Again appends records as ones that were tried before.
func Again(ctx context.Context, j *Journal, more ...loop.Record) error {
	return j.append(ctx, more, true)
}
