package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"toolcrib/server"
	"toolcrib/server/audit"
	"toolcrib/server/config"
	"toolcrib/server/records"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/workspace"
	"toolcrib/workspace/redact"
	"toolcrib/workspace/state"
)

// auditFolder is the default directory of the audit log, in the state directory.
const auditFolder = "audit"

// Auditor is the [run.Recorder] of a server: it writes records of the calls, and of
// refused requests, to the audit log.
type Auditor struct {
	*records.Recorder
	log   *audit.Log
	state *state.Dir

	mu       sync.Mutex
	second   int64 // in which refusals were told last
	told     int   // refusals in it
	withheld int   // refusals that were not told
}

// OpenAudit opens the audit log, and returns nil if the configuration wants none. A
// directory inside a root is refused: the tools could change its files.
func (p *Process) OpenAudit(ctx context.Context, cfg config.Config, ws *workspace.Workspace, log *slog.Logger, redactor *redact.Redactor) (_ *Auditor, err error) {
	if !cfg.Audit && cfg.AuditDir == "" {
		return nil, nil
	}
	base := ws.StateBase()
	if base == "" {
		return nil, config.Usagef("name one outside of the roots: --state-dir=DIR", "the audit log wants a state directory, for its key")
	}
	dir, err := filepath.Abs(AuditDir(cfg, base))
	if err != nil {
		return nil, err
	}
	if root := state.Within(dir, ws.Roots()...); root != "" {
		return nil, config.Usagef("toolcrib serve --audit-dir=DIR, outside of the roots", "the audit log %s is inside the root %s, where tools could change it", dir, root)
	}
	a := &Auditor{}
	if a.state, err = state.Shared(base, ws.Roots()...); err != nil {
		return nil, err
	}
	a.log, err = audit.Open(ctx, audit.Options{
		Dir: dir, State: a.state, MaxBytes: int64(cfg.AuditSize) << 20, MaxFiles: cfg.AuditFiles,
		NoSync: cfg.Durable == "false", Redact: redactor.JSON, Digested: tools.Digested(p.Catalog), Log: log,
	})
	if err != nil {
		return nil, config.Usagef("leave --audit out, or name another directory with --audit-dir", "%w", errors.Join(err, a.state.Close()))
	}
	a.Recorder = records.New(a.log, redactor)
	return a, nil
}

// AuditDir returns the directory of the log in the configuration.
func AuditDir(cfg config.Config, base string) string {
	if cfg.AuditDir != "" {
		return cfg.AuditDir
	}
	return filepath.Join(base, auditFolder)
}

// maxRefusals is how many refused requests are recorded per second: a caller that is
// refused must not be able to push the records of others out of the log.
const maxRefusals = 5

// Refused records a request that became no call. A nil Auditor does nothing.
func (a *Auditor) Refused(r server.Refusal) {
	if a == nil {
		return
	}
	now := time.Now()
	a.mu.Lock()
	if now.Unix() != a.second {
		a.second, a.told = now.Unix(), 0
	}
	if a.told == maxRefusals {
		a.withheld++
		a.mu.Unlock()
		return
	}
	a.told++
	withheld := a.withheld
	a.withheld = 0
	a.mu.Unlock()
	rec := run.Record{Time: now, Event: run.EventRefused, Client: r.From, Code: strconv.Itoa(r.Status), Note: r.Why}
	if withheld > 0 {
		rec.Note += fmt.Sprintf(" (and %d refused requests before)", withheld)
	}
	_ = a.Record(rec) // the log says itself that it cannot be written
}

// Close records the calls that have not ended and closes the log.
func (a *Auditor) Close() error {
	a.mu.Lock()
	withheld := a.withheld
	a.mu.Unlock()
	var errs []error
	if withheld > 0 {
		errs = append(errs, a.Record(run.Record{Time: time.Now(), Event: run.EventRefused, Note: fmt.Sprintf("%d refused requests", withheld)}))
	}
	return errors.Join(append(errs, a.Abandon(), a.log.Close(), a.state.Close())...)
}
