package shell

import (
	"context"
	"fmt"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
)

// works lists what goes on in other categories, the newest first.
func (d Deps) works(ctx context.Context) (all []tools.Work, err error) {
	if d.Works == nil {
		return nil, nil
	}
	for _, of := range d.Works() {
		list, err := of.Works(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// workOf returns what has the work of a handle, be it listed or older; nil if it is none, or that
// of a job.
func (d Deps) workOf(ctx context.Context, handle string) tools.Works {
	if d.Works == nil || handle == "" {
		return nil
	}
	if _, err := d.job(ctx, handle, false); err == nil {
		return nil
	}
	for _, of := range d.Works() {
		if has, err := of.Has(ctx, written(handle)); err == nil && has { // the error of the job says enough
			return of
		}
	}
	return nil
}

// followed is steps of a work.
type followed struct {
	work  tools.Work
	steps string
}

// followed waits for steps from a number on, or for the end.
func (d Deps) followed(ctx context.Context, of tools.Works, handle string, from int, wait time.Duration, whole bool) (*followed, error) {
	ctx, cancel := context.WithTimeout(ctx, max(wait, 0))
	defer cancel()
	f := new(followed)
	for {
		w, steps, err := of.Follow(ctx, handle, from)
		if err != nil {
			return nil, err
		}
		f.work, f.steps, from = w, f.steps+steps, w.Steps
		if w.Over || !whole || ctx.Err() != nil {
			return f, nil
		}
	}
}

// Text is a status and the steps.
func (f *followed) Text() string {
	return worded(fmt.Sprintf("%s; %s, %s; next: offset=%d", f.work.State, f.work.What, textfile.Count(f.work.Steps, "step"), f.work.Steps), nil, f.steps)
}
