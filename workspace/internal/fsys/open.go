package fsys

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Open returns a Root on an os.Root, which it takes over also if it fails: by openat2 where
// the kernel has that, unless portable is set.
func Open(root *os.Root, portable bool) (Root, error) {
	if !portable {
		if b, err := OpenKernel(root); err == nil {
			if err := root.Close(); err != nil {
				b.Close()
				return nil, err
			}
			return b, nil
		}
	}
	b, err := OpenPortable(root)
	if err != nil {
		root.Close()
		return nil, err
	}
	return b, nil
}

// OpenPlain opens an absolute path, clean and slash-separated, as a Root. It follows no link
// at all: ErrIsLink. Without a Close it is closed once nothing uses it.
func OpenPlain(name string, portable bool) (Root, error) {
	volume := filepath.VolumeName(filepath.FromSlash(name)) + "/"
	std, err := os.OpenRoot(volume)
	if err != nil {
		return nil, err
	}
	top, err := Open(std, portable)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	rel := strings.TrimPrefix(name, volume)
	d, err := top.OpenPlainDir(rel)
	if err != nil {
		return nil, err
	}
	defer d.Close() // held open, so that no other directory gets its inode meanwhile
	want, err := d.Stat(".")
	if err != nil {
		return nil, err
	}
	b, err := top.Sub(rel)
	if err != nil {
		return nil, err
	}
	runtime.SetFinalizer(b, Root.Close)
	if is, err := b.Stat("."); err != nil || is.Device != want.Device || is.Inode != want.Inode {
		b.Close()
		return nil, ErrSwapped
	}
	return b, nil
}
