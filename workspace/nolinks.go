package workspace

import (
	"path"
	"strings"
	"syscall"
)

// plain is a backend that follows no link at all: errIsLink.
type plain struct{ backend }

// in opens the directory that holds rel.
func (b plain) in(rel string) (d dir, name string, err error) {
	rel, slash := strings.CutSuffix(rel, "/")
	if d, err = b.openPlainDir(path.Dir(rel)); err != nil || rel == "." {
		return d, ".", err
	}
	if name = path.Base(rel); slash {
		info, err := d.stat(name)
		if err == nil && info.Kind != KindDirectory {
			err = syscall.ENOTDIR
		}
		if err != nil {
			d.close()
			return nil, "", err
		}
	}
	return d, name, nil
}

func (b plain) openFile(rel string, f *rawFile) error {
	d, name, err := b.in(rel)
	if err != nil {
		return err
	}
	defer d.close()
	if name == "." {
		return errIsDir
	}
	return d.openFile(name, f)
}

func (b plain) openListed(rel string, f *rawFile) error { return b.openFile(rel, f) }

func (b plain) openDir(rel string) (dir, error) {
	return b.openPlainDir(path.Clean(rel))
}

func (b plain) stat(rel string) (Info, error) {
	info, err := b.lstat(rel)
	if err == nil && info.Kind == KindSymlink {
		err = errIsLink
	}
	return info, err
}

func (b plain) lstat(rel string) (Info, error) {
	d, name, err := b.in(rel)
	if err != nil {
		return Info{}, err
	}
	defer d.close()
	return d.stat(name)
}

// noLinks returns b as a backend that follows no link at all.
func noLinks(b backend) backend { return plain{b} }
