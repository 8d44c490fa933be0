package app

import (
	"cmp"
	"errors"
	"log/slog"
	"net"

	"toolcrib/server/config"
	"toolcrib/server/identity"
	"toolcrib/server/rules"
	"toolcrib/server/run"
	"toolcrib/workspace"
	"toolcrib/workspace/redact"
)

// checked holds the compiled parts of a valid configuration.
type checked struct {
	hooks  run.Hooks
	rules  *rules.Set
	limits run.Limiter
	key    []byte
}

// validate refuses every configuration with which a server cannot start on any machine,
// but for its choice of tools, which [config.Env.Select] refuses. The start and a reload both
// use it. Its error is a [config.KeyError].
func (p *Process) validate(cfg config.Config, redactor *redact.Redactor, log *slog.Logger) (checked, error) {
	c, faults := p.check(cfg, redactor, log)
	if len(faults) > 0 {
		return checked{}, faults[0]
	}
	return c, nil
}

// Faults returns all for which no server starts with a configuration.
func (p *Process) Faults(cfg config.Config) []error {
	_, faults := p.check(cfg, p.Redactor(cfg), slog.New(slog.DiscardHandler))
	if _, err := p.Select(cfg); err != nil {
		faults = append(faults, fault("", "", err))
	}
	return faults
}

// check reads a configuration and returns all for which [Process.validate] refuses it.
func (p *Process) check(cfg config.Config, redactor *redact.Redactor, log *slog.Logger) (c checked, faults []error) {
	for _, check := range []struct {
		key string
		do  func() error
	}{
		{"log_level", func() error { _, err := cfg.Level(); return err }},
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
		{"http", func() error { return checkHTTP(cfg) }},
		{"allow_host", func() error { return checkNames(cfg) }},
		{"token", func() error { return checkToken(cfg) }},
		{"auth", func() error { return checkAuth(cfg) }},
		{"metrics", func() error { return checkMetrics(cfg) }},
	} {
		if err := check.do(); err != nil {
			faults = append(faults, fault(check.key, "", err))
		}
	}
	for _, wrong := range cfg.Check(p.Machine()) {
		faults = append(faults, fault(wrong.Key, wrong.Hint, wrong.Err))
	}
	return c, faults
}

// fault returns the error of a key, always with a hint.
func fault(key, hint string, err error) error {
	if _, ok := errors.AsType[*config.UsageError](err); !ok {
		err = &config.UsageError{Err: err, Hint: cmp.Or(hint, "see toolcrib help serve for the settings")}
	}
	if setting, ok := errors.AsType[*identity.SettingError](err); ok {
		err = &config.KeyError{Key: setting.Key, At: setting.At, Err: err}
	}
	if _, ok := errors.AsType[*config.KeyError](err); !ok {
		err = &config.KeyError{Key: key, Err: err}
	}
	return err
}

func checkHTTP(cfg config.Config) error {
	if cfg.HTTP == "" {
		return nil
	}
	return checkAddress("http", cfg.HTTP)
}

// checkToken refuses a token of the environment or of a file that is none.
func checkToken(cfg config.Config) error {
	if cfg.Token == "" {
		return nil
	}
	if err := identity.CheckToken(cfg.Token); err != nil {
		return config.Usagef("openssl rand -hex 32 makes one", "TOOLCRIB_TOKEN: %w", err)
	}
	return nil
}

// checkAuth reads what says who may call, also where a flag is yet to say that the
// server listens.
func checkAuth(cfg config.Config) error {
	if cfg.HTTP == "" && len(cfg.Tokens) == 0 && len(cfg.Scopes) == 0 {
		return nil
	}
	if cfg.Auth == "none" && beyond(cfg.HTTP) {
		return openToAll(cfg)
	}
	_, err := authOf(cfg, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	return err
}
