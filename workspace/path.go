package workspace

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"toolcrib/workspace/internal/fsys"
)

// Path is a path inside a root. Only Resolve and Join make one. It is text: nothing need
// exist at it, and every operation is contained anew.
type Path struct {
	view *Workspace
	root *root
	rel  string // slash-separated and clean; "." is the root itself
	text string // as the caller wrote it; "" = as String has it
}

// String returns the path as it is printed: relative under the first root,
// absolute under another; it can be given back to Resolve.
func (p Path) String() string {
	switch {
	case p.root == nil:
		return ""
	case p.rel == ".":
		return p.root.shown
	case p.root.shown == ".":
		return p.rel
	}
	return path.Join(p.root.shown, p.rel)
}

// Root returns the root of p.
func (p Path) Root() Path { return Path{view: p.view, root: p.root, rel: "."} }

// IsRoot reports whether p is a root itself, which no change can take away or replace.
func (p Path) IsRoot() bool { return p.root != nil && p.rel == "." }

// Within reports whether p is in or lies below it, by its text. Both are of the same
// roots, if not of the same view.
func (p Path) Within(in Path) bool {
	if p.root == nil || p.root != in.root {
		return false
	}
	_, ok := fsys.Below(in.rel, p.rel)
	return ok || in.rel == "."
}

// Host returns the path on the host, for the few callers that must pass it to a program. It
// uses the name that the root had when it was opened.
func (p Path) Host() string {
	if p.root == nil {
		return ""
	}
	return filepath.FromSlash(path.Join(p.root.names[0], p.rel))
}

// Join returns the path of an entry below p; name is slash-separated and must be
// local: not absolute, without "." or ".." among its components.
func (p Path) Join(name string) (Path, error) {
	if p.root == nil {
		return Path{}, errNoPath()
	}
	if err := checkText(name); err != nil {
		return Path{}, err
	}
	if !fs.ValidPath(name) {
		return Path{}, &Error{
			Rule: RuleInvalid, Path: name, Msg: fsys.Show(name) + " is not the path of an entry below a directory",
			Hint: `give names separated by single slashes, without ".."`,
		}
	}
	if err := checkNames(name, name); err != nil {
		return Path{}, err
	}
	return p.child(name), nil
}

// child is Join for a name that comes from the file system.
func (p Path) child(name string) Path {
	return Path{view: p.view, root: p.root, rel: path.Join(p.rel, name)}
}

// bare returns p without a slash at its end, which demands a directory.
func (p Path) bare() Path {
	p.text = ""
	return p
}

// written is the path for messages.
func (p Path) written() string { return cmp.Or(p.text, p.String()) }

// target is the path for a backend: a slash or dot at its end demands a directory.
func (p Path) target() string {
	text := filepath.ToSlash(p.text)
	if strings.HasSuffix(text, "/") || strings.HasSuffix(text, "/.") {
		return p.rel + "/"
	}
	return p.rel
}

// Open opens a regular file for reading. It never blocks: it may open a FIFO or device for
// a moment, but refuses it.
func (p Path) Open() (File, error) {
	f := &file{path: p}
	err := p.reach(true, func(r *root, rel string) error { return r.OpenFile(rel, &f.File) })
	if err != nil {
		return nil, p.refuse(err)
	}
	return f, nil
}

// Stat describes what p leads to; it follows symlinks inside the roots.
func (p Path) Stat() (Info, error) {
	info, err := p.look(true)
	if err != nil {
		return Info{}, p.refuse(err)
	}
	return info, nil
}

// Find describes a path that need not exist: itself, or with follow the target of its
// links. Unlike Stat and Lstat it does not look for a similar path or for the target of a
// link, which costs time.
func (p Path) Find(follow bool) (info Info, exists bool, err error) {
	info, err = p.look(follow)
	if err == nil {
		return info, true, nil
	}
	if _, refused := errors.AsType[*Error](err); !refused && errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fsys.ErrEscapes) {
		return Info{}, false, nil
	}
	return Info{}, false, p.refuse(err)
}

// Lstat is Stat without following the last component: a symlink is described
// itself, with its target.
func (p Path) Lstat() (Info, error) {
	info, err := p.look(false)
	if err != nil {
		return Info{}, p.refuse(err)
	}
	if info.Kind == KindSymlink {
		info.Resolved = p.resolved()
	}
	return info, nil
}

func (p Path) look(follow bool) (info Info, err error) {
	err = p.reach(follow, func(r *root, rel string) (err error) {
		if follow {
			info, err = r.Stat(rel)
		} else {
			info, err = r.Lstat(rel)
		}
		return err
	})
	return info, err
}

// resolved returns the printed target of the links of p, "" if it is outside the roots or
// does not exist.
func (p Path) resolved() string {
	r, rel, err := p.view.follow(p.root, p.target(), true, true)
	if err != nil {
		return ""
	}
	if _, err := r.Lstat(rel); err != nil {
		return ""
	}
	return Path{view: p.view, root: r, rel: path.Clean(rel)}.String()
}

// ReadDir lists a directory, sorted by name, without the temporary files of changes.
func (p Path) ReadDir() ([]DirEntry, error) {
	d, err := p.openDir()
	if err != nil {
		return nil, err
	}
	defer d.Close()
	list, err := d.Entries(0)
	if err != nil {
		return nil, p.refuse(err)
	}
	list = slices.DeleteFunc(list, func(e DirEntry) bool { return fsys.IsTemp(e.Name) })
	slices.SortFunc(list, func(a, b DirEntry) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// openDir opens a directory, following links inside the roots.
func (p Path) openDir() (d fsys.Dir, err error) {
	err = p.reach(true, func(r *root, rel string) (err error) {
		d, err = r.OpenDir(rel)
		return err
	})
	if err != nil {
		return nil, p.refuse(err)
	}
	return d, nil
}

func errNoPath() error {
	return &Error{Rule: RuleInvalid, Msg: "no path", Hint: "make one with Resolve"}
}

// Within reports whether an absolute path is dir or lies below it, by its name
// alone: neither needs to exist.
func Within(dir, path string) bool {
	_, ok := fsys.Below(filepath.ToSlash(filepath.Clean(dir)), filepath.ToSlash(filepath.Clean(path)))
	return ok
}
