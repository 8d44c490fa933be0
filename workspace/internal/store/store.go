// Package store has the state of all roots of a workspace and its views: their directories,
// histories, the journal of this process, and the locks of paths. Each is opened when it is
// first needed.
//
// It may import workspace/state and the packages history and journal next to it. Start with
// [Store].
package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"toolcrib/workspace/internal/history"
	"toolcrib/workspace/internal/journal"
	"toolcrib/workspace/state"
)

// Store is the state of all roots. Several goroutines may use it.
type Store struct {
	base    string   // "" = none
	outside []string // directories that must not hold the state
	bounds  history.Bounds
	stripes [stripes]chan struct{} // the locks of this process
	intents *journal.Journal       // of this process

	mu        sync.Mutex
	recording <-chan struct{} // closed when all that Record was given has run; nil = nothing
	common    *state.Dir
	dirs      map[string]*state.Dir       // by the canonical name of the root
	histories map[string]*history.History // likewise
	closed    bool
}

// New returns a store below base, "" for none. Each directory of outside refuses to hold it.
func New(base string, outside []string, bounds history.Bounds) *Store {
	s := &Store{
		base: base, outside: outside, bounds: bounds.OrDefault(),
		dirs: map[string]*state.Dir{}, histories: map[string]*history.History{},
	}
	s.intents = journal.New(s.Shared)
	for i := range s.stripes {
		s.stripes[i] = make(chan struct{}, 1)
	}
	return s
}

// Base returns the directory that holds the state of all roots, "" if none is kept.
func (s *Store) Base() string { return s.base }

// Shared opens the state that all roots and processes share.
func (s *Store) Shared() (*state.Dir, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil || s.common != nil {
		return s.common, err
	}
	d, err := state.Shared(s.base, s.outside...)
	if err != nil {
		return nil, notKept(err)
	}
	s.common = d
	return d, nil
}

// Root opens the state of a root by its canonical name.
func (s *Store) Root(root string) (*state.Dir, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dir(root)
}

func (s *Store) dir(root string) (*state.Dir, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	if d := s.dirs[root]; d != nil {
		return d, nil
	}
	d, err := state.Open(s.base, root, s.outside...)
	if err != nil {
		return nil, notKept(err)
	}
	s.dirs[root] = d
	return d, nil
}

// History opens the history of a root by its canonical name.
func (s *Store) History(root string) (*history.History, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.histories[root]; h != nil && !s.closed {
		return h, nil
	}
	d, err := s.dir(root)
	if err != nil {
		return nil, err
	}
	h, err := history.Open(d, root, s.bounds)
	if err != nil {
		return nil, notKept(err)
	}
	s.histories[root] = h
	return h, nil
}

// HasHistory reports whether a root has a history, by its canonical name.
func (s *Store) HasHistory(root string) bool {
	return s.base != "" && state.HasFolder(s.base, root, history.Folder)
}

// Gap returns the gap that was noticed last in the histories of roots; nil for none.
func (s *Store) Gap(ctx context.Context, roots []string) (found *history.Gap, err error) {
	for _, root := range roots {
		if !s.HasHistory(root) {
			continue
		}
		h, err := s.History(root)
		if err != nil {
			return nil, err
		}
		g, err := h.Gap(ctx)
		if err != nil {
			return nil, err
		}
		if g != nil && (found == nil || g.Noticed.After(found.Noticed)) {
			found = g
		}
	}
	return found, nil
}

// Journal returns the journal of this process; an error if no state is kept.
func (s *Store) Journal() (*journal.Journal, error) {
	if _, err := s.Shared(); err != nil {
		return nil, err
	}
	return s.intents, nil
}

// Orphans returns the journals of dead processes. The caller unlocks when it has dealt with
// them: another process that asks meanwhile would not see an orphan that this one looks at.
func (s *Store) Orphans(ctx context.Context) (orphans []*state.Orphan, unlock func() error, err error) {
	if s.base == "" || !state.HasShared(s.base) {
		return nil, func() error { return nil }, nil // no process has ever had a journal
	}
	shared, err := s.Shared()
	if err != nil {
		return nil, nil, err
	}
	lock, err := shared.Lock(ctx, "recover")
	if err != nil {
		return nil, nil, notKept(err)
	}
	if orphans, err = shared.Orphans(journal.Folder); err != nil {
		return nil, nil, notKept(errors.Join(err, lock.Unlock()))
	}
	return orphans, lock.Unlock, nil
}

// Record runs f, which adds to a history, in the background, one call after another.
func (s *Store) Record(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, done := s.recording, make(chan struct{})
	s.recording = done
	go func() {
		defer close(done)
		if before != nil {
			<-before
		}
		f()
	}()
}

// Recorded waits until all that Record was given has run.
func (s *Store) Recorded(ctx context.Context) error {
	s.mu.Lock()
	last := s.recording
	s.mu.Unlock()
	if last == nil {
		return nil
	}
	select {
	case <-last:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) usable() error {
	switch {
	case s.closed:
		return notKept(os.ErrClosed)
	case s.base == "":
		return notKept(state.ErrNoBase)
	}
	return nil
}

// Close closes all that is open.
func (s *Store) Close() error {
	errs := []error{s.Recorded(context.Background()), s.intents.Close()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, h := range s.histories {
		errs = append(errs, h.Close())
	}
	for _, d := range s.dirs {
		errs = append(errs, d.Close())
	}
	if s.common != nil {
		errs = append(errs, s.common.Close())
	}
	return errors.Join(errs...)
}

func notKept(err error) error { return fmt.Errorf("no state is kept: %w", err) }
