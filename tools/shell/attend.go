package shell

import (
	"context"
	"fmt"
	"time"

	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/progress"
	"toolcrib/tools/shell/internal/processes"
)

// attend waits until a job has ended, at most so long, and reports its progress. The
// error is that of a context that ends.
func attend(ctx context.Context, j *jobs.Job, patience time.Duration) (ended bool, err error) {
	over := time.NewTimer(patience)
	defer over.Stop()
	err = progress.During(ctx, progressOf(j), 0, func() error {
		select {
		case <-ctx.Done():
		case <-j.Done():
			ended = true
		case <-over.C:
		}
		return ctx.Err()
	})
	return ended, err
}

// progressOf is a job as its progress is told.
func progressOf(j *jobs.Job) progress.Program {
	return progress.Program{
		Output: func(from int64, most int) ([]byte, int64) {
			end := j.Log().Extent().Bytes
			data, at, err := j.Log().Read(max(from, end-int64(most)), most)
			if err != nil { // the result tells of what is not kept
				return nil, end
			}
			return data, at + int64(len(data))
		},
		State: func() string {
			return fmt.Sprintf("running for %s; %s", durations.Rough(j.Took()), volume(j.Log().Extent()))
		},
	}
}

// stillBusy is how long a program that was computing is left before it is looked at
// again.
const stillBusy = 50 * time.Millisecond

// quiesce waits until a job has printed something beyond an offset and is still since, or
// has ended, at most so long. A program that has not been given the processor yet, or
// computes, is silent too, but says more: as far as it can be told it is waited for.
func quiesce(ctx context.Context, j *jobs.Job, from int64, still, most time.Duration) (ended bool, err error) {
	over := time.NewTimer(most)
	defer over.Stop()
	silent := still
	quiet := time.NewTimer(silent)
	defer quiet.Stop()
	for {
		bytes := j.Log().Extent().Bytes
		var silence <-chan time.Time
		if bytes > from {
			quiet.Reset(silent)
			silence = quiet.C
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-j.Done():
			return true, ctx.Err()
		case <-over.C:
			return false, ctx.Err()
		case <-silence:
			if !processes.Busy(j.Foreground()) {
				return false, ctx.Err()
			}
			silent = stillBusy
		case <-j.Log().Grown(bytes):
			silent = still
			if err := pause(ctx, j); err != nil {
				return false, err
			}
		}
	}
}
