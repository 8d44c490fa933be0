package leaf

import (
	"path/filepath"
	"strings"
	"time"
)

// Most of what is looked at in a root for what is protected, before the first program of a
// holder.
const (
	maxLooked  = 200_000 // entries
	maxLooking = 500 * time.Millisecond
)

// nested finds the directories below a root that hold something protected, and bare
// repositories.
type nested struct {
	first  map[string]bool // names that protected places begin with
	root   string
	until  time.Time
	looked int
	held   []string // below root
	bare   []string // likewise
	cut    bool     // there may be more
}

// findNested looks through a root without what lies at its top.
func (t *tree) findNested(root string) *nested {
	n := &nested{first: map[string]bool{}, root: root, until: time.Now().Add(maxLooking)}
	for _, place := range t.view.Protect {
		first, _, _ := strings.Cut(place, "/")
		n.first[first] = true
	}
	if len(n.first) == 0 {
		return n
	}
	for _, e := range listed(root) {
		if e.IsDir() && !n.first[e.Name()] {
			n.walk(e.Name())
		}
	}
	if n.cut {
		t.note("%s is too large to be looked through: repositories and configurations of agents further down in it are not all protected from programs", root)
	}
	return n
}

func (n *nested) walk(rel string) {
	if n.cut {
		return
	}
	entries := listed(join(n.root, rel))
	if n.looked += len(entries) + 1; n.looked > maxLooked || time.Now().After(n.until) {
		n.cut = true
		return
	}
	if isRepository(entries) {
		n.bare = append(n.bare, rel)
		return
	}
	holds := false
	for _, e := range entries {
		switch {
		case n.first[e.Name()]:
			holds = true
		case e.IsDir():
			n.walk(join(rel, e.Name()))
		}
	}
	if holds {
		n.held = append(n.held, rel)
	}
}

// protectNested protects below a root what was found in it, under one of its names.
func (t *tree) protectNested(n *nested, at string) error {
	for _, rel := range n.held {
		if err := t.protect(join(at, rel), true); err != nil {
			return err
		}
	}
	for _, rel := range n.bare {
		if err := t.protectRepository(join(at, rel), deepest); err != nil {
			return err
		}
	}
	return nil
}

// protectRoot protects a root under all of its names.
func (t *tree) protectRoot(n *nested, names []string, all bool) error {
	for _, at := range names {
		if err := t.protect(at, all); err != nil {
			return err
		}
		if !all {
			continue
		}
		if err := t.protectNested(n, at); err != nil {
			return err
		}
	}
	return nil
}

// often is how often all that was found is protected again; what lies at the top of a
// root, or on the way up from where a program runs, is before each program.
const often = time.Second

// protectAgain protects for a program that runs in dir what has been replaced meanwhile,
// and the repositories that git finds from there on its way up.
func (t *tree) protectAgain(dir string) error {
	if len(t.view.Protect) == 0 {
		return nil
	}
	t.repositories, t.notes = 0, nil
	all := time.Since(t.protected) > often
	for _, r := range t.found {
		if err := t.protectRoot(r.nested, r.names, all); err != nil {
			return err
		}
		for _, name := range r.names {
			for at := filepath.Clean(dir); inside(at, name) && at != name; at = filepath.Dir(at) {
				for _, other := range r.names {
					if err := t.protectGit(join(other, strings.TrimPrefix(at, name)), false); err != nil {
						return err
					}
				}
			}
		}
	}
	if all {
		t.protected = time.Now()
	}
	return nil
}

// found is a root with what is to be protected below it.
type found struct {
	names  []string
	nested *nested
}
