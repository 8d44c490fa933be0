package fsys

import "os"

// File is an open regular file. A dir or Root opens one; its errors are those of
// the system.
type File struct {
	kernel kernelFile // where std is nil
	std    *os.File
	info   *Info // of std, when it was opened; a pointer keeps the struct small
}

// OpenFile opens a regular file for reading.
func OpenFile(in interface {
	OpenFile(name string, f *File) error
}, name string,
) (*File, error) {
	f := new(File)
	if err := in.OpenFile(name, f); err != nil {
		return nil, err
	}
	return f, nil
}

// Info describes the file as it was when it was opened, or when it was asked for first
// if OpenListed opened it.
func (f *File) Info() Info {
	if f.std != nil {
		return *f.info
	}
	return f.kernel.Info()
}

// Read reads as [io.Reader] says.
func (f *File) Read(b []byte) (int, error) {
	if f.std != nil {
		return f.std.Read(b)
	}
	return f.kernel.Read(b)
}

// ReadAt reads as [io.ReaderAt] says.
func (f *File) ReadAt(b []byte, at int64) (int, error) {
	if f.std != nil {
		return f.std.ReadAt(b, at)
	}
	return f.kernel.ReadAt(b, at)
}

// Seek sets where the next Read begins, as [io.Seeker] says.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	if f.std != nil {
		return f.std.Seek(offset, whence)
	}
	return f.kernel.Seek(offset, whence)
}

// Close closes the file; nothing else does.
func (f *File) Close() error {
	if f.std != nil {
		return f.std.Close()
	}
	return f.kernel.Close()
}
