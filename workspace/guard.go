package workspace

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"
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
		strict.backend = plain{r.backend}
		if err = op(&strict, rel); !errors.Is(err, errIsLink) {
			return err
		}
		if hops == maxHops {
			return syscall.ELOOP // the links change as fast as they are followed
		}
	}
}

// plain is a backend that follows no link at all: errIsLink.
type plain struct{ backend }

// in opens the directory that holds rel.
func (b plain) in(rel string) (d dir, name string, err error) {
	rel, slash := strings.CutSuffix(rel, "/")
	if d, err = b.openPlainDir(path.Dir(rel)); err != nil || rel == "." {
		return d, ".", err
	}
	if name = path.Base(rel); slash {
		info, err := d.stat(name)
		if err == nil && info.Kind != KindDirectory {
			err = syscall.ENOTDIR
		}
		if err != nil {
			d.close()
			return nil, "", err
		}
	}
	return d, name, nil
}

func (b plain) openFile(rel string, as Path) (File, error) {
	d, name, err := b.in(rel)
	if err != nil {
		return nil, err
	}
	defer d.close()
	if name == "." {
		return nil, errIsDir
	}
	return d.openFile(name, as)
}

func (b plain) openListed(rel string, as Path) (File, error) { return b.openFile(rel, as) }

func (b plain) openDir(rel string) (dir, error) {
	return b.openPlainDir(path.Clean(rel))
}

func (b plain) stat(rel string) (Info, error) {
	info, err := b.lstat(rel)
	if err == nil && info.Kind == KindSymlink {
		err = errIsLink
	}
	return info, err
}

func (b plain) lstat(rel string) (Info, error) {
	d, name, err := b.in(rel)
	if err != nil {
		return Info{}, err
	}
	defer d.close()
	return d.stat(name)
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
	err := walkTree(t.ctx, s.dir, s.name(), treeVisit{
		entry: func(_ dir, e DirEntry) error { return judge(e.Name) },
		enter: func(_ dir, name string) error {
			if len(way) == 0 {
				name = "."
			}
			way = append(way, name)
			return judge(".")
		},
		left: func(dir, string) error {
			way = way[:len(way)-1]
			return nil
		},
	})
	if errors.Is(err, fs.ErrNotExist) {
		return errSwapped
	}
	return err
}

// Guarded reports whether p belongs to a view with a guard.
func (p Path) Guarded() bool { return p.view != nil && p.view.guard != nil }

// allowed leaves out the entries of d that the guard denies. They are judged where they
// are, not by the link that the walk has come by.
func (w *walker) allowed(d *walkDir, list []DirEntry) []DirEntry {
	view := w.start.view
	if view.guard == nil {
		return list
	}
	at := w.place(d)
	kept := list[:0]
	for _, e := range list {
		if view.denied(at.root, path.Join(at.rel, e.Name)) != nil {
			d.denied++
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

// place returns where d is, without links. The directories above it were read before it.
func (w *walker) place(d *walkDir) Path {
	var at Path
	switch {
	case d.parent != nil && !d.link && d.parent.real != nil:
		at = d.parent.real.child(d.name)
	default:
		at = w.start.child(d.rel).Landing()
	}
	d.real = &at
	return at
}
