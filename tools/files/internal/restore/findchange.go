package restore

import (
	"context"
	"slices"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// FindChange finds a change by its ID; it must have touched path, if that is one.
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

// LastChanges are those of the last call of the caller that is not taken back yet,
// the newest first; with a path, of the last such call that touched it.
func LastChanges(ctx context.Context, path workspace.Path) ([]workspace.Record, error) {
	session := tools.Session(ctx)
	var touching map[string]bool // IDs; nil = all
	if path != (workspace.Path{}) {
		records, _, err := session.Workspace.History(ctx, workspace.HistoryQuery{Path: path})
		if err != nil {
			return nil, err
		}
		touching = map[string]bool{}
		for _, rec := range records {
			touching[rec.ID] = true
		}
	}
	for latest := 100; ; latest *= 10 {
		records, total, err := session.Workspace.History(ctx, workspace.HistoryQuery{Limit: latest})
		if err != nil {
			return nil, err
		}
		standing, known := stillStanding(records)
		if !known && latest < total {
			continue
		}
		for i, rec := range standing {
			if rec.Principal == session.Principal && (touching == nil || touching[rec.ID]) {
				return sameCall(standing[i:], rec), nil
			}
		}
		if latest < total {
			continue
		}
		undone := slices.ContainsFunc(records, func(rec workspace.Record) bool {
			return rec.Principal == session.Principal && rec.Undoes != "" && (touching == nil || touching[rec.ID])
		})
		if undone {
			return nil, tools.Errorf(tools.NotFound, "nothing more to undo").
				WithHint("undo=true version=ID, the ID of an undo in file_history, does again what it took back")
		}
		return nil, tools.Errorf(tools.NotFound, "the history has no change of yours to undo").
			WithHint("file_history lists the changes that there are; undo=true version=ID takes back one of them")
	}
}

// stillStanding leaves out the changes that a later one took back, and those that
// took one back. Where that was taken back itself, the change stands again, and what
// did it again stands too, before it. known is false where that cannot be told of all
// without records that are older. The newest is the first.
func stillStanding(records []workspace.Record) (standing []workspace.Record, known bool) {
	undoes := map[string]string{} // by the ID of the change that does
	for _, rec := range records {
		undoes[rec.ID] = rec.Undoes
	}
	known = true
	undone := map[string]bool{}
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
		if rec.Undoes != "" {
			undone[rec.Undoes] = true
		}
		if depth%2 == 0 {
			standing = append(standing, rec)
		}
	}
	return standing, known
}

// TookBack reports whether a change took one back, rather than made it or did it
// again.
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

// sameCall returns those of the records that the call of one has made.
func sameCall(records []workspace.Record, rec workspace.Record) []workspace.Record {
	if rec.Call == "" {
		return []workspace.Record{rec}
	}
	var same []workspace.Record
	for _, r := range records {
		if r.Call == rec.Call && r.Principal == rec.Principal {
			same = append(same, r)
		}
	}
	return same
}

// WholeUndo returns the changes of the call that one belongs to which took others
// back, the newest first.
func WholeUndo(ctx context.Context, rec workspace.Record) ([]workspace.Record, error) {
	if rec.Call == "" {
		return []workspace.Record{rec}, nil
	}
	records, _, err := tools.Session(ctx).Workspace.History(ctx, workspace.HistoryQuery{})
	return sameCall(records, rec), err
}
