package tools

import "context"

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
