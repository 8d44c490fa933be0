package cli

import (
	"context"
	"log/slog"

	"toolcrib/server"
	"toolcrib/server/run"
	"toolcrib/workspace"
)

// Auditor keeps the records of a server.
type Auditor interface {
	run.Recorder
	Refused(r server.Refusal)
	Close() error
}

func (a *auditor) Refused(r server.Refusal) { a.refused(r) }
func (a *auditor) Close() error             { return a.close() }

// OpenAudit opens the audit log of a configuration.
func OpenAudit(ctx context.Context, cfg server.Config, ws *workspace.Workspace) (Auditor, error) {
	return openAudit(ctx, cfg, ws, slog.New(slog.DiscardHandler), (&Process{}).redactor(cfg))
}

// ClientFile returns the file of a client in a scope on a system, for a home
// directory and an environment.
func ClientFile(id, s, goos, home string, getenv func(string) string) (string, error) {
	c, err := findClient(id)
	return c.file(scope(s), places{goos, home, getenv}, "project"), err
}
