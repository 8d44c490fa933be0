package cli

import (
	"log/slog"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"toolcrib/server"
	"toolcrib/server/hooks"
	"toolcrib/server/run"
	"toolcrib/workspace/redact"
)

// hooks returns the hooks of this process, and behind them those of the
// configuration.
func (p *Process) hooks(cfg server.Config, redactor *redact.Redactor, log *slog.Logger) (run.Hooks, error) {
	configured, err := hooks.New(cfg.Hooks, hooks.Options{
		Tools: p.Catalog, Environ: p.Environ, LookPath: p.LookPath, Redactor: redactor, Log: log,
	})
	if err != nil {
		return run.Hooks{}, &usageError{err, "the list of hooks stands in the configuration file"}
	}
	return p.Hooks.Then(configured), nil
}

// logger returns the log of the process, and what takes the secrets of the
// configuration and the environment out of what it writes.
func (p *Process) logger(cfg server.Config, level slog.Leveler) (*slog.Logger, *redact.Redactor) {
	r := p.redactor(cfg)
	log := slog.New(r.Handler(slog.NewTextHandler(p.Stderr, &slog.HandlerOptions{Level: level})))
	if n := r.Ignored(); n > 0 {
		log.Warn("secrets that are too short to be found in other text are not redacted", "secrets", n, "least_bytes", redact.MinKnown)
	}
	return log, r
}

// redactor returns what takes out the secrets of the configuration and of the
// environment, wherever they stand.
func (p *Process) redactor(cfg server.Config) *redact.Redactor {
	known := secretsOf(reflect.ValueOf(cfg))
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

// secretsOf returns the secrets among the fields of a configuration: those that a
// variable sets and no flag.
func secretsOf(cfg reflect.Value) []string {
	var known []string
	for f, field := range cfg.Fields() {
		if f.Tag.Get("env") != "" && f.Tag.Get("flag") == "" && field.Kind() == reflect.String {
			known = append(known, field.String())
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
