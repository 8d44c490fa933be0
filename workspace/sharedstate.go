package workspace

import (
	"cmp"
	"errors"
	"os"
	"sync"
	"sync/atomic"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/store"
	"toolcrib/workspace/state"
)

// sharedState is what a workspace shares with all its views.
type sharedState struct {
	*store.Store
	swapless sync.Map      // the devices (uint64) on which nothing can be exchanged
	indexed  sync.Map      // the indexes of whole roots (Index), by root.origin
	indexes  atomic.Uint64 // that were ever begun
	taking   sync.Mutex    // held by Current
	now      *Workspace    // the last one that Current made; nil = none
}

// ErrStateInside says that the directory for state is inside a root.
var ErrStateInside = errors.New("the state directory is inside a root")

// stateBase returns the directory that is to hold the state: the given one, which must not
// lie inside a root, or else the first default that does not; "" for none.
func stateBase(opt Options, roots []string) (string, error) {
	if opt.StateBase == "" {
		for _, base := range opt.StateDefaults {
			if state.Within(base, roots...) == "" {
				return base, nil
			}
		}
		return "", nil
	}
	dir := state.Within(opt.StateBase, roots...)
	if dir == "" {
		return opt.StateBase, nil
	}
	e := &Error{
		Rule: RuleInvalid, Path: opt.StateBase, Err: ErrStateInside,
		Msg:  "the state directory " + fsys.Show(opt.StateBase) + " is inside the root " + fsys.Show(dir) + ", where tools could change it",
		Hint: "leave --state-dir out: no state is kept then",
	}
	if other := state.FallbackBase(); state.Within(other, roots...) == "" {
		e.Hint = "name one outside of the roots: --state-dir=" + cmp.Or(other, "DIR")
	}
	return "", e
}

// StateBase returns the directory that holds the state of all roots, "" if none is kept.
func (w *Workspace) StateBase() string { return w.state.Base() }

// Origin returns the canonical name of the first root; for a view, that of the root which
// holds its first directory.
func (w *Workspace) Origin() string { return *w.roots[0].origin }

// State returns the directory that keeps the state of Origin. The first call opens it.
func (w *Workspace) State() (*state.Dir, error) {
	d, err := w.state.Root(w.Origin())
	return d, stateError(err)
}

// stateError returns an error of the state as an *[Error], nil for none.
func stateError(err error) error {
	if err == nil {
		return nil
	}
	e := &Error{Rule: RuleIO, Msg: err.Error(), Hint: "start the server with another state directory", Err: err}
	switch {
	case errors.Is(err, os.ErrClosed):
		e.Hint = ""
	case errors.Is(err, state.ErrNoBase):
		e.Hint = "start the server with a state directory outside of its roots"
	}
	return e
}
