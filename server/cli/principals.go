package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"

	"toolcrib/server"
	"toolcrib/server/identity"
	"toolcrib/server/run"
	"toolcrib/workspace"
	"toolcrib/workspace/state"
)

// openRoots prepares the workspaces of principals, which are opened when their first
// request comes.
func openRoots(cfg server.Config, opt workspace.Options, log *slog.Logger) (*identity.Roots, error) {
	roots, err := identity.NewRoots(cfg.PrincipalRoot, func(ctx context.Context, dir string) (*workspace.Workspace, error) {
		ws, err := workspace.Open([]string{dir}, opt)
		if err != nil {
			return nil, err
		}
		if err := holdsAudit(ws, cfg); err != nil {
			return nil, errors.Join(err, ws.Close())
		}
		recoverChanges(ctx, ws, log)
		return ws, nil
	})
	if err != nil {
		return nil, &usageError{err, "toolcrib serve --principal-root='/srv/work/${sub}'"}
	}
	return roots, nil
}

// holdsAudit refuses a workspace that holds the audit log: the tools could change it.
func holdsAudit(ws *workspace.Workspace, cfg server.Config) error {
	if !cfg.Audit && cfg.AuditDir == "" {
		return nil
	}
	dir, err := filepath.Abs(auditDir(cfg, ws.StateBase()))
	if err == nil && state.Within(dir, ws.Roots()...) != "" {
		err = fmt.Errorf("the audit log %s lies inside it", dir)
	}
	return err
}

// shared returns the roots that all clients see; none where each has its own.
func (s *serve) shared(roots []string) []string {
	if s.HTTP != "" && s.PrincipalRoot != "" {
		return nil
	}
	return roots
}

// limiter bounds the calls of principals; nil where no limits are set.
func (p *Process) limiter(cfg server.Config) (run.Limiter, error) {
	const hint = "limits in the configuration file: {rate: 100/s, concurrent: 8, tools: {NAME: {concurrent: 2}}}"
	if reflect.ValueOf(cfg.Limits).IsZero() {
		return nil, nil
	}
	known := names(p.Catalog)
	for name := range cfg.Limits.Tools {
		if !slices.Contains(known, name) {
			return nil, usagef(hint, "limits: no tool is called %q", name)
		}
	}
	l, err := identity.NewLimiter(cfg.Limits, nil)
	if err != nil {
		return nil, &usageError{err, hint}
	}
	return l, nil
}
