package workspace

import "os"

// rawFile is an open regular file. A dir or backend opens one; its errors are those of
// the system.
type rawFile struct {
	kernel kernelFile // where std is nil
	std    *os.File
	info   Info // of std, as it was when it was opened
}

// openRaw opens a regular file for reading.
func openRaw(in interface {
	openFile(name string, f *rawFile) error
}, name string,
) (*rawFile, error) {
	f := new(rawFile)
	if err := in.openFile(name, f); err != nil {
		return nil, err
	}
	return f, nil
}

// Info describes the file as it was when it was opened, or when it was asked for first
// where it was opened by openListed.
func (f *rawFile) Info() Info {
	if f.std != nil {
		return f.info
	}
	return f.kernel.Info()
}

func (f *rawFile) Read(b []byte) (int, error) {
	if f.std != nil {
		return f.std.Read(b)
	}
	return f.kernel.Read(b)
}

func (f *rawFile) ReadAt(b []byte, at int64) (int, error) {
	if f.std != nil {
		return f.std.ReadAt(b, at)
	}
	return f.kernel.ReadAt(b, at)
}

func (f *rawFile) Seek(offset int64, whence int) (int64, error) {
	if f.std != nil {
		return f.std.Seek(offset, whence)
	}
	return f.kernel.Seek(offset, whence)
}

func (f *rawFile) Close() error {
	if f.std != nil {
		return f.std.Close()
	}
	return f.kernel.Close()
}
