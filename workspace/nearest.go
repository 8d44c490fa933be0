package workspace

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"toolcrib/workspace/internal/fsys"
)

// nearestEntries is how many entries of a directory Nearest looks at.
const nearestEntries = 4096

// Nearest returns the existing path nearest to one that does not exist, "" if
// none is: each missing name is replaced by the name in its directory that differs
// by case, by Unicode form, or by a few letters, and if there is none, the
// deepest directory that exists is returned.
func (w *Workspace) Nearest(p Path) string {
	if p.root == nil {
		return ""
	}
	if q := p.withoutRoot(); q != (Path{}) {
		return q.String()
	}
	at := Path{view: w, root: p.root, rel: "."}
	for name := range strings.SplitSeq(p.rel, "/") {
		if _, err := at.child(name).look(true); err != nil {
			name = at.nearestEntry(name)
		}
		if name == "" {
			break
		}
		at = at.child(name)
	}
	if _, err := at.look(true); err != nil {
		return ""
	}
	return at.String()
}

// withoutRoot returns the existing path that is meant by one that begins with the name of
// a root itself, the zero Path if that is not so.
func (p Path) withoutRoot() Path {
	first, rest, _ := strings.Cut(p.rel, "/")
	if _, err := (Path{view: p.view, root: p.root, rel: first}).look(false); !errors.Is(err, fs.ErrNotExist) {
		return Path{}
	}
	for _, r := range p.view.roots {
		if path.Base(r.names[0]) == first {
			q := Path{view: p.view, root: r, rel: path.Clean(rest)}
			if _, err := q.look(true); err == nil {
				return q
			}
		}
	}
	return Path{}
}

// nearestEntry returns the entry of a directory whose name is nearest to name.
func (p Path) nearestEntry(name string) string {
	d, err := p.openDir()
	if err != nil {
		return ""
	}
	defer d.Close()
	list, err := d.Entries(nearestEntries)
	if err != nil {
		return ""
	}
	list = slices.DeleteFunc(list, func(e DirEntry) bool { return fsys.IsTemp(e.Name) })
	return fsys.Nearest(name, list, func(near string) bool {
		_, err := p.child(near).look(true)
		return err == nil
	})
}
