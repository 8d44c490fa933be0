package shell

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
)

// works lists what goes on in other categories, the newest first, with what is over if over is
// set. older is how many more there are.
func (d Deps) works(ctx context.Context, over bool) (all []tools.Work, older int, err error) {
	if d.Works == nil {
		return nil, 0, nil
	}
	for _, of := range d.Works() {
		list, more, err := of.Works(ctx, over)
		if err != nil {
			return nil, 0, err
		}
		all, older = append(all, list...), older+more
	}
	return all, older, nil
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
	steps []string
	from  int // the number of the first
	next  int
	notes []string
}

// follow waits for steps from a number on, or for the end.
func follow(ctx context.Context, of tools.Works, handle string, from int, wait time.Duration, whole bool) (*followed, error) {
	ctx, cancel := context.WithTimeout(ctx, max(wait, 0))
	defer cancel()
	f := &followed{from: from}
	for {
		w, steps, err := of.Follow(ctx, handle, from)
		if err != nil {
			return nil, err
		}
		f.work, f.steps, from = w, append(f.steps, steps...), w.Steps
		if f.next = from; w.Over || !whole || ctx.Err() != nil {
			return f, nil
		}
	}
}

// first keeps the steps that fit into so many bytes.
func (f *followed) first(most int) {
	n := 0
	for i, step := range f.steps {
		if n += len(step); n > most && i > 0 {
			f.steps, f.next = f.steps[:i], f.from+i
			break
		}
	}
	f.cut(most)
}

// last keeps the last steps that fit into so many bytes: they have the answer.
func (f *followed) last(most int) {
	n := 0
	for i, step := range slices.Backward(f.steps) {
		if n += len(step); n > most && i < len(f.steps)-1 {
			f.notes = append(f.notes, fmt.Sprintf("%s before step %d are left out: offset=%d shows them", textfile.Count(i+1, "step"), f.from+i+1, f.from))
			f.steps = f.steps[i+1:]
			break
		}
	}
	f.cut(most)
}

// cut keeps the beginning of a single step that is too long.
func (f *followed) cut(most int) {
	if len(f.steps) != 1 || len(f.steps[0]) <= most {
		return
	}
	kept := strings.ToValidUTF8(f.steps[0][:most], "")
	f.notes = append(f.notes, fmt.Sprintf("%s of the step are left out", textfile.Size(int64(len(f.steps[0])-len(kept)))))
	f.steps = []string{kept + "\n"}
}

// Text is a status and the steps.
func (f *followed) Text() string {
	status := fmt.Sprintf("%s; %s, %s; next: offset=%d", f.work.State, f.work.What, textfile.Count(f.work.Steps, "step"), f.next)
	return worded(status, f.notes, strings.Join(f.steps, ""))
}

// shown is how many steps of each work answers have shown.
type shown struct {
	mu    sync.Mutex
	steps map[string]int // by the handle
}

// mostShown is of how many works that is known. Those that are forgotten are shown from their
// beginning.
const mostShown = 1000

func (s *shown) of(handle string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.steps[handle]
}

func (s *shown) set(handle string, steps int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.steps == nil || len(s.steps) >= mostShown {
		s.steps = map[string]int{}
	}
	s.steps[handle] = steps
}

// notTyped is the error of typing into what is no job.
func notTyped(ctx context.Context, of tools.Works, handle string) error {
	ctx, cancel := context.WithCancel(ctx)
	cancel() // look without waiting
	w, _, err := of.Follow(ctx, handle, math.MaxInt32)
	if err != nil {
		return err
	}
	state, _, _ := strings.Cut(w.State, "\n")
	return tools.Errorf(tools.Unsupported, "%s is no program that can be typed into: %s, %s", handle, w.What, state).WithHint("%s", w.Input)
}
