package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/journal"
)

// Apply carries out a change. Every error is an *[Error], a *[ConflictError], one of
// Op.New, or joins such. After an error nothing has changed, except for an *Error of
// [RuleDurability]: all is written then, but may not survive a loss of power.
//
// If the process is killed, [Workspace.Recover] undoes or finishes the change at the next
// start.
func (w *Workspace) Apply(ctx context.Context, c Change) (Receipt, error) {
	t := &transaction{ws: w, ctx: ctx, change: c, dirs: map[dirKey]fsys.Dir{}}
	unlock, err := t.begin()
	if err != nil {
		return Receipt{}, err
	}
	defer unlock() //nolint:errcheck // closing the lock files gives them back in any case
	for range maxAttempts + 2*len(t.works) {
		err = t.attempt()
		again := t.adapt(err)
		t.closeAll()
		if !again {
			break
		}
	}
	return t.receipt(err)
}

// maxAttempts limits how often a change is tried anew because of programs that know no
// lock. Each operation may need two more attempts to find out that it must be done in
// another way.
const maxAttempts = 30

// transaction is a change under way: begin, then attempts of plan, stage, steps,
// keep, commit and clean, in this order.
type transaction struct {
	ws     *Workspace
	ctx    context.Context
	change Change
	works  []*work
	dirs   map[dirKey]fsys.Dir

	id      string // of this attempt; "" where no history is kept
	journal *journal.Journal
	made    []*spot // directories, each after the one that holds it
	acts    []act
	notKept string
	unsure  error // fsync of a directory failed after the last step
}

// work is one operation under way.
type work struct {
	op    *Op
	index int
	path  Path  // as the caller gave it
	at    *spot // where it acts
	from  *spot // of a move, a copy, a write that moves

	old     Old
	oldFile *os.File // open from plan to the end of the attempt
	content []byte
	same    bool // the operation changes nothing

	staged *spot // the temporary entry that is moved to at, nil = none
	backup *spot // the temporary name of an entry that is replaced or deleted, nil = not needed
	out    *spot // the later name of an entry that must be kept
	kept   []Changed

	inPlace bool   // the file cannot be replaced by a rename
	noSwap  bool   // names cannot be exchanged
	copies  bool   // a move between file systems
	moved   string // the tree.Version of the original of a copy

	// salvaged are the IDs of changes in the history that hold the writes of other programs
	// during an attempt that was undone.
	salvaged []string

	done Done
}

// begin locates all operations and locks their paths.
func (t *transaction) begin() (unlock func() error, err error) {
	c := claims{ws: t.ws, by: map[string]Path{}}
	for i := range t.change.Ops {
		w := &work{op: &t.change.Ops[i], index: i, path: t.change.Ops[i].Path}
		if err := c.work(w); err != nil {
			return nil, err
		}
		t.works = append(t.works, w)
	}
	if err := t.refuseBelow(); err != nil {
		return nil, err
	}
	unlock, err = t.ws.state.Lock(t.ctx, c.names)
	return unlock, t.ws.stateFailed(t.ctx, err)
}

// claims are the paths that a change uses.
type claims struct {
	ws    *Workspace
	by    map[string]Path // by their canonical host paths
	names []string        // to be locked
}

// work locates an operation.
func (c *claims) work(w *work) (err error) {
	op := w.op
	follow := op.Kind == OpWrite || op.Kind == OpAppend || op.Kind == OpDirectory
	if w.at, err = c.ws.spotOf(op.Path, follow); err != nil {
		return err
	}
	if err := c.claim(w.at, op.Path); err != nil {
		return err
	}
	if !op.Restores {
		if err := c.ws.refuseProtected(w.at, op.Path, !follow); err != nil {
			return err
		}
	}
	c.names = append(c.names, w.at.missingNames()...)
	if op.From.root == nil {
		return nil
	}
	if w.from, err = c.ws.spotOf(op.From, op.Kind == OpWrite); err != nil || op.Kind == OpCopy {
		return err
	}
	if err := c.claim(w.from, op.From); err != nil || op.Restores {
		return err
	}
	return c.ws.refuseProtected(w.from, op.From, op.Kind != OpWrite)
}

func (c *claims) claim(s *spot, p Path) error {
	if other, ok := c.by[s.abs()]; ok {
		return &Error{
			Rule: RuleInvalid, Path: p.written(),
			Msg:  fmt.Sprintf("%s is named twice in one change, also as %s", fsys.Show(p.written()), fsys.Show(other.written())),
			Hint: "make one operation of it, or two calls",
		}
	}
	c.by[s.abs()] = p
	c.names = append(c.names, s.abs())
	return nil
}

// refuseBelow refuses to make an entry in a directory that the same change deletes, moves
// or replaces.
func (t *transaction) refuseBelow() error {
	gone := map[string]*work{}
	for _, w := range t.works {
		if w.op.Kind == OpDelete || w.op.Overwrite {
			gone[w.at.abs()] = w
		}
		if w.from != nil && w.op.Kind != OpCopy {
			gone[w.from.abs()] = w
		}
	}
	for _, w := range t.works {
		if w.op.Kind == OpDelete {
			continue
		}
		for dir := path.Dir(w.at.abs()); dir != path.Dir(dir); dir = path.Dir(dir) {
			if other := gone[dir]; other != nil && other != w {
				return &Error{
					Rule: RuleInvalid, Path: w.path.written(),
					Msg:  fsys.Show(w.path.written()) + " is in a directory that the same change deletes, moves or replaces: " + fsys.Show(other.path.written()),
					Hint: "make two calls of it",
				}
			}
		}
	}
	return nil
}

// attempt is the change from beginning to end. If it returns an error, it has undone all of
// it.
func (t *transaction) attempt() (err error) {
	if err := t.plan(); err != nil || t.change.DryRun || t.idle() {
		return err
	}
	if err := t.ctx.Err(); err != nil {
		return err
	}
	if err := t.prepare(); err != nil {
		return err
	}
	err = t.stage()
	if err == nil {
		err = t.run()
	}
	if err == nil {
		err = t.keep()
	}
	if err == nil {
		t.syncDirs()
		err = t.commit()
	}
	if err == nil {
		t.clean()
		return nil
	}
	if e := t.undo(); e != nil {
		return errors.Join(err, e)
	}
	return err
}

// idle reports whether no operation changes anything.
func (t *transaction) idle() bool {
	return !slices.ContainsFunc(t.works, func(w *work) bool { return !w.same })
}

// adapt reports whether another attempt may succeed.
func (t *transaction) adapt(err error) bool {
	if u, ok := errors.AsType[*undoError](err); ok && !u.left {
		return false // the files are not as they were
	}
	if e, ok := errors.AsType[*changedError](err); ok {
		return e.work.op.Expect == Expect{} && t.ctx.Err() == nil
	}
	e, ok := errors.AsType[*stepError](err)
	if !ok || e.work == nil {
		return false
	}
	w := e.work
	switch {
	case errors.Is(e.err, syscall.EXDEV) && w.op.Kind == OpMove && !w.copies:
		w.copies = true
		return true
	case errors.Is(e.err, errors.ErrUnsupported) && !w.noSwap:
		w.noSwap = true
		t.ws.state.swapless.Store(w.at.info.Device, true)
		return true
	case w.op.Kind == OpWrite && w.old.Exists && w.from == nil && !w.inPlace && w.op.New != nil && renameImpossible(e.err):
		w.inPlace, w.op.Fill = true, nil
		return true
	}
	return false
}

// renameImpossible reports whether an error says that a file cannot be replaced but may be
// written: the user may not change its directory, or it is a mount point.
func renameImpossible(err error) bool {
	such := []error{syscall.EACCES, syscall.EPERM, syscall.EBUSY, syscall.EXDEV, errLost, errors.ErrUnsupported}
	return slices.ContainsFunc(such, func(e error) bool { return errors.Is(err, e) })
}

// receipt returns the result of the change.
func (t *transaction) receipt(err error) (Receipt, error) {
	if err != nil {
		return Receipt{}, t.word(err)
	}
	r := Receipt{ID: t.id, NotKept: t.notKept}
	for _, w := range t.works {
		if len(w.salvaged) > 0 {
			w.note("another program wrote to it meanwhile; its lost text is in the history: %s", strings.Join(w.salvaged, ", "))
		}
		w.done.Path = Path{view: t.ws, root: w.at.root, rel: w.at.rel}.String()
		r.Done = append(r.Done, w.done)
	}
	if t.unsure != nil {
		name := fsys.Show(t.works[0].path.written())
		return r, &Error{
			Rule: RuleDurability, Path: t.works[0].path.written(), Err: t.unsure,
			Msg:  fmt.Sprintf("%s is written, but %s: it may not survive a loss of power", name, fsys.Cause(t.unsure)),
			Hint: "check the disk, then write it again",
		}
	}
	return r, nil
}

// closeAll closes the files and directories that an attempt has opened.
func (t *transaction) closeAll() {
	for _, w := range t.works {
		if w.oldFile != nil {
			w.oldFile.Close()
			w.oldFile = nil
		}
	}
	for key, d := range t.dirs {
		d.Close()
		delete(t.dirs, key)
	}
}
