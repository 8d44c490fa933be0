package workspace

import (
	"cmp"
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/history"
	"toolcrib/workspace/internal/journal"
	"toolcrib/workspace/state"
)

// sharedState is the state of all roots, for a workspace and all its views. What
// it holds is opened when it is first asked for.
type sharedState struct {
	base    string   // "" = none
	outside []string // directories that must not hold the state
	bounds  HistoryBounds
	stripes [stripes]chan struct{} // of the locks of this process, see Workspace.lock

	intents *journal.Journal // of this process

	swapless sync.Map // the devices (uint64) on which nothing can be exchanged

	indexed sync.Map      // the indexes of whole roots (Index), by the canonical name of the root
	indexes atomic.Uint64 // that were ever begun

	mu        sync.Mutex
	recording <-chan struct{} // closed when all that record was given has run; nil = nothing
	common    *state.Dir
	dirs      map[string]*state.Dir       // by the canonical name of the root
	histories map[string]*history.History // likewise
	closed    bool
}

// ErrStateInside says that the directory for state lies inside a root.
var ErrStateInside = errors.New("the state directory lies inside a root")

// newState finds the place of the state: the base that is given, which must not
// lie inside a root, or else the first default that does not.
func newState(opt Options, outside []string) (*sharedState, error) {
	s := &sharedState{
		base: opt.StateBase, outside: outside, bounds: opt.History.OrDefault(),
		dirs: map[string]*state.Dir{}, histories: map[string]*history.History{},
	}
	s.intents = journal.New(s.shared)
	for i := range s.stripes {
		s.stripes[i] = make(chan struct{}, 1)
	}
	if s.base == "" {
		for _, base := range opt.StateDefaults {
			if state.Within(base, outside...) == "" {
				s.base = base
				break
			}
		}
		return s, nil
	}
	if dir := state.Within(s.base, outside...); dir != "" {
		e := &Error{
			Rule: RuleInvalid, Path: s.base, Err: ErrStateInside,
			Msg:  "the state directory " + fsys.Show(s.base) + " lies inside the root " + fsys.Show(dir) + ", where tools could change it",
			Hint: "leave --state-dir out: no state is kept then",
		}
		if other := state.FallbackBase(); state.Within(other, outside...) == "" {
			e.Hint = "name one outside of the roots: --state-dir=" + cmp.Or(shellWord(other), "DIR")
		}
		return nil, e
	}
	return s, nil
}

// StateBase returns the directory that holds the state of all roots, "" if none is
// kept.
func (w *Workspace) StateBase() string { return w.state.base }

// shared opens what all roots and processes share.
func (s *sharedState) shared() (*state.Dir, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil || s.common != nil {
		return s.common, err
	}
	d, err := state.Shared(s.base, s.outside...)
	if err != nil {
		return nil, stateError(err, "start the server with another state directory")
	}
	s.common = d
	return d, nil
}

// open opens the state of a root by its canonical name.
func (s *sharedState) open(root string) (*state.Dir, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dir(root)
}

func (s *sharedState) dir(root string) (*state.Dir, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	if d := s.dirs[root]; d != nil {
		return d, nil
	}
	d, err := state.Open(s.base, root, s.outside...)
	if err != nil {
		return nil, stateError(err, "start the server with another state directory")
	}
	s.dirs[root] = d
	return d, nil
}

// history opens the history of a root by its canonical name.
func (s *sharedState) history(root string) (*history.History, error) {
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
		return nil, stateError(err, "start the server with another state directory")
	}
	s.histories[root] = h
	return h, nil
}

// hasHistory reports whether there is a history of a root, by its canonical name.
func (s *sharedState) hasHistory(root string) bool {
	return s.base != "" && state.HasFolder(s.base, root, history.Folder)
}

// journal returns the journal of this process; an error where no state is kept.
func (s *sharedState) journal() (*journal.Journal, error) {
	if _, err := s.shared(); err != nil {
		return nil, err
	}
	return s.intents, nil
}

// record runs f in the background, after all that it was given before.
func (s *sharedState) record(f func()) {
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

// recorded waits until all that record was given has run.
func (s *sharedState) recorded(ctx context.Context) error {
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

func (s *sharedState) usable() error {
	switch {
	case s.closed:
		return stateError(os.ErrClosed, "")
	case s.base == "":
		return stateError(state.ErrNoBase, "start the server with a state directory outside of its roots")
	}
	return nil
}

func (s *sharedState) close() error {
	_ = s.recorded(context.Background())
	errs := []error{s.intents.Close()}
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

func stateError(err error, hint string) error {
	return &Error{Rule: RuleIO, Msg: "no state is kept: " + err.Error(), Hint: hint, Err: err}
}
