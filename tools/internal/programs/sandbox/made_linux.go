package sandbox

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"toolcrib/tools/internal/programs/sandbox/internal/sandboxinit"
)

// places are those that decide which programs run later, looked at before a program and
// after it. Nothing keeps it from making one where there is none: a mount needs something
// to be on, and what the server put there would lie in the user's directory for all to see.
// Nor from moving an ordinary directory with what is protected in it, and of a .git all but
// what decides can be deleted, at level landlock all.
type places struct {
	roots []sandboxinit.Dir
	mu    sync.Mutex
	list  []place
}

type place struct {
	path  string
	known bool  // it has been there
	was   sight // when it was last looked at
}

// sight is what stands at a path; the zero value is nothing. What is a link stands for what
// it leads to, too.
type sight struct {
	file, target os.FileInfo
	link         string
	hidden       bool // it could not be looked at
}

// newPlaces looks at places; those that have been there before are known.
func newPlaces(roots []sandboxinit.Dir, known map[string]bool) *places {
	p := &places{roots: roots}
	for _, path := range slices.Sorted(maps.Keys(known)) {
		was := see(path)
		p.list = append(p.list, place{path, known[path] || was.file != nil, was})
	}
	return p
}

// touched returns what has come, gone and changed since it was last asked.
func (p *places) touched() (t Touched) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.list {
		at := &p.list[i]
		was := at.was
		at.was = see(at.path)
		switch {
		case at.was.same(was):
		case at.was.hidden && !at.known:
		case at.was.hidden:
			t.Swapped = append(t.Swapped, p.name(at.path))
		case at.was.file == nil:
			t.Gone = append(t.Gone, p.name(at.path))
		case was.file != nil || was.hidden && at.known:
			t.Swapped = append(t.Swapped, p.name(at.path))
		case at.known || filepath.Base(at.path) != gitName: // git init is nothing to warn of
			t.Made = append(t.Made, p.name(at.path))
		}
	}
	return t
}

// name is a path as tools name it.
func (p *places) name(path string) string {
	for i, d := range p.roots {
		if rel, ok := strings.CutPrefix(path, strings.TrimSuffix(d.Path, "/")+"/"); ok && i == 0 {
			return rel
		}
	}
	return path
}

// see looks at a path. A repository without its HEAD is none.
func see(path string) (s sight) {
	info, err := os.Lstat(path)
	if err == nil && info.IsDir() && filepath.Base(path) == gitName {
		_, err = os.Lstat(filepath.Join(path, "HEAD"))
	}
	if err != nil {
		return sight{hidden: os.IsPermission(err)}
	}
	s.file = info
	if info.Mode()&os.ModeSymlink != 0 {
		s.link, _ = os.Readlink(path) // what cannot be read is another link than one that can
		s.target, _ = os.Stat(path)
	}
	return s
}

// same reports whether the same file or directory stands there, and where it is a link,
// behind it.
func (s sight) same(other sight) bool {
	return s.hidden == other.hidden && s.link == other.link && sameFile(s.file, other.file) && sameFile(s.target, other.target)
}

func sameFile(a, b os.FileInfo) bool {
	return a == nil && b == nil || a != nil && b != nil && os.SameFile(a, b)
}
