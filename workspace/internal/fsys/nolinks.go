package fsys

import (
	"path"
	"strings"
	"syscall"
)

// plain is a Root that follows no link at all: ErrIsLink.
type plain struct{ Root }

// in opens the directory that holds rel.
func (b plain) in(rel string) (d Dir, name string, err error) {
	rel, slash := strings.CutSuffix(rel, "/")
	if d, err = b.OpenPlainDir(path.Dir(rel)); err != nil || rel == "." {
		return d, ".", err
	}
	if name = path.Base(rel); slash {
		info, err := d.Stat(name)
		if err == nil && info.Kind != KindDirectory {
			err = syscall.ENOTDIR
		}
		if err != nil {
			d.Close()
			return nil, "", err
		}
	}
	return d, name, nil
}

func (b plain) OpenFile(rel string, f *File) error {
	d, name, err := b.in(rel)
	if err != nil {
		return err
	}
	defer d.Close()
	if name == "." {
		return ErrIsDir
	}
	return d.OpenFile(name, f)
}

func (b plain) OpenListed(rel string, f *File) error { return b.OpenFile(rel, f) }

func (b plain) OpenDir(rel string) (Dir, error) {
	return b.OpenPlainDir(path.Clean(rel))
}

func (b plain) Stat(rel string) (Info, error) {
	info, err := b.Lstat(rel)
	if err == nil && info.Kind == KindSymlink {
		err = ErrIsLink
	}
	return info, err
}

func (b plain) Lstat(rel string) (Info, error) {
	d, name, err := b.in(rel)
	if err != nil {
		return Info{}, err
	}
	defer d.Close()
	return d.Stat(name)
}

// NoLinks returns b as a Root that follows no link at all.
func NoLinks(b Root) Root { return plain{b} }
