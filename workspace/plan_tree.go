package workspace

import (
	"cmp"
	"io/fs"
	"strings"
	"syscall"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/history"
	"toolcrib/workspace/internal/tree"
)

func (t *transaction) planDelete(w *work) error {
	info := w.at.info
	var bytes int64
	switch info.Kind {
	case "":
		return w.fail(fs.ErrNotExist)
	case KindFile:
		return w.planOld(w.at, w.path)
	case KindOther:
		if !w.op.Restores {
			return w.refuseSpecial()
		}
	case KindDirectory:
		if err := t.refuseHeld(w.at, nil); err != nil {
			return w.fail(err)
		}
		size, err := tree.Removable(t.ctx, w.at.dir, w.at.name())
		if err != nil {
			return w.fail(err)
		}
		if !w.op.Recursive {
			if empty, err := tree.IsEmpty(w.at.dir, w.at.name()); err != nil || !empty {
				return w.fail(cmp.Or(err, error(syscall.ENOTEMPTY)))
			}
		}
		w.done.Files, bytes = size.Files, size.Bytes
	}
	if w.op.Expect.Hash != "" {
		return w.conflict(Old{Exists: true, Info: info})
	}
	w.done.Before = history.VersionOf(info)
	w.done.Before.Size = bytes
	return nil
}

// refuseSpecial refuses to delete an entry that no history can keep.
func (w *work) refuseSpecial() error {
	e := *w.path.refuse(fsys.ErrSpecial).(*Error)
	e.Hint = "run a command to delete it"
	return w.fail(&e)
}

// planOld describes a file that is to be deleted or moved, and compares it with Op.Expect.
func (w *work) planOld(s *spot, p Path) error {
	w.done.Before = history.VersionOf(s.info)
	w.done.Files = 1
	w.old = Old{Exists: true, Info: s.info}
	want := w.op.Expect.Hash
	switch {
	case want == "" || fsys.Names(want, s.info.Version()):
		return nil
	case strings.HasPrefix(want, "v:"):
		return w.conflict(w.old)
	}
	f, err := fsys.OpenFile(s.dir, s.name())
	if err != nil {
		return &stepError{w, p, err}
	}
	defer f.Close()
	w.old.Hash, err = fsys.Hash(f)
	if err != nil {
		return &stepError{w, p, err}
	}
	w.done.Before.Hash = w.old.Hash
	if !fsys.Names(want, w.old.Hash) {
		return w.conflict(w.old)
	}
	return nil
}

// planTransfer plans a move or a copy.
func (t *transaction) planTransfer(w *work) error {
	if _, inside := fsys.Below(w.from.abs(), w.at.abs()); inside {
		return w.fail(&Error{
			Rule: RuleInvalid, Path: w.path.written(),
			Msg: fsys.Show(w.path.written()) + " is " + fsys.Show(w.op.From.written()) + " itself or is in it",
		})
	}
	if _, inside := fsys.Below(w.at.abs(), w.from.abs()); inside {
		return w.fail(&Error{
			Rule: RuleInvalid, Path: w.path.written(),
			Msg: fsys.Show(w.path.written()) + " holds " + fsys.Show(w.op.From.written()) + ", which would be replaced with it",
		})
	}
	if w.at.exists() && !w.op.Overwrite {
		return w.fail(fs.ErrExist)
	}
	if err := t.refuseHeld(w.from, w.at); err != nil {
		return w.failFrom(err)
	}
	if err := t.refuseHeld(w.at, nil); err != nil {
		return w.fail(err)
	}
	if w.from.info.Kind == KindOther && w.op.Kind == OpCopy {
		return w.failFrom(fsys.ErrSpecial)
	}
	if w.from.info.Kind == KindFile {
		if err := w.planOld(w.from, w.op.From); err != nil {
			return err
		}
	} else if w.op.Expect.Hash != "" {
		return w.conflict(Old{Exists: true, Info: w.from.info})
	}
	w.done.Files = 1
	w.done.After, w.done.Before = history.VersionOf(w.from.info), nil
	if w.from.info.Kind == KindDirectory {
		count := tree.Count
		if w.copies {
			count = tree.Removable
		}
		size, err := count(t.ctx, w.from.dir, w.from.name())
		if err != nil {
			return w.failFrom(err)
		}
		w.done.Files, w.done.After.Size = size.Files, size.Bytes
	}
	if w.at.exists() {
		if w.at.info.Kind == KindOther {
			return w.refuseSpecial()
		}
		if _, err := tree.Removable(t.ctx, w.at.dir, w.at.name()); err != nil {
			return w.fail(err)
		}
		w.done.Before = history.VersionOf(w.at.info)
	}
	return nil
}

func (t *transaction) planDirectory(w *work) error {
	switch kind := w.at.info.Kind; {
	case kind == "":
		w.done.After = &Version{Kind: KindDirectory}
	case kind == KindDirectory, kind == KindFile && w.op.Restores:
		w.old = Old{Exists: true, Info: w.at.info}
		w.done.Before, w.done.After = history.VersionOf(w.at.info), history.VersionOf(w.at.info)
		if w.same = !w.op.Restores || w.op.Mode == w.at.info.Mode.Perm(); !w.same {
			w.done.After.Mode = w.op.Mode
		}
		return w.expected()
	default:
		return w.fail(fs.ErrExist)
	}
	return nil
}
