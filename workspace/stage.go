package workspace

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/history"
	"toolcrib/workspace/internal/journal"
	"toolcrib/workspace/internal/tree"
)

// errLost says that a new file cannot have the owner or attributes of the old one.
var errLost = errors.New("owner, access control list or attributes cannot be kept")

func (w *work) note(format string, args ...any) {
	w.done.Notes = append(w.done.Notes, fmt.Sprintf(format, args...))
}

// prepare chooses the names of the temporary entries of the change, and records them in the
// journal before any exists.
func (t *transaction) prepare() error {
	t.made, t.acts, t.id, t.notKept, t.unsure, t.journal = nil, nil, "", "", nil, nil
	var temps, dirs []string
	for _, w := range t.works {
		if w.same {
			continue
		}
		if w.staged, w.backup = nil, nil; !w.inPlace && w.stages() {
			w.staged = w.at.sibling(fsys.NewTemp())
			temps = append(temps, w.staged.abs())
		}
		if s := w.leaves(); s != nil {
			w.backup = s.sibling(fsys.NewTemp())
			temps = append(temps, w.backup.abs())
		}
		for _, s := range w.at.toMake() {
			dirs = append(dirs, s.abs())
		}
		if w.op.Kind == OpDirectory && !w.at.exists() {
			dirs = append(dirs, w.at.abs())
		}
	}
	home := t.works[0].at
	h, _, err := t.ws.historyOf(home.root)
	j, jerr := t.ws.state.Journal()
	if err := cmp.Or(err, jerr); err != nil {
		t.notKept = err.Error()
		return nil
	}
	t.id, t.journal = history.NewID(), j
	i := journal.Intent{Change: t.id, Record: t.record(), Root: *home.root.origin, Home: home.abs(), Log: h.Mark(), Temps: temps, Dirs: dirs}
	i.Record.Files = t.foreseen(h)
	return t.ws.stateFailed(t.ctx, j.Begin(i))
}

// stages reports whether the operation makes a temporary entry that becomes its path.
func (w *work) stages() bool {
	switch w.op.Kind {
	case OpWrite, OpCopy, OpSymlink:
		return true
	case OpMove:
		return w.copies
	}
	return false
}

// leaves returns the entry that leaves its name, and needs another one until it is kept;
// nil = none, or one that an exchange leaves at the temporary name.
func (w *work) leaves() *spot {
	switch {
	case w.inPlace:
		return nil
	case w.op.Kind == OpDelete:
		return w.at
	case w.op.Kind == OpMove && w.copies, w.op.Kind == OpWrite && w.from != nil:
		return w.from
	case w.op.Kind == OpMove && w.at.exists() && !w.noSwap:
		return w.from
	case w.at.exists() && w.noSwap:
		return w.at
	}
	return nil
}

// toMake returns the missing directories above the spot, the highest first.
func (s *spot) toMake() []*spot {
	list := make([]*spot, len(s.missing))
	rel := s.rel
	for i := range slices.Backward(list) {
		rel = path.Dir(rel)
		list[i] = &spot{root: s.root, rel: rel}
	}
	return list
}

// stage makes the directories and temporary entries of the change.
func (t *transaction) stage() error {
	for _, w := range t.works {
		if w.same {
			continue
		}
		if err := t.makeDirs(w); err != nil {
			return w.fail(err)
		}
		if w.staged == nil {
			continue
		}
		w.staged.dir = w.at.dir // which may be new
		if err := t.stageOne(w); err != nil {
			return err
		}
		info, err := w.staged.dir.Stat(w.staged.name())
		if err != nil {
			return w.fail(err)
		}
		w.staged.info = info
		w.done.After.Mode = info.Mode.Perm()
		if w.op.Fill != nil {
			w.done.After.Size = info.Size
		}
		if w.op.Kind == OpCopy || w.op.Kind == OpMove {
			w.done.After = history.VersionOf(info)
		}
	}
	return nil
}

func (t *transaction) stageOne(w *work) error {
	switch w.op.Kind {
	case OpWrite:
		return t.stageFile(w)
	case OpSymlink:
		return w.fail(w.staged.dir.Symlink(string(w.op.Data), w.staged.name()))
	}
	if w.op.Kind == OpMove {
		var err error
		if w.moved, err = tree.Version(t.ctx, w.from.dir, w.from.name()); err != nil {
			return w.failFrom(err)
		}
	}
	made, err := tree.Copy(t.ctx, w.from.dir, w.from.name(), w.staged.dir, w.staged.name(), w.op.Kind == OpMove)
	if len(made.Lost) > 0 {
		w.note("the copy does not have its %s", strings.Join(made.Lost, ", "))
	}
	if err == nil && t.durable() {
		err = tree.Sync(t.ctx, w.staged.dir, w.staged.name())
	}
	return w.failFrom(err)
}

func (t *transaction) durable() bool { return !t.ws.noSync }

// makeDirs makes the directories above the path of a work, and the one that an
// OpDirectory is for.
func (t *transaction) makeDirs(w *work) error {
	for _, above := range w.at.toMake() {
		d, err := t.makeDir(w.at.dir, above, 0)
		if err != nil {
			return err
		}
		w.at.dir = d
	}
	w.at.missing = nil
	if w.op.Kind != OpDirectory || w.at.exists() {
		return nil
	}
	_, err := t.makeDir(w.at.dir, w.at, w.op.Mode)
	return err
}

// makeDir makes a directory and opens it. One that another program has made meanwhile will
// do.
func (t *transaction) makeDir(in fsys.Dir, s *spot, mode fs.FileMode) (fsys.Dir, error) {
	key := dirKey{s.root, s.rel}
	if d := t.dirs[key]; d != nil {
		return d, nil
	}
	s.dir = in
	err := in.Mkdir(s.name(), 0o777)
	if err == nil {
		t.made = append(t.made, s)
		if mode != 0 {
			err = in.Chmod(s.name(), mode)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	d, err := in.Open(s.name())
	if err != nil {
		return nil, err
	}
	t.dirs[key] = d
	return d, nil
}

// stageFile writes the new content to a temporary file in the directory of the old one.
func (t *transaction) stageFile(w *work) (err error) {
	perm := fs.FileMode(0o600)
	if !w.old.Exists && w.op.Mode == 0 {
		perm = 0o666 // the umask and a default list of the directory decide
	}
	f, err := w.staged.dir.Create(w.staged.name(), perm)
	if err != nil {
		return w.fail(err)
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = w.fail(e)
		}
	}()
	if w.op.Fill == nil {
		_, err = f.Write(w.content)
	} else {
		sum := sha256.New()
		err = w.op.Fill(io.MultiWriter(f, sum))
		w.done.After.Hash = hex.EncodeToString(sum.Sum(nil))
	}
	if err != nil {
		return w.fail(err)
	}
	if err := w.dress(f); err != nil {
		return w.fail(err)
	}
	if t.durable() {
		return w.fail(f.Sync())
	}
	return nil
}

// dress gives a new file the owner and attributes of the old one, and the mode of the
// operation.
func (w *work) dress(f *os.File) error {
	if w.old.Exists {
		lost, err := fsys.KeepAttributes(w.oldFile, f, w.old.Info)
		if err != nil {
			return err
		}
		if len(lost) > 0 && w.from == nil {
			return errors.Join(errLost, errors.New(strings.Join(lost, ", ")))
		}
		if len(lost) > 0 {
			w.note("it does not have its former %s", strings.Join(lost, ", "))
		}
	}
	if w.op.Mode != 0 {
		return f.Chmod(w.op.Mode.Perm())
	}
	return nil
}
