package sandbox

import (
	"os"
	"path/filepath"
	"sync"
)

// places are those at the top of the roots that are protected. Nothing keeps a program
// from making one where there is none: a mount needs something to be on, and what the
// server put there would lie in the user's directory for all to see. And of a .git all but
// what decides which programs run can be deleted, at level landlock all.
type places struct {
	mu   sync.Mutex
	list []place
}

type place struct {
	path  string
	there bool // when it was last looked at
}

func (h *holder) places() *places {
	p := new(places)
	for _, d := range h.view.Roots {
		for _, rel := range h.view.Protect {
			path := filepath.Join(d.Path, rel)
			p.list = append(p.list, place{path, there(path)})
		}
	}
	return p
}

// touched returns what has come and gone since it was last asked.
func (p *places) touched() (t Touched) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.list {
		at := &p.list[i]
		was := at.there
		switch at.there = there(at.path); {
		case was && !at.there:
			t.Gone = append(t.Gone, at.path)
		case !was && at.there && filepath.Base(at.path) != repository: // git init is nothing to warn of
			t.Made = append(t.Made, at.path)
		}
	}
	return t
}

// repository is the name of a place that is more than what of it is protected.
const repository = ".git"

// there tells whether something stands at a path; a repository without its HEAD is none.
func there(path string) bool {
	info, err := os.Lstat(path)
	if err == nil && info.IsDir() && filepath.Base(path) == repository {
		_, err = os.Lstat(filepath.Join(path, "HEAD"))
	}
	return err == nil
}
