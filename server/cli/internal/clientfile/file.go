package clientfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// maxSize is the largest file that is read, in bytes: far above what a client
// keeps.
const maxSize = 64 << 20

// maxEarlier is how many backups are looked at.
const maxEarlier = 50

// ErrChanged is the error of a file that somebody else has written since it was
// read; it has been left alone.
var ErrChanged = errors.New("another program has changed the file meanwhile")

// File is a file as it was read. It is replaced whole or not at all.
type File struct {
	path   string
	target string // what path leads to: symlinks are written through
	data   []byte
	info   fs.FileInfo // nil: there is no file
}

// Read reads the file that path leads to; one that is missing has no bytes.
func Read(path string) (*File, error) {
	target, err := follow(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, target: target}
	if f.data, f.info, err = load(target); err != nil {
		return nil, err
	}
	return f, nil
}

// Data returns the bytes of the file.
func (f *File) Data() []byte { return f.data }

// Exists reports whether there is a file.
func (f *File) Exists() bool { return f.info != nil }

// follow returns the file that a path leads to, which may be missing. Where a
// symlink leads to it, its directory may not: that place is not there yet, such as
// a volume that is not mounted, and nobody wants another made in its stead.
func follow(path string) (string, error) {
	for links := range 40 {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) && links > 0 {
			_, err = os.Stat(filepath.Dir(path))
			return path, err
		}
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		link, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(link) {
			// The link is relative to the directory that it really is in.
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			link = filepath.Join(dir, link)
		}
		path = link
	}
	return "", &fs.PathError{Op: "open", Path: path, Err: errors.New("too many symlinks")}
}

// load reads a file; without one it returns no bytes and no info.
func load(name string) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular():
		return nil, nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	case info.Size() > maxSize:
		return nil, nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("%d bytes are too many for a configuration", info.Size())}
	}
	data, err := os.ReadFile(name)
	return data, info, err
}

// Write replaces the file's bytes, and returns the name of the backup of the old
// ones, "" where there was no file. Mode and owner stay; a new file gets perm,
// and its directories are made.
func (f *File) Write(data []byte, perm fs.FileMode, now time.Time) (backup string, err error) {
	if f.info != nil && f.info.Mode().Perm()&0o200 == 0 {
		return "", &fs.PathError{Op: "write", Path: f.target, Err: errors.New("the file is read-only; make it writable if toolcrib is to change it")}
	}
	if err := os.MkdirAll(filepath.Dir(f.target), 0o755); err != nil {
		return "", err
	}
	temp, err := f.stage(data, perm)
	if err != nil {
		return "", err
	}
	return f.commit(now, func() error { return os.Rename(temp, f.target) }, func() error { return os.Remove(temp) })
}

// Delete removes the file, and returns the name of the backup.
func (f *File) Delete(now time.Time) (backup string, err error) {
	return f.commit(now, func() error { return os.Remove(f.target) }, func() error { return nil })
}

// commit makes the backup and then the change, if the file is still as it was
// read. Otherwise nothing of either stays.
func (f *File) commit(now time.Time, change, undo func() error) (backup string, err error) {
	if f.Exists() {
		if backup, err = f.backUp(now); err != nil {
			return "", errors.Join(err, undo())
		}
	}
	if err = f.unchanged(); err == nil {
		if err = change(); err == nil {
			return backup, syncDir(filepath.Dir(f.target))
		}
	}
	err = errors.Join(err, undo())
	if backup != "" {
		err = errors.Join(err, os.Remove(backup))
	}
	return "", err
}

// unchanged reports [ErrChanged] if the file is no longer as it was read.
func (f *File) unchanged() error {
	data, info, err := load(f.target)
	if err != nil {
		return err
	}
	if (info == nil) != (f.info == nil) || !bytes.Equal(data, f.data) {
		return ErrChanged
	}
	return nil
}

// stage writes the new bytes into a file in the target's directory.
func (f *File) stage(data []byte, perm fs.FileMode) (name string, err error) {
	temp, err := os.CreateTemp(filepath.Dir(f.target), "."+filepath.Base(f.target)+".*.tmp")
	if err != nil {
		return "", err
	}
	if f.Exists() {
		perm = f.info.Mode().Perm()
		err = keepOwner(temp, f.info)
	}
	if err == nil {
		err = temp.Chmod(perm)
	}
	if err = errors.Join(err, fill(temp, data)); err != nil {
		return "", errors.Join(err, os.Remove(temp.Name()))
	}
	return temp.Name(), nil
}

// stamp is the form of the time in the name of a backup.
const stamp = "20060102T150405.000Z"

// backUp copies the bytes that were read to the directory of the given name, under a name that
// is new.
func (f *File) backUp(now time.Time) (name string, err error) {
	for {
		name = f.path + ".toolcrib-" + now.UTC().Format(stamp) + ".bak"
		file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, f.info.Mode().Perm()&0o600)
		if errors.Is(err, fs.ErrExist) {
			now = now.Add(time.Millisecond)
			continue
		}
		if err != nil {
			return "", err
		}
		if err = errors.Join(keepOwner(file, f.info), fill(file, f.data)); err != nil {
			return "", errors.Join(err, os.Remove(name))
		}
		return name, nil
	}
}

// Earlier returns the contents of the file's backups, newest first, at most 50.
func (f *File) Earlier() ([][]byte, error) {
	entries, err := os.ReadDir(filepath.Dir(f.path))
	if err != nil {
		return nil, err
	}
	var docs [][]byte
	for _, e := range slices.Backward(entries) {
		if len(docs) < maxEarlier && e.Type().IsRegular() && strings.HasPrefix(e.Name(), filepath.Base(f.path)+".toolcrib-") && strings.HasSuffix(e.Name(), ".bak") {
			data, _, err := load(filepath.Join(filepath.Dir(f.path), e.Name()))
			if err != nil {
				return nil, err
			}
			docs = append(docs, data)
		}
	}
	return docs, nil
}

// fill writes a new file to the disk and closes it.
func fill(file *os.File, data []byte) error {
	_, err := io.Copy(file, bytes.NewReader(data))
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// syncDir makes a rename last. Windows has no such call for directories.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
