package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"

	"toolcrib/workspace/internal/fsys"
)

// actKind is what a step does. Each can be undone, and whether it was done can be
// told from the disk.
type actKind string

const (
	actMove   actKind = "move"   // From gets the name To, which is free
	actSwap   actKind = "swap"   // From and To exchange their names
	actOver   actKind = "over"   // From replaces To, whose former file stays as Backup
	actWrite  actKind = "write"  // the content of To is replaced in place
	actAppend actKind = "append" // To grows in place
)

// act is one thing that is done to the disk, as the journal has it. From, To and
// Backup are canonical host paths.
type act struct {
	Kind   actKind `json:"kind"`
	From   string  `json:"from,omitempty"`
	To     string  `json:"to"`
	Backup string  `json:"backup,omitempty"`
	// Inode is of what stands at From before, in place at To. Its device is not
	// compared: nothing is renamed to another, and it may have another number after
	// the machine has started again.
	Inode uint64 `json:"inode"`
	// Time is when what stands at From was written, where the change itself has made
	// it: once that is gone, its inode is soon another file's. 0 = not compared.
	Time int64 `json:"time,omitempty"`
	// Size and Hash are of the content before, in place.
	Size int64  `json:"size,omitempty"`
	Hash string `json:"hash,omitempty"`
	// After is the hash of the content that is written in place.
	After string `json:"after,omitempty"`
	// Data is what an append adds. Size is then where it begins, or before it was
	// done the least that this can be.
	Data []byte `json:"data,omitempty"`

	from, to, backup *spot
	data             []byte // what is written in place
	work             *work
	began            bool // something may have been done
	done             bool // all was, without an error
}

func (a *act) run(durable bool) error {
	switch a.Kind {
	case actMove:
		return a.from.dir.Move(a.from.name(), a.to.dir, a.to.name())
	case actSwap:
		return a.from.dir.Exchange(a.from.name(), a.to.dir, a.to.name())
	case actOver:
		if err := a.to.dir.(fsys.Linker).Link(a.to.name(), a.backup.dir, a.backup.name()); err != nil {
			return errors.Join(errors.ErrUnsupported, err)
		}
		return a.from.dir.Replace(a.from.name(), a.to.dir, a.to.name())
	case actWrite, actAppend:
		return a.runInPlace(durable)
	}
	return fmt.Errorf("act %q is not known", a.Kind)
}

// progress is how far a step has come.
type progress int

const (
	notDone progress = iota
	partly           // in place only
	allDone
)

// moves tells whether info is of what the step moves, or writes in place.
func (a *act) moves(info Info) bool {
	return info.Inode == a.Inode && (a.Time == 0 || a.Time == info.ModTime.UnixNano())
}

// written tells whether a file that the step has put at its place in this process is still
// there, though a program that knows no lock has written to it since.
func (a *act) written() bool {
	if !a.done || a.Kind != actSwap && a.Kind != actOver {
		return false
	}
	info, err := a.to.dir.Stat(a.to.name())
	return err == nil && info.Inode == a.Inode
}

// doubled tells whether one file has both names: a move by steps was cut off.
func (a *act) doubled() (bool, error) {
	from, err := a.from.dir.Stat(a.from.name())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	to, err := a.to.dir.Stat(a.to.name())
	return err == nil && from.Kind != KindDirectory && from.Inode == to.Inode && from.Device == to.Device, err
}

// state looks how far a step has come.
func (a *act) state() (progress, error) {
	if a.to.dir == nil {
		return notDone, nil // not even its directory is there
	}
	info, err := a.to.dir.Stat(a.to.name())
	if errors.Is(err, fs.ErrNotExist) {
		return notDone, nil
	}
	if err != nil {
		return notDone, err
	}
	same := a.moves(info)
	switch a.Kind {
	case actMove:
		same = same || fsys.IsTemp(a.to.name()) // whatever it was, it came from there
	case actWrite:
		if !same {
			return notDone, nil
		}
		f, err := fsys.OpenFile(a.to.dir, a.to.name())
		if err != nil {
			return notDone, err
		}
		defer f.Close()
		switch hash, err := fsys.Hash(f); {
		case err != nil:
			return notDone, err
		case hash == a.Hash:
			return notDone, nil
		case hash == a.After:
			return allDone, nil
		}
		return partly, nil
	case actAppend:
		if !same || info.Size <= a.Size {
			return notDone, nil
		}
		f, err := fsys.OpenFile(a.to.dir, a.to.name())
		if err != nil {
			return notDone, err
		}
		defer f.Close()
		got, _, err := a.appended(f)
		return got, err
	}
	if same {
		return allDone, nil
	}
	return notDone, nil
}

// settle takes the old name away where a move by steps was cut off after the new one
// was given.
func (a *act) settle() error {
	if a.Kind != actMove || a.from.dir == nil {
		return nil
	}
	doubled, err := a.doubled()
	if err == nil && doubled {
		err = a.from.dir.Remove(a.from.name())
	}
	return err
}

// undo takes a step back; kept opens the former content of what is written in
// place.
func (a *act) undo(kept func(hash string) (io.ReadCloser, error)) error {
	switch a.Kind {
	case actMove:
		if doubled, err := a.doubled(); err != nil {
			return err
		} else if doubled {
			return a.to.dir.Remove(a.to.name())
		}
		return a.to.dir.Move(a.to.name(), a.from.dir, a.from.name())
	case actSwap:
		return a.from.dir.Exchange(a.from.name(), a.to.dir, a.to.name())
	case actOver:
		// What stands at To may be the user's own, which From gets back first.
		if doubled, err := a.doubled(); err != nil {
			return err
		} else if !doubled {
			if err := a.to.dir.(fsys.Linker).Link(a.to.name(), a.from.dir, a.from.name()); err != nil {
				return err
			}
		}
		return a.backup.dir.Replace(a.backup.name(), a.to.dir, a.to.name())
	}
	f, info, err := a.to.dir.OpenWrite(a.to.name())
	if err != nil {
		return err
	}
	defer f.Close()
	if info.Inode != a.Inode {
		return nil // another file has taken its place
	}
	if a.Kind == actAppend {
		if _, last, err := a.appended(f); err != nil || !last {
			return errors.Join(err, errAppended)
		}
		return errors.Join(f.Truncate(a.Size), f.Sync())
	}
	old, err := kept(a.Hash)
	if err != nil {
		return err
	}
	defer old.Close()
	data, err := io.ReadAll(old)
	if err != nil {
		return err
	}
	return errors.Join(overwrite(f, info.Size, data), f.Sync())
}

// find opens the directories of a step that a journal names, as far as they are
// there.
func (a *act) find(open func(abs string) (*spot, error)) (err error) {
	for _, end := range []struct {
		abs string
		at  **spot
	}{{a.From, &a.from}, {a.To, &a.to}, {a.Backup, &a.backup}} {
		if end.abs == "" {
			continue
		}
		if *end.at, err = open(end.abs); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// spotAt finds a canonical host path in the roots, errEscapes where it lies in
// none, and opens its directory. Where that does not exist, the spot is returned
// without it beside the error.
func (w *Workspace) spotAt(abs string) (*spot, error) {
	for _, r := range w.roots {
		rel, ok := fsys.Below(r.canonical, filepath.ToSlash(abs))
		if !ok || rel == "." {
			continue
		}
		d, err := r.OpenPlainDir(path.Dir(rel))
		if errors.Is(err, fsys.ErrNotDir) || errors.Is(err, fsys.ErrIsLink) {
			err = fs.ErrNotExist
		}
		return &spot{root: r, rel: rel, dir: d}, err
	}
	return nil, fsys.ErrEscapes
}

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
