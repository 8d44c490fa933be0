package index

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"toolcrib/workspace/fileindex"
)

// Table is the list of files of an index; a fileindex.Index is one.
type Table interface {
	// Sync brings the table up to date.
	Sync(ctx context.Context) (fileindex.Freshness, error)
	// Generation grows with every change.
	Generation() uint64
	// Changed returns the files whose content may have changed since a generation,
	// all for 0, and the generation that they are of.
	Changed(since uint64) (files []fileindex.File, now uint64)
}

// Options bounds an index.
type Options struct {
	// Memory is how many bytes the index may take; files that do not fit are left
	// out. Reading many files takes up to 30 MB more for its time.
	Memory int64
	// Busy reports whether calls go on; Run then leaves the CPU to them. nil = never.
	Busy func() bool
}

// Index finds the files of a table that may contain some literals. One goroutine may call Run,
// once; the other methods are safe for concurrent use.
type Index struct {
	table   Table
	opt     Options
	symbols *alphabet

	seen  atomic.Uint64 // generation of the table that is in the index
	ready atomic.Bool
	wake  chan struct{} // holds a value when there may be something to do

	// Protected by mu and changed only by Run. Pages and segments are not changed but
	// replaced: a Selection may hold the pages.
	mu       sync.RWMutex
	pages    []*page
	segments []*segment // a slot that is free is nil
	stats    Stats
}

// Stats counts the files and the memory of an index.
type Stats struct {
	Files    int   // indexed files, in the indexed version
	Left     int   // files that there was no room for
	Other    int   // files that cannot be read, are too large or not in UTF-8
	Bytes    int64 // of memory
	Segments int
}

// New returns an empty index.
func New(t Table, opt Options) *Index {
	return &Index{table: t, opt: opt, symbols: symbols(), wake: make(chan struct{}, 1)}
}

// Ready reports whether all files of the table have been looked at once.
func (x *Index) Ready() bool { return x.ready.Load() }

// Stats returns the present counts.
func (x *Index) Stats() Stats {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.stats
}

// nudge wakes Run if the table has changed.
func (x *Index) nudge() {
	if x.table.Generation() != x.seen.Load() {
		select {
		case x.wake <- struct{}{}:
		default:
		}
	}
}

// Run reads the files of the table, and again those that change, until ctx ends or the table
// is lost. It may keep a CPU busy for seconds, see background.LowerPriority. When it returns, the index
// is empty.
func (x *Index) Run(ctx context.Context) error {
	defer x.forget()
	return x.run(ctx)
}

// drain is the longest time that changes wait in the queue of the system, which is bounded.
const drain = 2 * time.Second

func (x *Index) run(ctx context.Context) error {
	w := newWorker(x)
	defer func() {
		w.b.release()
		w.extractor.close()
	}()
	tick := time.NewTicker(drain)
	defer tick.Stop()
	for {
		if err := w.update(ctx); err != nil {
			return err
		}
		x.ready.Store(true)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-x.wake: // by a search, which brought the table up to date
		case <-tick.C:
			how, err := x.table.Sync(ctx)
			if ctx.Err() != nil || errors.Is(err, fileindex.ErrLost) {
				return err
			}
			if how == fileindex.Validated {
				tick.Stop() // checking all files costs too much while nothing is searched
			}
		}
	}
}

// forget gives the memory back.
func (x *Index) forget() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range x.segments {
		if s != nil {
			release(s.bytes)
		}
	}
	x.ready.Store(false)
	x.pages, x.segments, x.stats = nil, nil, Stats{}
}

// page has the entries of files with consecutive IDs.
type page [pageSize]entry

const pageSize = 1024

// entry is the state of a file in the index.
type entry struct {
	version uint32
	segment uint16
	doc     uint16 // in the segment, the first one of the file
	docs    uint16 // of the file, one after the other
	kind    kind
}

// kind says how the index holds a file.
type kind uint8

const (
	absent  kind = iota // nothing was read
	left                // there was no room for it
	unknown             // it cannot be read, is too large or not in UTF-8
	noText
	indexed
	oddlyFolded // indexed, and it has a letter beyond ASCII that folds to one of ASCII
	kinds
)

// inSegment reports whether the segment of e has the file.
func (e *entry) inSegment() bool { return e.kind == indexed || e.kind == oddlyFolded }

// has reports whether a document of a segment is one of the file.
func (e *entry) has(segment, doc int) bool {
	return e.inSegment() && int(e.segment) == segment && doc >= int(e.doc) && doc < int(e.doc)+int(e.docs)
}

// lookup returns the entry of a file, nil if there never was one.
func lookup(pages []*page, id uint32) *entry {
	if at := int(id / pageSize); at < len(pages) && pages[at] != nil {
		return &pages[at][id%pageSize]
	}
	return nil
}
