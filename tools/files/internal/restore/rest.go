package restore

import (
	"slices"

	"toolcrib/tools"
	"toolcrib/workspace"
)

// undone has the IDs of the changes that later ones took back as a whole. The records are the
// newest first.
func undone(records []workspace.Record) map[string]bool {
	ids := map[string]bool{}
	for _, rec := range records {
		if rec.Undoes != "" && !rec.Partly && !ids[rec.ID] {
			ids[rec.Undoes] = true
		}
	}
	return ids
}

// takenBack has the paths of a change that undos of a part of it took back. The records have all
// changes since, the newest first.
func (b *Historian) takenBack(records []workspace.Record, id string) map[string]bool {
	taken, undone := map[string]bool{}, undone(records)
	for _, rec := range records {
		if rec.Undoes != id || !rec.Partly || undone[rec.ID] {
			continue
		}
		again := b.takenBack(records, rec.ID)
		for _, p := range b.parts(rec, workspace.Path{}) {
			for _, at := range []workspace.Path{p.path, p.from} {
				if name := at.String(); name != "" && !again[name] {
					taken[name] = true
				}
			}
		}
	}
	return taken
}

// gone reports whether undos of its parts left nothing of a change at and below a path.
func (b *Historian) gone(records []workspace.Record, rec workspace.Record, below workspace.Path) bool {
	taken := b.takenBack(records, rec.ID)
	return len(taken) > 0 && !slices.ContainsFunc(b.Concerning(rec, below), func(p Part) bool { return !taken[p.path.String()] })
}

// rest returns the parts that undos of other parts have left to an undo; all if they have left none.
func (r *Restoration) rest(parts []Part) ([]Part, error) {
	if !r.undo {
		return slices.Clone(parts), nil
	}
	records, err := r.since()
	if err != nil {
		return nil, err
	}
	taken := r.takenBack(records, r.Rec.ID)
	rest := slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return taken[p.path.String()] })
	if len(rest) == 0 {
		return slices.Clone(parts), nil
	}
	return rest, nil
}

// since returns the changes after that of the restoration, the newest first.
func (r *Restoration) since() ([]workspace.Record, error) {
	for latest := 10; ; latest *= 10 {
		records, total, err := tools.Session(r.ctx).Workspace.History(r.ctx, workspace.HistoryQuery{Limit: latest})
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(records, func(rec workspace.Record) bool { return rec.ID == r.Rec.ID })
		if i >= 0 || latest >= total {
			return records[:max(i, 0)], nil
		}
	}
}
