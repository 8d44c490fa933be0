package search

import (
	"context"
	"errors"
	"slices"
	"sync"

	"toolcrib/tools"
	"toolcrib/tools/internal/background"
	"toolcrib/tools/internal/filelists"
	"toolcrib/tools/search/internal/index"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// Library has lists and indexes of the files of searched directories, so that a search need
// not read all files again. They are built in the background after the first search of a root,
// and each search brings them up to date. Until they are built, and where they cannot be,
// searches read the files themselves. A nil Library is empty.
type Library struct {
	lists   *filelists.Lists
	mu      sync.Mutex
	serves  bool            // Start was called: the process answers more than one call
	ctx     context.Context // of the background; nil = nothing may run there
	memory  int64           // of all indexes, in bytes
	busy    func() bool     // calls go on
	work    sync.WaitGroup
	shelves []*shelf // the one used last at the end
	placed  uint64   // how many shelves there were that had a table

	contents *contents
}

// maxShelves is how many trees have indexes at a time; a new one replaces the oldest.
const maxShelves = 4

// NewLibrary returns a library that does nothing before Start is called. lists has the lists of
// files, which others may use too.
func NewLibrary(lists *filelists.Lists) *Library { return &Library{lists: lists} }

// Start lets the library work in the background until ctx ends or stop is called, which waits
// for its work to end. All its indexes and kept files take at most memory bytes;
// with 0 it keeps nothing. While busy reports that calls go on, it works less; nil = they
// never do.
func (l *Library) Start(ctx context.Context, memory int64, busy func() bool) (stop func()) {
	ctx, end := context.WithCancel(ctx)
	l.mu.Lock()
	l.serves = true
	if memory > 0 {
		l.ctx, l.memory, l.busy = ctx, memory/10*9, busy
		l.contents = newContents(int(memory / 10))
	}
	l.mu.Unlock()
	return func() {
		end()
		l.mu.Lock()
		l.ctx = nil
		l.mu.Unlock()
		l.work.Wait()
	}
}

// open returns a visit of the shelf that has the files below start, and brings that up to date
// if wanted is set.
func (l *Library) open(ctx context.Context, start workspace.Path, wanted bool) (visit, error) {
	if l == nil {
		return visit{stamp: oneQuestion}, nil
	}
	l.mu.Lock()
	var s *shelf
	var h holding
	if wanted {
		s = l.look(start)
	}
	if s != nil {
		h = s.holding
	}
	serves := l.serves
	l.mu.Unlock()
	switch {
	case !serves:
		return visit{stamp: oneQuestion}, nil
	case s == nil:
		return visit{}, nil
	}
	fresh, err := h.table.Sync(ctx)
	switch {
	case errors.Is(err, fileindex.ErrLost):
		l.drop(s)
		return visit{}, nil
	case err != nil:
		return visit{}, err
	}
	return visit{h, fresh, stamp{h.table, h.table.Generation()}}, nil
}

// look returns the shelf that has start, and makes it the last one.
func (l *Library) look(start workspace.Path) *shelf {
	for i, s := range l.shelves {
		if s.table != nil && s.table.Knows(start) {
			l.shelves = append(slices.Delete(l.shelves, i, i+1), s)
			return s
		}
	}
	return nil
}

// want begins to build a shelf for start, if there is none.
func (l *Library) want(start workspace.Path) {
	if l == nil || start.HasDenyRules() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	root := start.Root()
	if l.ctx == nil || l.look(start) != nil || slices.ContainsFunc(l.shelves, func(s *shelf) bool { return s.root == root }) {
		return // there, in the making, or it cannot be made
	}
	if len(l.shelves) == maxShelves {
		l.shelves[0].stop()
		l.shelves = slices.Delete(l.shelves, 0, 1)
	}
	ctx, stop := context.WithCancel(l.ctx)
	s := &shelf{root: root, stop: stop}
	l.shelves = append(l.shelves, s)
	busy := l.busy
	l.work.Go(func() { l.fill(ctx, s, busy) })
}

// fill makes a shelf and keeps its index up to date until ctx ends. A shelf that fails
// stays, without a table, so that it is not tried at every search.
func (l *Library) fill(ctx context.Context, s *shelf, busy func() bool) {
	background.LowerPriority()
	err := tools.Recover(func() error {
		table, release, err := l.lists.Open(ctx, s.root, background.NewPace(busy).Keep)
		if err != nil {
			return err
		}
		defer release()
		return l.place(s, table).Run(ctx)
	})
	if errors.Is(err, fileindex.ErrLost) || ctx.Err() != nil {
		l.drop(s)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s.holding = holding{}
}

// place gives a shelf its file index, and a search index that takes the memory that the others
// leave.
func (l *Library) place(s *shelf, table *fileindex.Index) *index.Index {
	l.mu.Lock()
	defer l.mu.Unlock()
	free := l.memory
	for _, other := range l.shelves {
		if other.index != nil {
			free -= other.index.Stats().Bytes
		}
	}
	l.placed++
	s.holding = holding{table, index.New(table, index.Options{Memory: max(free, 0), Busy: l.busy}), l.contents, l.placed}
	return s.index
}

// drop removes a shelf.
func (l *Library) drop(s *shelf) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.stop()
	l.shelves = slices.DeleteFunc(l.shelves, func(other *shelf) bool { return other == s })
}
