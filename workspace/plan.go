package workspace

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/history"
)

const (
	// headOfOld is the size in bytes of the part of a file above MaxEdit that a write sees.
	headOfOld = 64 << 10
	// appendWhole is the size in bytes of the largest file that an append writes anew as a
	// whole: that makes it atomic and keeps the former content.
	appendWhole = 8 << 20
)

// plan looks at the entries at all paths and computes the new ones. It joins the errors of
// all operations, so that a caller can correct them together.
func (t *transaction) plan() error {
	var errs []error
	for _, w := range t.works {
		w.op = &t.change.Ops[w.index]
		w.reset()
		err := t.planOne(w)
		if changed, ok := errors.AsType[*changedError](err); ok {
			return changed
		}
		if err != nil {
			errs = append(errs, t.word(err))
		}
	}
	return errors.Join(errs...)
}

func (w *work) reset() {
	w.old, w.content, w.same, w.done = Old{}, nil, false, Done{}
	w.staged, w.backup, w.out, w.kept = nil, nil, nil, nil
}

func (t *transaction) planOne(w *work) error {
	if err := t.openSpot(w.at); err != nil {
		return w.fail(err)
	}
	if _, known := t.ws.state.swapless.Load(w.at.info.Device); known && w.at.exists() {
		w.noSwap = true
	}
	if w.from != nil {
		if err := t.openSpot(w.from); err != nil {
			return w.failFrom(err)
		}
		if !w.from.exists() {
			return w.failFrom(fs.ErrNotExist)
		}
	}
	switch w.op.Kind {
	case OpWrite:
		return t.planWrite(w)
	case OpAppend:
		return t.planAppend(w)
	case OpDelete:
		return t.planDelete(w)
	case OpMove, OpCopy:
		return t.planTransfer(w)
	case OpDirectory:
		return t.planDirectory(w)
	case OpSymlink:
		if w.at.exists() {
			return w.fail(fs.ErrExist)
		}
		w.done.After = &Version{Kind: KindSymlink, Target: string(w.op.Data)}
		return nil
	}
	return w.fail(errors.ErrUnsupported)
}

// planWrite reads the file and has the new content computed.
func (t *transaction) planWrite(w *work) error {
	if strings.HasSuffix(w.path.target(), "/") {
		return w.fail(fsys.ErrIsDir)
	}
	src := w.at
	if w.from != nil {
		src = w.from
		if w.at.exists() {
			return w.fail(fs.ErrExist)
		}
	}
	if err := w.open(src); err != nil {
		return err
	}
	if err := w.read(); err != nil {
		return err
	}
	if w.op.Expect.Absent && w.from == nil && w.old.Exists {
		return w.conflict(w.old)
	}
	if err := w.expected(); err != nil {
		return err
	}
	w.done.After = &Version{Kind: KindFile, Mode: w.mode()}
	if w.op.Fill == nil {
		var err error
		if w.content, err = w.op.New(w.old); err != nil {
			return err
		}
		w.done.After.Size, w.done.After.Hash = int64(len(w.content)), fsys.HashBytes(w.content)
		w.same = w.from == nil && w.old.Exists && !w.old.Cut && bytes.Equal(w.content, w.old.Data) && w.mode() == w.old.Info.Mode.Perm()
	}
	w.old.Data = nil
	switch links := w.old.Info.Links; {
	case links < 2 || w.from != nil:
	case w.inPlace:
		w.note("has %d hard links, which all show the new content", links)
	default:
		w.note("had %d hard links; this name is now a file of its own", links)
	}
	return nil
}

// mode is the permission bits after a write, 0 = those that the umask leaves.
func (w *work) mode() fs.FileMode {
	if w.op.Mode != 0 || !w.old.Exists {
		return w.op.Mode.Perm()
	}
	return w.old.Info.Mode.Perm()
}

// open opens the file that a work starts from, if it exists.
func (w *work) open(s *spot) error {
	switch s.info.Kind {
	case "":
		return nil
	case KindFile:
	case KindDirectory:
		return w.fail(fsys.ErrIsDir)
	case KindSymlink:
		return w.fail(errDangling)
	default:
		return w.fail(fsys.ErrSpecial)
	}
	if err := s.dir.Writable(s.name()); err != nil {
		return w.fail(err)
	}
	std, info, err := s.dir.OpenRead(s.name())
	if err != nil {
		return w.fail(err)
	}
	w.oldFile = std
	w.old.Exists, w.old.Info = true, info
	w.done.Before = history.VersionOf(w.old.Info)
	return nil
}

// read reads the file that open has opened, if any.
func (w *work) read() (err error) {
	f := w.oldFile
	if f == nil {
		return nil
	}
	if w.old.Info.Size > MaxEdit || w.op.Fill != nil {
		w.old.Cut = true
		w.old.Data, err = io.ReadAll(io.NewSectionReader(f, 0, headOfOld))
		return w.fail(err)
	}
	var b bytes.Buffer
	b.Grow(int(w.old.Info.Size) + bytes.MinRead)
	if _, err := io.Copy(&b, io.NewSectionReader(f, 0, MaxEdit+1)); err != nil {
		return w.fail(err)
	}
	if b.Len() > MaxEdit {
		return &changedError{w, w.old}
	}
	w.old.Data, w.old.Hash = b.Bytes(), fsys.HashBytes(b.Bytes())
	w.done.Before.Hash, w.done.Before.Size = w.old.Hash, int64(b.Len())
	return nil
}

// HashDigits is how many digits of a hash results show, and the fewest that name a content.
const HashDigits = fsys.HashDigits

// expected compares the file with Op.Expect.
func (w *work) expected() error {
	want := w.op.Expect.Hash
	switch {
	case want == "":
		return nil
	case !w.old.Exists:
		return w.conflict(w.old)
	case fsys.Names(want, w.old.Info.Version()) || fsys.Names(want, w.old.Hash):
		return nil
	case w.old.Cut && !strings.HasPrefix(want, "v:"):
		hash, err := fsys.Hash(io.NewSectionReader(w.oldFile, 0, w.old.Info.Size))
		if err != nil {
			return w.fail(err)
		}
		if fsys.Names(want, hash) {
			return nil
		}
	}
	return w.conflict(w.old)
}

func (w *work) conflict(old Old) error {
	path := w.path
	if w.from != nil {
		path = w.op.From
	}
	return &ConflictError{Path: path.String(), Want: w.op.Expect.Hash, Old: old}
}

func (t *transaction) planAppend(w *work) error {
	if info := w.at.info; info.Kind != KindFile || info.Size <= appendWhole {
		op := *w.op
		op.Kind, op.New = OpWrite, func(old Old) ([]byte, error) {
			if old.Cut {
				return nil, &changedError{w, old} // it is not the file that was planned for
			}
			return append(slices.Clip(old.Data), op.Data...), nil
		}
		w.op = &op
		return t.planWrite(w)
	}
	if err := w.open(w.at); err != nil {
		return err
	}
	w.old.Cut = true
	if w.op.Expect.Absent {
		return w.conflict(w.old)
	}
	if err := w.expected(); err != nil {
		return err
	}
	w.done.After = &Version{Kind: KindFile, Size: w.old.Info.Size + int64(len(w.op.Data)), Mode: w.old.Info.Mode.Perm()}
	w.same = len(w.op.Data) == 0
	return nil
}
