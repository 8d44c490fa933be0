package tools

import "context"

// Changed says that the call has changed what stands at a path, as it is printed:
// for the audit log, since not every tool has its paths among its arguments.
func Changed(ctx context.Context, path string) {
	if note, ok := ctx.Value(changesKey{}).(func(string)); ok {
		note(path)
	}
}

// WithChanges returns a context whose [Changed] calls note, from any goroutine.
func WithChanges(ctx context.Context, note func(path string)) context.Context {
	return context.WithValue(ctx, changesKey{}, note)
}

type changesKey struct{}
