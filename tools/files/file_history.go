package files

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/restore"
	"toolcrib/tools/internal/paging"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

//go:embed file_history.md
var fileHistoryDoc string

// historyDiff is the most bytes of diff in one result.
const historyDiff = 20_000

// FileHistoryIn says which changes to list.
type FileHistoryIn struct {
	Path    string `json:"path,omitempty" jsonschema_description:"File or directory whose changes to list; without it the whole workspace." path:"any" alias:"file_path,filename,file,absolute_path,target_file,relative_path"`
	Version string `json:"version,omitempty" jsonschema_description:"ID of one change, to show it in full." jsonschema:"maxLength=100" alias:"id,change,version_id"`
	Diff    string `json:"diff,omitempty" jsonschema_description:"With version: what the content before the change is compared with: change (the content after it), current (what is there now), none." jsonschema:"enum=change,enum=current,enum=none,default=change"`
	Limit   int    `json:"limit,omitempty" jsonschema_description:"Most changes to list, or files of a version." jsonschema:"minimum=1,maximum=200,default=20"`
	Offset  int    `json:"offset,omitempty" jsonschema_description:"How many to skip, 0 for the first page; the last result names the next." jsonschema:"minimum=0,maximum=100000000,default=0"`
}

// FileHistoryOut is a part of the history.
type FileHistoryOut struct {
	// Status counts the changes and names the call for the next page.
	Status string
	// Changes has at least one line for each change, or for each file of one change.
	Changes string
	tools.More
}

// Text returns the result as text.
func (o FileHistoryOut) Text() string { return strings.TrimSuffix(o.Status+"\n"+o.Changes, "\n") }

func fileHistoryTool() tools.Tool {
	return tools.New(tools.Def[FileHistoryIn, FileHistoryOut]{
		Name: "file_history", Title: "List what was changed", Doc: fileHistoryDoc, Tags: []string{"files", "changes", "versions", "session"},
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Limits: tools.Limits{Facts: map[string]any{"diff": historyDiff, "kept": textfile.Size(workspace.MaxKept)}},
		Examples: []tools.Example[FileHistoryIn]{{
			Say:    "What did the tools change?",
			Files:  map[string]string{"a.txt": "one\ntwo\n"},
			Before: exampleEdit,
			In:     FileHistoryIn{},
			Want:   "1 change\n… edit_file a.txt +1 -1, 9 B",
		}},
		Run: fileHistory,
	})
}

func fileHistory(ctx context.Context, in FileHistoryIn) (FileHistoryOut, error) {
	if err := ctx.Err(); err != nil {
		return FileHistoryOut{}, err
	}
	var path workspace.Path
	if in.Path != "" {
		var err error
		if path, err = tools.Resolve(ctx, in.Path); err != nil {
			return FileHistoryOut{}, err
		}
	}
	b := restore.NewHistorian(ctx)
	words := listChanges
	if in.Version != "" {
		words = showChange
	}
	lost, err := restore.LostChanges(ctx)
	if err != nil {
		return FileHistoryOut{}, err
	}
	out, err := words(ctx, b, in, path)
	if err != nil {
		return FileHistoryOut{}, cmp.Or(ctx.Err(), restore.WithLost(err, lost))
	}
	if lost != "" {
		out.Status += "; " + lost
	}
	return out, ctx.Err()
}

// listChanges returns a page of changes.
func listChanges(ctx context.Context, b *restore.Historian, in FileHistoryIn, path workspace.Path) (FileHistoryOut, error) {
	var all []workspace.Record
	records, total, err := tools.Session(ctx).Workspace.History(ctx, workspace.HistoryQuery{Path: path, Offset: in.Offset, Limit: in.Limit})
	if err != nil {
		return FileHistoryOut{}, err
	}
	if slices.ContainsFunc(records, func(rec workspace.Record) bool { return rec.Group != "" }) { // a run may go on beyond the page
		if all, _, err = tools.Session(ctx).Workspace.History(ctx, workspace.HistoryQuery{Path: path}); err != nil {
			return FileHistoryOut{}, err
		}
		total = len(all)
		records = all[min(in.Offset, total):min(in.Offset+in.Limit, total)]
	}
	of := ""
	if in.Path != "" {
		of = " of " + textfile.Path(path.String())
	}
	switch {
	case total == 0:
		return FileHistoryOut{Status: "no change" + of + " is in the history"}, in.named(path)
	case in.Offset >= total:
		return FileHistoryOut{Status: paging.PastEnd("offset", int64(in.Offset), textfile.Count(total, "change")+of, int64(total-1))}, nil
	}
	var body strings.Builder
	shown, runs := 0, restore.Runs(all)
	for _, rec := range records {
		if err := ctx.Err(); err != nil {
			return FileHistoryOut{}, err
		}
		var text string
		switch run := runs[rec.Group]; {
		case rec.Group == "":
			text = b.Summary(rec, path)
		case run[0].ID == rec.ID: // a run stands at its newest change
			text = b.Run(run, path)
		}
		if shown > 0 && body.Len()+len(text) > tools.MaxText-1000 {
			break
		}
		body.WriteString(text)
		shown++
	}
	out := FileHistoryOut{Status: textfile.Count(total, "change") + of, Changes: body.String()}
	if shown < total {
		out.Status += fmt.Sprintf("; %d-%d, newest first", in.Offset+1, in.Offset+shown)
	}
	if next := in.Offset + shown; next < total {
		out.Status += fmt.Sprintf("; next: offset=%d", next)
		out.More = tools.NextAt("offset", next)
	}
	return out, nil
}

// named refuses a path that cannot have a history, such as a device.
func (in FileHistoryIn) named(path workspace.Path) error {
	if in.Path == "" {
		return nil
	}
	info, err := path.Stat()
	if err == nil && info.Kind == workspace.KindOther {
		_, err = path.Open() // its error names the kind
	}
	return err
}

// showRun returns a page of an agent's run, of its changes that concern a path; so many of them are
// not taken back.
func showRun(ctx context.Context, b *restore.Historian, in FileHistoryIn, run []workspace.Record, left int, path workspace.Path) (FileHistoryOut, error) {
	if in.Offset >= len(run) {
		return FileHistoryOut{Status: paging.PastEnd("offset", int64(in.Offset), textfile.Count(len(run), "change"), int64(len(run)-1))}, nil
	}
	out := FileHistoryOut{Status: "run " + in.Version + ": " + textfile.Count(len(run), "change")}
	switch {
	case left == 0:
		out.Status += ", all taken back"
	case left < len(run):
		out.Status += fmt.Sprintf(", %d in force", left)
	}
	var body strings.Builder
	next := in.Offset
	for _, rec := range run[in.Offset:min(in.Offset+in.Limit, len(run))] {
		text := b.Summary(rec, path)
		if body.Len() > 0 && body.Len()+len(text) > tools.MaxText-1000 {
			break
		}
		body.WriteString(text)
		next++
	}
	if out.Changes = body.String(); next < len(run) {
		out.Status += fmt.Sprintf("; %d-%d, newest first; next: offset=%d", in.Offset+1, next, next)
		out.More = tools.NextAt("offset", next)
	}
	return out, ctx.Err()
}

// showChange returns one change with the diffs of its files.
func showChange(ctx context.Context, b *restore.Historian, in FileHistoryIn, path workspace.Path) (FileHistoryOut, error) {
	run, left, err := restore.OfRun(ctx, in.Version)
	if err != nil {
		return FileHistoryOut{}, err
	}
	elsewhere := func(rec workspace.Record) bool { return len(b.Concerning(rec, path)) == 0 }
	if run = slices.DeleteFunc(run, elsewhere); len(run) > 0 {
		return showRun(ctx, b, in, run, len(slices.DeleteFunc(left, elsewhere)), path)
	}
	rec, err := restore.FindChange(ctx, in.Version, path)
	if err != nil {
		return FileHistoryOut{}, err
	}
	parts := b.Concerning(rec, path)
	if in.Offset >= len(parts) {
		return FileHistoryOut{Status: paging.PastEnd("offset", int64(in.Offset), textfile.Count(len(parts), "file"), int64(len(parts)-1))}, nil
	}
	out := FileHistoryOut{Status: b.Head(rec) + ": " + textfile.Count(len(parts), "file")}
	var body strings.Builder
	room, shown := historyDiff, 0
	for _, p := range parts[in.Offset:min(in.Offset+in.Limit, len(parts))] {
		if err := ctx.Err(); err != nil {
			return FileHistoryOut{}, err
		}
		text := b.Part(p) + b.NotKept(p.Before) + "\n"
		if shown > 0 && body.Len()+len(text) > tools.MaxText-historyDiff-1000 {
			break
		}
		compared := ""
		if in.Diff != "none" {
			compared = b.Diff(p, in.Diff, in.Version, room)
			room -= len(compared)
		}
		body.WriteString(text + compared)
		shown++
	}
	out.Changes = body.String()
	if shown < len(parts) {
		out.Status += fmt.Sprintf("; %d-%d", in.Offset+1, in.Offset+shown)
	}
	if next := in.Offset + shown; next < len(parts) {
		out.Status += fmt.Sprintf("; next: offset=%d", next)
		out.More = tools.NextAt("offset", next)
	}
	if rec.Hidden > 0 {
		out.Status += fmt.Sprintf("; left out: %d outside the workspace of this call, or denied to it", rec.Hidden)
	}
	return out, nil
}
