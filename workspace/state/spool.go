package state

import (
	"errors"
	"os"
)

// Spool is a file of this process that is read and written at any offset, such as the
// output of a program. It ends with its process, see [Dir.Sweep]. Several goroutines may
// use it.
type Spool struct {
	folder *os.Root
	name   string
	f      *os.File
}

// Spool makes an empty file of this process in a folder of the state.
func (d *Dir) Spool(folder string) (*Spool, error) {
	r, err := d.Folder(folder)
	if err != nil {
		return nil, err
	}
	for {
		f, name, err := own(r, 0)
		switch {
		case err == nil:
			return &Spool{folder: r, name: name, f: f}, nil
		case !errors.Is(err, errSwept):
			return nil, errors.Join(err, r.Close())
		}
	}
}

// ReadAt implements [io.ReaderAt].
func (s *Spool) ReadAt(p []byte, at int64) (int, error) { return s.f.ReadAt(p, at) }

// WriteAt implements [io.WriterAt].
func (s *Spool) WriteAt(p []byte, at int64) (int, error) { return s.f.WriteAt(p, at) }

// Close removes the file.
func (s *Spool) Close() error {
	return errors.Join(s.folder.Remove(s.name), s.f.Close(), s.folder.Close())
}

// Sweep removes the files of a folder whose owners are dead.
func (d *Dir) Sweep(folder string) error {
	orphans, err := d.Orphans(folder)
	errs := []error{err}
	for _, o := range orphans {
		errs = append(errs, o.Remove())
	}
	return errors.Join(errs...)
}
