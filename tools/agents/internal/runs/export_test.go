package runs

import (
	"context"

	"toolcrib/tools/agents/internal/loop"
)

// Marked returns why a run is to end.
var Marked = (*Store).marked

// Again appends a record as one that was tried before.
func Again(ctx context.Context, j *Journal, r loop.Record) error { return j.append(ctx, r, true) }
