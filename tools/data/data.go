package data

import (
	"toolcrib/tools"
	"toolcrib/tools/internal/services"
)

// Category returns the tools that calculate and that work on texts and JSON.
func Category(*services.Services) tools.Category {
	return tools.Category{
		ID: "data", Title: "calculate, work on texts and JSON",
		Guide: "calculator is exact; json_process and text_process work on JSON and text",
		Tools: []tools.Tool{
			calculatorTool(),
			jsonProcessTool(),
			textProcessTool(),
		},
	}
}
