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
	// origin is the canonical name of the root that was given at the start, whose
	// state this one shares, and prefix its path below that; "." is origin itself.
	origin, prefix string
	shown          string // how String prints it; "." for the first root
	self           Info   // of the directory when it was opened
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
	r := &root{canonical: canonical, origin: canonical, prefix: "."}
	r.addNames(filepath.ToSlash(name), r.canonical)
	if info, err := std.Stat("."); err == nil {
		r.self = fsys.InfoOf(info)
	}
	if !portable {
		if r.Root, err = fsys.OpenKernel(std); err == nil {
			if err := std.Close(); err != nil {
				r.Close()
				return nil, err
			}
			return r, nil
		}
	}
	if r.Root, err = fsys.OpenPortable(std); err != nil {
		std.Close()
		return nil, err
	}
	return r, nil
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
	if info, err := b.Stat("."); err == nil {
		n.self = info
	}
	return n, nil
}

// away reports whether the name that the user gave leads to another directory by now, or to
// none.
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
