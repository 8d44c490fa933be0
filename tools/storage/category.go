package storage

import (
	"context"

	"toolcrib/tools"
	"toolcrib/tools/internal/database"
	"toolcrib/tools/internal/services"
)

// Category returns the tool that keeps values by their keys.
func Category(s *services.Services) tools.Category {
	return tools.Category{
		ID: "storage", Title: "keep values by key",
		Guide: "storage keeps values by key",
		Tools: []tools.Tool{
			storageTool(&engine{s.Database()}),
		},
	}
}

// engine opens the table of the values.
type engine struct{ source *database.Source }

// table returns the table of the values.
func (e *engine) table(ctx context.Context) (*table, error) {
	db, err := e.source.Open(ctx, tools.Session(ctx).Workspace)
	if err != nil {
		return nil, err
	}
	return newTable(db), nil
}
