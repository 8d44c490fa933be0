package files

import "toolcrib/tools"

// Deps is what the process owns for this category.
type Deps struct {
	Seen  *Seen      // nil = nothing is remembered
	Lines *LineIndex // likewise
}

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
