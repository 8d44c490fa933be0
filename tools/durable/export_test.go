package durable

import (
	"context"
	"time"

	"toolcrib/tools/internal/database"
)

// TendEvery is how often an engine says that it lives, and looks for the dead.
var TendEvery = &tendEvery

// Locked lets tests take a lock of PostgreSQL.
func Locked(ctx context.Context, db *database.DB, lock string, most time.Duration, f func(sure func() error) error) (bool, error) {
	return (&postgresStore{db: db}).locked(ctx, lock, most, f)
}
