package restore

import (
	"context"
	"slices"

	"toolcrib/tools"
	"toolcrib/tools/internal/handles"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// FindChange finds a change by its ID. Unless path is zero, the change must have touched it.
func FindChange(ctx context.Context, id string, path workspace.Path) (workspace.Record, error) {
	records, _, err := tools.Session(ctx).Workspace.History(ctx, workspace.HistoryQuery{ID: id, Path: path})
	if err != nil {
		return workspace.Record{}, err
	}
	if len(records) > 0 {
		return records[0], nil
	}
	if path != (workspace.Path{}) {
		return workspace.Record{}, tools.Errorf(tools.NotFound, "no change %s of %s is in the history", textfile.Path(id), textfile.Path(path.String())).
			WithHint("file_history path=%s lists those that there are", textfile.Quoted(path.String()))
	}
	return workspace.Record{}, tools.Errorf(tools.NotFound, "no change %s is in the history", textfile.Path(id)).
		WithHint("file_history lists those that there are")
}

// LastChanges returns the changes of the caller's last call that is not reverted yet, the
// newest first; with a path, of the last such call whose changes of it are not reverted yet. It
// passes over some changes and newer ones.
func LastChanges(ctx context.Context, path workspace.Path, passed ...workspace.Record) ([]workspace.Record, error) {
	session, b := tools.Session(ctx), NewHistorian(ctx)
	for latest := 100; ; latest *= 10 {
		records, total, err := session.Workspace.History(ctx, workspace.HistoryQuery{Path: path, Limit: latest})
		if err != nil {
			return nil, err
		}
		left, known := inForce(records)
		if !known && latest < total {
			continue
		}
		left = slices.DeleteFunc(left, func(rec workspace.Record) bool { return b.gone(records, rec, path) })
		for i, rec := range slices.Backward(left) {
			if slices.ContainsFunc(passed, func(p workspace.Record) bool { return p.ID == rec.ID }) {
				left = left[i+1:]
				break
			}
		}
		for i, rec := range left {
			if rec.Principal == session.Principal {
				return sameCall(left[i:], rec), nil
			}
		}
		if latest < total {
			continue
		}
		undone := slices.ContainsFunc(records, func(rec workspace.Record) bool {
			return rec.Principal == session.Principal && rec.Undoes != ""
		})
		if undone {
			return nil, tools.Errorf(tools.NotFound, "nothing more to undo").
				WithHint("undo=true version=ID, the ID of an undo in file_history, does again what it took back")
		}
		return nil, tools.Errorf(tools.NotFound, "the history has no change of yours to undo").
			WithHint("file_history lists the changes that there are; undo=true version=ID takes back one of them")
	}
}

// inForce leaves out the changes that a later one reverted, and the reverts themselves. If a
// revert was itself reverted, the first change is in force again, and so is the change that
// made it again; that one comes before it. The newest comes first. known is false if older
// records are needed to decide for all of them.
func inForce(records []workspace.Record) (left []workspace.Record, known bool) {
	undoes := map[string]string{} // by the ID of the change that does
	for _, rec := range records {
		undoes[rec.ID] = rec.Undoes
	}
	known = true
	undone := undone(records)
	for _, rec := range records {
		if undone[rec.ID] {
			continue
		}
		depth := 0 // odd of an undo, even of what did a change again
		for id := rec.ID; undoes[id] != ""; id = undoes[id] {
			depth++
			if _, ok := undoes[undoes[id]]; !ok {
				known = false
			}
		}
		if depth%2 == 0 {
			left = append(left, rec)
		}
	}
	return left, known
}

// TookBack reports whether a change reverted another one, rather than made a new one or made
// one again.
func TookBack(ctx context.Context, rec workspace.Record) (bool, error) {
	odd := false
	for rec.Undoes != "" {
		odd = !odd
		records, _, err := tools.Session(ctx).Workspace.History(ctx, workspace.HistoryQuery{ID: rec.Undoes})
		if err != nil || len(records) == 0 { // forgotten
			return odd, err
		}
		rec = records[0]
	}
	return odd, nil
}

// sameCall returns the records of the call that made rec, or of the run of an agent that the
// call belongs to.
func sameCall(records []workspace.Record, rec workspace.Record) []workspace.Record {
	if rec.Call == "" {
		return []workspace.Record{rec}
	}
	var same []workspace.Record
	for _, r := range records {
		if (r.Call == rec.Call || r.Group == rec.Group && rec.Group != "") && r.Principal == rec.Principal {
			same = append(same, r)
		}
	}
	return same
}

// OfRun returns the changes of an agent's run, and those of them that are in force, the newest
// first; none if id is the handle of no run.
func OfRun(ctx context.Context, id string) (made, left []workspace.Record, err error) {
	if !handles.Is(id) {
		return nil, nil, nil
	}
	all, _, err := tools.Session(ctx).Workspace.History(ctx, workspace.HistoryQuery{})
	if err != nil {
		return nil, nil, err
	}
	others := func(rec workspace.Record) bool {
		return rec.Group != id || rec.Principal != tools.Session(ctx).Principal
	}
	left, _ = inForce(all)
	return slices.DeleteFunc(all, others), slices.DeleteFunc(left, others), nil
}

// WholeUndo returns the changes that reverted others and belong to the same call as rec, the
// newest first.
func WholeUndo(ctx context.Context, rec workspace.Record) ([]workspace.Record, error) {
	if rec.Call == "" {
		return []workspace.Record{rec}, nil
	}
	records, _, err := tools.Session(ctx).Workspace.History(ctx, workspace.HistoryQuery{})
	return sameCall(records, rec), err
}

// Touching returns those of the changes of a call that did something at or below some paths, all if
// none of them did.
func Touching(ctx context.Context, records []workspace.Record, paths []workspace.Path) []workspace.Record {
	b := NewHistorian(ctx)
	touching := slices.DeleteFunc(slices.Clone(records), func(rec workspace.Record) bool {
		return !slices.ContainsFunc(paths, func(p workspace.Path) bool { return len(b.Concerning(rec, p)) > 0 })
	})
	if len(touching) == 0 {
		return records
	}
	return touching
}
