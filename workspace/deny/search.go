// Package deny has the deny rules of a workspace: the patterns that name paths, and the
// search for the existing paths that are denied to programs. It imports workspace, whose
// files it looks at by an Anchor, and workspace/internal/fsys. Start with [Pattern].
package deny

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"toolcrib/workspace"
	"toolcrib/workspace/internal/fsys"
)

// Rules has the deny rules for programs, see [workspace.Workspace.ForPrograms].
type Rules struct {
	// Judge decides about a path without links.
	Judge func(p workspace.Path) workspace.Denial
	// Only a path that matches one of Denied can be denied, unless Anywhere is set: then
	// any path can be.
	Denied   []Pattern
	Anywhere bool
	// Allowed has the patterns of paths that may be allowed below a denied path.
	Allowed []Pattern
}

// Limits of a search: entries looked at, paths returned.
const (
	maxLooked = 250_000
	maxDenied = 1000
)

// DeniedPaths searches the roots of a view, see [workspace.Workspace.DeniedPaths].
func (rs *Rules) DeniedPaths(ctx context.Context, roots []workspace.Anchor) ([]workspace.DeniedPath, error) {
	s := &search{ctx: ctx, rules: rs, seen: map[string]bool{}}
	for _, p := range rs.Denied {
		if p.wild() {
			s.wild = append(s.wild, p)
		} else {
			s.plain = append(s.plain, p)
		}
	}
	for _, r := range roots {
		if err := s.root(r); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(s.found, func(a, b workspace.DeniedPath) int {
		return strings.Count(a.Rel, string(filepath.Separator)) - strings.Count(b.Rel, string(filepath.Separator))
	})
	return s.found, nil
}

// search looks for denied paths.
type search struct {
	ctx         context.Context
	rules       *Rules
	plain, wild []Pattern // of Denied: without and with wildcards
	looked      int
	found       []workspace.DeniedPath
	seen        map[string]bool // the canonical paths of found
}

// root searches a root.
func (s *search) root(top workspace.Anchor) error {
	denial := s.rules.Judge(top.Path())
	readOnly := false
	switch {
	case denial.Rule == "" || s.mayAllow(top):
	case denial.Readable:
		s.add(top, denial, true)
		denial, readOnly = workspace.Denial{}, true
	default:
		name := top.Path().String()
		return &workspace.Error{
			Rule: workspace.RuleDenied, Path: name, Msg: fmt.Sprintf("%s: the policy denies all of it to programs (rule %s)", fsys.Show(name), denial.Rule),
			Hint: "do without programs; the user can change the rule",
		}
	}
	for _, p := range s.plain {
		if rel := p.under(top); rel != "" {
			if err := s.one(top, rel); err != nil {
				return err
			}
		}
	}
	if len(s.wild) == 0 && !s.rules.Anywhere && denial.Rule == "" {
		return nil
	}
	d, err := top.Root().OpenDir(".")
	if err != nil {
		return top.Refuse(err)
	}
	defer d.Close()
	return s.walk(top, d, denial, readOnly)
}

// one judges the path of a pattern without wildcards.
func (s *search) one(top workspace.Anchor, rel string) error {
	root := fsys.NoLinks(top.Root())
	info, err := root.Lstat(rel)
	if err != nil || info.Kind == fsys.KindSymlink {
		return nil //nolint:nilerr // it does not exist, or a link leads to it and it is judged by its own path
	}
	at := top.Child(rel).Anchor()
	denial := s.rules.Judge(at.Path())
	if denial.Rule == "" {
		return nil
	}
	inner := s.enter(at, info.Kind, denial, false)
	if inner == nil {
		return s.checkLimit()
	}
	d, err := root.OpenDir(rel)
	if err != nil {
		return s.unread(at, err)
	}
	defer d.Close()
	return s.walk(at, d, *inner, denial.Readable && inner.Rule == "")
}

// walk judges the entries of a directory. denial is the decision about the directory;
// readOnly says that it lies in a denied path that may be read.
func (s *search) walk(at workspace.Anchor, d fsys.Dir, denial workspace.Denial, readOnly bool) error {
	entries, err := d.Entries(0)
	if err != nil {
		return s.unread(at, err)
	}
	if s.looked += len(entries); s.looked > maxLooked {
		return tooMany(fmt.Sprintf("they have to be looked for among more than %d files and directories", maxLooked))
	}
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Kind == fsys.KindSymlink {
			continue
		}
		below := at.Child(e.Name).Anchor()
		n := len(s.found)
		inner := s.look(below, e.Kind, denial, readOnly)
		if err := s.checkLimit(); err != nil {
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
		err = s.walk(below, sub, *inner, readOnly || len(s.found) > n)
		sub.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// look judges an entry of a directory; above is the decision about that directory. It
// returns the decision about a directory that must be walked, else nil.
func (s *search) look(at workspace.Anchor, kind workspace.Kind, above workspace.Denial, readOnly bool) *workspace.Denial {
	denial := workspace.Denial{}
	if above.Rule != "" || s.rules.Anywhere || slices.ContainsFunc(s.wild, func(p Pattern) bool { return p.Matches(at.Path()) }) {
		denial = s.rules.Judge(at.Path())
	}
	if denial.Rule != "" {
		return s.enter(at, kind, denial, readOnly)
	}
	if kind != fsys.KindDirectory || !s.rules.Anywhere && !slices.ContainsFunc(s.wild, func(p Pattern) bool { return p.mayHold(at) }) {
		return nil
	}
	return &denial
}

// enter adds a denied path to those found. It returns the decision about a directory whose
// entries must be judged one by one, else nil.
func (s *search) enter(at workspace.Anchor, kind workspace.Kind, denial workspace.Denial, readOnly bool) *workspace.Denial {
	directory := kind == fsys.KindDirectory
	if directory && s.mayAllow(at) {
		return &denial
	}
	if !readOnly || !denial.Readable {
		s.add(at, denial, directory)
	}
	if !denial.Readable || !directory || len(s.wild) == 0 {
		return nil
	}
	return &workspace.Denial{} // a path below may be denied to readers too
}

func (s *search) add(at workspace.Anchor, denial workspace.Denial, directory bool) {
	if s.seen[at.Canonical()] {
		return
	}
	s.seen[at.Canonical()] = true
	s.found = append(s.found, workspace.DeniedPath{
		Denial: denial, Root: filepath.FromSlash(at.RootCanonical()), Rel: filepath.FromSlash(at.Rel()), Directory: directory,
	})
}

// mayAllow reports whether a path below a denied one may be allowed.
func (s *search) mayAllow(at workspace.Anchor) bool {
	return slices.ContainsFunc(s.rules.Allowed, func(p Pattern) bool { return p.mayHold(at) })
}

func (s *search) checkLimit() error {
	if len(s.found) > maxDenied {
		return tooMany(fmt.Sprintf("there are more than %d", maxDenied))
	}
	return nil
}

func tooMany(why string) error {
	return &workspace.Error{
		Rule: workspace.RuleDenied, Path: ".", Msg: "programs cannot be kept from the paths that the policy denies: " + why,
		Hint: "the user can name the directories in the rules in the place of **, or serve a smaller directory",
	}
}

// unread is the error for a path that the server cannot open; nil if its programs cannot
// open it either.
func (s *search) unread(at workspace.Anchor, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fsys.ErrIsLink) {
		return nil
	}
	return at.Refuse(err)
}
