package shell

import (
	"context"
	"fmt"
	"time"

	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/progress"
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
