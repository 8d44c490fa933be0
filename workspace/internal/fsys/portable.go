package fsys

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// portableRoot is the Root on os.Root, for systems without openat2. It costs
// two system calls a component, and os.Root follows eight links at most: the
// caller resolves longer chains by text.
type portableRoot struct {
	portableDir
	escapes error // how os.Root says that a path leaves it
}

// OpenPortable returns a Root on an os.Root, which it takes over.
func OpenPortable(root *os.Root) (Root, error) {
	fi, err := root.Stat(".")
	if err != nil {
		return nil, err
	}
	if err := refuseKernelRoot(root, fi, 0); err != nil {
		return nil, err
	}
	// The error is not exported, but the parent of a root gives it every time.
	_, err = root.Lstat("..")
	return &portableRoot{portableDir{root, InfoOf(fi).Device}, errors.Unwrap(err)}, nil
}

func (p *portableRoot) Name() string { return "os.Root" }

func (p *portableRoot) OpenFile(rel string, f *File) error {
	local, err := localize(rel)
	if err != nil {
		return err
	}
	std, info, err := openPortable(p.root, local, os.O_RDONLY, p.dev)
	f.std, f.info = std, &info
	return p.translate(err)
}

func (p *portableRoot) OpenListed(rel string, f *File) error { return p.OpenFile(rel, f) }

func (p *portableRoot) OpenDir(rel string) (Dir, error) {
	local, err := localize(rel)
	if err != nil {
		return nil, err
	}
	sub, err := p.root.OpenRoot(strings.TrimSuffix(local, "/") + "/.")
	if err != nil {
		return nil, p.translate(err)
	}
	fi, err := sub.Stat(".")
	if err == nil {
		err = refuseKernelRoot(sub, fi, p.dev)
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	return &portableDir{sub, InfoOf(fi).Device}, nil
}

func (p *portableRoot) OpenPlainDir(rel string) (Dir, error) {
	d, err := p.OpenDir(".")
	if rel == "." {
		return d, err
	}
	for name := range strings.SplitSeq(rel, "/") {
		if err != nil {
			break
		}
		above := d
		d, err = above.Open(name)
		above.Close()
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (p *portableRoot) Sub(rel string) (Root, error) {
	d, err := p.OpenDir(rel)
	if err != nil {
		return nil, err
	}
	b, err := OpenPortable(d.(*portableDir).root)
	if err != nil {
		d.Close()
		return nil, err
	}
	return b, nil
}

func (p *portableRoot) Stat(rel string) (Info, error)  { return p.look(rel, p.root.Stat) }
func (p *portableRoot) Lstat(rel string) (Info, error) { return p.look(rel, p.root.Lstat) }

func (p *portableRoot) look(rel string, stat func(string) (os.FileInfo, error)) (Info, error) {
	local, err := localize(rel)
	if err != nil {
		return Info{}, err
	}
	fi, err := stat(local)
	if err != nil {
		return Info{}, p.translate(err)
	}
	info := InfoOf(fi)
	if info.Device != p.dev {
		err = p.refuseForeign(rel, info.Kind)
	}
	if err == nil && info.Kind == KindSymlink {
		if info.Target, err = p.root.Readlink(local); errors.Is(err, syscall.EINVAL) {
			err = ErrNotLink // it has changed since
		}
	}
	return info, p.translate(err)
}

// refuseForeign asks for the file system of an entry on another device than the root. That
// takes an open file: the entry, or for a link its directory. An entry that is neither file,
// directory nor link is never opened.
func (p *portableRoot) refuseForeign(rel string, kind Kind) error {
	switch kind {
	case KindSymlink:
		rel = path.Dir(rel)
	case KindOther:
		return nil
	}
	f, err := p.root.OpenFile(filepath.FromSlash(rel), os.O_RDONLY|OpenFlags, 0)
	if errors.Is(err, os.ErrPermission) {
		return nil // a file that cannot be opened is not read either
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return refuseKernelFile(f)
}

func (p *portableRoot) Readlink(rel string) (string, error) {
	info, err := p.Lstat(rel)
	if err == nil && info.Kind != KindSymlink {
		err = ErrNotLink
	}
	return info.Target, err
}

// translate turns the refusals of os.Root into those of a Root.
func (p *portableRoot) translate(err error) error {
	if err != nil && errors.Is(err, p.escapes) {
		return ErrEscapes
	}
	return err
}

// localize turns a rel into a name of the host; systems with forbidden names
// refuse them here.
func localize(rel string) (string, error) {
	clean := strings.TrimSuffix(rel, "/")
	local, err := filepath.Localize(clean)
	if err != nil {
		return "", ErrName
	}
	return local + rel[len(clean):], nil
}

// openPortable opens a regular file below root; access is os.O_RDONLY or os.O_RDWR. Nothing blocks: a FIFO is opened
// without waiting and refused afterwards.
func openPortable(root *os.Root, name string, access int, dev uint64) (*os.File, Info, error) {
	f, err := root.OpenFile(name, access|OpenFlags, 0)
	if err != nil {
		if fi, e := root.Stat(name); e == nil && KindOf(fi.Mode()) == KindOther {
			err = ErrSpecial
		}
		return nil, Info{}, err
	}
	fi, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, Info{}, err
	}
	info := InfoOf(fi)
	switch info.Kind {
	case KindFile:
	case KindDirectory:
		err = ErrIsDir
	default:
		err = ErrSpecial
	}
	if info.Device != dev && info.Kind != KindOther {
		if e := refuseKernelFile(f); e != nil {
			err = e
		}
	}
	if err != nil {
		f.Close()
		return nil, Info{}, err
	}
	return f, info, nil
}

// refuseKernelRoot is refuseKernelFile for a root that is not on device dev.
func refuseKernelRoot(root *os.Root, fi os.FileInfo, dev uint64) error {
	if dev != 0 && InfoOf(fi).Device == dev {
		return nil
	}
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return refuseKernelFile(f)
}

// ErrNotDir is the system's error for a file that was wanted as a directory.
const ErrNotDir = syscall.ENOTDIR

// portableDir is a dir on an os.Root of its own.
type portableDir struct {
	root *os.Root
	dev  uint64 // as kernelDir.dev
}

// NewDir returns a dir on a root, which it closes.
func NewDir(root *os.Root) Dir { return &portableDir{root: root} }

func (d *portableDir) Close() error { return d.root.Close() }

// Open looks twice, since os.Root follows links: the open directory must be the one that the
// name meant itself, and not as a link, a moment before.
func (d *portableDir) Open(name string) (Dir, error) {
	before, err := d.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := wantDir(before); err != nil {
		return nil, err
	}
	// The dot makes name an inner component, which is opened as a directory: a
	// FIFO that has taken its name fails instead of blocking.
	sub, err := d.root.OpenRoot(name + "/.")
	if err != nil {
		return nil, err
	}
	after, err := sub.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = ErrIsLink
	}
	if err == nil {
		err = refuseKernelRoot(sub, after, d.dev)
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	return &portableDir{sub, InfoOf(after).Device}, nil
}

func (d *portableDir) OpenFile(name string, f *File) error {
	std, info, err := d.OpenRead(name)
	f.std, f.info = std, &info
	return err
}

func (d *portableDir) OpenListed(name string, f *File) error { return d.OpenFile(name, f) }

func (d *portableDir) OpenRead(name string) (*os.File, Info, error) {
	before, err := d.Lstat(name)
	if err != nil {
		return nil, Info{}, err
	}
	if before.Mode()&os.ModeSymlink != 0 {
		return nil, Info{}, ErrIsLink
	}
	return d.openSame(name, os.O_RDONLY, before)
}

// openSame opens the file that before describes, and no other that has its name by now.
func (d *portableDir) openSame(name string, flag int, before os.FileInfo) (*os.File, Info, error) {
	f, info, err := openPortable(d.root, name, flag, d.dev)
	if err != nil {
		return nil, Info{}, err
	}
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = ErrIsLink
	}
	if err != nil {
		f.Close()
		return nil, Info{}, err
	}
	return f, info, nil
}

func (d *portableDir) Entries(limit int) ([]DirEntry, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []DirEntry
	for {
		batch, err := f.ReadDir(1024)
		for _, e := range batch {
			list = append(list, DirEntry{Name: e.Name(), Kind: KindOf(e.Type())})
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

func (d *portableDir) Stat(name string) (Info, error) {
	fi, err := d.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	info := InfoOf(fi)
	if info.Kind == KindSymlink {
		info.Target, err = d.root.Readlink(name)
	}
	return info, err
}

func (d *portableDir) Lstat(name string) (os.FileInfo, error) {
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
		return ErrIsLink
	case fi.Mode().IsRegular():
		return ErrNotDir
	}
	return ErrSpecial
}

// WantFile refuses an entry that is not a regular file.
func WantFile(kind Kind) error {
	switch kind {
	case KindFile:
		return nil
	case KindDirectory:
		return ErrIsDir
	case KindSymlink:
		return ErrIsLink
	}
	return ErrSpecial
}

func (d *portableDir) Create(name string, perm fs.FileMode) (*os.File, error) {
	if err := changeName(name); err != nil {
		return nil, err
	}
	return d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

// OpenWrite looks twice, as Open does.
func (d *portableDir) OpenWrite(name string) (*os.File, Info, error) {
	if err := changeName(name); err != nil {
		return nil, Info{}, err
	}
	before, err := d.Lstat(name)
	if err == nil {
		err = WantFile(KindOf(before.Mode()))
	}
	if err != nil {
		return nil, Info{}, err
	}
	return d.openSame(name, os.O_RDWR, before)
}

func (d *portableDir) Writable(name string) error {
	f, _, err := d.OpenWrite(name)
	if err != nil {
		return err
	}
	return f.Close()
}

func (d *portableDir) Changeable() error {
	f, err := d.Self()
	if err != nil {
		return err
	}
	defer f.Close()
	return mayChangeDir(f)
}

func (d *portableDir) Mkdir(name string, perm fs.FileMode) error {
	if err := changeName(name); err != nil {
		return err
	}
	return d.root.Mkdir(name, perm)
}

func (d *portableDir) Symlink(target, name string) error {
	if err := changeName(name); err != nil {
		return err
	}
	return d.root.Symlink(target, name)
}

func (d *portableDir) Remove(name string) error {
	if err := changeName(name); err != nil {
		return err
	}
	return d.root.Remove(name)
}

func (d *portableDir) Move(name string, to Dir, as string) error {
	return moveEntry(d, name, to, as)
}

func (d *portableDir) Replace(name string, to Dir, as string) error {
	return d.Rename(name, to, as, renameOver)
}

func (d *portableDir) Exchange(name string, to Dir, as string) error {
	return exchangeEntries(d, name, to, as)
}

func (d *portableDir) Rename(name string, to Dir, as string, how renameHow) error {
	other, err := d.pair(to, name, as)
	if err != nil {
		return err
	}
	return renameRoots(d.root, name, other.root, as, how)
}

func (d *portableDir) Link(name string, to Dir, as string) error {
	other, err := d.pair(to, name, as)
	if err != nil {
		return err
	}
	return linkRoots(d.root, name, other.root, as)
}

// pair checks the arguments of an operation on two directories.
func (d *portableDir) pair(to Dir, name, as string) (*portableDir, error) {
	if err := changeName(name, as); err != nil {
		return nil, err
	}
	other, ok := to.(*portableDir)
	if !ok {
		return nil, errCrossDir
	}
	return other, nil
}

func (d *portableDir) Chmod(name string, perm fs.FileMode) error {
	if err := changeName(name); err != nil {
		return err
	}
	before, err := d.Lstat(name)
	if err == nil && !before.Mode().IsRegular() {
		err = wantDir(before)
	}
	if err != nil {
		return err
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|OpenFlags, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	after, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(before, after) {
		return ErrIsLink
	}
	return f.Chmod(perm)
}

func (d *portableDir) Chtimes(name string, when time.Time) error {
	if err := changeName(name); err != nil {
		return err
	}
	return chtimesRoot(d.root, name, when)
}

func (d *portableDir) Mounted(name string) (bool, error) {
	if err := changeName(name); err != nil {
		return false, err
	}
	return mountedRoot(d.root, name, d.dev)
}

func (d *portableDir) Self() (*os.File, error) { return d.root.Open(".") }

func (d *portableDir) Sync() error {
	f, err := d.Self()
	if err != nil {
		return err
	}
	defer f.Close()
	return syncDir(f)
}
