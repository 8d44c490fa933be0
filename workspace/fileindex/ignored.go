package fileindex

import (
	"path"
	"sync"

	"toolcrib/workspace"
	"toolcrib/workspace/ignore"
)

// Ignored answers for single paths of a root whether the ignore rules leave out a directory
// above them. It reads the rules of each directory once. Several goroutines may call it.
type Ignored struct {
	root workspace.Anchor

	mu   sync.Mutex
	dirs map[string]*ignoredDir // by the path below the root
}

// ignoredDir is a directory: the rules for its entries, nil if it is left out itself.
type ignoredDir struct{ level *ignore.Level }

// NewIgnored returns an Ignored for the root of p. It reads nothing.
func NewIgnored(p workspace.Path) *Ignored {
	return &Ignored{root: p.Root().Anchor(), dirs: map[string]*ignoredDir{}}
}

// Below reports whether p is in a directory that the rules leave out, or is one if dir says
// that p is a directory. A repository's own directory .git is never left out.
func (x *Ignored) Below(p workspace.Path, dir bool) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	rel := p.Anchor().Rel()
	if dir {
		return x.dir(rel).level == nil
	}
	return x.dir(path.Dir(rel)).level == nil
}

// dir returns the directory rel. The caller holds x.mu.
func (x *Ignored) dir(rel string) *ignoredDir {
	if d := x.dirs[rel]; d != nil {
		return d
	}
	d := &ignoredDir{}
	if rel == "." {
		w := &walker{start: x.root, opt: WalkOptions{}, root: &walkDir{}}
		if h, err := x.root.OpenDir(); err == nil {
			w.root.handle = h
			d.level = x.enter(w.levelAbove(), "", rel)
			h.Close()
		} else {
			d.level = ignore.NewLevel(nil)
		}
		x.dirs[rel] = d
		return d
	}
	name, above := path.Base(rel), x.dir(path.Dir(rel)).level
	switch {
	case above == nil || name != ".git" && above.Ignored(name, true):
	case name == ".git":
		d.level = ignore.NewLevel(nil) // git's own files have no rules
	default:
		d.level = x.enter(above, name, rel)
	}
	x.dirs[rel] = d
	return d
}

// enter returns the rules for the entries of the directory rel.
func (x *Ignored) enter(above *ignore.Level, name, rel string) *ignore.Level {
	at := x.root.Child(rel)
	h, err := at.Anchor().OpenDir()
	if err != nil {
		return above.Enter(name, ignore.Files{})
	}
	defer h.Close()
	have := lookRules(h)
	if have == (ruleFiles{}) {
		return above.Enter(name, ignore.Files{})
	}
	var r ruleReader
	return above.Enter(name, r.files(h, have, at.String(), at.Anchor().Canonical()))
}
