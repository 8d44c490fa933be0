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
	Mode   Kind = "mode"   // To gets other permissions
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
	// After is the hash of the new content, in place.
	After string `json:"after,omitempty"`
	// Data is the text that an append adds. Size is then the offset where it begins, or
	// before the append the least possible offset.
	Data []byte `json:"data,omitempty"`

	// Before and Perm are the permissions of To, before and after.
	Before fs.FileMode `json:"before,omitempty"`
	Perm   fs.FileMode `json:"perm,omitempty"`

	// Source, Target and Spare are the entries From, To and Backup, opened.
	Source, Target, Spare *Entry `json:"-"`
	// Content is the new content, in place.
	Content []byte `json:"-"`
	// Exact demands that a file changed in place still has Size and ModTime.
	Exact   bool      `json:"-"`
	ModTime time.Time `json:"-"`

	began bool // a part of it may be done
	done  bool // all of it is done, without an error
}

// Entry is a name in an open directory.
type Entry struct {
	Abs string   // the canonical host path, slash-separated
	Dir fsys.Dir // nil if the directory does not exist
}

// Name is the name in the directory.
func (e *Entry) Name() string { return path.Base(e.Abs) }

// ChangedError says that a file has changed since its change in place was planned. Nothing
// was done then.
type ChangedError struct{ Info fsys.Info }

func (e *ChangedError) Error() string { return "the file has changed meanwhile" }

// Run does the act. With durable the content of a file survives a loss of power.
func (a *Act) Run(durable bool) error {
	a.began = true
	err := a.run(durable)
	a.done = err == nil
	return err
}

// Revert undoes an act of this process, as far as it was done. kept opens the former
// content of a file that was written in place.
func (a *Act) Revert(kept func(hash string) (io.ReadCloser, error)) error {
	if !a.began {
		return nil // the present file is another program's
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
	case Mode:
		return a.Target.Dir.Chmod(a.Target.Name(), a.Perm)
	}
	return fmt.Errorf("act %q is not known", a.Kind)
}

// progress says how much of a step is done.
type progress int

const (
	notDone progress = iota
	partly           // in place only
	allDone
)

// moves reports whether info is of the file that the step moves, or writes in place.
func (a *Act) moves(info fsys.Info) bool {
	return info.Inode == a.Inode && (a.Time == 0 || a.Time == info.ModTime.UnixNano())
}

// written reports whether a file that the step has moved in this process is still at its new
// name, even if a program that knows no lock has written to it since.
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

// state finds out how much of a step is done.
func (a *Act) state() (progress, error) {
	if a.Target.Dir == nil {
		return notDone, nil // not even its directory exists
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
		same = same || fsys.IsTemp(a.Target.Name()) // any temporary entry came from there
	case Mode:
		same = same && info.Mode.Perm() == a.Perm
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

// settle removes the old name if a move by steps was cut off after the new one was made.
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

// undo undoes a step; kept opens the former content of a file that is written in place.
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
		// The entry at To may be the user's own, which From gets back first.
		if doubled, err := a.doubled(); err != nil {
			return err
		} else if !doubled {
			if err := a.Target.Dir.(fsys.Linker).Link(a.Target.Name(), a.Source.Dir, a.Source.Name()); err != nil {
				return err
			}
		}
		return a.Spare.Dir.Replace(a.Spare.Name(), a.Target.Dir, a.Target.Name())
	case Mode:
		return a.Target.Dir.Chmod(a.Target.Name(), a.Before)
	}
	f, info, err := a.Target.Dir.OpenWrite(a.Target.Name())
	if err != nil {
		return err
	}
	defer f.Close()
	if info.Inode != a.Inode {
		return nil // another file has its name
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

// find opens the directories of a step that a journal names, as far as they exist.
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

// errAppended says that an append cannot be undone, since others have appended after it.
var errAppended = errors.New("another program has appended to it since")

// runInPlace changes a file that keeps its inode. An append that is not
// Exact demands nothing else: the file may grow all the time.
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

// appendedAfter limits, in bytes, how much text that others have appended is searched for
// the append of a process that was killed.
const appendedAfter = 16 << 20

// appended finds out how much of an append a file has from Size on, and whether that is the
// end of the file.
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
