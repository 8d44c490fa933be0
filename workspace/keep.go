package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"syscall"
)

// Bounds of what is kept of one tree that is deleted or overwritten.
const (
	MaxKeptFiles = 20_000
	MaxKeptBytes = 512 << 20
)

// keep takes into the history what the change has taken away, and finds out
// whether it was what the change was computed from.
func (t *transaction) keep() error {
	for _, w := range t.works {
		if w.op.Kind == OpAppend && !w.same {
			info, err := w.at.dir.stat(w.at.name())
			if err != nil {
				return w.fail(err)
			}
			w.done.After = versionOf(info)
			t.notKept = fmt.Sprintf("of a file above %d MiB that is appended to nothing is kept", appendWhole>>20)
		}
		if w.op.Kind == OpMove && w.op.Expect.Hash != "" {
			if err := w.verifyMoved(); err != nil {
				return err
			}
		}
		if w.op.Kind == OpMove && w.copies {
			if err := w.verifyCopied(t.ctx); err != nil {
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
		k := keeper{ctx: t.ctx, h: h}
		rel := w.at.rel
		if w.from != nil && w.op.Kind == OpWrite {
			rel = w.from.rel
		}
		if err := k.tree(w.out, path.Join(prefix, rel)); err != nil {
			if e, ok := errors.AsType[*keepError](err); ok {
				return t.ws.stateFailed(t.ctx, e.err)
			}
			return w.fail(err)
		}
		w.kept = k.list
		if err := w.verify(k.list); err != nil {
			return err
		}
		if k.left != "" {
			t.notKept = k.left
		}
		if size := w.done.Before.Size; k.list[0].Before.Kind == KindDirectory {
			k.list[0].Before.Size = size
		}
		w.done.Before = k.list[0].Before
	}
	return nil
}

// verifyMoved compares a file that was moved with what was expected.
func (w *work) verifyMoved() error {
	info, err := w.at.dir.stat(w.at.name())
	if err != nil {
		return w.fail(err)
	}
	if want := strings.ToLower(w.op.Expect.Hash); want != info.Version() {
		if now := readOld(w.at, info); want != now.Hash {
			return &changedError{w, now}
		}
	}
	return nil
}

// verifyCopied compares what is about to go, since it was copied to another file
// system, with what it was when that began.
func (w *work) verifyCopied(ctx context.Context) error {
	now, err := versionOfTree(ctx, w.backup.dir, w.backup.name())
	if err != nil {
		return w.failFrom(err)
	}
	if now != w.moved {
		return &changedError{work: w}
	}
	return nil
}

// verify compares what was taken away with what a write was computed from and with
// what was expected. Where it is of another kind, nobody has agreed to that it goes.
func (w *work) verify(list []Changed) error {
	got, looked := list[0].Before, w.at
	if w.op.Kind == OpWrite && w.from != nil {
		looked = w.from
	}
	switch {
	case got.Kind != looked.info.Kind:
		return w.fail(errSwapped)
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
	info, err := w.out.dir.stat(w.out.name())
	if err != nil {
		return w.fail(err)
	}
	if want == got.Hash || want == info.Version() {
		return nil
	}
	if w.op.Kind == OpDelete && w.op.Expect == (Expect{}) {
		return nil // whatever it holds goes, and is kept
	}
	if now := readOld(w.out, info); want != now.Hash { // which no history may have hashed
		return &changedError{w, now}
	}
	return nil
}

// readOld describes a file that is not what was expected, with its content where it
// is small enough; an error leaves that out.
func readOld(s *spot, info Info) Old {
	old := Old{Exists: true, Info: info, Cut: true}
	if info.Kind != KindFile || info.Size > MaxEdit {
		return old
	}
	f, err := s.dir.openFile(s.name(), Path{})
	if err != nil {
		return old
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxEdit))
	if err != nil {
		return old
	}
	old.Data, old.Hash, old.Cut = data, hashBytes(data), false
	return old
}

// keeper takes entries into a history.
type keeper struct {
	ctx   context.Context
	h     *history // nil = only describes
	list  []Changed
	bytes int64
	left  string // why something is not kept, "" = all is
}

// keepError says that the history could not take a content.
type keepError struct{ err error }

func (e *keepError) Error() string { return e.err.Error() }
func (e *keepError) Unwrap() error { return e.err }

// tree keeps an entry and what is below it. rel is its path in the history.
func (k *keeper) tree(s *spot, rel string) error {
	var way []string // the directories down to here, by their paths in the history
	at := func(name string) string {
		if len(way) == 0 {
			return rel
		}
		return path.Join(way[len(way)-1], name)
	}
	return walkTree(k.ctx, s.dir, s.name(), treeVisit{
		entry: func(in dir, e DirEntry) error { return k.entry(in, e.Name, at(e.Name)) },
		enter: func(d dir, name string) error {
			way = append(way, at(name))
			info, err := d.stat(".")
			if err == nil {
				k.add(way[len(way)-1], versionOf(info))
			}
			return err
		},
		left: func(dir, string) error {
			way = way[:len(way)-1]
			return nil
		},
	})
}

func (k *keeper) add(rel string, v *Version) {
	k.list = append(k.list, Changed{Kind: OpDelete, Path: rel, Before: v})
}

// entry keeps what is not a directory.
func (k *keeper) entry(in dir, name, rel string) error {
	info, err := in.stat(name)
	if err != nil {
		return err
	}
	v := versionOf(info)
	k.add(rel, v)
	if info.Kind == KindOther && k.h != nil {
		k.left = show(rel) + " is a FIFO, socket or device"
	}
	if info.Kind != KindFile {
		return nil
	}
	k.bytes += info.Size
	tooLarge := fmt.Sprintf("%s is larger than %d MiB", show(rel), MaxKept>>20)
	switch {
	case k.h == nil:
		return nil
	case info.Size > MaxKept:
		k.left = tooLarge
		return nil
	case len(k.list) > MaxKeptFiles, k.bytes > MaxKeptBytes:
		k.left = fmt.Sprintf("of one change at most %d files and %d MiB are kept", MaxKeptFiles, MaxKeptBytes>>20)
		return nil
	}
	f, err := in.openFile(name, Path{})
	if err != nil {
		return err
	}
	defer f.Close()
	hash, size, err := k.h.keep(k.ctx, f, MaxKept)
	if errors.Is(err, errTooLarge) {
		k.left = tooLarge
		return nil
	}
	if err != nil {
		return &keepError{err}
	}
	v.Hash, v.Size, v.Kept = hash, size, true
	return nil
}
