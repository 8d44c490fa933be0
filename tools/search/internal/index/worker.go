package index

import (
	"context"
	"slices"
	"unsafe"

	"toolcrib/tools/internal/background"
	"toolcrib/workspace/fileindex"
)

// worker is the only writer of an index. It need not lock the index to read it.
type worker struct {
	x         *Index
	pace      *background.Pace
	extractor *extractor
	b         builder
	pending   []change // of files that were read since the last commit
	dead      []int    // of each segment the number of unused documents
	kinds     [kinds]int
	added     int  // files that are new since the last sweep
	full      bool // the memory is used up
}

// change is a new entry for a file.
type change struct {
	id uint32
	entry
}

func newWorker(x *Index) *worker {
	pace := background.NewPace(x.opt.Busy)
	return &worker{x: x, pace: pace, extractor: newExtractor(x.symbols, pace), b: builder{pace: pace}}
}

// update reads the files that have changed since the last update.
func (w *worker) update(ctx context.Context) error {
	since := w.x.seen.Load()
	if since != 0 && w.x.table.Generation() == since {
		return nil
	}
	files, now := w.x.table.Changed(since)
	first := w.x.stats.Files == 0
	defer w.extractor.opener.Close() // open directories are as old as the versions
	for _, f := range files {
		if err := w.pace.Keep(ctx); err != nil {
			return err
		}
		if err := w.read(ctx, f); err != nil {
			return err
		}
	}
	if err := w.flush(ctx); err != nil {
		return err
	}
	w.b.release()
	if first {
		w.added = 0 // no file has left the table yet
	}
	if err := w.maintain(ctx); err != nil {
		return err
	}
	w.x.seen.Store(now)
	if w.full && w.x.stats.Bytes < w.x.opt.Memory/8*7 {
		w.full = false
		w.x.seen.Store(0) // for the files that did not fit
	}
	return nil
}

// read adds a file to the segment that is being built. Its version was taken before its
// content is read, so that a write in between makes the entry outdated.
func (w *worker) read(ctx context.Context, f fileindex.File) error {
	if e := lookup(w.x.pages, f.ID); e != nil && e.version == f.Version && (e.kind > left || e.kind == left && w.full) {
		return nil
	}
	c := change{id: f.ID, entry: entry{version: f.Version, kind: left}}
	if !w.full {
		var t *extract
		var err error
		if c.kind, t, err = w.extractor.read(ctx, f.Path); err != nil {
			return err
		}
		if c.inSegment() {
			if w.b.full(t) {
				if err := w.flush(ctx); err != nil {
					return err
				}
			}
			c.doc, c.docs = uint16(len(w.b.files)), uint16(len(t.docs))
			if err := w.b.add(ctx, f.ID, t); err != nil {
				return err
			}
		}
	}
	w.pending = append(w.pending, c)
	if len(w.pending) == 4*maxDocs {
		return w.flush(ctx)
	}
	return nil
}

// flush adds the files that were read to the index.
func (w *worker) flush(ctx context.Context) error {
	var s *segment
	if len(w.b.files) > 0 {
		var err error
		if s, err = w.b.finish(ctx); err != nil {
			return err
		}
		if w.x.stats.Bytes+int64(len(s.bytes)) > w.x.opt.Memory {
			release(s.bytes)
			s, w.full = nil, true
			for i := range w.pending {
				if w.pending[i].inSegment() {
					w.pending[i].kind = left
				}
			}
		}
	}
	w.commit(s, nil, w.pending)
	w.pending = w.pending[:0]
	return nil
}

// commit adds a segment, nil for none, and its changes to the index, and frees old slots.
func (w *worker) commit(s *segment, old []int, changes []change) {
	x := w.x
	slot := slices.Index(x.segments, nil)
	if slot < 0 {
		slot = len(x.segments)
	}
	pages := slices.Clone(x.pages)
	fresh := map[int]bool{}
	for _, c := range changes {
		at := int(c.id / pageSize)
		for at >= len(pages) {
			pages = append(pages, nil)
		}
		switch {
		case pages[at] == nil:
			pages[at] = new(page)
		case !fresh[at]:
			pages[at] = new(*pages[at])
		}
		fresh[at] = true
		if c.inSegment() {
			c.segment = uint16(slot)
		}
		w.replace(&pages[at][c.id%pageSize], c.entry)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pages = pages
	if s != nil {
		if slot == len(x.segments) {
			x.segments = append(x.segments, nil)
			w.dead = append(w.dead, 0)
		}
		x.segments[slot], w.dead[slot] = s, 0
	}
	for _, i := range old {
		release(x.segments[i].bytes)
		x.segments[i] = nil
	}
	w.count()
}

// replace gives a file another entry.
func (w *worker) replace(e *entry, by entry) {
	if e.inSegment() {
		w.dead[e.segment] += int(e.docs)
	}
	if e.kind == absent && by.kind != absent {
		w.added++
	}
	w.kinds[e.kind]--
	w.kinds[by.kind]++
	*e = by
}

// count updates the stats.
func (w *worker) count() {
	x := w.x
	stats := Stats{
		Files: w.kinds[indexed] + w.kinds[oddlyFolded] + w.kinds[noText],
		Left:  w.kinds[left],
		Other: w.kinds[unknown],
	}
	for _, s := range x.segments {
		if s != nil {
			stats.Segments++
			stats.Bytes += int64(len(s.bytes)) + int64(len(s.files))*4 + int64(len(s.parts))*8
		}
	}
	for _, p := range x.pages {
		if p != nil {
			stats.Bytes += int64(unsafe.Sizeof(*p))
		}
	}
	x.stats = stats
}
