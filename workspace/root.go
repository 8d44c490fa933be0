package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"

	"toolcrib/workspace/internal/fsys"
)

// root is one directory that a view serves. It is held open, so that a change under way
// goes on if its name leads elsewhere meanwhile.
type root struct {
	fsys.Root
	// names are the absolute names by which the root is known, slash-separated:
	// as the user gave it, and with symlinks resolved. The first is for the host.
	names     []string
	canonical string
	// origin points to the canonical name of the root that was given at the start, whose
	// state this one shares; a root that was made again has another pointer. prefix is the
	// path below that; "." is origin itself.
	origin *string
	prefix string
	shown  string // how String prints it; "." for the first root
	self   Info   // of the directory when it was opened
}

// openRoot opens the directory name, which is absolute.
func openRoot(name string, portable bool) (*root, error) {
	// The dot refuses anything but a directory at once; a FIFO would block.
	std, err := os.OpenRoot(name + "/.")
	if err != nil {
		return nil, err
	}
	canonical, err := filepath.EvalSymlinks(name)
	if err != nil {
		canonical = name // it is a name only: the directory is open already
	}
	canonical = filepath.ToSlash(canonical)
	r := &root{canonical: canonical, origin: &canonical, prefix: "."}
	r.addNames(filepath.ToSlash(name), r.canonical)
	if r.Root, err = fsys.Open(std, portable); err != nil {
		return nil, err
	}
	r.self, _ = r.Stat(".") // the zero Info is that of no directory
	return r, nil
}

// again opens the directory that was made where r was, which is one of roots; nil if it must not
// be served. The user gave the directory that was there: only its owner may replace it, no tool
// or program that writes in another root, and no link may lead elsewhere.
func (r *root) again(roots []*root) *root {
	for _, other := range roots {
		if _, inside := fsys.Below(other.canonical, path.Dir(r.canonical)); inside {
			return nil
		}
	}
	b, err := fsys.OpenPlain(r.canonical, r.Name() == "os.Root")
	if err != nil {
		return nil
	}
	n := &root{Root: b, names: r.names, canonical: r.canonical, origin: new(r.canonical), prefix: ".", shown: r.shown}
	if n.self, err = b.Stat("."); err != nil || n.self.Owner != r.self.Owner || n.away() {
		b.Close()
		return nil
	}
	return n
}

// narrow opens a directory below r as a root; rel is free of links.
func (r *root) narrow(rel string) (*root, error) {
	b, err := r.Sub(rel)
	if err != nil {
		return nil, err
	}
	n := &root{
		Root: b, canonical: path.Join(r.canonical, rel),
		origin: r.origin, prefix: path.Join(r.prefix, rel),
	}
	n.self, _ = b.Stat(".")
	return n, nil
}

// away reports whether the name that the user gave leads elsewhere by now, or nowhere.
func (r *root) away() bool {
	if r.self.Inode == 0 { // the system cannot tell directories apart, or does not move open ones
		return false
	}
	info, err := os.Stat(filepath.FromSlash(r.names[0]))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	}
	device, inode, _ := fsys.Identity(info)
	return device != r.self.Device || inode != r.self.Inode
}

func (r *root) addNames(names ...string) {
	for _, name := range names {
		if !slices.Contains(r.names, name) {
			r.names = append(r.names, name)
		}
	}
}
