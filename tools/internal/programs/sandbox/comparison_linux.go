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

// comparison compares protected paths before and after a program. The mounts over protected
// paths do not prevent every change: a program can create a protected file that does not
// exist yet, since a mount needs something to be mounted on and the server makes no files
// in the user's directories. It can move an ordinary directory that holds a protected path.
// It can delete the files of a .git that are not protected, and all of them at level
// landlock.
type comparison struct {
	roots []sandboxinit.Dir
	mu    sync.Mutex
	list  []compared
}

type compared struct {
	path  string
	known bool     // it has existed
	was   snapshot // the last one
}

// snapshot is the state of a path; the zero value = nothing exists there. target and link
// are set for a symbolic link.
type snapshot struct {
	file, target os.FileInfo
	link         string
	hidden       bool // the server may not look at it
}

// newComparison takes the first snapshots. known has the paths; true = it has existed.
func newComparison(roots []sandboxinit.Dir, known map[string]bool) *comparison {
	p := &comparison{roots: roots}
	for _, path := range slices.Sorted(maps.Keys(known)) {
		was := snapshotOf(path)
		p.list = append(p.list, compared{path, known[path] || was.file != nil, was})
	}
	return p
}

// touched returns the paths that were created, deleted or replaced since the last call.
func (p *comparison) touched() (t Touched) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.list {
		at := &p.list[i]
		was := at.was
		at.was = snapshotOf(at.path)
		switch {
		case at.was.same(was):
		case at.was.hidden && !at.known:
		case at.was.hidden:
			t.Swapped = append(t.Swapped, p.name(at.path))
		case at.was.file == nil:
			t.Gone = append(t.Gone, p.name(at.path))
			_, err := os.Lstat(at.path)
			t.Partly = t.Partly || err == nil
		case was.file != nil || was.hidden && at.known:
			t.Swapped = append(t.Swapped, p.name(at.path))
		case at.known || filepath.Base(at.path) != gitName: // no warning for git init
			t.Made = append(t.Made, p.name(at.path))
		}
	}
	return t
}

// name returns a path as tools print it.
func (p *comparison) name(path string) string {
	for i, d := range p.roots {
		if rel, ok := strings.CutPrefix(path, strings.TrimSuffix(d.Path, "/")+"/"); ok && i == 0 {
			return rel
		}
	}
	return path
}

// snapshotOf looks at a path. A .git without a HEAD counts as missing.
func snapshotOf(path string) (s snapshot) {
	info, err := os.Lstat(path)
	if err == nil && info.IsDir() && filepath.Base(path) == gitName {
		_, err = os.Lstat(filepath.Join(path, "HEAD"))
	}
	if err != nil {
		return snapshot{hidden: os.IsPermission(err)}
	}
	s.file = info
	if info.Mode()&os.ModeSymlink != 0 {
		s.link, _ = os.Readlink(path) // "" if it cannot be read
		s.target, _ = os.Stat(path)
	}
	return s
}

// same reports whether both snapshots show the same file or directory, and the same target
// if it is a link.
func (s snapshot) same(other snapshot) bool {
	return s.hidden == other.hidden && s.link == other.link && sameFile(s.file, other.file) && sameFile(s.target, other.target)
}

func sameFile(a, b os.FileInfo) bool {
	return a == nil && b == nil || a != nil && b != nil && os.SameFile(a, b)
}
