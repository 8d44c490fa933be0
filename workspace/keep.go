package workspace

import (
	"context"
	"errors"
	"io"
	"path"
	"syscall"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/history"
	"toolcrib/workspace/internal/tree"
)

// keep takes into the history the files that the change has replaced or deleted, and checks
// that they are those that the change was computed from.
func (t *transaction) keep() error {
	for _, w := range t.works {
		if w.op.Kind == OpAppend && !w.same {
			info, err := w.at.dir.Stat(w.at.name())
			if err != nil {
				return w.fail(err)
			}
			w.done.After = history.VersionOf(info)
			t.notKept = "the former content of a file above " + history.Megabytes(appendWhole) + " is not kept by an append"
		}
		if w.op.Kind == OpMove {
			if err := w.verifyMoved(t.ctx); err != nil {
				return err
			}
		}
		if w.same || w.out == nil {
			continue
		}
		h, prefix, err := t.ws.historyOf(w.at.root)
		if err != nil {
			h = nil // prepare or commit says why
		}
		k := history.NewArchiver(t.ctx, h)
		rel := w.at.rel
		if w.from != nil && w.op.Kind == OpWrite {
			rel = w.from.rel
		}
		if err := k.Tree(w.out.dir, w.out.name(), path.Join(prefix, rel)); err != nil {
			if e, ok := errors.AsType[*history.KeepError](err); ok {
				return t.ws.stateFailed(t.ctx, e.Err)
			}
			return w.fail(err)
		}
		w.kept = k.List
		if err := w.verify(k.List); err != nil {
			return err
		}
		if k.Left != "" {
			t.notKept = k.Left
		}
		if size := w.done.Before.Size; k.List[0].Before.Kind == KindDirectory {
			k.List[0].Before.Size = size
		}
		w.done.Before = k.List[0].Before
	}
	return nil
}

// verifyMoved compares a file that was moved with Expect. It compares a tree that was copied to
// another file system, and is about to be deleted, with its version from before the copy.
func (w *work) verifyMoved(ctx context.Context) error {
	if want := w.op.Expect.Hash; want != "" {
		info, err := w.at.dir.Stat(w.at.name())
		if err != nil {
			return w.fail(err)
		}
		if !fsys.Names(want, info.Version()) {
			if now := readOld(w.at, info); !fsys.Names(want, now.Hash) {
				return &changedError{w, now}
			}
		}
	}
	if !w.copies {
		return nil
	}
	now, err := tree.Version(ctx, w.backup.dir, w.backup.name())
	if err != nil {
		return w.failFrom(err)
	}
	if now != w.moved {
		return &changedError{work: w}
	}
	return nil
}

// verify compares the file that was replaced or deleted with the one that a write was
// computed from, and with Expect. One of another kind is refused: no call agreed to lose
// it.
func (w *work) verify(list []Changed) error {
	got, looked := list[0].Before, w.at
	if w.op.Kind == OpWrite && w.from != nil {
		looked = w.from
	}
	switch {
	case got.Kind != looked.info.Kind:
		return w.fail(fsys.ErrSwapped)
	case w.op.Kind == OpDelete && !w.op.Recursive && len(list) > 1:
		return w.fail(syscall.ENOTEMPTY)
	}
	if w.op.Kind == OpMove || w.op.Kind == OpCopy || got.Kind != KindFile {
		return nil
	}
	want := w.old.Hash
	if want == "" {
		want = w.old.Info.Version()
	}
	info, err := w.out.dir.Stat(w.out.name())
	if err != nil {
		return w.fail(err)
	}
	if want == got.Hash || want == info.Version() {
		return nil
	}
	if w.op.Kind == OpDelete && w.op.Expect == (Expect{}) {
		return nil // any content may go, and is kept
	}
	if now := readOld(w.out, info); want != now.Hash { // which no history may have hashed
		return &changedError{w, now}
	}
	return nil
}

// readOld describes a file that is not the expected one, with its content if it is small
// enough. After an error it leaves the content out.
func readOld(s *spot, info Info) Old {
	old := Old{Exists: true, Info: info, Cut: true}
	if info.Kind != KindFile || info.Size > MaxEdit {
		return old
	}
	f, err := fsys.OpenFile(s.dir, s.name())
	if err != nil {
		return old
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxEdit))
	if err != nil {
		return old
	}
	old.Data, old.Hash, old.Cut = data, fsys.HashBytes(data), false
	return old
}
