package files

import (
	"toolcrib/tools"
	"toolcrib/tools/files/internal/change"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/services"
)

// Category returns the tools that read and change files.
func Category(*services.Services) tools.Category {
	d := NewDeps()
	return tools.Category{
		ID: "files", Title: "read, change, move and restore files",
		Guide:   "list_directory shows a tree; read_file reads lines, from either end; file_info tells whether paths exist and what they are",
		Tools:   Tools(d),
		Sources: Sources(d),
	}
}

// Deps is the state that the tools of the category share in a process.
type Deps struct {
	Seen  *view.Seen      // nil = contents are not remembered
	Lines *view.LineIndex // likewise
}

// seenBytes bounds the remembered contents, by which a call finds changes since the
// caller read a file.
const seenBytes = 4 << 20

// NewDeps returns the state for one process.
func NewDeps() Deps { return Deps{Seen: view.NewSeen(seenBytes), Lines: view.NewLineIndex()} }

func (d Deps) writer() change.Writer { return change.Writer{Seen: d.Seen} }

// Tools returns the tools of the category.
func Tools(d Deps) []tools.Tool {
	return []tools.Tool{
		applyPatchTool(d),
		copyPathTool(d),
		deletePathTool(d),
		editFileTool(d),
		fileHistoryTool(),
		fileInfoTool(),
		listDirectoryTool(),
		makeDirectoryTool(d),
		movePathTool(d),
		readFileTool(d),
		readFilesTool(d),
		restoreFileTool(d),
		writeFileTool(d),
	}
}

// Sources returns the resources of the category.
func Sources(Deps) []tools.Source {
	return []tools.Source{fileSource()}
}
