package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/protect"
)

// ProgramRules has the deny rules for programs of a view. Programs open files without the
// workspace, so that their starter must enforce the rules: see [Workspace.DeniedPaths].
type ProgramRules struct {
	// Judge decides about a path without links.
	Judge func(p Path) Denial
	// Only a path that matches one of Denied can be denied, unless Anywhere is set: then
	// any path can be.
	Denied   []Pattern
	Anywhere bool
	// Allowed has the patterns of paths that may be allowed below a denied path.
	Allowed []Pattern
}

// Denial is the decision of a [ProgramRules] about a path. The zero value allows it.
type Denial struct {
	Rule     string // that denies it
	Readable bool   // it may be read but not changed
}

// DeniedPath is a path that is denied to programs, with everything below it.
type DeniedPath struct {
	Denial
	Root      string // on the host, without links, as [Place] has it
	Rel       string // below Root, in the form of the host
	Directory bool
}

// ForPrograms returns a view of the same roots with c as the deny rules of its programs. They do
// not apply to files opened through the view itself: see [Workspace.Denying].
func (w *Workspace) ForPrograms(c *ProgramRules) *Workspace {
	v := *w
	v.programRules, v.view = c, true
	return &v
}

// Limits of [Workspace.Closed]: entries looked at, paths returned.
const (
	maxLooked = 250_000
	maxClosed = 1000
)

// DeniedPaths returns the existing paths that are denied to programs of the view, outer paths
// before inner ones. It leaves out links: their targets are judged by their own paths. It is
// an error if the search exceeds its limits, so that no denied path is missed.
func (w *Workspace) DeniedPaths(ctx context.Context) ([]DeniedPath, error) {
	if w.programRules == nil {
		return nil, nil
	}
	s := &closing{ctx: ctx, view: w, seen: map[string]bool{}}
	for _, p := range w.programRules.Denied {
		if !p.wild() {
			s.plain = append(s.plain, p)
			continue
		}
		s.wild = append(s.wild, p)
	}
	for _, r := range w.roots {
		if err := s.search(r); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(s.found, func(a, b DeniedPath) int {
		return strings.Count(a.Rel, string(filepath.Separator)) - strings.Count(b.Rel, string(filepath.Separator))
	})
	return s.found, nil
}

// closing searches for denied paths.
type closing struct {
	ctx         context.Context
	view        *Workspace
	plain, wild []Pattern
	looked      int
	found       []DeniedPath
	seen        map[string]bool
}

func (s *closing) search(r *root) error {
	top := Path{view: s.view, root: r, rel: "."}
	shut := s.view.programRules.Judge(top)
	switch {
	case shut.Rule == "" || s.opens(top):
	case shut.Readable:
		s.found = append(s.found, DeniedPath{Denial: shut, Root: filepath.FromSlash(r.canonical), Rel: ".", Directory: true})
		shut = Denial{}
	default:
		return &Error{
			Rule: RuleDenied, Path: r.shown, Msg: fmt.Sprintf("%s: the policy denies all of it to programs (rule %s)", fsys.Show(r.shown), shut.Rule),
			Hint: "do without programs; the user can change the rule",
		}
	}
	for _, p := range s.plain {
		for _, rel := range p.under(r) {
			if err := s.one(top, rel); err != nil {
				return err
			}
		}
	}
	if len(s.wild) == 0 && !s.view.programRules.Anywhere && shut.Rule == "" {
		return nil
	}
	d, err := r.OpenDir(".")
	if err != nil {
		return top.refuse(err)
	}
	defer d.Close()
	return s.walk(top, d, shut, len(s.found) > 0 && s.found[len(s.found)-1].Rel == ".")
}

// one judges the path of a pattern without wildcards.
func (s *closing) one(top Path, rel string) error {
	at := top.child(rel)
	strict := fsys.NoLinks(top.root.Root)
	info, err := strict.Lstat(rel)
	if err != nil || info.Kind == KindSymlink {
		return nil //nolint:nilerr // it is not there, or reached by a link: then it is elsewhere
	}
	shut := s.view.programRules.Judge(at)
	if shut.Rule == "" {
		return nil
	}
	inner := s.enter(at, DirEntry{Name: path.Base(rel), Kind: info.Kind}, shut, false)
	if inner == nil {
		return s.full()
	}
	d, err := strict.OpenDir(rel)
	if err != nil {
		return s.unread(at, err)
	}
	defer d.Close()
	return s.walk(at, d, *inner, shut.Readable && inner.Rule == "")
}

// walk looks at what a directory holds, of which the programRules says shut; where it is kept,
// it lies in what is closed against changes.
func (s *closing) walk(at Path, d fsys.Dir, shut Denial, kept bool) error {
	entries, err := d.Entries(0)
	if err != nil {
		return s.unread(at, err)
	}
	if s.looked += len(entries); s.looked > maxLooked {
		return s.tooMany(fmt.Sprintf("they have to be looked for among more than %d files and directories", maxLooked))
	}
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Kind == KindSymlink {
			continue
		}
		below := at.child(e.Name)
		n := len(s.found)
		inner := s.look(below, e, shut, kept)
		if err := s.full(); err != nil {
			return err
		}
		if inner == nil {
			continue
		}
		sub, err := d.Open(e.Name)
		if err != nil {
			if err = s.unread(below, err); err != nil {
				return err
			}
			continue
		}
		err = s.walk(below, sub, *inner, kept || len(s.found) > n)
		sub.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// look judges an entry of a directory of which the programRules says above. It returns what is
// said of the entry where that is a directory to be walked, else nil.
func (s *closing) look(at Path, e DirEntry, above Denial, kept bool) *Denial {
	shut := Denial{}
	if above.Rule != "" || s.view.programRules.Anywhere || slices.ContainsFunc(s.wild, func(p Pattern) bool { return p.Matches(at) }) {
		shut = s.view.programRules.Judge(at)
	}
	if shut.Rule != "" {
		return s.enter(at, e, shut, kept)
	}
	if e.Kind != KindDirectory || !s.view.programRules.Anywhere && !slices.ContainsFunc(s.wild, func(p Pattern) bool { return p.mayHold(at) }) {
		return nil
	}
	return &shut
}

// enter closes a place, or returns what is said of it where what it holds is judged one
// by one.
func (s *closing) enter(at Path, e DirEntry, shut Denial, kept bool) *Denial {
	if e.Kind == KindDirectory && s.opens(at) {
		return &shut
	}
	c := DeniedPath{Denial: shut, Root: filepath.FromSlash(at.root.canonical), Rel: filepath.FromSlash(at.rel), Directory: e.Kind == KindDirectory}
	if key := path.Join(at.root.canonical, at.rel); !s.seen[key] && (!kept || !shut.Readable) {
		s.seen[key] = true
		s.found = append(s.found, c)
	}
	if !shut.Readable || e.Kind != KindDirectory || len(s.wild) == 0 {
		return nil
	}
	return &Denial{} // what cannot be read at all may lie below
}

// opens reports whether something may be open below a place that is shut.
func (s *closing) opens(at Path) bool {
	return slices.ContainsFunc(s.view.programRules.Allowed, func(p Pattern) bool { return p.mayHold(at) })
}

func (s *closing) full() error {
	if len(s.found) > maxClosed {
		return s.tooMany(fmt.Sprintf("there are more than %d", maxClosed))
	}
	return nil
}

func (s *closing) tooMany(why string) error {
	return &Error{
		Rule: RuleDenied, Path: ".", Msg: "programs cannot be kept from the places that the policy denies: " + why,
		Hint: "the user can name the directories in the rules in the place of **, or serve a smaller directory",
	}
}

// unread is the error of what the server cannot read: its programs cannot either.
func (s *closing) unread(at Path, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fsys.ErrIsLink) {
		return nil
	}
	return at.refuse(err)
}

// wild reports whether the pattern has a wildcard.
func (x Pattern) wild() bool { return x.start != x.match }

// under returns where a pattern without a wildcard leads below a root.
func (x Pattern) under(r *root) []string {
	if path.IsAbs(x.match) || filepath.VolumeName(x.match) != "" {
		for _, name := range r.names {
			if rel, ok := fsys.Below(foldPlace(name), x.match); ok && rel != "." {
				return []string{rel}
			}
		}
		return nil
	}
	if r.prefix == "." {
		return []string{x.match}
	}
	if rel, ok := fsys.Below(foldPlace(r.prefix), x.match); ok && rel != "." {
		return []string{rel}
	}
	return nil
}

// mayHold reports whether the pattern may match what lies below a directory, beside the
// directory itself and all of it.
func (x Pattern) mayHold(dir Path) bool {
	if path.IsAbs(x.match) || filepath.VolumeName(x.match) != "" {
		return slices.ContainsFunc(dir.root.names, func(name string) bool { return x.holds(path.Join(name, dir.rel)) })
	}
	name := dir.origin()
	return name == "." || x.holds(name)
}

func (x Pattern) holds(name string) bool {
	name = foldPlace(name) + "/"
	if !x.wild() {
		return strings.HasPrefix(x.match, name)
	}
	fixed := x.start[:strings.LastIndexByte(x.start, '/')+1]
	if !strings.HasPrefix(name, fixed) && !strings.HasPrefix(fixed, name) {
		return false
	}
	return strings.ContainsAny(x.match, "{[\\") || strings.Contains(x.match, "**") || strings.Count(name, "/") <= strings.Count(x.match, "/")
}

// OpenRoot is a root as programs see it. Before use, check that the directory at Canonical has
// this device and inode: another directory may have taken the name.
type OpenRoot struct {
	Canonical     string   // its name without links
	Names         []string // others by which it is known
	Device, Inode uint64   // 0 where the system does not tell
}

// OpenRoots returns the roots, as they are open.
func (w *Workspace) OpenRoots() ([]OpenRoot, error) {
	places := make([]OpenRoot, 0, len(w.roots))
	for _, r := range w.roots {
		info, err := r.Stat(".")
		if err != nil {
			return nil, err
		}
		p := OpenRoot{Canonical: filepath.FromSlash(r.canonical), Device: info.Device, Inode: info.Inode}
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
