package workspace

import (
	"io/fs"
	"os"
	"time"
)

func (d *portableDir) create(name string, perm fs.FileMode) (*os.File, error) {
	if err := changeName(name); err != nil {
		return nil, err
	}
	return d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

// openWrite looks twice, as open does.
func (d *portableDir) openWrite(name string) (*os.File, Info, error) {
	if err := changeName(name); err != nil {
		return nil, Info{}, err
	}
	before, err := d.lstat(name)
	if err == nil {
		err = wantFile(kindOfType(before.Mode()))
	}
	if err != nil {
		return nil, Info{}, err
	}
	return d.openSame(name, os.O_RDWR, before)
}

func (d *portableDir) writable(name string) error {
	f, _, err := d.openWrite(name)
	if err != nil {
		return err
	}
	return f.Close()
}

func (d *portableDir) changeable() error {
	f, err := d.self()
	if err != nil {
		return err
	}
	defer f.Close()
	return mayChangeDir(f)
}

func (d *portableDir) mkdir(name string, perm fs.FileMode) error {
	if err := changeName(name); err != nil {
		return err
	}
	return d.root.Mkdir(name, perm)
}

func (d *portableDir) symlink(target, name string) error {
	if err := changeName(name); err != nil {
		return err
	}
	return d.root.Symlink(target, name)
}

func (d *portableDir) remove(name string) error {
	if err := changeName(name); err != nil {
		return err
	}
	return d.root.Remove(name)
}

func (d *portableDir) move(name string, to dir, as string) error {
	return moveEntry(d, name, to, as)
}

func (d *portableDir) replace(name string, to dir, as string) error {
	return d.rename(name, to, as, renameOver)
}

func (d *portableDir) exchange(name string, to dir, as string) error {
	return exchangeEntries(d, name, to, as)
}

func (d *portableDir) rename(name string, to dir, as string, how renameHow) error {
	other, err := d.pair(to, name, as)
	if err != nil {
		return err
	}
	return renameRoots(d.root, name, other.root, as, how)
}

func (d *portableDir) link(name string, to dir, as string) error {
	other, err := d.pair(to, name, as)
	if err != nil {
		return err
	}
	return linkRoots(d.root, name, other.root, as)
}

// pair checks the arguments of what concerns two directories.
func (d *portableDir) pair(to dir, name, as string) (*portableDir, error) {
	if err := changeName(name, as); err != nil {
		return nil, err
	}
	other, ok := to.(*portableDir)
	if !ok {
		return nil, errCrossDir
	}
	return other, nil
}

func (d *portableDir) chmod(name string, perm fs.FileMode) error {
	if err := changeName(name); err != nil {
		return err
	}
	before, err := d.lstat(name)
	if err == nil {
		err = wantDir(before)
	}
	if err != nil {
		return err
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	after, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(before, after) {
		return errIsLink
	}
	return f.Chmod(perm)
}

func (d *portableDir) chtimes(name string, when time.Time) error {
	if err := changeName(name); err != nil {
		return err
	}
	return chtimesRoot(d.root, name, when)
}

func (d *portableDir) mounted(name string) (bool, error) {
	if err := changeName(name); err != nil {
		return false, err
	}
	return mountedRoot(d.root, name, d.dev)
}

func (d *portableDir) self() (*os.File, error) { return d.root.Open(".") }

func (d *portableDir) sync() error {
	f, err := d.self()
	if err != nil {
		return err
	}
	defer f.Close()
	return syncDir(f)
}
