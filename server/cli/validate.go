package cli

import (
	"errors"
	"log/slog"
	"net"
	"strings"

	"toolcrib/server"
	"toolcrib/server/identity"
	"toolcrib/server/rules"
	"toolcrib/server/run"
	"toolcrib/server/settings"
	"toolcrib/tools/catalog"
	"toolcrib/workspace"
	"toolcrib/workspace/redact"
)

// wrongKey is what is wrong with the value of a key.
type wrongKey struct {
	key string
	at  string // where below it, "" = the text says so or it is the key itself
	error
}

func (e *wrongKey) Unwrap() error { return e.error }

// checked is what a configuration that stands was read as.
type checked struct {
	hooks   run.Hooks
	rules   *rules.Set
	limits  run.Limiter
	key     []byte
	indexes int64

	contained catalog.Containment // how programs are
	jobs      catalog.JobOptions
}

// validate refuses every configuration with which no server starts, whatever the
// machine: the start and a reload go by it. Its error is a [wrongKey].
func (p *Process) validate(cfg server.Config, redactor *redact.Redactor, log *slog.Logger) (checked, error) {
	c, faults := p.look(cfg, redactor, log)
	if len(faults) > 0 {
		return checked{}, faults[0]
	}
	return c, nil
}

// look reads a configuration and returns all for which [Process.validate] refuses it.
func (p *Process) look(cfg server.Config, redactor *redact.Redactor, log *slog.Logger) (c checked, faults []error) {
	for _, check := range []struct {
		key string
		do  func() error
	}{
		{"log_level", func() error { _, err := cfg.Level(); return err }},
		{"", func() error { _, err := p.selects(cfg); return err }},
		{"index_memory", func() (err error) { c.indexes, err = cfg.IndexBytes(); return err }},
		{"hooks", func() (err error) { c.hooks, err = p.hooks(cfg, redactor, log); return err }},
		{"policy", func() (err error) { c.rules, err = rules.New(cfg.Policy, p.Catalog); return err }},
		{"state_key", func() (err error) { c.key, err = cfg.Key(); return err }},
		{"limits", func() (err error) { c.limits, err = p.limiter(cfg); return err }},
		{"principal_root", func() error {
			roots, err := openRoots(cfg, workspace.Options{}, log)
			if err != nil {
				return err
			}
			return roots.Close()
		}},
		{"programs", func() error { return checkPrograms(cfg) }},
		{"python", func() error { return p.checkPython(cfg) }},
		{"network_hosts", catalog.Containment{Hosts: cfg.NetworkHosts}.Check},
		{"network_private", catalog.Containment{Private: cfg.NetworkPrivate}.Check},
		{"sandbox", func() (err error) { c.contained, err = cfg.Containment(); return err }},
		{"jobs", func() (err error) { c.jobs, err = cfg.JobOptions(); return err }},
		{"http", func() error { return checkHTTP(cfg) }},
		{"allow_host", func() error { return checkNames(cfg) }},
		{"token", func() error { return checkToken(cfg) }},
		{"auth", func() error { return checkAuth(cfg) }},
		{"metrics", func() error { return checkMetrics(cfg) }},
	} {
		err := check.do()
		if err == nil {
			continue
		}
		if _, ok := errors.AsType[*usageError](err); !ok {
			err = &usageError{err, "toolcrib help serve tells of the settings"}
		}
		if setting, ok := errors.AsType[*identity.SettingError](err); ok {
			err = &wrongKey{setting.Key, setting.At, err}
		}
		if _, ok := errors.AsType[*wrongKey](err); !ok {
			err = &wrongKey{check.key, "", err}
		}
		faults = append(faults, err)
	}
	return c, faults
}

func checkHTTP(cfg server.Config) error {
	if cfg.HTTP == "" {
		return nil
	}
	return checkAddress("http", cfg.HTTP)
}

// checkToken refuses a token of the environment or of a file that is none.
func checkToken(cfg server.Config) error {
	if cfg.Token == "" {
		return nil
	}
	if err := identity.CheckToken(cfg.Token); err != nil {
		return usagef("openssl rand -hex 32 makes one", "TOOLCRIB_TOKEN: %w", err)
	}
	return nil
}

// checkAuth reads what says who may call, also where a flag is yet to say that the
// server listens.
func checkAuth(cfg server.Config) error {
	if cfg.HTTP == "" && len(cfg.Tokens) == 0 && len(cfg.Scopes) == 0 {
		return nil
	}
	if cfg.Auth == "none" && beyond(cfg.HTTP) {
		return openToAll(cfg)
	}
	_, err := authOf(cfg, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	return err
}

// place says where in the user's file a [wrongKey] stands, if that has set it.
func (l *loaded) place(err error) error {
	wrong, ok := errors.AsType[*wrongKey](err)
	if !ok || l.doc == nil || l.from[wrong.key] != l.doc.Where(wrong.key) {
		return err
	}
	at, text := wrong.key, wrong.Error()
	if l.doc.Has(wrong.at) {
		return wrongFile(settings.Problems{l.doc.Problem(wrong.at, "%s", text)})
	}
	// policy[1] (name): tool: what is wrong
	if item, rest, ok := strings.Cut(text, ": "); ok {
		item, _, _ = strings.Cut(item, " (")
		if l.doc.Has(item) {
			at, text = item, rest
		}
		if field, rest, ok := strings.Cut(text, ": "); ok && l.doc.Has(at+"."+field) {
			at, text = at+"."+field, rest
		}
	}
	return wrongFile(settings.Problems{l.doc.Problem(at, "%s", text)})
}
