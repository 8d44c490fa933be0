package workspace

import (
	"os"
	"sync"

	"toolcrib/workspace/state"
)

// sharedState opens the state of the first root once, for a workspace and all
// its views.
type sharedState struct {
	base, root string
	outside    []string // directories that must not hold the state

	mu     sync.Mutex
	dir    *state.Dir
	closed bool
}

func (s *sharedState) open() (*state.Dir, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, stateError(os.ErrClosed, "")
	case s.dir != nil:
		return s.dir, nil
	case s.base == "":
		return nil, stateError(state.ErrNoBase, "start the server with a state directory")
	}
	d, err := state.Open(s.base, s.root, s.outside...)
	if err != nil {
		return nil, stateError(err, "start the server with another state directory")
	}
	s.dir = d
	return d, nil
}

func (s *sharedState) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.dir == nil {
		return nil
	}
	return s.dir.Close()
}

func stateError(err error, hint string) error {
	return &Error{Rule: RuleIO, Msg: "no state is kept: " + err.Error(), Hint: hint, Err: err}
}
