package tools

import (
	"context"
	"log/slog"
)

// Log returns the logger whose records go to the client of the call, where it
// wants them: for what a human who watches should know, never for secrets. It
// discards where nobody listens.
func Log(ctx context.Context) *slog.Logger {
	if l, ok := ctx.Value(logKey{}).(*slog.Logger); ok {
		return l
	}
	return slog.New(slog.DiscardHandler)
}

// WithLog returns a context whose [Log] is l.
func WithLog(ctx context.Context, l *slog.Logger) context.Context {
	return context.WithValue(ctx, logKey{}, l)
}

type logKey struct{}
