package fileindex

import (
	"slices"
	"strings"

	"toolcrib/workspace"
	"toolcrib/workspace/internal/fsys"
)

// cancelEvery is how many entries of one directory are looked at between two looks
// at the context.
const cancelEvery = 1024

// read lists a directory that is open as h: it leaves out the entries that the options and
// rules exclude, and finds the subdirectories to enter.
func (w *walker) read(d *walkDir, h fsys.Dir) error {
	if w.opt.FollowLinks {
		if err := w.visit(d, h); err != nil {
			return err
		}
	}
	list, err := h.Entries(0)
	if err != nil {
		return err
	}
	if d.level != nil {
		d.level = w.enter(d, h, list)
	}
	list, links := w.filter(d, list)
	list = w.allowed(d, list)
	slices.SortFunc(list, func(a, b fsys.DirEntry) int { return strings.Compare(a.Name, b.Name) })
	// A directory that changes meanwhile may give an entry twice.
	list = slices.CompactFunc(list, func(a, b fsys.DirEntry) bool { return a.Name == b.Name })
	w.collect(d, list, links)
	return nil
}

// filter keeps the entries that the walk visits. With FollowLinks an entry that is a
// symlink gets the kind of its target; links names those to enter.
func (w *walker) filter(d *walkDir, list []fsys.DirEntry) (kept []fsys.DirEntry, links map[string]bool) {
	kept = list[:0]
	for i, e := range list {
		if i%cancelEvery == cancelEvery-1 && w.ctx.Err() != nil {
			return nil, nil
		}
		if e.Name == ".git" && !w.opt.IncludeIgnored {
			continue
		}
		if fsys.IsTemp(e.Name) {
			continue
		}
		if e.Name[0] == '.' && !w.opt.Hidden {
			d.hidden++
			continue
		}
		followed := false
		if e.Kind == fsys.KindSymlink && w.opt.FollowLinks {
			e.Kind = w.targetKind(d, e.Name)
			followed = e.Kind == fsys.KindDirectory
		}
		if d.level != nil && d.level.Ignored(e.Name, e.Kind == fsys.KindDirectory) {
			d.ignored++
			continue
		}
		if followed {
			if links == nil {
				links = map[string]bool{}
			}
			links[e.Name] = true
		}
		kept = append(kept, e)
	}
	return kept, links
}

// collect makes the entries and subdirectories of d from a sorted list. All their
// paths share one string.
func (w *walker) collect(d *walkDir, list []fsys.DirEntry, links map[string]bool) {
	above := "" // the start, below its root
	if rel := w.start.Rel(); rel != "." {
		above = rel + "/"
	}
	prefix := above + d.rel
	size := 0
	for _, e := range list {
		size += len(prefix) + len(e.Name) + len("/")
	}
	var text strings.Builder
	text.Grow(size)
	for _, e := range list {
		text.WriteString(prefix)
		text.WriteString(e.Name)
		text.WriteByte('/')
	}
	rest := text.String()
	d.entries = make([]Entry, 0, len(list))
	for _, e := range list {
		n := len(prefix) + len(e.Name)
		full := rest[:n]
		below := rest[len(above) : n+1]
		rest = rest[n+1:]
		descend := e.Kind == fsys.KindDirectory && w.descends(d, full[len(above):])
		link := descend && links[e.Name] // is reported once it is open
		if !link && (e.Kind != fsys.KindDirectory || w.opt.Directories) {
			d.entries = append(d.entries, Entry{Path: w.start.At(full), Rel: full[len(above):], Kind: e.Kind})
		}
		if descend {
			sub := &walkDir{parent: d, name: full[len(prefix):], rel: below, depth: d.depth + 1, link: link, level: d.level}
			d.subs = append(d.subs, subDir{len(d.entries), sub})
		}
	}
}

// descends reports whether the walk enters a directory of d.
func (w *walker) descends(d *walkDir, rel string) bool {
	if w.opt.MaxDepth > 0 && d.depth+1 >= w.opt.MaxDepth {
		return false
	}
	// With FollowLinks, entering it decides on later entries too.
	if !w.opt.FollowLinks && whollyBefore(rel, w.opt.From) {
		return false
	}
	return w.opt.SkipDir == nil || w.ctx.Err() == nil && !w.opt.SkipDir(rel)
}

// allowed leaves out the entries of d that rules deny. They are judged by their own paths,
// not by the link on the way of the walk.
func (w *walker) allowed(d *walkDir, list []fsys.DirEntry) []fsys.DirEntry {
	if !w.start.Path().HasDenyRules() {
		return list
	}
	at := w.location(d).Anchor()
	kept := list[:0]
	for _, e := range list {
		if !at.Child(e.Name).Anchor().Allowed() {
			d.denied++
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

// location returns the path of d without links. The directories above it were read before.
func (w *walker) location(d *walkDir) workspace.Path {
	var at workspace.Path
	switch {
	case d.parent != nil && !d.link && d.parent.real != nil:
		at = d.parent.real.Anchor().Child(d.name)
	default:
		at = w.start.Child(d.rel).Landing()
	}
	d.real = &at
	return at
}
