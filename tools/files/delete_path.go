package files

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/change"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/losses"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

//go:embed delete_path.md
var deletePathDoc string

// DeletePathIn names what to delete.
type DeletePathIn struct {
	Path         string `json:"path" jsonschema_description:"File, symlink or directory to delete." path:"any" alias:"file_path,filename,file,dir,directory,absolute_path,target_file,relative_path,directory_path,dir_path,target"`
	Recursive    bool   `json:"recursive,omitempty" jsonschema_description:"Delete a directory with all that is in it." jsonschema:"default=false" alias:"-r,recurse"`
	ExpectedHash string `json:"expected_hash,omitempty" jsonschema_description:"Delete only if it is a file with this hash or version token." jsonschema:"maxLength=200" alias:"hash,sha256"`
}

// DeletePathOut describes the deletion.
type DeletePathOut struct {
	Status string
	Notes  []string
}

// Text returns the result as text.
func (o DeletePathOut) Text() string { return o.Status + change.NoteLines(o.Notes...) }

func deletePathTool(d Deps) tools.Tool {
	return tools.New(tools.Def[DeletePathIn, DeletePathOut]{
		Name: "delete_path", Title: "Delete", Doc: deletePathDoc, Tags: []string{"files", "directories", "clean up"},
		Aliases: []string{"delete_file", "remove_file", "delete_directory", "file_delete"},
		Access:  tools.Write, Effects: tools.Workspace | tools.Destroys,
		Limits:  tools.Limits{Facts: map[string]any{"kept": textfile.Size(workspace.MaxKept)}},
		Confirm: deleteQuestion,
		Examples: []tools.Example[DeletePathIn]{{
			Say:   "Delete a file.",
			Files: map[string]string{"main.go": "package main\n", "old.go": "package main\n"},
			In:    DeletePathIn{Path: "old.go"},
			Want:  "old.go: deleted, 13 B; change …; undo: restore_file undo=true",
			After: map[string]string{"main.go": "package main\n"},
		}, {
			Say:   "Delete what a build has made.",
			Files: map[string]string{"main.go": "package main\n", "build/a.o": "object\n", "build/lib/.b.o": "object\n"},
			In:    DeletePathIn{Path: "build", Recursive: true},
			Want:  "build: deleted, 2 files; change …; undo: restore_file undo=true",
			After: map[string]string{"main.go": "package main\n"},
		}},
		Run: d.deletePath,
	})
}

func (d Deps) deletePath(ctx context.Context, in DeletePathIn) (DeletePathOut, error) {
	if err := ctx.Err(); err != nil {
		return DeletePathOut{}, err
	}
	path, info, err := in.target(ctx)
	if err != nil {
		return DeletePathOut{}, err
	}
	expect, err := change.Expectation(in.ExpectedHash)
	if err != nil {
		return DeletePathOut{}, err
	}
	op := workspace.Op{Kind: workspace.OpDelete, Path: path, Recursive: in.Recursive, Expect: expect}
	seen := ""
	switch {
	case info.Kind == workspace.KindDirectory:
		if err := in.check(path); err != nil {
			return DeletePathOut{}, err
		}
	case info.Kind == workspace.KindFile && in.ExpectedHash == "":
		seen, _, _ = d.Seen.Last(tools.Session(ctx).Principal, path.String())
		op.Expect.Hash = seen
	}
	receipt, err := d.writer().Apply(ctx, workspace.Change{Tool: "delete_path", Ops: []workspace.Op{op}})
	if c, ok := errors.AsType[*workspace.ConflictError](err); ok && seen != "" && c.Old.Exists {
		return DeletePathOut{}, d.writer().Stale(ctx, textfile.Path(path.String()), seen, reread(path, c.Old), "deletes it")
	}
	if err != nil {
		return DeletePathOut{}, err
	}
	done := receipt.Done[0]
	return DeletePathOut{
		Status: textfile.Path(done.Path) + ": deleted" + amount(done, done.Before) + change.ID(receipt) + change.Aftermath(receipt, nil, false),
		Notes:  done.Notes,
	}, nil
}

// target returns the path to delete. It refuses a root.
func (in DeletePathIn) target(ctx context.Context) (workspace.Path, workspace.Info, error) {
	path, info, err := entry(ctx, in.Path)
	if err == nil && path.IsRoot() {
		err = tools.Errorf(tools.InvalidArgument, "%s is a root of the workspace, which is not deleted", textfile.Path(in.Path)).
			WithHint("name something in it")
	}
	return path, info, err
}

// reread adds the present content of a small file to a conflict.
func reread(path workspace.Path, old workspace.Old) workspace.Old {
	if data, err := view.ReadAll(path, view.WholeSize); err == nil { // without it the conflict has no diff
		digest := sha256.Sum256(data)
		old.Data, old.Cut, old.Hash = data, false, hex.EncodeToString(digest[:])
	}
	return old
}

// check refuses a directory with expected_hash, and one with entries without recursive.
func (in DeletePathIn) check(path workspace.Path) error {
	name := textfile.Path(path.String())
	if in.ExpectedHash != "" {
		return tools.Errorf(tools.InvalidArgument, "%s is a directory, and expected_hash is that of a file", name).
			WithHint("leave expected_hash out")
	}
	if in.Recursive {
		return nil
	}
	entries, err := path.ReadDir()
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return tools.Errorf(tools.InvalidArgument, "%s is a directory with %s", name, textfile.Count(len(entries), "entry")).
			WithHint("recursive=true deletes it with all that is in it")
	}
	return nil
}

// deleteQuestion asks before a call deletes what cannot be restored.
func deleteQuestion(ctx context.Context, in DeletePathIn) (tools.Question, error) {
	path, _, err := in.target(ctx)
	if e := tools.AsError(err); e != nil && e.Code == tools.NotFound {
		return tools.Question{}, nil // the call itself reports the error
	}
	if err != nil {
		return tools.Question{}, err
	}
	var lost losses.Tally
	err = lost.Delete(ctx, path, in.Recursive)
	return lost.Question(ctx), err
}
