package workspace

import (
	"cmp"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"toolcrib/workspace/internal/fsys"
)

const (
	// maxHops limits the links of a path that are absolute or leave a root and come back:
	// the target of each is looked up among all roots.
	maxHops = 16
	// maxLinks limits the links of any kind that are followed by text. It is the limit
	// of Linux.
	maxLinks = 40
)

// reach runs an operation at p. The root that the operation runs in contains it. If a
// link leaves that root, reach follows the links of the path by text and runs the
// operation again in the root that they lead to. It does the same with links through ".."
// if the kernel sees too many renames to resolve them. Text never grants access: if the
// tree changes meanwhile, the result may be an error, but it never escapes.
func (p Path) reach(last bool, op func(r *root, rel string) error) error {
	if p.root == nil {
		return errNoPath()
	}
	if p.view.deny != nil {
		return p.reachStrict(last, op)
	}
	r, rel := p.root, p.target()
	for hops := 0; ; hops++ {
		err := op(r, rel)
		again := errors.Is(err, syscall.EAGAIN)
		switch {
		case !again && !errors.Is(err, fsys.ErrEscapes) && !errors.Is(err, syscall.ELOOP):
			return err
		case hops == maxHops && again:
			return err
		case hops == maxHops:
			return syscall.ELOOP // the links change as fast as they are followed
		}
		if r, rel, err = p.view.follow(r, rel, last, again); err != nil {
			return err
		}
	}
}

// follow replaces the links of a path by their targets, component by component. It never
// looks at anything outside the roots. It follows the last component only if last is set.
// The result has no link that existed when follow passed it, and keeps a slash at the end,
// which demands a directory. The error is [fsys.ErrEscapes] if the path ends outside.
//
// Unless all is set, follow stops after a link that leads out and back: an operation in
// that root follows the rest itself, and much faster.
func (w *Workspace) follow(r *root, rel string, last, all bool) (*root, string, error) {
	at := position{root: r}
	todo := strings.Split(rel, "/")
	slash := ""
	left := false // by a link that is absolute or climbs out
	links, hops := 0, 0
	for len(todo) > 0 {
		if left && !all && at.root != nil && !slices.Contains(todo, "..") {
			if end := todo[len(todo)-1]; end == "" || end == "." {
				slash = "/"
			}
			at.names = append(at.names, todo...)
			break
		}
		name := todo[0]
		todo = todo[1:]
		if name == "" || name == "." {
			if len(todo) == 0 {
				slash = "/"
			}
			continue
		}
		if name == ".." {
			if at.root != nil && len(at.names) == 0 {
				left = true
				hops++
			}
			at.up()
			continue
		}
		at.down(w, name)
		if at.root == nil || len(todo) == 0 && !last {
			continue
		}
		target, err := at.root.Readlink(at.rel())
		if errors.Is(err, fsys.ErrNotLink) {
			continue
		}
		if err != nil {
			// The error of a denied path must not say whether the path exists.
			denied := w.denied(at.root, path.Join(at.rel(), path.Join(todo...)))
			return nil, "", cmp.Or(denied, err)
		}
		at.up()
		if filepath.IsAbs(target) {
			left = true
			hops++
			at = w.top(target)
			target = target[len(filepath.VolumeName(target)):]
		}
		todo = slices.Concat(strings.Split(filepath.ToSlash(target), "/"), todo)
		if links++; links > maxLinks || hops > maxHops {
			return nil, "", syscall.ELOOP
		}
	}
	if at.root == nil {
		return nil, "", fsys.ErrEscapes
	}
	return at.root, at.rel() + slash, w.denied(at.root, at.rel())
}

// position is the directory that follow has reached: below a root, or at a host path
// outside of all roots.
type position struct {
	root  *root
	names []string // the components below root
	host  string   // where root is nil; slash-separated
}

// top returns the position at the top of the file system of an absolute path.
func (w *Workspace) top(abs string) position {
	p := position{host: filepath.ToSlash(filepath.VolumeName(abs)) + "/"}
	p.enter(w)
	return p
}

func (p *position) rel() string { return path.Join(".", path.Join(p.names...)) }

// up goes to the parent directory. The parent of a root is that of its canonical name, as
// for the system.
func (p *position) up() {
	switch {
	case p.root == nil:
		p.host = path.Dir(p.host)
	case len(p.names) > 0:
		p.names = p.names[:len(p.names)-1]
	default:
		p.host = path.Dir(p.root.canonical)
		p.root = nil
	}
}

// down goes to an entry, which may be a root if p is outside of all.
func (p *position) down(w *Workspace, name string) {
	if p.root != nil {
		p.names = append(p.names, name)
		return
	}
	p.host = path.Join(p.host, name)
	p.enter(w)
}

func (p *position) enter(w *Workspace) {
	for _, r := range w.roots {
		for _, name := range r.names {
			if fsys.SameName(name, p.host) {
				*p = position{root: r}
				return
			}
		}
	}
}
