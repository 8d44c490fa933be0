package storage

import (
	"context"
	"sync"

	"toolcrib/tools"
	"toolcrib/tools/internal/database"
	"toolcrib/tools/internal/services"
)

// Category returns the tool that keeps values by their keys.
func Category(s *services.Services) tools.Category {
	e := &engine{source: s.Database()}
	return tools.Category{
		ID: "storage", Title: "keep values by key",
		Guide: "storage keeps values by key",
		Tools: []tools.Tool{storageTool(e)},
	}
}

// engine opens the table of the values.
type engine struct {
	source *database.Source

	mu  sync.Mutex
	db  *database.DB // that of table
	now *table
}

// table returns the table of the values.
func (e *engine) table(ctx context.Context) (*table, error) {
	db, err := e.source.Open(ctx, tools.Session(ctx).Workspace)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.db != db {
		e.db, e.now = db, newTable(db)
	}
	return e.now, nil
}
