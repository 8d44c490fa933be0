package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"

	"toolcrib/server/config"
	"toolcrib/server/identity"
	"toolcrib/server/run"
	"toolcrib/tools/catalog"
	"toolcrib/workspace"
	"toolcrib/workspace/state"
)

// openRoots prepares the workspaces of principals, which are opened when their first
// request comes.
func openRoots(cfg config.Config, opt workspace.Options, log *slog.Logger) (*identity.Roots, error) {
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
		return nil, &config.UsageError{Err: err, Hint: "toolcrib serve --principal-root='/srv/work/${sub}'"}
	}
	return roots, nil
}

// holdsAudit refuses a workspace that holds the audit log: the tools could change it.
func holdsAudit(ws *workspace.Workspace, cfg config.Config) error {
	if !cfg.Audit && cfg.AuditDir == "" {
		return nil
	}
	dir, err := filepath.Abs(AuditDir(cfg, ws.StateBase()))
	if err == nil && state.Within(dir, ws.Roots()...) != "" {
		err = fmt.Errorf("the audit log %s is inside it", dir)
	}
	return err
}

// shared returns the roots that all clients see; none where each has its own.
func shared(cfg config.Config, roots []string) []string {
	if cfg.HTTP != "" && cfg.PrincipalRoot != "" {
		return nil
	}
	return roots
}

// limiter bounds the calls of principals; nil if no limits are set.
func (p *Process) limiter(cfg config.Config) (run.Limiter, error) {
	const hint = "limits in the configuration file: {rate: 100/s, concurrent: 8, tools: {NAME: {concurrent: 2}}}"
	if reflect.ValueOf(cfg.Limits).IsZero() {
		return nil, nil
	}
	for name := range cfg.Limits.Tools {
		if tool, ok := catalog.Find(p.Catalog, name); !ok || tool.Name != name {
			return nil, config.Usagef(hint, "limits: no tool is called %q", name)
		}
	}
	l, err := identity.NewLimiter(cfg.Limits, nil)
	if err != nil {
		return nil, &config.UsageError{Err: err, Hint: hint}
	}
	return l, nil
}
