package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"

	"toolcrib/workspace/internal/fsys"
)

// Kind is the kind of an act. Every act can be undone, and the disk shows whether it was
// done.
type Kind string

// The kinds of acts.
const (
	Move   Kind = "move"   // From gets the name To, which is free
	Swap   Kind = "swap"   // From and To exchange their names
	Over   Kind = "over"   // From replaces To, whose former file stays as Backup
	Write  Kind = "write"  // the content of To is replaced in place
	Append Kind = "append" // To grows in place
)

// Act is one step of a change on disk, as the journal records it. From, To and Backup are
// canonical host paths.
type Act struct {
	Kind   Kind   `json:"kind"`
	From   string `json:"from,omitempty"`
	To     string `json:"to"`
	Backup string `json:"backup,omitempty"`
	// Inode is that of the entry at From before the act; in place, of the file at To. The
	// device is not compared: no act renames to another device, and its number may differ
	// after a restart of the machine.
	Inode uint64 `json:"inode"`
	// Time is the modification time of the entry at From if the change itself made it: once
	// the entry is gone, another file soon gets its inode. 0 = not compared.
	Time int64 `json:"time,omitempty"`
	// Size and Hash are of the content before, in place.
	Size int64  `json:"size,omitempty"`
	Hash string `json:"hash,omitempty"`
	// After is the hash of the content that is written in place.
	After string `json:"after,omitempty"`
	// Data is the text that an append adds. Size is then the offset where it begins, or
	// before the append the least possible offset.
	Data []byte `json:"data,omitempty"`

	// Source, Target and Spare are the entries From, To and Backup, opened.
	Source, Target, Spare *Entry `json:"-"`
	// Content is what is written in place.
	Content []byte `json:"-"`
	// Exact demands that a file changed in place still has Size and ModTime.
	Exact   bool      `json:"-"`
	ModTime time.Time `json:"-"`

	began bool // something may have been done
	done  bool // all was, without an error
}

// Entry is a name in an open directory.
type Entry struct {
	Abs string   // the canonical host path, slash-separated
	Dir fsys.Dir // nil where the directory does not exist
}

// Name is the name in the directory.
func (e *Entry) Name() string { return path.Base(e.Abs) }

// ChangedError says that a file is not what it was when its change in place was planned.
// Nothing was done then.
type ChangedError struct{ Info fsys.Info }

func (e *ChangedError) Error() string { return "the file has changed meanwhile" }

// Run does the act. durable has the content of a file survive a loss of power.
func (a *Act) Run(durable bool) error {
	a.began = true
	err := a.run(durable)
	a.done = err == nil
	return err
}

// Revert takes back an act of this process, as far as it was done. kept opens the former
// content of a file that was written in place.
func (a *Act) Revert(kept func(hash string) (io.ReadCloser, error)) error {
	if !a.began {
		return nil // what stands there now is another program's
	}
	state, err := a.state()
	if err == nil && (state != notDone || a.written()) {
		err = a.undo(kept)
	}
	return err
}

func (a *Act) run(durable bool) error {
	switch a.Kind {
	case Move:
		return a.Source.Dir.Move(a.Source.Name(), a.Target.Dir, a.Target.Name())
	case Swap:
		return a.Source.Dir.Exchange(a.Source.Name(), a.Target.Dir, a.Target.Name())
	case Over:
		if err := a.Target.Dir.(fsys.Linker).Link(a.Target.Name(), a.Spare.Dir, a.Spare.Name()); err != nil {
			return errors.Join(errors.ErrUnsupported, err)
		}
		return a.Source.Dir.Replace(a.Source.Name(), a.Target.Dir, a.Target.Name())
	case Write, Append:
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

// moves reports whether info is of what the step moves, or writes in place.
func (a *Act) moves(info fsys.Info) bool {
	return info.Inode == a.Inode && (a.Time == 0 || a.Time == info.ModTime.UnixNano())
}

// written reports whether a file that the step has put at its place in this process is still
// there, though a program that knows no lock has written to it since.
func (a *Act) written() bool {
	if !a.done || a.Kind != Swap && a.Kind != Over {
		return false
	}
	info, err := a.Target.Dir.Stat(a.Target.Name())
	return err == nil && info.Inode == a.Inode
}

// doubled reports whether one file has both names: a move by steps was cut off.
func (a *Act) doubled() (bool, error) {
	from, err := a.Source.Dir.Stat(a.Source.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	to, err := a.Target.Dir.Stat(a.Target.Name())
	return err == nil && from.Kind != fsys.KindDirectory && from.Inode == to.Inode && from.Device == to.Device, err
}

// state looks how far a step has come.
func (a *Act) state() (progress, error) {
	if a.Target.Dir == nil {
		return notDone, nil // not even its directory is there
	}
	info, err := a.Target.Dir.Stat(a.Target.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return notDone, nil
	}
	if err != nil {
		return notDone, err
	}
	same := a.moves(info)
	switch a.Kind {
	case Move:
		same = same || fsys.IsTemp(a.Target.Name()) // whatever it was, it came from there
	case Write:
		if !same {
			return notDone, nil
		}
		f, err := fsys.OpenFile(a.Target.Dir, a.Target.Name())
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
	case Append:
		if !same || info.Size <= a.Size {
			return notDone, nil
		}
		f, err := fsys.OpenFile(a.Target.Dir, a.Target.Name())
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
func (a *Act) settle() error {
	if a.Kind != Move || a.Source.Dir == nil {
		return nil
	}
	doubled, err := a.doubled()
	if err == nil && doubled {
		err = a.Source.Dir.Remove(a.Source.Name())
	}
	return err
}

// undo takes a step back; kept opens the former content of what is written in
// place.
func (a *Act) undo(kept func(hash string) (io.ReadCloser, error)) error {
	switch a.Kind {
	case Move:
		if doubled, err := a.doubled(); err != nil {
			return err
		} else if doubled {
			return a.Target.Dir.Remove(a.Target.Name())
		}
		return a.Target.Dir.Move(a.Target.Name(), a.Source.Dir, a.Source.Name())
	case Swap:
		return a.Source.Dir.Exchange(a.Source.Name(), a.Target.Dir, a.Target.Name())
	case Over:
		// What stands at To may be the user's own, which From gets back first.
		if doubled, err := a.doubled(); err != nil {
			return err
		} else if !doubled {
			if err := a.Target.Dir.(fsys.Linker).Link(a.Target.Name(), a.Source.Dir, a.Source.Name()); err != nil {
				return err
			}
		}
		return a.Spare.Dir.Replace(a.Spare.Name(), a.Target.Dir, a.Target.Name())
	}
	f, info, err := a.Target.Dir.OpenWrite(a.Target.Name())
	if err != nil {
		return err
	}
	defer f.Close()
	if info.Inode != a.Inode {
		return nil // another file has taken its place
	}
	if a.Kind == Append {
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
func (a *Act) find(open func(abs string) (*Entry, error)) (err error) {
	for _, end := range []struct {
		abs string
		at  **Entry
	}{{a.From, &a.Source}, {a.To, &a.Target}, {a.Backup, &a.Spare}} {
		if end.abs == "" {
			continue
		}
		if *end.at, err = open(end.abs); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// errAppended says that an append cannot be taken back, since others have appended
// after it.
var errAppended = errors.New("another program has appended to it since")

// runInPlace changes a file that keeps its inode. An append that is not
// Exact demands no more than that: the file may be one that grows all the time.
func (a *Act) runInPlace(durable bool) error {
	f, info, err := a.Target.Dir.OpenWrite(a.Target.Name())
	if err != nil {
		return err
	}
	defer f.Close()
	changed := info.Inode != a.Inode
	if a.Exact {
		changed = changed || info.Size != a.Size || !info.ModTime.Equal(a.ModTime)
	}
	if changed || info.Size < a.Size {
		a.began = false
		return &ChangedError{info}
	}
	if a.Kind == Append {
		var at int64
		if at, err = fsys.AppendTo(f, a.Data); at > a.Size {
			a.Size = at
		}
	} else {
		err = overwrite(f, a.Size, a.Content)
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
func (a *Act) appended(f io.ReaderAt) (got progress, last bool, err error) {
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
