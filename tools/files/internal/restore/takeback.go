package restore

import (
	"slices"
	"strings"

	"toolcrib/tools/internal/losses"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// takeBack undoes a move, or deletes the tree that a copy made, and brings back the
// files that it overwrote.
func (r *Restoration) takeBack(p Part, now pathState) error {
	changed, err := r.changed(p, now)
	if err != nil {
		return err
	}
	if len(changed) > 0 && !r.overwrite {
		r.conflicts = append(r.conflicts, changed...)
		return nil
	}
	swap := p.came() && now.kind == workspace.KindFile && p.Before != nil && p.Before.Kind == now.kind
	switch {
	case p.came():
		err = r.moveBack(p, now, swap)
	case now.kind != "":
		var held losses.Holding
		held, err = losses.Measure(r.ctx, p.path)
		r.remove(p.path, now)
		for _, name := range held.Large {
			r.Large = append(r.Large, textfile.Path(name))
		}
	}
	switch {
	case err != nil || p.Before == nil:
		return err
	case swap:
		return r.bringBack(p, now, false)
	}
	return r.bringBack(p, pathState{}, true)
}

// changed names the paths that differ from the state that a move or the copy of a tree left.
// Changes inside a moved directory move back with it.
func (r *Restoration) changed(p Part, now pathState) ([]string, error) {
	switch {
	case now.kind == "":
		return nil, nil
	case !now.is(p.After):
		return []string{textfile.Path(p.path.String())}, nil
	case !p.CopiedTree():
		return nil, nil
	}
	return changedSince(r.ctx, p.path, r.Rec.Time)
}

// moveBack moves a file or tree to where it came from. With swap it is copied, since
// in the same change its path gets the former content.
func (r *Restoration) moveBack(p Part, now pathState, swap bool) error {
	name, to := textfile.Path(p.path.String()), p.from
	from := textfile.Path(to.String())
	if to == (workspace.Path{}) {
		r.lost = append(r.lost, loss{path: name, why: "came from outside the workspace of this call"})
		return nil
	}
	there, obstacle, err := r.look(p.From, to)
	if err != nil {
		return err
	}
	if ok, err := r.giveWay(obstacle); !ok {
		return err
	}
	switch {
	case now.kind == "" && there.kind != "":
		return nil // moved back already
	case now.kind == "":
		r.lost = append(r.lost, loss{path: name, why: "is not there any more, so it cannot move back"})
		return nil
	case there.kind != "" && !r.overwrite:
		r.conflicts = append(r.conflicts, from)
		return nil
	}
	op := workspace.Op{Kind: workspace.OpMove, From: p.path, Path: to, Overwrite: r.overwrite, Restores: r.Rec.Program}
	if swap {
		op.Kind = workspace.OpCopy
	} else if !r.overwrite && now.kind == workspace.KindFile {
		op.Expect.Hash = now.identity()
	}
	s := step{op: op, later: obstacle != (workspace.Path{}), name: name + " -> " + from, done: "moved back"}
	if there.kind == workspace.KindFile {
		r.overwrites(to, there)
	}
	r.steps = append(r.steps, s)
	return nil
}

// empty deletes the directories that the change made, each as a whole with what
// goes below it, but for those that hold something else by now.
func (r *Restoration) empty() error {
	slices.SortFunc(r.made, func(a, b Part) int { return len(b.path.String()) - len(a.path.String()) })
	gone := map[string]bool{}
	for _, s := range r.steps {
		switch s.op.Kind {
		case workspace.OpDelete:
			gone[s.op.Path.String()] = true
		case workspace.OpMove:
			gone[s.op.From.String()] = true
		}
	}
	for _, p := range r.made {
		name := p.path.String()
		entries, err := p.path.ReadDir()
		if err != nil {
			return err
		}
		if slices.ContainsFunc(entries, func(e workspace.DirEntry) bool { return !gone[strings.TrimPrefix(name+"/"+e.Name, "./")] }) {
			r.notes = append(r.notes, textfile.Path(name+"/")+" stays: it holds something else by now")
			continue
		}
		gone[name] = true
		r.steps = slices.DeleteFunc(r.steps, func(s step) bool {
			return s.op.Kind == workspace.OpDelete && within(s.op.Path, p.path)
		})
		r.remove(p.path, pathState{kind: workspace.KindDirectory})
	}
	return nil
}
