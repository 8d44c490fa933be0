package workspace

import (
	"cmp"
	"strings"

	"toolcrib/workspace/internal/fsys"
)

// Opener opens regular files, as a walk or an index has them, as [Path.Open] does. It holds a
// directory open while files of it follow each other, which takes less time. The Info of a
// file is of the time of the first question. One goroutine at a time may use it.
type Opener struct {
	root   *root
	in     string   // directory of the last file, ending in a slash, or ""
	dir    fsys.Dir // that directory, once two files of it were asked for
	failed bool     // to open it
}

// Open opens a regular file for reading.
func (o *Opener) Open(p Path) (File, error) {
	if p.root == nil || p.text != "" || p.view.deny != nil { // it need not be clean, or rules judge it
		return p.Open()
	}
	name := strings.LastIndexByte(p.rel, '/') + 1
	f := &file{path: p}
	var err error
	if o.enter(p.root, p.rel[:name]) {
		err = o.dir.OpenListed(p.rel[name:], &f.File)
	} else {
		err = p.root.OpenListed(p.rel, &f.File)
	}
	if err != nil {
		return p.Open() // follows links, and has the right error
	}
	return f, nil
}

// enter reports whether the directory is held open.
func (o *Opener) enter(r *root, in string) bool {
	if o.root != r || o.in != in {
		o.Close()
		o.root, o.in = r, in
		return false
	}
	if o.dir == nil && !o.failed && r != nil {
		var err error
		o.dir, err = r.OpenPlainDir(cmp.Or(strings.TrimSuffix(in, "/"), "."))
		o.failed = err != nil
	}
	return o.dir != nil
}

// Close closes the directory that is held open.
func (o *Opener) Close() {
	if o.dir != nil {
		o.dir.Close()
	}
	*o = Opener{}
}
