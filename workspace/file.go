package workspace

import (
	"errors"
	"io"
	"os"
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

// file does not embed the os.File: the methods that come with one, such as WriteTo,
// would answer with errors that carry the host path.
type file struct {
	std  *os.File
	path Path // zero for a file of the walk itself, which gets the errors as they are
	info Info
}

func (f *file) Info() Info { return f.info }

func (f *file) Read(b []byte) (int, error) {
	n, err := f.std.Read(b)
	return n, f.path.refuseIO(err)
}

func (f *file) ReadAt(b []byte, at int64) (int, error) {
	n, err := f.std.ReadAt(b, at)
	return n, f.path.refuseIO(err)
}

func (f *file) Seek(offset int64, whence int) (int64, error) {
	n, err := f.std.Seek(offset, whence)
	return n, f.path.refuseIO(err)
}

func (f *file) Close() error { return f.path.refuseIO(f.std.Close()) }

// refuseIO words an error of the open file p, if that is known; io.EOF is none.
func (p Path) refuseIO(err error) error {
	if err == nil || err == io.EOF || p.root == nil {
		return err
	}
	name := p.written()
	e := &Error{Rule: RuleIO, Path: name, Msg: show(name) + ": " + cause(err), Err: err}
	if !errors.Is(err, os.ErrClosed) {
		e.Hint = "try again; if it stays, the file or its disk is damaged"
	}
	return e
}
