package workspace

import (
	"errors"
	"io/fs"
	"path"
	"syscall"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/tree"
)

// Guard keeps a view away from places. It is asked for paths that hold no links and
// returns the name of what denies one, "" if nothing does. It may be called by several
// goroutines.
type Guard func(p Path) (rule string)

// Guarded returns a view of the same roots that keeps away from what the guard denies:
// nothing there is opened, described, changed, or found by a walk, whatever links lead
// to it, and no directory that holds such a thing is moved, copied, deleted or replaced.
// What the history has of it is not shown.
//
// It does not hide names: who lists a directory that is not denied itself may see what
// stands in it. A hard link outside of the denied places is another name of a file and
// is judged by that. The view is not closed, and serves as long as w.
func (w *Workspace) Guarded(g Guard) *Workspace {
	v := *w
	v.guard, v.view = g, true
	return &v
}

// deniedError says which rule keeps a view away from a place.
type deniedError struct{ rule string }

func (e *deniedError) Error() string { return "denied by the policy (rule " + e.rule + ")" }

// denied asks the guard for a path below r that is free of links.
func (w *Workspace) denied(r *root, rel string) error {
	if w.guard == nil {
		return nil
	}
	if rule := w.guard(Path{view: w, root: r, rel: path.Clean(rel)}); rule != "" {
		return &deniedError{rule}
	}
	return nil
}

// Landing returns where p leads when its links are followed, as far as that exists; p
// itself where that is nowhere in the view.
func (p Path) Landing() Path {
	if p.root == nil {
		return p
	}
	r, rel, err := p.view.settle(p.root, path.Clean(p.rel), true)
	if err != nil {
		return p.bare()
	}
	return Path{view: p.view, root: r, rel: rel}
}

// reachGuarded is reach for a view with a guard: the operation runs at the path that was
// judged and follows no link, so that none which comes meanwhile leads elsewhere.
func (p Path) reachGuarded(last bool, op func(r *root, rel string) error) error {
	for hops := 0; ; hops++ {
		r, rel, err := p.view.follow(p.root, p.target(), last, true)
		if err != nil {
			return err
		}
		strict := *r
		strict.Root = fsys.NoLinks(r.Root)
		if err = op(&strict, rel); !errors.Is(err, fsys.ErrIsLink) {
			return err
		}
		if hops == maxHops {
			return syscall.ELOOP // the links change as fast as they are followed
		}
	}
}

// refuseHeld refuses to take a directory at s away or elsewhere that holds what the
// guard denies, or would hold it when it stands at as; as may be nil.
func (t *transaction) refuseHeld(s, as *spot) error {
	if t.ws.guard == nil || s.info.Kind != KindDirectory {
		return nil
	}
	var way []string
	judge := func(name string) error {
		below := path.Join(path.Join(way...), name)
		err := t.ws.denied(s.root, path.Join(s.rel, below))
		if err == nil && as != nil {
			err = t.ws.denied(as.root, path.Join(as.rel, below))
		}
		return err
	}
	err := tree.Walk(t.ctx, s.dir, s.name(), tree.Visit{
		Entry: func(_ fsys.Dir, e DirEntry) error { return judge(e.Name) },
		Enter: func(_ fsys.Dir, name string) error {
			if len(way) == 0 {
				name = "."
			}
			way = append(way, name)
			return judge(".")
		},
		Left: func(fsys.Dir, string) error {
			way = way[:len(way)-1]
			return nil
		},
	})
	if errors.Is(err, fs.ErrNotExist) {
		return fsys.ErrSwapped
	}
	return err
}

// Guarded reports whether p belongs to a view with a guard.
func (p Path) Guarded() bool { return p.view != nil && p.view.guard != nil }
