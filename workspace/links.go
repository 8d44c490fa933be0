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
	// maxHops is how many links of a path may leave a root to come back, or be
	// absolute: each has its target looked up among the roots from the start.
	maxHops = 16
	// maxLinks is how many links of any sort are followed by text; it is what
	// Linux follows by itself.
	maxLinks = 40
)

// reach runs an operation at p. The operation is contained by the root that it
// runs in. Where a link leaves that root on the way, the links of the path are
// followed by text and the operation runs again in the root that they lead to; so
// are links through ".." where the kernel sees too many renames to resolve them.
// Text never grants access, so a tree that changes meanwhile can make the result
// an error but never let it escape.
func (p Path) reach(last bool, op func(r *root, rel string) error) error {
	if p.root == nil {
		return errNoPath()
	}
	if p.view.guard != nil {
		return p.reachGuarded(last, op)
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

// follow replaces the links of a path by their targets, component by component,
// as far as they stay inside the roots; what is outside is never looked at. The
// last component is followed only if last is set. The result holds no link that
// was there when follow passed, and keeps a slash at the end, which demands a
// directory. errEscapes says that the path ends outside.
//
// Unless all is set, follow is done once a link has led out and back: an operation
// in that root follows the rest by itself, and much faster.
func (w *Workspace) follow(r *root, rel string, last, all bool) (*root, string, error) {
	at := place{root: r}
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
			// What is denied is not even known to be missing.
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

// place is where follow stands: in a root, or outside of all at a host path.
type place struct {
	root  *root
	names []string // the components below root
	host  string   // where root is nil; slash-separated
}

// top is the place at the top of the file system of an absolute path.
func (w *Workspace) top(abs string) place {
	p := place{host: filepath.ToSlash(filepath.VolumeName(abs)) + "/"}
	p.enter(w)
	return p
}

func (p *place) rel() string { return path.Join(".", path.Join(p.names...)) }

// up goes to the parent directory. That of a root is by its canonical name, as
// the system would have it.
func (p *place) up() {
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

// down goes to an entry. Outside, that may lead into a root.
func (p *place) down(w *Workspace, name string) {
	if p.root != nil {
		p.names = append(p.names, name)
		return
	}
	p.host = path.Join(p.host, name)
	p.enter(w)
}

func (p *place) enter(w *Workspace) {
	for _, r := range w.roots {
		for _, name := range r.names {
			if fsys.SameName(name, p.host) {
				*p = place{root: r}
				return
			}
		}
	}
}
