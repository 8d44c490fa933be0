package app

import (
	"context"
	"errors"
	"log/slog"

	"toolcrib/server/config"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
	"toolcrib/workspace"
)

// Offered carries out a command of a category on roots, in the name of the local user.
func (p *Process) Offered(ctx context.Context, cfg config.Config, roots []string, c tools.UserCommand, args []string) error {
	if faults := p.Faults(cfg); len(faults) > 0 {
		return faults[0]
	}
	opt, err := cfg.Workspace()
	if err != nil {
		return &config.UsageError{Err: err, Hint: "toolcrib " + c.Name + " --state-dir=DIR"}
	}
	ws, err := workspace.Open(roots, opt)
	if err != nil {
		return config.BadRoot(err)
	}
	p.Apply(cfg, ws.Roots(), slog.New(slog.DiscardHandler), p.Redactor(cfg))
	ctx = tools.WithSession(ctx, &tools.SessionInfo{
		Principal: tools.Local, Workspace: ws, Client: tools.Client{Name: "toolcrib " + c.Name, Version: p.Version}, Once: true,
	})
	err = c.Run(ctx, args, p.Stdin, p.Stdout)
	if usage, ok := errors.AsType[*tools.UsageError](err); ok {
		err = config.Usagef(usage.Hint, "%s", usage.Msg)
	}
	return errors.Join(err, catalog.Close(p.Categories), ws.Close())
}
