// Package config has the settings of toolcrib and reads them from their sources: flags,
// environment variables and files.
//
// The settings of a category of tools are a struct of their own, see [tools.Settings],
// which is one of [Config.Categories]. The package
// only reads settings; server/app applies them. It must not import package server or a
// category. Start at [Config], then [Env.Sources] and [Sources.Read].
package config

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"

	"toolcrib/server/hooks"
	"toolcrib/server/identity"
	"toolcrib/server/rules"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
	"toolcrib/workspace"
	"toolcrib/workspace/state"
)

// Config holds the settings that the user can choose when toolcrib starts. The zero value
// works. Its tags alone define how a field is set; the command line, its help and the keys
// of configuration files are derived from them:
//
//	flag    name of the flag, without dashes; a secret has none, since command
//	        lines can be seen by others
//	env     variable of the environment; the flag beats it, an empty one is unset
//	file    key in the file of configuration, which both beat; without it the key is the
//	        flag with _ for -; "-" = no file sets it
//	arg     name of the value in the help; a bool has none
//	values  the allowed values, comma separated
//	help    the purpose, in one line
//	topic   page of the help that it belongs to, with those after it up to the next topic
//	default word for the zero value, if there is one
//	narrow  how the file of a workspace may narrow it, see settings.Document.Narrow;
//	        without it, not at all
//	live    "yes": a reload changes it while the server runs; "no" below one that has it:
//	        but not this
//
// Lists are comma separated. A repeated list flag adds to the list.
type Config struct {
	File string `flag:"config" env:"TOOLCRIB_CONFIG" file:"-" arg:"FILE" help:"file of configuration in YAML, outside of the roots (default toolcrib/config.yaml in the user's configuration directory, where there is one)" topic:"configuration"`
	// OwnFiles are those that the settings and their secrets were read from, by absolute
	// paths. No flag, variable or file sets it.
	OwnFiles []string `file:"-"`

	catalog.Selection

	AllowProtected bool   `flag:"allow-protected" env:"TOOLCRIB_ALLOW_PROTECTED" help:"let tools write what programs run or obey: hooks and configuration of git, configuration of agents" narrow:"false" topic:"files"`
	Durable        string `flag:"durable" env:"TOOLCRIB_DURABLE" arg:"BOOL" values:"true,false" help:"whether a change waits until it is on the disk; false is faster, and a loss of power may cost the last changes (default true)" default:"true"`

	Policy   []rules.Rule `file:"policy" help:"rules that say which calls are allowed, asked about or denied, before the default table; toolcrib help policy explains them" narrow:"append verdict=deny" live:"yes" topic:"policy"`
	StateKey string       `env:"TOOLCRIB_STATE_KEY" file:"state_key" arg:"KEY" help:"key that seals what waits for a user's answer, 32 bytes in hex or base64; with the same key, replicas take each other's answers (default a random one of this process)"`

	Confirm      run.Confirm `flag:"confirm" env:"TOOLCRIB_CONFIRM" arg:"HOW" values:"ask,client,deny" help:"what happens where the user is to be asked: ask sends a form, and refuses if the client shows none; client sends no form and trusts the client's own prompt; deny refuses (default ask)" default:"ask" narrow:"order=client,ask,deny" live:"yes"`
	HTTP         string      `flag:"http" env:"TOOLCRIB_HTTP" arg:"ADDR" help:"serve streamable HTTP at ADDR, such as 127.0.0.1:8080, in the place of stdin and stdout" topic:"http"`
	Auth         string      `flag:"auth" env:"TOOLCRIB_AUTH" arg:"HOW" values:"token,jwt,none" help:"who may call over HTTP: token wants a bearer token, one of the configuration or one that is made and shown at the start; jwt wants a token that --issuer has signed; none lets every program of this machine call (default token)" default:"token"`
	Token        string      `env:"TOOLCRIB_TOKEN" arg:"TOKEN" help:"the bearer token, where it shall outlast a start"`
	AllowHosts   []string    `flag:"allow-host" env:"TOOLCRIB_ALLOW_HOST" arg:"NAMES" help:"names by which clients may call over HTTP, in addition to localhost and addresses: those of a proxy before the server"`
	AllowOrigins []string    `flag:"allow-origin" env:"TOOLCRIB_ALLOW_ORIGIN" arg:"ORIGINS" help:"web origins such as https://example.com whose pages may call over HTTP"`

	Issuer        string           `flag:"issuer" env:"TOOLCRIB_ISSUER" arg:"URL" help:"whose tokens --auth=jwt takes: the claim iss, to the letter"`
	Audience      string           `flag:"audience" env:"TOOLCRIB_AUDIENCE" arg:"TEXT" help:"what the claim aud of such a token must hold (default the public URL)"`
	JWKSURL       string           `flag:"jwks-url" env:"TOOLCRIB_JWKS_URL" arg:"URL" help:"where the issuer has its keys (default where its metadata says)"`
	PublicURL     string           `flag:"public-url" env:"TOOLCRIB_PUBLIC_URL" arg:"URL" help:"the URL by which clients call over HTTP, if there is a proxy before the server"`
	PrincipalRoot string           `flag:"principal-root" env:"TOOLCRIB_PRINCIPAL_ROOT" expand:"-" arg:"DIR" help:"the directory of each principal over HTTP, such as /srv/work/${sub}, in the place of those that all share: ${sub} is the subject or the name of its token, ${iss} its issuer; it is made where it is missing"`
	Algorithms    []string         `file:"algorithms" jsonschema:"minItems=1" help:"algorithms of the signatures of tokens (default RS256, PS256, ES256, EdDSA)"`
	Limits        identity.Limits  `file:"limits" help:"how much each principal may call, in a time and at once"`
	Tokens        []identity.Token `file:"tokens" help:"static tokens with names; toolcrib token new NAME makes one"`
	Scopes        identity.Scopes  `file:"scopes" help:"what the scopes of tokens let be called (default tools:read, tools:write, tools:exec, tools:external, tools:all)"`

	// Categories are the settings of the categories, each a pointer to a struct that the
	// Settings of one have made, in the catalog's order.
	Categories []any `sections:"yes"`

	Hooks []hooks.Spec `file:"hooks" help:"what looks at calls: commands, addresses and built-in hooks, in this order" live:"yes" topic:"hooks"`

	Metrics      string `flag:"metrics" env:"TOOLCRIB_METRICS" arg:"ADDR" help:"serve metrics for Prometheus at http://ADDR/metrics, such as 127.0.0.1:9464 (default not)" topic:"metrics"`
	MetricsToken string `env:"TOOLCRIB_METRICS_TOKEN" arg:"TOKEN" help:"the bearer token that the page of metrics wants; beyond this machine there must be one"`

	Tool map[string]ToolSettings `file:"tool" help:"settings of single tools, by name" narrow:"each" live:"yes" topic:"tools"`

	LogLevel     string           `flag:"log-level" env:"TOOLCRIB_LOG_LEVEL" arg:"LEVEL" values:"debug,info,warn,error" help:"how much is logged on stderr (default warn)" default:"warn" live:"yes" topic:"configuration"`
	Audit        bool             `flag:"audit" env:"TOOLCRIB_AUDIT" help:"keep a log of every call, chained by a key so that any change of it shows, in the state directory; toolcrib audit shows and verifies it" topic:"audit"`
	AuditDir     string           `flag:"audit-dir" env:"TOOLCRIB_AUDIT_DIR" arg:"DIR" help:"keep the audit log there, outside of the roots; no --audit is needed then"`
	AuditSize    int              `file:"audit_size" jsonschema:"minimum=1,maximum=1048576" help:"size of a file of the audit log, in MB (default 16)"`
	AuditFiles   int              `file:"audit_files" jsonschema:"minimum=1" help:"files of the audit log that are kept; the oldest goes when there are more (default 16)"`
	AuditFailure run.AuditFailure `file:"audit_failure" values:"deny,allow" help:"what happens to a call with effects while the audit log cannot be written: deny refuses it, allow lets it go on; calls that only read go on in any case (default deny)" default:"deny" live:"yes"`
	StateDir     string           `flag:"state-dir" env:"TOOLCRIB_STATE_DIR" arg:"DIR" help:"where history and other state is kept, outside of the roots (default toolcrib in the user's state directory; if that is inside a root, toolcrib-UID in /var/tmp)" topic:"files"`
}

// New returns a configuration in which nothing is set.
func New(categories []tools.Category) Config {
	var c Config
	c.Add(categories)
	return c
}

// Add gives a configuration that has none the settings of the categories.
func (c *Config) Add(categories []tools.Category) {
	c.Categories = nil
	for _, category := range categories {
		if category.Settings != nil {
			c.Categories = append(c.Categories, category.Settings.New())
		}
	}
}

// Clone returns a copy whose settings of categories are its own.
func (c Config) Clone() Config {
	c.Categories = slices.Clone(c.Categories)
	for i, section := range c.Categories {
		v := reflect.New(reflect.TypeOf(section).Elem())
		v.Elem().Set(reflect.ValueOf(section).Elem())
		c.Categories[i] = v.Interface()
	}
	return c
}

// Apply puts the settings of the categories to work.
func (c Config) Apply(categories []tools.Category, setup tools.Setup) {
	for _, section := range c.Categories {
		if s, ok := section.(interface{ Reads() []string }); ok {
			setup.Read = append(setup.Read, s.Reads()...)
		}
	}
	sections := c.Categories
	for _, category := range categories {
		if category.Settings != nil {
			category.Settings.Apply(sections[0], setup)
			sections = sections[1:]
		}
	}
}

// Check returns the errors in the settings of the categories.
func (c Config) Check(host tools.Host) (wrong []tools.SettingError) {
	for _, section := range c.Categories {
		if s, ok := section.(interface {
			Check(tools.Host) []tools.SettingError
		}); ok {
			wrong = append(wrong, s.Check(host)...)
		}
	}
	return wrong
}

// Outlasts reports whether programs that the tools start must outlast the client.
func (c Config) Outlasts() bool {
	return slices.ContainsFunc(c.Categories, func(section any) bool {
		s, ok := section.(interface{ Outlasts() bool })
		return ok && s.Outlasts()
	})
}

// Variables returns the variables of the environment that programs of tools get, or that
// they get all.
func (c Config) Variables() (names []string, all bool) {
	for _, section := range c.Categories {
		if s, ok := section.(interface{ Variables() ([]string, bool) }); ok {
			more, every := s.Variables()
			names, all = append(names, more...), all || every
		}
	}
	return names, all
}

// Host returns the machine as tools find it by these settings: some name the program that
// is to be started in the place of another, and some have what a tool needs.
func (c Config) Host(machine tools.Host) tools.Host {
	look := machine.LookPath
	machine.LookPath = func(file string) (string, error) {
		for _, section := range c.Categories {
			if s, ok := section.(interface{ Program(string) string }); ok {
				file = s.Program(file)
			}
		}
		return look(file)
	}
	machine.Has = func(setting string) bool {
		return slices.ContainsFunc(c.Categories, func(section any) bool {
			s, ok := section.(interface{ Has(string) bool })
			return ok && s.Has(setting)
		})
	}
	return machine
}

// Level returns the least level that is logged. Its error names a level that
// does not exist.
func (c Config) Level() (slog.Level, error) {
	if c.LogLevel == "" {
		return slog.LevelWarn, nil
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return 0, fmt.Errorf("no log level is called %q", c.LogLevel)
	}
	return level, nil
}

// Key returns the key that seals states, nil if none is set. Its error does not show the
// value.
func (c Config) Key() ([]byte, error) {
	if c.StateKey == "" {
		return nil, nil
	}
	const size = 32
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString, base64.StdEncoding.DecodeString, base64.URLEncoding.DecodeString, base64.RawStdEncoding.DecodeString, base64.RawURLEncoding.DecodeString,
	} {
		if key, err := decode(c.StateKey); err == nil && len(key) == size {
			return key, nil
		}
	}
	return nil, errors.New("the state key is not 32 bytes in hex or base64; make one by: openssl rand -hex 32")
}

// Workspace returns how the roots are opened. Its error says that a relative
// StateDir has no place, or that this user has none for state.
func (c Config) Workspace() (workspace.Options, error) {
	opt := workspace.Options{NoSync: c.Durable == "false", AllowProtected: c.AllowProtected}
	var err error
	if c.StateDir == "" {
		opt.StateDefaults, err = state.DefaultBases()
	} else {
		opt.StateBase, err = filepath.Abs(c.StateDir)
	}
	return opt, err
}

// Wants reports whether the configuration names the tool.
func (c Config) Wants(t tools.Tool) bool {
	return slices.ContainsFunc(c.Tools, func(name string) bool {
		return name == t.Name || slices.Contains(t.Aliases, name)
	})
}
