package workspace

import (
	"errors"
	"io/fs"
	"path"
	"syscall"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/tree"
)

// DenyFunc applies deny rules to the paths of a view. It gets paths without links and returns
// the name of the rule that denies one, "" for none. Several goroutines may call it.
type DenyFunc func(p Path) (rule string)

// Denying returns a view of the same roots without the paths that f denies. The view
// does not open, describe, change or walk a denied path, even through links. It does not move,
// copy, delete or replace a directory that holds one, and hides its history.
//
// It does not hide names: a list of a directory that is not denied shows the names of denied
// entries. A hard link to a denied file is judged by its own path. The view needs no Close and
// is valid as long as w.
func (w *Workspace) Denying(f DenyFunc) *Workspace {
	v := *w
	v.deny, v.view = f, true
	return &v
}

// deniedError names the rule that denies a path.
type deniedError struct{ rule string }

func (e *deniedError) Error() string { return "denied by the policy (rule " + e.rule + ")" }

// denied applies the deny rules for a path below r that is free of links.
func (w *Workspace) denied(r *root, rel string) error {
	if w.deny == nil {
		return nil
	}
	if rule := w.deny(Path{view: w, root: r, rel: path.Clean(rel)}); rule != "" {
		return &deniedError{rule}
	}
	return nil
}

// Landing follows the links of p, as far as the path exists. It returns p itself if they lead
// outside the view.
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

// reachStrict is reach for a view with deny rules. The operation runs at the path that was
// judged and follows no link, so that a link which appears meanwhile cannot lead elsewhere.
func (p Path) reachStrict(last bool, op func(r *root, rel string) error) error {
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

// refuseHeld refuses to delete or move the directory at s if a path in it is denied, or
// would be denied once the directory is at as. as may be nil.
func (t *transaction) refuseHeld(s, as *spot) error {
	if t.ws.deny == nil || s.info.Kind != KindDirectory {
		return nil
	}
	err := tree.EachPath(t.ctx, s.dir, s.name(), func(rel string) error {
		err := t.ws.denied(s.root, path.Join(s.rel, rel))
		if err == nil && as != nil {
			err = t.ws.denied(as.root, path.Join(as.rel, rel))
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return fsys.ErrSwapped
	}
	return err
}

// HasDenyRules reports whether p belongs to a view with deny rules.
func (p Path) HasDenyRules() bool { return p.view != nil && p.view.deny != nil }
