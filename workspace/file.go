package workspace

import (
	"errors"
	"io"
	"os"

	"toolcrib/workspace/internal/fsys"
)

// File is an open regular file. Its errors are io.EOF and those of type *[Error].
type File interface {
	io.Reader
	io.ReaderAt
	io.Seeker
	io.Closer
	// Info describes the file as it was when it was opened.
	Info() Info
}

// file is an open file whose errors name its path.
type file struct {
	fsys.File
	path Path
}

func (f *file) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	return n, f.path.refuseIO(err)
}

func (f *file) ReadAt(b []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(b, at)
	return n, f.path.refuseIO(err)
}

func (f *file) Seek(offset int64, whence int) (int64, error) {
	n, err := f.File.Seek(offset, whence)
	return n, f.path.refuseIO(err)
}

func (f *file) Close() error { return f.path.refuseIO(f.File.Close()) }

// refuseIO returns an error of the open file p as an *[Error]; io.EOF stays.
func (p Path) refuseIO(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	name := p.written()
	e := &Error{Rule: RuleIO, Path: name, Msg: fsys.Show(name) + ": " + fsys.Cause(err), Err: err}
	if !errors.Is(err, os.ErrClosed) {
		e.Hint = "try again; if it stays, the file or its disk is damaged"
	}
	return e
}
