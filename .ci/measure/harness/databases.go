package harness

import (
	"context"
	"errors"
	"fmt"

	"toolcrib/workspace/state/postgres"
)

// WithPostgres calls f with a PostgreSQL of its own, which it removes afterwards.
func WithPostgres(ctx context.Context, f func(server *postgres.Server) error) (err error) {
	server, err := postgres.Start(ctx)
	if err != nil {
		return fmt.Errorf("%w; run .ci/install", err)
	}
	defer func() { err = errors.Join(err, server.Remove(context.WithoutCancel(ctx))) }()
	return f(server)
}
