package shell

import (
	"context"
	"fmt"
	"time"

	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/screen"
	"toolcrib/tools/internal/progress"
	"toolcrib/tools/shell/internal/processes"
)

// attend waits until a job has ended, at most for patience, and reports its progress. It fails
// only if the context ends.
func attend(ctx context.Context, j *jobs.Job, patience time.Duration) (ended bool, err error) {
	over := time.NewTimer(patience)
	defer over.Stop()
	look := time.NewTicker(drawing)
	defer look.Stop()
	err = progress.During(ctx, progressOf(j), 0, func() error {
		for seen := int64(0); ; {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-j.Done():
				ended = true
				return ctx.Err()
			case <-over.C:
				return ctx.Err()
			case <-look.C:
				bytes := j.Log().Extent().Bytes
				if bytes > 0 && bytes == seen {
					if _, at := drawn(j); at >= 0 {
						j.Stop(jobs.ByScreen, jobs.Grace)
					}
				}
				seen = bytes
			}
		}
	})
	return ended, err
}

// drawing is how long a program without a terminal that draws on a screen must be quiet: then
// it waits for keys that nobody can press.
const drawing = 1500 * time.Millisecond

// searchedDrawing is how many bytes at the end of an output are searched for what draws.
const searchedDrawing = 16 << 10

// drawn returns the end of an output, and where in it a program without a terminal begins to
// draw on a screen, as editors do; -1 = it does not.
func drawn(j *jobs.Job) (raw []byte, at int) {
	if j.Terminal {
		return nil, -1
	}
	raw, _, err := j.Log().Read(max(0, j.Log().Extent().Bytes-searchedDrawing), searchedDrawing)
	if err != nil {
		return nil, -1 // the result reports lost output
	}
	return raw, screen.Drawn(raw)
}

// undrawn returns what a program has printed before it began to draw.
func undrawn(j *jobs.Job) string {
	raw, at := drawn(j)
	return screen.Clean(raw[:max(at, 0)])
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

// nextLook is when a program that prints nothing is looked at again.
const nextLook = 50 * time.Millisecond

// quiesce waits until a job has printed something after an offset and was then quiet for
// still, or has ended, at most for most. A program that computes, or waits for a CPU, is quiet
// too but will print more, as is one whose output was not read yet: quiesce waits for it where
// the system reports that state. It looks twice: what was read may not be in the log yet.
func quiesce(ctx context.Context, j *jobs.Job, from int64, still, most time.Duration) (ended bool, err error) {
	over := time.NewTimer(most)
	defer over.Stop()
	silent := still - nextLook
	quiet := time.NewTimer(silent)
	defer quiet.Stop()
	for waits := false; ; {
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
			calm := !j.Unread() && !processes.Busy(j.Foreground())
			if calm && waits {
				return false, ctx.Err()
			}
			waits, silent = calm, nextLook
		case <-j.Log().Grown(bytes):
			waits, silent = false, still-nextLook
			if err := pause(ctx, j); err != nil {
				return false, err
			}
		}
	}
}
