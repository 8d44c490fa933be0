package app

import (
	"log/slog"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"toolcrib/server/config"
	"toolcrib/server/config/settings"
	"toolcrib/server/hooks"
	"toolcrib/server/run"
	"toolcrib/workspace/redact"
)

// hooks returns the hooks of this process, and behind them those of the
// configuration.
func (p *Process) hooks(cfg config.Config, redactor *redact.Redactor, log *slog.Logger) (run.Hooks, error) {
	configured, err := hooks.New(cfg.Hooks, hooks.Options{
		Tools: p.Catalog, Environ: p.Environ, LookPath: p.LookPath, Redactor: redactor, Log: log,
	})
	if err != nil {
		return run.Hooks{}, &config.UsageError{Err: err, Hint: "hooks are set in the configuration file"}
	}
	return p.Hooks.Then(configured), nil
}

// logger returns the log of the process, and the Redactor that takes the secrets of the
// configuration and the environment out of it.
func (p *Process) logger(cfg config.Config, level slog.Leveler) (*slog.Logger, *redact.Redactor) {
	r := p.Redactor(cfg)
	log := slog.New(r.Handler(slog.NewTextHandler(p.Stderr, &slog.HandlerOptions{Level: level})))
	if n := r.Ignored(); n > 0 {
		log.Warn("secrets that are too short to be found in other text are not redacted", "secrets", n, "least_bytes", redact.MinKnown)
	}
	return log, r
}

// Redactor returns a function that removes the secrets of the configuration and of the
// environment from texts.
func (p *Process) Redactor(cfg config.Config) *redact.Redactor {
	known := secretsOf(cfg)
	for _, h := range cfg.Hooks {
		for name, value := range h.Env {
			if secretVariable(name) {
				known = append(known, value)
			}
		}
		for name, value := range h.Header {
			if _, credentials, ok := strings.Cut(value, " "); ok && redact.SecretName(name) {
				value = credentials
			}
			if redact.SecretName(name) || secretVariable(strings.ReplaceAll(name, "-", "_")) {
				known = append(known, value)
			}
		}
	}
	for _, entry := range p.Environ {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case secretVariable(name) && len(value) >= redact.MinKnown: // many short ones are no secrets
			known = append(known, value)
		case strings.Contains(value, "://"):
			if u, err := url.Parse(value); err == nil && u.User != nil {
				if password, ok := u.User.Password(); ok && len(password) >= redact.MinKnown {
					known = append(known, password)
				}
			}
		}
	}
	return redact.New(known)
}

// secretsOf returns the secrets among the fields of a configuration.
func secretsOf(cfg config.Config) []string {
	var known []string
	for _, f := range settings.Fields(&cfg) {
		if f.Secret() && f.Value.Kind() == reflect.String {
			known = append(known, f.Value.String())
		}
	}
	return known
}

// secretVariable reports whether a variable of the environment holds a secret, by
// its name.
func secretVariable(name string) bool {
	name = strings.ToUpper(name)
	ends := []string{"_TOKEN", "_KEY", "_SECRET", "PASSWORD", "PASSWD", "_PASS", "_PAT", "_CREDENTIALS", "_PASSPHRASE"}
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) }) || redact.SecretName(name)
}
