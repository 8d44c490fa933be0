package data

import (
	"os"

	"toolcrib/tools"
	"toolcrib/tools/data/internal/jq"
	"toolcrib/tools/internal/services"
)

// Category returns the tools that calculate and that work on texts and JSON.
func Category(s *services.Services) tools.Category {
	return tools.Category{
		ID: "data", Title: "calculate, work on texts and JSON",
		Guide: "calculator is exact; json_process and text_process work on JSON and text",
		Tools: []tools.Tool{
			calculatorTool(),
			jsonProcessTool(s.Restarts),
			textProcessTool(),
		},
	}
}

// Program runs a jq filter if this binary was started again for one, and reports whether it was.
// args is the command line without the program name.
func Program(args []string) (exit int, was bool) {
	if len(args) != 1 || args[0] != jq.Argument {
		return 0, false
	}
	return jq.Main(os.Stdin, os.Stdout, os.Stderr), true
}
