package state

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
)

// Owned is a file that one process appends to and by which others know whether it lives: it
// is locked from the moment that it has its name until it is closed or its process ends in
// any way. Several goroutines may use it.
type Owned struct {
	folder *os.Root
	name   string

	mu   sync.Mutex
	f    *os.File
	size int64
}

// hidden ends the name of a file that is not locked yet.
const hidden = ".new"

// Own makes an empty file of this process in a folder of the state.
func (d *Dir) Own(folder string) (*Owned, error) {
	r, err := d.Folder(folder)
	if err != nil {
		return nil, err
	}
	for {
		f, name, err := own(r, os.O_APPEND)
		switch {
		case err == nil:
			return &Owned{folder: r, name: name, f: f}, nil
		case !errors.Is(err, errSwept):
			return nil, errors.Join(err, r.Close())
		}
	}
}

// errSwept says that Orphans took a file for one of the dead before it was locked.
var errSwept = errors.New("swept")

// own makes a file and gives it its name once it is locked, so that no process ever sees
// that name without its lock. flag is O_APPEND or 0.
func own(r *os.Root, flag int) (_ *os.File, name string, err error) {
	name = newName()
	f, err := r.OpenFile(name+hidden, os.O_RDWR|os.O_CREATE|os.O_EXCL|flag, 0o600)
	if err != nil {
		return nil, "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	locked, err := tryLock(f)
	if err != nil {
		return nil, "", err
	}
	if !locked {
		return nil, "", errSwept
	}
	switch err := r.Rename(name+hidden, name); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", errSwept
	case err != nil:
		return nil, "", err
	}
	return f, name, nil
}

func newName() string {
	name := make([]byte, 8)
	rand.Read(name)
	return hex.EncodeToString(name)
}

// Name returns the name of the file, which no other owned file of the folder ever has.
func (o *Owned) Name() string { return o.name }

// Append adds data at the end by a single write; after an error the file is as before,
// unless the error says otherwise.
func (o *Owned) Append(data []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := o.f.Write(data); err != nil {
		return errors.Join(err, o.f.Truncate(o.size))
	}
	o.size += int64(len(data))
	return nil
}

// Reset empties the file.
func (o *Owned) Reset() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.f.Truncate(0); err != nil {
		return err
	}
	o.size = 0
	return nil
}

// Close removes the file.
func (o *Owned) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	// It is removed while it is locked: afterwards it would be an orphan.
	return errors.Join(o.folder.Remove(o.name), o.f.Close(), o.folder.Close())
}

// Orphan is an owned file whose process has ended without closing it. The Orphan holds its
// lock: no other process gets it meanwhile.
type Orphan struct {
	folder *os.Root
	name   string
	f      *os.File
}

// Orphans returns the files of a folder whose owners are dead. Each must be
// removed or released.
func (d *Dir) Orphans(folder string) (_ []*Orphan, err error) {
	r, err := d.Folder(folder)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	entries, err := fs.ReadDir(r.FS(), ".")
	if err != nil {
		return nil, err
	}
	var orphans []*Orphan
	for _, entry := range entries {
		o, err := adopt(r, entry.Name())
		switch {
		case err != nil:
			for _, o := range orphans {
				err = errors.Join(err, o.Release())
			}
			return nil, err
		case o == nil:
		case strings.HasSuffix(o.name, hidden): // nothing was ever written to it
			if err := o.Remove(); err != nil {
				for _, o := range orphans {
					err = errors.Join(err, o.Release())
				}
				return nil, err
			}
		default:
			orphans = append(orphans, o)
		}
	}
	return orphans, nil
}

// OwnedNames returns the names of the owned files of a folder, whether their owners live or
// not.
func (d *Dir) OwnedNames(folder string) (names []string, err error) {
	r, err := d.Folder(folder)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	entries, err := fs.ReadDir(r.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), hidden) {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// adopt locks a file of a dead owner; nil if the owner lives or another process has dealt
// with the file.
func adopt(r *os.Root, name string) (_ *Orphan, err error) {
	f, err := r.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	keep := false
	defer func() {
		if !keep {
			err = errors.Join(err, f.Close())
		}
	}()
	if locked, err := tryLock(f); err != nil || !locked {
		return nil, err
	}
	// Its name may be gone, or be the name of another file, since it was opened.
	opened, err := f.Stat()
	if err != nil {
		return nil, err
	}
	named, err := r.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(opened, named) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	folder, err := r.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	keep = true
	return &Orphan{folder: folder, name: name, f: f}, nil
}

// Name returns the name that the owner's file has.
func (o *Orphan) Name() string { return o.name }

// Data returns the data that the owner appended; its last entry may be torn.
func (o *Orphan) Data() ([]byte, error) {
	info, err := o.f.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, info.Size())
	n, err := o.f.ReadAt(data, 0)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("journal %s: %w", o.name, err)
	}
	return data[:n], nil
}

// Remove removes the file and ends the orphan.
func (o *Orphan) Remove() error {
	return errors.Join(o.folder.Remove(o.name), o.Release())
}

// Release leaves the orphan to others.
func (o *Orphan) Release() error { return errors.Join(o.f.Close(), o.folder.Close()) }

// Sync makes the appended data survive a loss of power.
func (o *Owned) Sync() error { return o.f.Sync() }

// Abandon closes the file and leaves it as an orphan.
func (o *Owned) Abandon() error { return errors.Join(o.f.Close(), o.folder.Close()) }

// Append adds data at the end, as the owner would have.
func (o *Orphan) Append(data []byte) error {
	info, err := o.f.Stat()
	if err != nil {
		return err
	}
	_, err = o.f.WriteAt(data, info.Size())
	return err
}
