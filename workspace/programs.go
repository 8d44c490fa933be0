package workspace

import (
	"context"
	"path/filepath"

	"toolcrib/workspace/protect"
)

// ProgramRules has the deny rules for the programs of a view; Rules of package deny is one.
// Programs open files without the workspace, so that their starter must enforce the rules.
type ProgramRules interface {
	// DeniedPaths does the work of [Workspace.DeniedPaths] for a view of these roots.
	DeniedPaths(ctx context.Context, roots []Anchor) ([]DeniedPath, error)
}

// Denial is the decision of deny rules about a path of a program. The zero value allows it.
type Denial struct {
	Rule     string // that denies it
	Readable bool   // it may be read but not changed
}

// DeniedPath is a path that is denied to programs, with everything below it.
type DeniedPath struct {
	Denial
	Root      string // on the host, without links, as [OpenRoot] has it
	Rel       string // below Root, in the form of the host
	Directory bool
}

// ForPrograms returns a view of the same roots with rules as the deny rules of its programs.
// They do not apply to files opened through the view itself: see [Workspace.Denying].
func (w *Workspace) ForPrograms(rules ProgramRules) *Workspace {
	v := *w
	v.programRules, v.view = rules, true
	return &v
}

// DeniedPaths returns the existing paths that are denied to programs of the view, outer paths
// before inner ones. It leaves out links: their targets are judged by their own paths. It is
// an error if the search exceeds its limits, so that no denied path is missed.
func (w *Workspace) DeniedPaths(ctx context.Context) ([]DeniedPath, error) {
	if w.programRules == nil {
		return nil, nil
	}
	roots := make([]Anchor, len(w.roots))
	for i, r := range w.roots {
		roots[i] = Anchor{Path{view: w, root: r, rel: "."}}
	}
	return w.programRules.DeniedPaths(ctx, roots)
}

// OpenRoot is a root as programs see it. Before use, check that the directory at Canonical
// has this device and inode: another directory may have taken the name.
type OpenRoot struct {
	Canonical     string   // its name without links
	Names         []string // its other names
	Device, Inode uint64   // 0 if the system has none
}

// OpenRoots returns the roots, as they are open. It fails if one has left its name.
func (w *Workspace) OpenRoots() ([]OpenRoot, error) {
	places := make([]OpenRoot, 0, len(w.roots))
	for _, r := range w.roots {
		if err := (Path{view: w, root: r, rel: "."}).CheckRoot(); err != nil {
			return nil, err
		}
		p := OpenRoot{Canonical: filepath.FromSlash(r.canonical), Device: r.self.Device, Inode: r.self.Inode}
		for _, name := range r.names {
			if name != r.canonical {
				p.Names = append(p.Names, filepath.FromSlash(name))
			}
		}
		places = append(places, p)
	}
	return places, nil
}

// ProtectedPaths returns the protected paths below any directory, see package protect; nil
// if they may be changed.
func (w *Workspace) ProtectedPaths() []string {
	if w.allowProtected {
		return nil
	}
	return protect.Names()
}
