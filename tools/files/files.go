package files

import "toolcrib/tools"

// Deps is what the process owns for this category. These tools need nothing.
type Deps struct{}

// Tools returns the tools of the category.
func Tools(Deps) []tools.Tool {
	return []tools.Tool{
		fileInfoTool(),
		listDirectoryTool(),
		readFileTool(),
	}
}

// Sources returns the resources of the category.
func Sources(Deps) []tools.Source {
	return []tools.Source{fileSource()}
}
