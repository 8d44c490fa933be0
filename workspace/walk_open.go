package workspace

import "slices"

// open opens d by the names that lead to it from base. With all but the deepest or
// widest trees base is its parent.
func (w *walker) open(d, base *walkDir) (dir, error) {
	if !d.link {
		defer w.drop(d.parent)
	}
	defer w.drop(base)
	if base == d { // the start
		return d.handle, nil
	}
	var steps []*walkDir
	top := d
	for ; top != base && !top.link; top = top.parent {
		steps = append(steps, top)
	}
	var h dir
	if base != nil {
		h = base.handle
	} else {
		var err error
		if h, err = w.start.Child(top.rel).Anchor().OpenDir(); err != nil {
			return nil, err
		}
	}
	for i, step := range slices.Backward(steps) {
		next, err := h.open(step.name)
		if base == nil || i < len(steps)-1 {
			h.close()
		}
		if err != nil {
			return nil, err
		}
		h = next
	}
	return h, nil
}

// drop ends one use of the handle of d, which is closed with the last. A nil d has
// none: it is the parent of the start, or the base of a symlink.
func (w *walker) drop(d *walkDir) {
	if d == nil {
		return
	}
	w.mu.Lock()
	d.users--
	h := d.handle
	if h == nil || d.users > 0 {
		w.mu.Unlock()
		return
	}
	d.handle = nil
	w.handles--
	w.mu.Unlock()
	h.close()
}
