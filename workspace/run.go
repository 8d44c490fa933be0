package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/journal"
	"toolcrib/workspace/internal/tree"
)

// act is a step of the change with its operation.
type act struct {
	*journal.Act
	work *work
}

// run changes the disk as staged. After an error, undo reverts it.
func (t *transaction) run() error {
	for _, w := range t.works {
		if w.same {
			continue
		}
		if w.inPlace || w.op.Kind == OpAppend {
			if err := t.keepBefore(w); err != nil {
				return err
			}
		}
		for _, a := range w.acts() {
			t.acts = append(t.acts, act{a, w})
		}
	}
	if t.journal != nil {
		sync := t.durable() && len(t.acts) > 1
		list := make([]*journal.Act, len(t.acts))
		for i, a := range t.acts {
			list[i] = a.Act
		}
		if err := t.journal.Acts(t.id, list, sync); err != nil {
			return t.ws.stateFailed(t.ctx, err)
		}
	}
	for _, a := range t.acts {
		err := a.Run(t.durable())
		if err == nil {
			continue
		}
		if e, ok := errors.AsType[*journal.ChangedError](err); ok {
			return &changedError{a.work, Old{Exists: true, Info: e.Info, Cut: true}}
		}
		return a.work.surprise(err)
	}
	return nil
}

// surprise turns the error of a step into a changedError if it says that a file was made or
// deleted since it was planned.
func (w *work) surprise(err error) error {
	came, gone := errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist)
	switch {
	case !came && !gone:
	case w.op.Expect == Expect{}:
		return &changedError{work: w}
	case w.op.Kind == OpWrite && w.from == nil:
		var old Old
		if info, err := w.at.dir.Stat(w.at.name()); err == nil {
			old = readOld(w.at, info)
		}
		return &changedError{w, old}
	}
	return w.fail(err)
}

// acts returns the steps on the disk for a work, in order, and finds out the later name of
// a file that is replaced or deleted.
func (w *work) acts() []*journal.Act {
	switch w.op.Kind {
	case OpDelete:
		w.out = w.backup
		return []*journal.Act{w.move(w.at, w.backup, w.at.info)}
	case OpMove:
		if w.copies {
			return append(w.put(w.staged, w.staged.info), w.move(w.from, w.backup, w.from.info))
		}
		if w.at.exists() && !w.noSwap {
			acts := append(w.put(w.from, w.from.info), w.move(w.from, w.backup, w.at.info))
			w.out = w.backup
			return acts
		}
		return w.put(w.from, w.from.info)
	case OpWrite, OpAppend:
		if w.inPlace || w.op.Kind == OpAppend {
			return []*journal.Act{w.rewrite()}
		}
		acts := w.put(w.staged, w.staged.info)
		if w.from != nil {
			w.out = w.backup
			acts = append(acts, w.move(w.from, w.backup, w.from.info))
		}
		return acts
	case OpDirectory:
		if w.at.exists() {
			return []*journal.Act{{Kind: journal.Mode, To: w.at.abs(), Inode: w.at.info.Inode, Before: w.at.info.Mode.Perm(), Perm: w.op.Mode, Target: w.at.entry()}}
		}
	case OpCopy, OpSymlink:
		return w.put(w.staged, w.staged.info)
	}
	return nil
}

// put moves the entry at s, described by info, to the path of the work.
func (w *work) put(s *spot, info Info) []*journal.Act {
	switch {
	case !w.at.exists():
		return []*journal.Act{w.move(s, w.at, info)}
	case !w.noSwap:
		w.out = s
		a := w.move(s, w.at, info)
		a.Kind = journal.Swap
		return []*journal.Act{a}
	}
	w.out = w.backup
	if w.at.info.Kind == KindFile && info.Kind == KindFile {
		a := w.move(s, w.at, info)
		a.Kind, a.Backup, a.Spare = journal.Over, w.backup.abs(), w.backup.entry()
		return []*journal.Act{a}
	}
	return []*journal.Act{w.move(w.at, w.backup, w.at.info), w.move(s, w.at, info)}
}

func (w *work) move(from, to *spot, info Info) *journal.Act {
	a := &journal.Act{
		Kind: journal.Move, From: from.abs(), To: to.abs(), Inode: info.Inode,
		Source: from.entry(), Target: to.entry(),
	}
	if from == w.staged && info.Kind != KindDirectory {
		a.Time = info.ModTime.UnixNano()
	}
	return a
}

// rewrite changes the file of the work in place.
func (w *work) rewrite() *journal.Act {
	info := w.old.Info
	a := &journal.Act{
		Kind: journal.Write, To: w.at.abs(), Inode: info.Inode,
		Size: info.Size, Hash: w.old.Hash, After: w.done.After.Hash, Target: w.at.entry(), Content: w.content,
		Exact: true, ModTime: info.ModTime,
	}
	if w.op.Kind == OpAppend {
		a.Kind, a.Data = journal.Append, w.op.Data
		a.Exact = w.op.Expect != Expect{}
	}
	return a
}

// keepBefore keeps the content of a file that is to be written in place: without it, the
// write could not be undone.
func (t *transaction) keepBefore(w *work) error {
	before := *w.done.Before
	if w.op.Kind != OpAppend {
		if t.journal == nil || w.old.Cut {
			return w.fail(fmt.Errorf("%w, and its content cannot be kept meanwhile", errInPlace))
		}
		h, _, err := t.ws.historyOf(w.at.root)
		if err != nil {
			return err
		}
		hash, _, err := h.Keep(t.ctx, io.NewSectionReader(w.oldFile, 0, w.old.Info.Size), MaxKept)
		if err != nil {
			return t.ws.stateFailed(t.ctx, err)
		}
		if hash != w.old.Hash {
			return &changedError{w, Old{Exists: true, Info: w.old.Info, Hash: hash}}
		}
		before.Kept = true
		w.note("written in place, since its directory or owner does not allow replacing it: a reader may have seen a part of it")
	}
	w.kept = []Changed{{Kind: w.op.Kind, Before: &before}}
	return nil
}

// errInPlace says that a file could only be written in place.
var errInPlace = errors.New("it cannot be replaced")

// undo reverts the steps of an attempt, the last first, and removes its temporary entries.
func (t *transaction) undo() error {
	ctx := context.WithoutCancel(t.ctx)
	var errs []error
	for _, a := range slices.Backward(t.acts) {
		errs = append(errs, a.Revert(t.keptBy(a)))
	}
	if err := errors.Join(errs...); err != nil {
		return &undoError{err: err} // the journal keeps it for the next start
	}
	for _, w := range t.works {
		for _, s := range []*spot{w.staged, w.backup} {
			if s != nil && s.dir != nil {
				errs = append(errs, t.discard(ctx, w, s))
			}
		}
	}
	for _, s := range slices.Backward(t.made) {
		s.dir.Remove(s.name()) //nolint:errcheck // a directory with the entries of others stays
	}
	if err := errors.Join(errs...); err != nil {
		left := !slices.ContainsFunc(errs, func(err error) bool {
			_, is := errors.AsType[*leftError](err)
			return err != nil && !is
		})
		if left && t.journal != nil {
			t.journal.Acts(t.id, nil, false) //nolint:errcheck // the next start finds that all is undone
		}
		return &undoError{err, left}
	}
	if t.journal != nil {
		t.journal.End(t.id) //nolint:errcheck // the next start finds nothing left to do
	}
	return nil
}

// keptBy opens the former content of a file that an act wrote in place.
func (t *transaction) keptBy(a act) func(hash string) (io.ReadCloser, error) {
	return func(hash string) (io.ReadCloser, error) {
		h, _, err := t.ws.historyOf(a.work.at.root)
		if err != nil {
			return nil, err
		}
		r, _, err := h.Open(context.WithoutCancel(t.ctx), hash)
		return r, err
	}
}

// syncDirs makes the new names survive a loss of power.
func (t *transaction) syncDirs() {
	if !t.durable() {
		return
	}
	synced := map[fsys.Dir]bool{}
	sync := func(s *spot) {
		if s == nil || s.dir == nil || synced[s.dir] {
			return
		}
		synced[s.dir] = true
		if err := s.dir.Sync(); err != nil && t.unsure == nil {
			t.unsure = err
		}
	}
	for _, s := range t.made {
		sync(s)
	}
	for _, w := range t.works {
		if !w.same {
			sync(w.at)
			if w.op.Kind != OpCopy {
				sync(w.from)
			}
		}
	}
}

// discard removes a temporary entry of a change, if it exists. The history gets a former
// content that could not go back, since a program has taken its name meanwhile. It also
// gets the new content if a program has written to that, unless it has only appended.
func (t *transaction) discard(ctx context.Context, w *work, s *spot) error {
	info, err := s.dir.Stat(s.name())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	ours := len(t.acts) == 0 || s == w.staged && info.Inode == s.info.Inode &&
		(info.Kind == KindDirectory || info.ModTime.Equal(s.info.ModTime) && info.Size == s.info.Size)
	if !ours && info.Links > 1 {
		at, err := w.at.dir.Stat(w.at.name())
		ours = err == nil && at.Inode == info.Inode // journal.Over had not replaced it
	}
	ours = ours || w.giveBack(s, info)
	if h, prefix, err := t.ws.historyOf(w.at.root); !ours && err == nil {
		id, err := h.Salvage(ctx, s.dir, s.name(), path.Join(prefix, w.at.rel), t.record())
		if err != nil {
			return err
		}
		w.salvaged = append(w.salvaged, id)
	}
	if err := tree.Remove(ctx, s.dir, s.name()); err != nil {
		return &leftError{err}
	}
	return nil
}

// leftError says that a temporary entry of no use could not be removed.
type leftError struct{ err error }

func (e *leftError) Error() string { return fsys.Cause(e.err) }
func (e *leftError) Unwrap() error { return e.err }

// giveBack appends to the file of a work the data that a program has appended to its unused
// new file at s. It reports whether the program had done nothing else to that.
func (w *work) giveBack(s *spot, info Info) bool {
	if s != w.staged || w.op.Kind != OpWrite || info.Inode != s.info.Inode || info.Size <= s.info.Size {
		return false
	}
	now := readOld(s, info)
	if now.Cut || int64(len(now.Data)) < s.info.Size || fsys.HashBytes(now.Data[:s.info.Size]) != w.done.After.Hash {
		return false
	}
	f, _, err := w.at.dir.OpenWrite(w.at.name())
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = fsys.AppendTo(f, now.Data[s.info.Size:])
	return err == nil
}
