package tools

import (
	"context"
	"log/slog"
)

// ProgressEvent says how far a call has come. Total is 0 where it is not known.
type ProgressEvent struct {
	Done, Total float64
	Message     string
}

// Progress returns the function that reports the progress of the call. It may
// be called by several goroutines and waits until the client has taken the event;
// events that come after the call has ended are dropped. Only a tool that
// declares Streams is heard.
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
