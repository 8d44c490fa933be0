package agents

import "context"

// Start lets runs go on in the background that lost their process.
func Start(ctx context.Context, d Deps) (stop func()) { return d.start(ctx, nil) }

// Close leaves the runs in the background to others.
func Close(d Deps) error { return d.close() }
