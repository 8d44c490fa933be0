package files

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/change"
	"toolcrib/tools/files/internal/restore"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

//go:embed restore_file.md
var restoreFileDoc string

// RestoreFileIn says what to bring back.
type RestoreFileIn struct {
	Path      string   `json:"path,omitempty" jsonschema_description:"File or directory to restore; with undo, only its last change." path:"any" alias:"file_path,filename,file,absolute_path,target_file,relative_path"`
	Version   string   `json:"version,omitempty" jsonschema_description:"ID of a change, as file_history lists it." jsonschema:"maxLength=100" alias:"id,change,version_id"`
	Undo      bool     `json:"undo,omitempty" jsonschema_description:"Take back a whole change: your last one, or that of version." jsonschema:"default=false"`
	Paths     []string `json:"paths,omitempty" jsonschema_description:"With undo: only at and below these paths." path:"any" jsonschema:"maxItems=100"`
	Overwrite bool     `json:"overwrite,omitempty" jsonschema_description:"Undo also files that have changed since." jsonschema:"default=false" alias:"force"`
	DryRun    bool     `json:"dry_run,omitempty" jsonschema_description:"Only say what would be done." jsonschema:"default=false"`
}

// RestoreFileOut reports the restored paths.
type RestoreFileOut struct{ restore.Report }

func restoreFileTool(d Deps) tools.Tool {
	return tools.New(tools.Def[RestoreFileIn, RestoreFileOut]{
		Name: "restore_file", Title: "Restore or undo", Doc: restoreFileDoc, Tags: []string{"files", "undo", "earlier version", "deleted files"},
		Aliases: []string{"undo", "undo_edit", "restore_path"}, Foreign: editorBy("undo_edit", map[string]any{"undo": true}),
		Access: tools.Write, Effects: tools.Workspace | tools.Destroys,
		Limits:  tools.Limits{Facts: map[string]any{"kept": textfile.Size(workspace.MaxKept), "files": workspace.MaxKeptFiles, "bytes": textfile.Size(workspace.MaxKeptBytes)}},
		Confirm: restoreQuestion,
		Examples: []tools.Example[RestoreFileIn]{{
			Say:    "Take back the last change.",
			Files:  map[string]string{"a.txt": "one\ntwo\n"},
			Before: exampleEdit,
			In:     RestoreFileIn{Undo: true},
			Want:   "undid … edit_file: 1 path; redo: restore_file undo=true version=…\na.txt: restored, 8 B",
			After:  map[string]string{"a.txt": "one\ntwo\n"},
		}},
		Run: d.restoreFile,
	})
}

func (d Deps) restoreFile(ctx context.Context, in RestoreFileIn) (RestoreFileOut, error) {
	lost, err := restore.LostChanges(ctx)
	if err != nil {
		return RestoreFileOut{}, err
	}
	records, err := in.changes(ctx)
	if err != nil {
		return RestoreFileOut{}, restore.WithLost(err, lost)
	}
	path, err := in.path(ctx)
	if err != nil {
		return RestoreFileOut{}, err
	}
	run := restore.Restoring{Writer: d.writer(), Undo: in.Undo, DryRun: in.DryRun}
	if run.Redoes, err = restore.TookBack(ctx, records[0]); err != nil {
		return RestoreFileOut{}, err
	}
	own := restore.Own{}
	for i, rec := range records {
		r, err := in.plan(ctx, rec, own)
		if err == nil {
			err = r.Verify()
		}
		if err = cmp.Or(ctx.Err(), err); err == nil {
			err = run.CarryOut(ctx, r, len(records) > 1)
			own.Add(r)
		}
		if err != nil && in.Undo && rec.Undoes == "" && ctx.Err() == nil {
			err = restore.WithOlder(ctx, err, path, records)
		}
		if err != nil {
			return RestoreFileOut{}, restore.WithLost(run.Half(err), lost)
		}
		if in.DryRun && i+1 < len(records) {
			run.Out.Notes = append(run.Out.Notes, "the change "+records[i+1].ID+" of the same call would be undone after it")
			break
		}
	}
	run.Out.Status += run.Aftermath()
	if in.Undo && in.Version == "" && run.Idle() {
		if older, err := restore.LastChanges(ctx, path, records...); err == nil {
			run.Out.Notes = append(run.Out.Notes, "restore_file undo=true version="+older[0].ID+" takes back the change before")
		}
	}
	if lost != "" {
		run.Out.Notes = append(run.Out.Notes, lost)
	}
	return RestoreFileOut{run.Out}, nil
}

// changes returns the changes that the call means, in the order in which to revert them.
func (in RestoreFileIn) changes(ctx context.Context) (records []workspace.Record, err error) {
	path, err := in.path(ctx)
	if err != nil {
		return nil, err
	}
	if in.Undo && in.Version == "" {
		records, err = restore.LastChanges(ctx, path)
	} else if in.Undo {
		var made []workspace.Record
		if made, records, err = restore.OfRun(ctx, in.Version); err == nil && len(made) > 0 && len(records) == 0 {
			err = tools.Errorf(tools.NotFound, "all that run %s changed is taken back", in.Version).WithHint("file_history lists the undos, which can be undone")
		}
	}
	if err == nil && len(records) == 0 {
		var rec workspace.Record
		if rec, err = in.change(ctx, path); err != nil {
			return nil, err
		}
		records = []workspace.Record{rec}
		if in.Undo && rec.Undoes != "" {
			records, err = restore.WholeUndo(ctx, rec)
		}
	}
	only, err2 := in.only(ctx)
	if err = cmp.Or(err, err2); err != nil {
		return nil, err
	}
	return restore.Touching(ctx, records, only), nil
}

// path returns the zero Path if none is given.
func (in RestoreFileIn) path(ctx context.Context) (workspace.Path, error) {
	if in.Path == "" {
		return workspace.Path{}, ctx.Err()
	}
	path, err := tools.Resolve(ctx, in.Path)
	return path, cmp.Or(ctx.Err(), err)
}

// plan returns the restoration of a change.
func (in RestoreFileIn) plan(ctx context.Context, rec workspace.Record, own restore.Own) (*restore.Restoration, error) {
	only, err := in.only(ctx)
	if err != nil {
		return nil, err
	}
	r := restore.NewRestoration(ctx, rec, in.Undo, in.Overwrite, own)
	return r, r.Collect(only...)
}

// only returns the paths that the call names, at and below which it may restore; none = everything.
func (in RestoreFileIn) only(ctx context.Context) (only []workspace.Path, err error) {
	names := in.Paths
	if in.Path != "" {
		names = append([]string{in.Path}, names...)
	}
	for _, text := range names {
		path, err := tools.Resolve(ctx, text)
		if err = cmp.Or(ctx.Err(), err); err != nil {
			return nil, err
		}
		only = append(only, path)
	}
	return only, nil
}

// change returns the change that the call means.
func (in RestoreFileIn) change(ctx context.Context, path workspace.Path) (workspace.Record, error) {
	switch {
	case len(in.Paths) > 0 && !in.Undo:
		return workspace.Record{}, tools.Errorf(tools.InvalidArgument, "paths limits an undo, and undo is not given").
			WithHint("add undo=true, or give one path with version")
	case in.Version != "" && (in.Undo || in.Path != ""):
		return restore.FindChange(ctx, in.Version, path)
	case in.Version != "":
		return workspace.Record{}, tools.Errorf(tools.InvalidArgument, "version=%s alone does not say what to restore", textfile.Path(in.Version)).
			WithHint("add path to restore that, or undo=true to take back the whole change")
	case in.Path != "":
		return workspace.Record{}, tools.Errorf(tools.InvalidArgument, "path alone does not say which content to restore").
			WithHint("add undo=true to take back the last change of it, or version, which file_history path=%s lists", textfile.Quoted(path.String()))
	}
	return workspace.Record{}, tools.Errorf(tools.InvalidArgument, "nothing says what to restore").
		WithHint("undo=true takes back your last change; path and version restore a file, and file_history lists versions")
}

// restoreQuestion asks before a file is overwritten or deleted that cannot be restored. The call itself reports a restoration that is not possible.
func restoreQuestion(ctx context.Context, in RestoreFileIn) (tools.Question, error) {
	if in.DryRun {
		return tools.Question{}, nil
	}
	records, err := in.changes(ctx)
	if err != nil {
		return tools.Question{}, ctx.Err()
	}
	r, err := in.plan(ctx, records[0], nil)
	if err != nil || len(r.Large) == 0 || r.Verify() != nil {
		return tools.Question{}, ctx.Err()
	}
	return tools.Question{Message: fmt.Sprintf("restore what was before the change %s; the history does not keep what is above %s now: %s",
		r.Head(r.Rec), textfile.Size(workspace.MaxKept), change.FirstNames(r.Large))}, nil
}
