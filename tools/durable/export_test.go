package durable

import (
	"context"
	"time"

	"toolcrib/tools/internal/database"
)

// Locked lets tests take a lock of PostgreSQL.
func Locked(ctx context.Context, db *database.DB, lock string, most time.Duration, f func(sure func() error) error) (bool, error) {
	return (&postgresStore{db: db}).locked(ctx, lock, most, f)
}
