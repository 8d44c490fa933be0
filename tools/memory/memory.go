package memory

import (
	"toolcrib/tools"
	"toolcrib/tools/internal/services"
)

// Category returns the tools that remember.
func Category(s *services.Services) tools.Category {
	l := &library{source: s.Database()}
	return tools.Category{
		ID: "memory", Title: "remember beyond the session",
		Guide: "memory_search finds what earlier sessions kept; memory_write keeps facts",
		Settings: tools.NewSettings(struct{}{}, func(_ struct{}, setup tools.Setup) {
			l.redactor.Store(setup.Redactor)
		}),
		Tools: []tools.Tool{
			memoryDeleteTool(l),
			memoryReadTool(l),
			memorySearchTool(l),
			memoryWriteTool(l),
		},
		Sources:  sources(l),
		Commands: []tools.UserCommand{command(l)},
		Doctor:   l.examine,
	}
}
