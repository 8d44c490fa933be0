package workspace

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// portableRoot is the backend on os.Root, for systems without openat2. It costs
// two system calls a component, and os.Root follows eight links at most: the
// caller resolves longer chains by text.
type portableRoot struct {
	portableDir
	escapes error // how os.Root says that a path leaves it
}

func newPortableRoot(root *os.Root) (backend, error) {
	fi, err := root.Stat(".")
	if err != nil {
		return nil, err
	}
	if err := refuseKernelRoot(root, fi, 0); err != nil {
		return nil, err
	}
	// The error is not exported, but the parent of a root gives it every time.
	_, err = root.Lstat("..")
	return &portableRoot{portableDir{root, infoOf(fi).Device}, errors.Unwrap(err)}, nil
}

func (p *portableRoot) name() string { return "os.Root" }

func (p *portableRoot) openFile(rel string, f *rawFile) error {
	local, err := localize(rel)
	if err != nil {
		return err
	}
	f.std, f.info, err = openPortable(p.root, local, os.O_RDONLY, p.dev)
	return p.translate(err)
}

func (p *portableRoot) openListed(rel string, f *rawFile) error { return p.openFile(rel, f) }

func (p *portableRoot) openDir(rel string) (dir, error) {
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
	return &portableDir{sub, infoOf(fi).Device}, nil
}

func (p *portableRoot) openPlainDir(rel string) (dir, error) {
	d, err := p.openDir(".")
	if rel == "." {
		return d, err
	}
	for name := range strings.SplitSeq(rel, "/") {
		if err != nil {
			break
		}
		above := d
		d, err = above.open(name)
		above.close()
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (p *portableRoot) sub(rel string) (backend, error) {
	d, err := p.openDir(rel)
	if err != nil {
		return nil, err
	}
	b, err := newPortableRoot(d.(*portableDir).root)
	if err != nil {
		d.close()
		return nil, err
	}
	return b, nil
}

func (p *portableRoot) stat(rel string) (Info, error)  { return p.look(rel, p.root.Stat) }
func (p *portableRoot) lstat(rel string) (Info, error) { return p.look(rel, p.root.Lstat) }

func (p *portableRoot) look(rel string, stat func(string) (os.FileInfo, error)) (Info, error) {
	local, err := localize(rel)
	if err != nil {
		return Info{}, err
	}
	fi, err := stat(local)
	if err != nil {
		return Info{}, p.translate(err)
	}
	info := infoOf(fi)
	if info.Device != p.dev {
		err = p.refuseForeign(rel, info.Kind)
	}
	if err == nil && info.Kind == KindSymlink {
		if info.Target, err = p.root.Readlink(local); errors.Is(err, syscall.EINVAL) {
			err = errNotLink // it has changed since
		}
	}
	return info, p.translate(err)
}

// refuseForeign asks what lies on another device than the root for its file
// system, which takes an open file: itself, or its directory for a link. What is
// neither file, directory nor link is never opened at all.
func (p *portableRoot) refuseForeign(rel string, kind Kind) error {
	switch kind {
	case KindSymlink:
		rel = path.Dir(rel)
	case KindOther:
		return nil
	}
	f, err := p.root.OpenFile(filepath.FromSlash(rel), os.O_RDONLY|openFlags, 0)
	if errors.Is(err, os.ErrPermission) {
		return nil // what cannot be opened is not read either
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return refuseKernelFile(f)
}

func (p *portableRoot) readlink(rel string) (string, error) {
	info, err := p.lstat(rel)
	if err == nil && info.Kind != KindSymlink {
		err = errNotLink
	}
	return info.Target, err
}

// translate turns the refusals of os.Root into those of a backend.
func (p *portableRoot) translate(err error) error {
	if err != nil && errors.Is(err, p.escapes) {
		return errEscapes
	}
	return err
}

// localize turns a rel into a name of the host; systems with forbidden names
// refuse them here.
func localize(rel string) (string, error) {
	clean := strings.TrimSuffix(rel, "/")
	local, err := filepath.Localize(clean)
	if err != nil {
		return "", errName
	}
	return local + rel[len(clean):], nil
}

// openPortable opens a regular file below root; access is os.O_RDONLY or os.O_RDWR. Nothing blocks: a FIFO is opened
// without waiting and refused afterwards.
func openPortable(root *os.Root, name string, access int, dev uint64) (*os.File, Info, error) {
	f, err := root.OpenFile(name, access|openFlags, 0)
	if err != nil {
		if fi, e := root.Stat(name); e == nil && kindOfType(fi.Mode()) == KindOther {
			err = errSpecial
		}
		return nil, Info{}, err
	}
	fi, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, Info{}, err
	}
	info := infoOf(fi)
	switch info.Kind {
	case KindFile:
	case KindDirectory:
		err = errIsDir
	default:
		err = errSpecial
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
	if dev != 0 && infoOf(fi).Device == dev {
		return nil
	}
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return refuseKernelFile(f)
}

// errNotDir is what the system says of a file in the place of a directory.
const errNotDir = syscall.ENOTDIR
