package index

import "context"

// Worker updates an index step by step.
type Worker struct{ w *worker }

// NewWorker returns a worker for an index that does not Run.
func NewWorker(x *Index) Worker {
	return Worker{newWorker(x)}
}

// Update reads what has changed.
func (w Worker) Update(ctx context.Context) error { return w.w.update(ctx) }

// Documents returns how many documents the segments have, dead ones too.
func (x *Index) Documents() int {
	n := 0
	for _, s := range x.segments {
		if s != nil {
			n += len(s.files)
		}
	}
	return n
}
