package shell

import (
	"context"
	"fmt"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/jobs"
	"toolcrib/tools/internal/screen"
)

// Of the progress of a command that a caller waits for.
const (
	reportEvery = 250 * time.Millisecond // output that came
	beat        = 10 * time.Second       // without any: callers give up where they hear nothing
	reported    = 1000                   // most bytes of output in one event
)

// attend waits until a job has ended, at most so long, and reports its progress. The
// error is that of a context that ends.
func attend(ctx context.Context, j *jobs.Job, patience time.Duration) (ended bool, err error) {
	over := time.NewTimer(patience)
	defer over.Stop()
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	p := teller{tell: tools.Progress(ctx), job: j, last: time.Now()}
	for {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-j.Done():
			return true, ctx.Err()
		case <-over.C:
			return false, ctx.Err()
		case <-tick.C:
			p.report()
		}
	}
}

// teller reports the progress of a job.
type teller struct {
	tell func(tools.ProgressEvent)
	job  *jobs.Job
	seen int64 // bytes of output that were reported
	last time.Time
}

func (p *teller) report() {
	e := p.job.Log().Extent()
	if e.Bytes == p.seen && time.Since(p.last) < beat {
		return
	}
	message := fmt.Sprintf("running for %s; %s", took(p.job.Took()), volume(e))
	if e.Bytes > p.seen {
		if raw, _, err := p.job.Log().Read(max(p.seen, e.Bytes-reported), reported); err == nil {
			if text := strings.TrimSpace(screen.Clean(raw)); text != "" {
				message = text
			}
		}
	}
	p.seen, p.last = e.Bytes, time.Now()
	p.tell(tools.ProgressEvent{Done: p.job.Took().Seconds(), Message: message})
}
