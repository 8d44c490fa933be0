package workspace

import (
	"bytes"
	"errors"
	"io"

	"toolcrib/workspace/internal/fsys"
)

// errAppended says that an append cannot be taken back, since others have appended
// after it.
var errAppended = errors.New("another program has appended to it since")

// runInPlace changes a file that keeps its inode. An append demands no more than
// that, unless it expects a content: the file may be one that grows all the time.
func (a *act) runInPlace(durable bool) error {
	f, info, err := a.to.dir.OpenWrite(a.to.name())
	if err != nil {
		return err
	}
	defer f.Close()
	changed := info.Inode != a.Inode
	if a.Kind == actWrite || a.work.op.Expect != (Expect{}) {
		changed = changed || info.Size != a.Size || !info.ModTime.Equal(a.work.old.Info.ModTime)
	}
	if changed || info.Size < a.Size {
		a.began = false
		return &changedError{a.work, Old{Exists: true, Info: info, Cut: true}}
	}
	if a.Kind == actAppend {
		var at int64
		if at, err = fsys.AppendTo(f, a.Data); at > a.Size {
			a.Size = at
		}
	} else {
		err = overwrite(f, a.Size, a.data)
	}
	if err == nil && durable {
		err = f.Sync()
	}
	return err
}

// overwrite replaces the content of a file in place. It grows first, so that a full
// disk is noticed while the old content is whole.
func overwrite(f io.WriterAt, size int64, data []byte) error {
	t := f.(interface{ Truncate(int64) error })
	if n := int64(len(data)); n > size {
		if _, err := f.WriteAt(data[size:], size); err != nil {
			return errors.Join(err, t.Truncate(size))
		}
	}
	if _, err := f.WriteAt(data[:min(int64(len(data)), size)], 0); err != nil {
		return err
	}
	return t.Truncate(int64(len(data)))
}

// appendedAfter bounds, in bytes, how much of what others have appended is looked
// through for an append of a process that was killed.
const appendedAfter = 16 << 20

// appended looks in a file that has grown how much of an append is there, and
// whether that is the last of the file, from Size on.
func (a *act) appended(f io.ReaderAt) (got progress, last bool, err error) {
	limit := int64(len(a.Data)) + appendedAfter
	tail, err := io.ReadAll(io.NewSectionReader(f, a.Size, limit))
	switch {
	case err != nil || len(tail) == 0:
		return notDone, false, err
	case len(tail) <= len(a.Data) && bytes.HasPrefix(a.Data, tail):
		if len(tail) < len(a.Data) {
			return partly, true, nil
		}
		return allDone, true, nil
	case bytes.Contains(tail, a.Data):
		return allDone, false, nil
	}
	return notDone, false, nil
}
