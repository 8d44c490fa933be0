package workspace

import (
	"context"
	"path"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/store"
)

// Anchor is a path as packages fileindex, deny and recorder see it: they open directories by their
// handles and make paths of the names in them. No other package may ask for one; a test of
// the imports holds this.
type Anchor struct{ p Path }

// Anchor returns p as these packages need it.
func (p Path) Anchor() Anchor { return Anchor{p} }

// Index counts the changes of the files below a root, see [Workspace.Generation]. A file
// index of package fileindex is one.
type Index interface {
	// Generation grows with every change. It is exact if the system reports changes: then
	// it counts every change that returned before the call. It does not read files.
	Generation(ctx context.Context) (n uint64, exact bool)
}

// Located returns the path of an absolute host path that comes from the file system, free of
// links; false if it is outside the roots. Unlike for Resolve, its name may be any.
func (w *Workspace) Located(host string) (Path, bool) {
	r, rel := w.locate(host)
	return Path{view: w, root: r, rel: rel}, r != nil
}

// Store returns the state of all roots.
func (a Anchor) Store() *store.Store { return a.p.view.state.Store }

// Path returns the path itself.
func (a Anchor) Path() Path { return a.p }

// Rel returns the path below the root of its view, slash-separated and clean; "." is the root.
func (a Anchor) Rel() string { return a.p.rel }

// At returns the path that is rel, clean and from the file system, below the root of the view.
func (a Anchor) At(rel string) Path { return Path{view: a.p.view, root: a.p.root, rel: rel} }

// Move makes p, which At returned, the path that At would return for rel.
func (Anchor) Move(p *Path, rel string) { p.rel = rel }

// Child returns the path that is name, which comes from the file system, below the path.
func (a Anchor) Child(name string) Path { return a.p.child(name) }

// Bare returns the anchor without the slash at its end, which demands a directory.
func (a Anchor) Bare() Anchor { return Anchor{a.p.bare()} }

// Canonical returns the host path, slash-separated, by the name of the root without links.
func (a Anchor) Canonical() string { return path.Join(a.p.root.canonical, a.p.rel) }

// RootCanonical is Canonical of the root of the view.
func (a Anchor) RootCanonical() string { return a.p.root.canonical }

// RootNames returns all host paths of the root of the view, slash-separated. The caller must
// not change the list.
func (a Anchor) RootNames() []string { return a.p.root.names }

// Given returns the canonical host path of the root that was given at the start.
func (a Anchor) Given() string { return *a.p.root.origin }

// Origin returns the path below the root that was given at the start, slash-separated; "."
// is that root itself.
func (a Anchor) Origin() string {
	if a.p.root.prefix == "." {
		return a.p.rel
	}
	return path.Join(a.p.root.prefix, a.p.rel)
}

// Root returns the root of the view.
func (a Anchor) Root() fsys.Root { return a.p.root.Root }

// Target is Canonical with the links of the path followed.
func (a Anchor) Target() (string, error) {
	r, rel, err := a.p.view.follow(a.p.root, a.p.rel, true, true)
	if err != nil {
		return "", err
	}
	return path.Join(r.canonical, rel), nil
}

// OpenDir opens the directory, following links inside the roots.
func (a Anchor) OpenDir() (fsys.Dir, error) { return a.p.openDir() }

// OpenPlainDir opens the directory if no link is in its path. It asks no deny rules.
func (a Anchor) OpenPlainDir() (fsys.Dir, error) { return a.p.root.OpenPlainDir(a.p.rel) }

// OpenRoot opens the directory as a root of its own. Its error is for Refuse.
func (a Anchor) OpenRoot() (b fsys.Root, err error) {
	err = a.p.reach(true, func(r *root, rel string) (err error) {
		b, err = r.Sub(rel)
		return err
	})
	return b, err
}

// Refuse returns the error of an operation as an *[Error].
func (a Anchor) Refuse(err error) error { return a.p.refuse(err) }

// RefuseMany is the error for more entries than most.
func (a Anchor) RefuseMany(most int) error { return a.p.refuseMany(most) }

// Allowed reports whether no rule denies the path, which holds no links.
func (a Anchor) Allowed() bool { return a.p.view.denied(a.p.root, a.p.rel) == nil }

// Rebase returns p, which may be of another view of the same workspace, as a path below the
// root of the anchor, and how many of its bytes name directories above the root of p's
// view. It is false if p is not below that root, or its view has deny rules.
func (a Anchor) Rebase(p Path) (rel string, above int, ok bool) {
	if p.root == nil || p.view.deny != nil {
		return "", 0, false
	}
	if p.root == a.p.root {
		return p.rel, 0, true
	}
	if p.view.state != a.p.view.state || p.root.origin != a.p.root.origin || a.p.rel != "." {
		return "", 0, false
	}
	narrowed, ok := fsys.Below(a.p.root.prefix, p.root.prefix)
	if !ok {
		if a.p.root.prefix != "." {
			return "", 0, false
		}
		narrowed = p.root.prefix
	}
	if narrowed != "." {
		above = len(narrowed) + 1
	}
	return path.Join(narrowed, p.rel), above, true
}

// IsGiven reports whether the path is a root that was given at the start.
func (a Anchor) IsGiven() bool { return a.p.rel == "." && a.p.root.prefix == "." }

// Ordinal returns a number that is higher at each call in a workspace and its views.
func (a Anchor) Ordinal() uint64 { return a.p.view.state.indexes.Add(1) }

// Index returns what Register was given, nil = nothing.
func (a Anchor) Index() any { x, _ := a.p.view.state.indexed.Load(a.p.root.origin); return x }

// Register makes an index count for [Workspace.Generation], for a root given at the start.
func (a Anchor) Register(x Index) { a.p.view.state.indexed.Store(a.p.root.origin, x) }

// Unregister takes back Register, unless another index has come since.
func (a Anchor) Unregister(x Index) { a.p.view.state.indexed.CompareAndDelete(a.p.root.origin, x) }
