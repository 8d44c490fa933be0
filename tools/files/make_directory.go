package files

import (
	"context"
	_ "embed"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/files/internal/change"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

//go:embed make_directory.md
var makeDirectoryDoc string

// MakeDirectoryIn names the directory to make.
type MakeDirectoryIn struct {
	Path string `json:"path" jsonschema_description:"Directory to make." path:"directory" alias:"dir,directory,directory_path,dir_path,file_path,folder,folder_path,absolute_path"`
}

// MakeDirectoryOut reports whether the directory was made or existed.
type MakeDirectoryOut struct {
	Status string
	Notes  []string
}

// Text returns the result as text.
func (o MakeDirectoryOut) Text() string { return o.Status + change.NoteLines(o.Notes...) }

func makeDirectoryTool(d Deps) tools.Tool {
	return tools.New(tools.Def[MakeDirectoryIn, MakeDirectoryOut]{
		Name: "make_directory", Title: "Make a directory", Doc: makeDirectoryDoc, Tags: []string{"files", "directories", "new folder"},
		Aliases: []string{"create_directory", "mkdir", "file_mkdir"},
		Access:  tools.Write, Effects: tools.Workspace, Repeatable: true,
		Spellings: []schema.Spelling{schema.Dropped("", "parents", "recursive", "exist_ok", "-p", "create_parents")},
		Examples: []tools.Example[MakeDirectoryIn]{{
			Say:   "Make a place for the results.",
			Files: map[string]string{"go.mod": "module m\n"},
			In:    MakeDirectoryIn{Path: "out/2026/logs"},
			Want:  "out/2026/logs: made; change …; undo: restore_file undo=true",
			After: map[string]string{"go.mod": "module m\n", "out/2026/logs/": ""},
		}},
		Run: d.makeDirectory,
	})
}

func (d Deps) makeDirectory(ctx context.Context, in MakeDirectoryIn) (MakeDirectoryOut, error) {
	path, err := tools.Resolve(ctx, in.Path)
	if err != nil {
		return MakeDirectoryOut{}, err
	}
	receipt, err := d.writer().Apply(ctx, workspace.Change{
		Tool: "make_directory",
		Ops:  []workspace.Op{{Kind: workspace.OpDirectory, Path: path}},
	})
	if err != nil {
		return MakeDirectoryOut{}, err
	}
	done := receipt.Done[0]
	out := MakeDirectoryOut{Status: textfile.Path(done.Path), Notes: done.Notes}
	if done.Before != nil {
		out.Status += ": exists"
		return out, nil
	}
	out.Status += ": made" + change.ID(receipt) + change.Aftermath(receipt, nil, false)
	return out, nil
}
