package workspace

import (
	"errors"
	"io/fs"
	"path"
	"syscall"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/journal"
	"toolcrib/workspace/internal/tree"
	"toolcrib/workspace/protect"
)

// spot is the entry that an operation acts on. Its path holds no links, so that it is the
// same however a call names the file.
type spot struct {
	root *root
	rel  string
	// The rest is known once the directory is open.
	dir     fsys.Dir
	missing []string // directories above the name that are to be made first
	info    Info     // of the entry; Kind "" = there is none
}

func (s *spot) name() string { return path.Base(s.rel) }

// abs is the host path by the canonical name of the root, for journals and locks.
func (s *spot) abs() string { return path.Join(s.root.canonical, s.rel) }

func (s *spot) exists() bool { return s.info.Kind != "" }

// entry is the spot for the journal, once its directory is open.
func (s *spot) entry() *journal.Entry { return &journal.Entry{Abs: s.abs(), Dir: s.dir} }

// sibling is another name in the directory of the spot.
func (s *spot) sibling(name string) *spot {
	return &spot{root: s.root, rel: path.Join(path.Dir(s.rel), name), dir: s.dir}
}

// spotOf finds the entry that an operation on p acts on. It follows the last component only
// if last is set. The end of the path need not exist.
func (w *Workspace) spotOf(p Path, last bool) (*spot, error) {
	if p.root == nil {
		return nil, errNoPath()
	}
	if err := p.CheckRoot(); err != nil {
		return nil, err
	}
	r, rel, err := w.settle(p.root, p.rel, last)
	if err != nil {
		return nil, p.refuse(err)
	}
	if rel == "." { // as [Path.IsRoot] says beforehand
		return nil, &Error{
			Rule: RuleInvalid, Path: p.written(), Msg: fsys.Show(p.written()) + " is a root of the workspace, which stays as it is",
			Hint: "name the entries in it",
		}
	}
	return &spot{root: r, rel: rel}, nil
}

// settle is follow for a path whose end may be missing.
func (w *Workspace) settle(r *root, rel string, last bool) (*root, string, error) {
	to, at, err := w.follow(r, rel, last, true)
	if !errors.Is(err, fs.ErrNotExist) {
		return to, path.Clean(at), err
	}
	parent := path.Dir(rel)
	if parent == rel {
		return nil, "", err
	}
	if to, at, err = w.settle(r, parent, true); err != nil {
		return nil, "", err
	}
	at = path.Join(at, path.Base(rel))
	return to, at, w.denied(to, at)
}

// missingNames returns the lock names of the missing directories above, which the change
// makes: no other change must find one that is undone, or lose one to that.
func (s *spot) missingNames() (names []string) {
	for rel := path.Dir(s.rel); rel != "."; rel = path.Dir(rel) {
		if _, err := s.root.Lstat(rel); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		names = append(names, path.Join(s.root.canonical, rel))
	}
	return names
}

// refuseProtected refuses to change a protected path.
func (w *Workspace) refuseProtected(s *spot, p Path, mayBeDirectory bool) error {
	if w.allowProtected || !w.protection(s.root).Protects(s.rel, mayBeDirectory) {
		return nil
	}
	return &Error{
		Rule: RuleProtected, Path: p.written(),
		Msg:  fsys.Show(p.written()) + " is protected, since programs run or obey it",
		Hint: "tell the user what to change there; a tool cannot, unless the server runs with --allow-protected",
	}
}

// protection returns r as package protect judges it.
func (w *Workspace) protection(r *root) protect.Root {
	return protect.Root{
		Root: r.Root, Canonical: r.canonical, Origin: *r.origin, Prefix: r.prefix,
		Follow: func(name string) (string, bool, error) {
			to, rel, err := w.follow(r, name, true, true)
			return rel, to == r, err
		},
	}
}

// openSpot opens the directory of a spot, or the nearest existing one above it, and
// describes the entry.
func (t *transaction) openSpot(s *spot) (err error) {
	s.missing, s.info = nil, Info{}
	for parent := path.Dir(s.rel); ; parent = path.Dir(parent) {
		s.dir, err = t.openDir(s.root, parent)
		if err == nil {
			break
		}
		if errors.Is(err, fsys.ErrIsLink) {
			return s.refuseLink(parent)
		}
		if !errors.Is(err, fs.ErrNotExist) || parent == "." {
			return err
		}
		s.missing = append([]string{path.Base(parent)}, s.missing...)
	}
	if len(s.missing) > 0 {
		if _, err := s.dir.Stat(s.missing[0]); err == nil {
			return errDangling
		}
		return nil
	}
	s.info, err = s.dir.Stat(s.name())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// refuseLink is the error for a link in the path of a spot, which had none when it was
// located: the link leads to nothing, or a program has made it since, and its target may be
// protected.
func (s *spot) refuseLink(dir string) error {
	if _, err := s.root.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return errDangling
	}
	return fsys.ErrSwapped
}

// openDir opens a directory once for the whole change. It follows no link, so that the path
// is the one that was judged.
func (t *transaction) openDir(r *root, rel string) (fsys.Dir, error) {
	key := dirKey{r, rel}
	if d := t.dirs[key]; d != nil {
		return d, nil
	}
	d, err := r.OpenPlainDir(rel)
	if err != nil {
		return nil, err
	}
	t.dirs[key] = d
	return d, nil
}

type dirKey struct {
	root *root
	rel  string
}

// errDangling says that a symlink is in the path of a directory or file to be made.
var errDangling = errors.New("is a symlink to nothing")

// refuseChange returns the error of a change at p as an *[Error].
func (p Path) refuseChange(err error) error {
	if e, ok := errors.AsType[*tree.Error](err); ok && e.Rel != "." {
		return p.child(e.Rel).refuseChange(e.Err)
	}
	name := fsys.Show(p.written())
	e := &Error{Path: p.written(), Err: err}
	switch {
	case errors.Is(err, errDangling):
		e.Rule, e.Msg = RuleInvalid, name+" passes a symlink to nothing"
		e.Hint = "delete the link first, or name where it leads to"
	case errors.Is(err, syscall.ENOTEMPTY):
		e.Rule, e.Msg = RuleInvalid, name+" is a directory that is not empty"
	case errors.Is(err, fs.ErrExist):
		e.Rule, e.Msg = RuleExists, name+" exists"
	case errors.Is(err, fs.ErrPermission):
		e.Rule, e.Msg = RuleAccess, name+": "+fsys.Cause(err)
		e.Hint = "the user that runs the server may not write there"
	case errors.Is(err, syscall.EROFS):
		e.Rule, e.Msg = RuleAccess, name+" is on a read-only file system"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		e.Rule, e.Msg = RuleIO, name+": "+fsys.Cause(err)
		e.Hint = "nothing was changed; make room first"
	default:
		return p.refuse(err)
	}
	return e
}
