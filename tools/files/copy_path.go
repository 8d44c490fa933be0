package files

import (
	"context"
	_ "embed"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/change"
	"toolcrib/workspace"
)

//go:embed copy_path.md
var copyPathDoc string

// CopyPathIn says what to copy where.
type CopyPathIn struct {
	Source      string `json:"source" jsonschema_description:"File, symlink or directory to copy." path:"any" alias:"from,src,path,source_path,old_path,source_file"`
	Destination string `json:"destination" jsonschema_description:"Path of the copy, name included." path:"any" alias:"to,dest,dst,target,new_path,destination_path,new_name,destination_file"`
	Overwrite   bool   `json:"overwrite,omitempty" jsonschema_description:"Replace the target if it exists; a directory as a whole." jsonschema:"default=false" alias:"force"`
}

// CopyPathOut describes the copy.
type CopyPathOut struct {
	Status string
	Notes  []string
}

// Text returns the result as text.
func (o CopyPathOut) Text() string { return o.Status + change.NoteLines(o.Notes...) }

func copyPathTool(d Deps) tools.Tool {
	return tools.New(tools.Def[CopyPathIn, CopyPathOut]{
		Name: "copy_path", Title: "Copy", Doc: copyPathDoc, Tags: []string{"files", "directories", "duplicate"},
		Aliases: []string{"copy_file"},
		Access:  tools.Write, Effects: tools.Workspace | tools.Destroys,
		Confirm: func(ctx context.Context, in CopyPathIn) (tools.Question, error) {
			return copyPlan(in).question(ctx)
		},
		Examples: []tools.Example[CopyPathIn]{{
			Say:   "Start a configuration from its template.",
			Files: map[string]string{"app.conf.example": "port=80\n"},
			In:    CopyPathIn{Source: "app.conf.example", Destination: "app.conf"},
			Want:  "app.conf.example -> app.conf: copied, 8 B; change …; undo: restore_file undo=true",
			After: map[string]string{"app.conf.example": "port=80\n", "app.conf": "port=80\n"},
		}},
		Run: d.copyPath,
	})
}

func copyPlan(in CopyPathIn) relocation {
	return relocation{
		tool: "copy_path", kind: workspace.OpCopy, verb: "copy", done: "copied",
		source: in.Source, destination: in.Destination, overwrite: in.Overwrite,
	}
}

func (d Deps) copyPath(ctx context.Context, in CopyPathIn) (CopyPathOut, error) {
	status, notes, err := d.relocate(ctx, copyPlan(in))
	return CopyPathOut{Status: status, Notes: notes}, err
}
