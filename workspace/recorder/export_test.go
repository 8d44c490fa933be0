package recorder

import "errors"

// Abandon leaves the open change as a kill of the process does.
func (r *Recorder) Abandon() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, s := range r.change.stores {
		errs = append(errs, s.abandon())
	}
	r.change = nil
	return errors.Join(errs...)
}

// Entries returns how many entries the open change has.
func (r *Recorder) Entries() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.change.parts {
		n += len(s.order)
	}
	return n
}
