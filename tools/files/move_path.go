package files

import (
	"context"
	_ "embed"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/change"
	"toolcrib/workspace"
)

//go:embed move_path.md
var movePathDoc string

// MovePathIn says what to move where.
type MovePathIn struct {
	Source       string `json:"source" jsonschema_description:"File, symlink or directory to move." path:"any" alias:"from,src,path,old_path,source_path,source_file"`
	Destination  string `json:"destination" jsonschema_description:"Its new path." path:"any" alias:"to,dest,dst,target,new_path,destination_path,new_name,destination_file"`
	Overwrite    bool   `json:"overwrite,omitempty" jsonschema_description:"Replace the target if it exists; a directory as a whole." jsonschema:"default=false" alias:"force"`
	ExpectedHash string `json:"expected_hash,omitempty" jsonschema_description:"Move only if the source is a file with this hash or version token." jsonschema:"maxLength=200" alias:"hash,sha256"`
}

// MovePathOut describes the move.
type MovePathOut struct {
	Status string
	Notes  []string
}

// Text returns the result as text.
func (o MovePathOut) Text() string { return o.Status + change.NoteLines(o.Notes...) }

func movePathTool(d Deps) tools.Tool {
	return tools.New(tools.Def[MovePathIn, MovePathOut]{
		Name: "move_path", Title: "Move or rename", Doc: movePathDoc, Tags: []string{"files", "directories", "rename"},
		Aliases: []string{"move_file", "rename_file", "rename_path"},
		Access:  tools.Write, Effects: tools.Workspace | tools.Destroys,
		Confirm: func(ctx context.Context, in MovePathIn) (tools.Question, error) {
			return movePlan(in).question(ctx)
		},
		Examples: []tools.Example[MovePathIn]{{
			Say:   "Rename a file.",
			Files: map[string]string{"docs/a.md": "# A\n"},
			In:    MovePathIn{Source: "docs/a.md", Destination: "docs/intro/first.md"},
			Want:  "docs/a.md -> docs/intro/first.md: moved, 4 B; change …; undo: restore_file undo=true",
			After: map[string]string{"docs/intro/first.md": "# A\n"},
		}, {
			Say:   "Rename a directory.",
			Files: map[string]string{"lib/a.go": "package lib\n", "lib/sub/b.go": "package sub\n"},
			In:    MovePathIn{Source: "lib", Destination: "internal/lib"},
			Want:  "lib -> internal/lib: moved, 2 files; change …; undo: restore_file undo=true",
			After: map[string]string{"internal/lib/a.go": "package lib\n", "internal/lib/sub/b.go": "package sub\n"},
		}},
		Run: d.movePath,
	})
}

func movePlan(in MovePathIn) relocation {
	return relocation{
		tool: "move_path", kind: workspace.OpMove, verb: "move", done: "moved",
		source: in.Source, destination: in.Destination, overwrite: in.Overwrite, expected: in.ExpectedHash,
	}
}

func (d Deps) movePath(ctx context.Context, in MovePathIn) (MovePathOut, error) {
	status, notes, err := d.relocate(ctx, movePlan(in))
	return MovePathOut{Status: status, Notes: notes}, err
}
