package workspace

import (
	"io"
	"os"
)

// portableDir is a dir on an os.Root of its own.
type portableDir struct {
	root *os.Root
	dev  uint64 // as kernelDir.dev
}

// newPortableDir returns a dir on a root, which it closes.
func newPortableDir(root *os.Root) dir { return &portableDir{root: root} }

func (d *portableDir) close() error { return d.root.Close() }

// open looks twice, since os.Root follows links: what was opened must be the
// directory that stood there as itself a moment before.
func (d *portableDir) open(name string) (dir, error) {
	before, err := d.lstat(name)
	if err != nil {
		return nil, err
	}
	if err := wantDir(before); err != nil {
		return nil, err
	}
	// The dot makes name an inner component, which is opened as a directory: a
	// FIFO that has taken its place fails instead of blocking.
	sub, err := d.root.OpenRoot(name + "/.")
	if err != nil {
		return nil, err
	}
	after, err := sub.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = errIsLink
	}
	if err == nil {
		err = refuseKernelRoot(sub, after, d.dev)
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	return &portableDir{sub, infoOf(after).Device}, nil
}

func (d *portableDir) openFile(name string, f *rawFile) (err error) {
	f.std, f.info, err = d.openRead(name)
	return err
}

func (d *portableDir) openListed(name string, f *rawFile) error { return d.openFile(name, f) }

func (d *portableDir) openRead(name string) (*os.File, Info, error) {
	before, err := d.lstat(name)
	if err != nil {
		return nil, Info{}, err
	}
	if before.Mode()&os.ModeSymlink != 0 {
		return nil, Info{}, errIsLink
	}
	return d.openSame(name, os.O_RDONLY, before)
}

// openSame opens what was found to be before, and nothing that stands there since.
func (d *portableDir) openSame(name string, flag int, before os.FileInfo) (*os.File, Info, error) {
	f, info, err := openPortable(d.root, name, flag, d.dev)
	if err != nil {
		return nil, Info{}, err
	}
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = errIsLink
	}
	if err != nil {
		f.Close()
		return nil, Info{}, err
	}
	return f, info, nil
}

func (d *portableDir) entries(limit int) ([]DirEntry, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []DirEntry
	for {
		batch, err := f.ReadDir(1024)
		for _, e := range batch {
			list = append(list, DirEntry{Name: e.Name(), Kind: kindOfType(e.Type())})
		}
		if limit > 0 && len(list) >= limit {
			return list[:limit], nil
		}
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (d *portableDir) stat(name string) (Info, error) {
	fi, err := d.lstat(name)
	if err != nil {
		return Info{}, err
	}
	info := infoOf(fi)
	if info.Kind == KindSymlink {
		info.Target, err = d.root.Readlink(name)
	}
	return info, err
}

func (d *portableDir) lstat(name string) (os.FileInfo, error) {
	if err := entryName(name); err != nil {
		return nil, err
	}
	return d.root.Lstat(name)
}

func wantDir(fi os.FileInfo) error {
	switch {
	case fi.IsDir():
		return nil
	case fi.Mode()&os.ModeSymlink != 0:
		return errIsLink
	case fi.Mode().IsRegular():
		return errNotDir
	}
	return errSpecial
}

// wantFile refuses what is not a regular file.
func wantFile(kind Kind) error {
	switch kind {
	case KindFile:
		return nil
	case KindDirectory:
		return errIsDir
	case KindSymlink:
		return errIsLink
	}
	return errSpecial
}
