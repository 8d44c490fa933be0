package restore

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/change"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// step is the effect of a restoration on one path.
type step struct {
	op workspace.Op
	// later: another file at the path, or above it, must be removed first, by a change of its
	// own.
	later bool
	// name: done, size is its line in a result; without a name it has none.
	name, done, size string

	content *workspace.Version // that a write gets
}

// Restoration reverts a change, or restores a part of the state before it.
type Restoration struct {
	*Historian
	Rec             workspace.Record
	undo, overwrite bool
	partly          bool // it leaves a part of the change

	parts     map[string]Part           // by their paths
	obstacles map[string]workspace.Path // above paths of the record, by the directory that was there
	cleared   map[string]bool           // obstacles that are removed, by their paths
	own       Own                       // paths that this call has restored already
	tops      []workspace.Path          // trees that came as a whole and are removed as a whole
	steps     []step
	made      []Part // directories that the change made
	notes     []string

	conflicts []string // paths that are not as the change left them
	lost      []loss
	Large     []string // paths whose pathState content is too large to be kept
}

// NewRestoration returns an empty plan, for Collect. With undo the whole change is reverted,
// with overwrite also files that have changed since.
func NewRestoration(ctx context.Context, rec workspace.Record, undo, overwrite bool, own Own) *Restoration {
	return &Restoration{
		Historian: NewHistorian(ctx), Rec: rec, undo: undo, overwrite: overwrite, own: own,
		obstacles: map[string]workspace.Path{}, cleared: map[string]bool{},
	}
}

// Own has the paths that a call has restored. A command can write to a file while it moves a
// directory, which divides its change: the first part then does not know the last content.
type Own map[string]bool

// Add adds what a restoration of a program's change has restored.
func (o Own) Add(r *Restoration) {
	if !r.Rec.Program {
		return
	}
	for name, p := range r.parts {
		if !p.came() {
			o[name] = true
			continue
		}
		for restored := range o {
			if rest, ok := strings.CutPrefix(restored, name+"/"); ok {
				delete(o, restored)
				o[p.from.String()+"/"+rest] = true
			}
		}
	}
}

// Collect plans the steps at and below some paths, or everywhere if there are none.
func (r *Restoration) Collect(below ...workspace.Path) error {
	if r.undo && r.Rec.Hidden > 0 && len(below) == 0 {
		return tools.Errorf(tools.Denied, "%s of the change %s are outside the workspace of this call, or are denied to it", textfile.Count(r.Rec.Hidden, "file"), r.Rec.ID).
			WithHint("path and version restore the files inside one by one")
	}
	parts := r.Historian.parts(r.Rec, workspace.Path{})
	whole := len(parts)
	rest, err := r.rest(parts)
	if err != nil {
		return err
	}
	chosen := func(p Part) bool {
		return slices.ContainsFunc(below, func(dir workspace.Path) bool {
			return p.concerns(dir, r.undo) || p.becameObstacle() && within(dir, p.path)
		})
	}
	if len(below) == 0 {
		parts = rest
	} else {
		parts = slices.DeleteFunc(parts, func(p Part) bool { return !chosen(p) })
		rest = slices.DeleteFunc(rest, chosen)
		r.partly = len(rest)+r.Rec.Hidden > 0
	}
	if r.undo && r.partly && len(rest) > 0 {
		r.notes = append(r.notes, fmt.Sprintf("%s of the change not undone: undo=true version=%s takes back the rest", textfile.Count(len(rest), "path"), r.Rec.ID))
	}
	r.parts = map[string]Part{}
	for _, p := range parts {
		r.parts[p.path.String()] = p
	}
	for _, p := range parts {
		if r.undo && (p.came() || p.CopiedTree()) {
			r.tops = append(r.tops, p.path)
		}
	}
	for _, p := range parts {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := r.add(p); err != nil {
			return err
		}
	}
	if err := r.empty(); err != nil {
		return err
	}
	switch {
	case r.undo && len(parts) == 0 && whole > 0:
		return tools.Errorf(tools.NotFound, "the change %s did nothing at or below these paths", r.Rec.ID).
			WithHint("file_history version=%s lists its paths", r.Rec.ID)
	case !r.undo && !slices.ContainsFunc(parts, func(p Part) bool { return p.Before != nil }):
		return tools.Errorf(tools.NotFound, "%s did not exist before the change %s", textfile.Path(below[0].String()), r.Rec.ID).
			WithHint("undo=true version=%s takes the change back", r.Rec.ID)
	case len(r.conflicts) > 0:
		return tools.Errorf(tools.Conflict, "nothing is undone: not as the change %s left it: %s", r.Rec.ID, change.FirstNames(r.conflicts)).
			WithHint("file_history version=%s diff=current shows what would be lost; paths=[...] undoes the others, overwrite=true everything", r.Rec.ID)
	}
	slices.SortStableFunc(r.steps, func(a, b step) int { return phase(a.op) - phase(b.op) })
	return r.settleLost()
}

// phase is the order in which operations are carried out.
func phase(op workspace.Op) int {
	return slices.Index([]workspace.OpKind{
		workspace.OpMove, workspace.OpCopy, workspace.OpDelete, workspace.OpDirectory, workspace.OpWrite, workspace.OpSymlink,
	}, op.Kind)
}

// add plans the step for one path.
func (r *Restoration) add(p Part) error {
	now, obstacle, err := r.look(p.Path, p.path, p.Before, p.After)
	if err != nil {
		return err
	}
	if r.undo && (p.came() || p.CopiedTree()) {
		return r.takeBack(p, now)
	}
	for _, top := range r.tops {
		switch {
		case !within(p.path, top):
		case p.Before == nil:
			return nil // it goes with the tree
		default:
			return r.bringBack(p, pathState{}, true)
		}
	}
	switch {
	case p.Before == nil && !r.undo, now.exactly(p.Before), r.keepsMode(p) && now.is(p.Before):
		return nil
	case r.undo && !r.overwrite && !r.own[p.path.String()] && !now.says(p.After) && !now.says(p.Before):
		r.conflicts = append(r.conflicts, textfile.Path(p.path.String()))
		return nil
	case r.undo && !r.overwrite && !r.own[p.path.String()] && p.setsMode() && now.hasOtherMode(p):
		r.conflicts = append(r.conflicts, fmt.Sprintf("%s has mode %04o", textfile.Path(p.path.String()), now.mode))
		return nil
	case r.undo && r.Rec.Program && now.kind == workspace.KindFile && now.size > workspace.MaxKept:
		// It may be the only copy of a file that the command moved there.
		r.lost = append(r.lost, loss{textfile.Path(p.path.String()), "stays: it is larger than " + textfile.Size(workspace.MaxKept) + ", which is not kept", true})
		return nil
	case p.Before == nil && now.kind == workspace.KindDirectory:
		r.made = append(r.made, p)
		return nil
	case p.Before == nil:
		r.remove(p.path, now)
		return nil
	}
	if ok, err := r.giveWay(obstacle); !ok {
		return err
	}
	return r.bringBack(p, now, obstacle != (workspace.Path{}))
}

// setsMode reports whether the change gave what is at the path other permissions.
func (p Part) setsMode() bool {
	return p.Before != nil && p.After != nil && p.Before.Kind == p.After.Kind && p.Before.Mode != p.After.Mode
}

// keepsMode reports whether an undo leaves the permissions as they are, since the change did: they
// may be others by now.
func (r *Restoration) keepsMode(p Part) bool {
	return r.undo && !r.overwrite && p.Before != nil && p.After != nil && p.Before.Kind == p.After.Kind && !p.setsMode()
}

// remove deletes a path that must not exist, or that must be something else. A directory is
// deleted with the files in it.
func (r *Restoration) remove(path workspace.Path, now pathState) {
	op := workspace.Op{Kind: workspace.OpDelete, Path: path, Recursive: now.kind == workspace.KindDirectory, Restores: r.Rec.Program}
	if !r.overwrite && r.undo && now.kind == workspace.KindFile {
		op.Expect.Hash = now.identity()
	}
	slash := ""
	if now.kind == workspace.KindDirectory {
		slash = "/"
	}
	r.overwrites(path, now)
	r.steps = append(r.steps, step{op: op, name: textfile.Path(path.String() + slash), done: "deleted"})
}

// overwrites notes a file that is lost and is too large for the history.
func (r *Restoration) overwrites(path workspace.Path, now pathState) {
	if now.kind == workspace.KindFile && now.size > workspace.MaxKept {
		r.Large = append(r.Large, textfile.Path(path.String()))
	}
}

// bringBack plans to restore the former state of a path.
func (r *Restoration) bringBack(p Part, now pathState, later bool) error {
	name := textfile.Path(p.path.String())
	locked := false // it may not be read or written before it has other permissions
	if r.undo && p.setsMode() && p.Before.Kind == workspace.KindFile && now.kind == workspace.KindFile {
		only := p.Before.Hash == p.After.Hash && now.is(p.After)
		locked = now.mode&0o600 != 0o600
		s := step{name: name, done: "permissions restored", op: workspace.Op{
			Kind: workspace.OpDirectory, Path: p.path, Mode: p.Before.Mode.Perm(), Restores: true, Expect: workspace.Expect{Hash: now.version},
		}}
		if only {
			r.steps = append(r.steps, s)
			return nil
		}
		if locked && notKept(p.Before) == "" {
			s.name, s.op.Mode = "", s.op.Mode|0o600
			r.steps, later = append(r.steps, s), true
		}
	}
	if why := notKept(p.Before); why != "" {
		r.lost = append(r.lost, loss{name, why, p.Before.Size > workspace.MaxKept})
		return nil
	}
	if now.kind != "" && (now.kind != p.Before.Kind || now.kind == workspace.KindSymlink) {
		if now.kind == workspace.KindDirectory {
			if foreign, err := r.holdsForeign(p.path); err != nil || foreign {
				r.conflicts = append(r.conflicts, name+"/")
				return err
			}
			r.tops = append(r.tops, p.path)
		}
		r.remove(p.path, now)
		now, later = pathState{}, true
	}
	s := step{op: workspace.Op{Path: p.path, Mode: p.Before.Mode.Perm()}, later: later, name: name, done: "restored"}
	switch {
	case p.Before.Kind != workspace.KindFile:
	case now.kind == p.Before.Kind && r.keepsMode(p):
		s.op.Mode = 0
	case s.op.Mode == 0:
		s.op.Mode = fs.ModeIrregular
	}
	if p.Before.Links > 1 && now.links < 2 {
		r.notes = append(r.notes, fmt.Sprintf("%s had %d hard links; it comes back as a file of its own", name, p.Before.Links))
	}
	mode := now.kind == workspace.KindDirectory && p.Before.Kind == now.kind // as only a program has changed it
	s.op.Restores = r.Rec.Program || mode || p.Kind == workspace.OpDelete && now.kind == ""
	if now.kind == workspace.KindFile {
		r.overwrites(p.path, now)
	}
	switch p.Before.Kind {
	case workspace.KindDirectory:
		s.op.Kind, s.name, s.done = workspace.OpDirectory, textfile.Path(p.path.String()+"/"), "made again"
	case workspace.KindSymlink:
		s.op.Kind, s.op.Data = workspace.OpSymlink, []byte(p.Before.Target)
	case workspace.KindFile:
		s.op.Kind, s.content, s.size = workspace.OpWrite, p.Before, ", "+textfile.Size(p.Before.Size)
		s.op.New = func(workspace.Old) ([]byte, error) { return r.read(p.Before) }
		if !locked || p.Before.Size > workspace.MaxEdit { // else it may have this content still
			s.op.Fill = func(to io.Writer) error { return r.copyTo(to, p.Before) }
		}
		if r.undo && !r.overwrite {
			s.op.Expect = workspace.Expect{Absent: now.kind == "", Hash: now.identity()}
		}
	}
	r.steps = append(r.steps, s)
	return nil
}

// holdsForeign reports whether a directory, which must give way, holds anything that the change
// did not make.
func (r *Restoration) holdsForeign(dir workspace.Path) (bool, error) {
	entries, err := dir.ReadDir()
	if err != nil || r.overwrite {
		return false, err
	}
	for _, e := range entries {
		path, err := dir.Join(e.Name)
		if err != nil {
			return true, err
		}
		p, made := r.parts[path.String()]
		now, err := look(r.ctx, path, p.After)
		if err != nil || !made || p.Before != nil || !now.is(p.After) {
			return true, err
		}
		if e.Kind == workspace.KindDirectory {
			if foreign, err := r.holdsForeign(path); err != nil || foreign {
				return true, err
			}
		}
	}
	return false, nil
}

// changes returns the operations; those that make room for others come first.
func (r *Restoration) changes() [][]workspace.Op {
	var changes [][]workspace.Op
	for _, later := range []bool{false, true} {
		var ops []workspace.Op
		for _, s := range r.steps {
			if s.later == later {
				ops = append(ops, s.op)
			}
		}
		if len(ops) > 0 {
			changes = append(changes, ops)
		}
	}
	return changes
}
