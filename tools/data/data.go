package data

import (
	"toolcrib/tools"
	"toolcrib/tools/internal/services"
)

// Category returns the tools that calculate and that work on texts and JSON.
func Category(*services.Services) tools.Category {
	return tools.Category{
		ID: "data", Title: "calculate, work on texts and JSON",
		Guide: "calculator is exact; json_process repairs, queries and validates JSON; text_process counts and converts text",
		Tools: []tools.Tool{
			calculatorTool(),
			jsonProcessTool(),
			textProcessTool(),
		},
	}
}
