package tools

import (
	"context"
	"log/slog"
)

// ProgressEvent says how far a call has come. Total = 0: not known.
type ProgressEvent struct {
	Done, Total float64
	Message     string
}

// Progress returns the function that reports the progress of the call. Several goroutines
// may call it. It waits until the client has taken the event. Events after the end of the
// call, and those of a tool that does not declare Streams, are dropped.
func Progress(ctx context.Context) func(ProgressEvent) {
	if report, ok := ctx.Value(progressKey{}).(func(ProgressEvent)); ok {
		return report
	}
	return func(ProgressEvent) {}
}

// WithProgress returns a context whose [Progress] is report.
func WithProgress(ctx context.Context, report func(ProgressEvent)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

type progressKey struct{}

// Changed notes for the audit log that the call has changed the file at a path, as results
// print it. Not every tool has its paths among its arguments.
func Changed(ctx context.Context, path string) {
	if note, ok := ctx.Value(changesKey{}).(func(string)); ok {
		note(path)
	}
}

// WithChanges returns a context whose [Changed] calls note, from any goroutine, and then what
// the context that it is derived from calls.
func WithChanges(ctx context.Context, note func(path string)) context.Context {
	outer, nested := ctx.Value(changesKey{}).(func(string))
	return context.WithValue(ctx, changesKey{}, func(path string) {
		note(path)
		if nested {
			outer(path)
		}
	})
}

type changesKey struct{}

// Reached notes that the call has sent a request to a host.
func Reached(ctx context.Context, host string) {
	if note, ok := ctx.Value(reachedKey{}).(func(string)); ok {
		note(host)
	}
}

// WithReached returns a context whose [Reached] calls note, from any goroutine.
func WithReached(ctx context.Context, note func(host string)) context.Context {
	return context.WithValue(ctx, reachedKey{}, note)
}

type reachedKey struct{}

// Log returns the logger whose records go to the client of the call, if it wants them. Use
// it for what a watching human should know, never for secrets. Without a listener it
// discards.
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
