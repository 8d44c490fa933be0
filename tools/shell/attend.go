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

// attend waits until a job has ended, at most for patience, and reports its progress. It fails
// only if the context ends.
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

// progressOf returns the job in the form in which progress is reported.
func progressOf(j *jobs.Job) progress.Program {
	return progress.Program{
		Output: func(from int64, most int) ([]byte, int64) {
			end := j.Log().Extent().Bytes
			data, at, err := j.Log().Read(max(from, end-int64(most)), most)
			if err != nil { // the result reports lost output
				return nil, end
			}
			return data, at + int64(len(data))
		},
		State: func() string {
			return fmt.Sprintf("running for %s; %s", durations.Rough(j.Took()), volume(j.Log().Extent()))
		},
	}
}

// stillBusy is the time between two checks of a program that was computing.
const stillBusy = 50 * time.Millisecond

// quiesce waits until a job has printed something after an offset and was then quiet for
// still, or has ended, at most for most. A program that computes, or waits for a CPU, is quiet
// too but will print more: quiesce waits for it where the system reports that state.
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
