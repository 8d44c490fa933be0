package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"toolcrib/server"
	"toolcrib/server/config"
	"toolcrib/server/daemon"
	"toolcrib/tools/catalog"
	"toolcrib/workspace/state"
)

// Background is a server in the background, as its relays and the server itself know it.
type Background struct {
	version string
	state   *daemon.Dir
	roots   []string
	environ []string // of the daemon
	named   []string // the variables that it is given, as only takes them; nil: all
	dir     string   // where it runs
	args    []string
	given   config.Config // set by flags and variables: a reload does not change it
	cfg     config.Config
	birth   *daemon.Birth // nil in a relay
	daemon  atomic.Pointer[daemon.Daemon]
}

// Background finds the daemon that the settings are for; given has the settings from
// flags and variables.
func (p *Process) Background(l *config.Loaded, given config.Config, roots []string) (*Background, error) {
	if err := daemon.Supported(); err != nil {
		return nil, &config.KeyError{Key: "jobs", At: "jobs.detach", Err: &config.UsageError{Err: fmt.Errorf("jobs.detach: %w", err), Hint: "leave jobs.detach out"}}
	}
	b := &Background{version: p.Version, roots: roots, given: given, cfg: l.Config, args: p.Args, environ: p.Environ}
	if names, all := l.Variables(); !all {
		names = append(names, usedVariables...)
		names = append(names, p.Variables()...)
		if l.Doc != nil {
			names = append(names, l.Doc.Variables...)
		}
		b.environ, b.named = only(p.Environ, names), names
	}
	var err error
	if b.dir, err = b.directory(); err != nil {
		return nil, err
	}
	bases, err := StateBases(l.Config, roots)
	if err != nil {
		return nil, err
	}
	if b.state, err = daemon.Open(bases...); err != nil {
		return nil, &config.UsageError{Err: fmt.Errorf("jobs.detach: %w", err), Hint: "name another directory with --state-dir"}
	}
	return b, nil
}

// usedVariables are the variables of the environment that the server itself goes by, or
// gives to hooks.
var usedVariables = []string{
	"LC_*", "TMPDIR", "TEMP", "TMP", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "GIT_CONFIG_GLOBAL",
	"TOOLCRIB_*", "OTEL_*", "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG", "GOTRACEBACK",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
}

// only returns the variables with these names, sorted. A name that ends in * selects all
// variables with that prefix.
func only(environ, names []string) []string {
	kept := map[string]string{}
	for _, entry := range environ {
		if name, _, _ := strings.Cut(entry, "="); among(name, names) {
			kept[name] = entry // the last one counts
		}
	}
	list := make([]string, 0, len(kept))
	for _, entry := range kept {
		list = append(list, entry)
	}
	slices.Sort(list)
	return list
}

// among reports whether a name is one of those that only takes.
func among(name string, names []string) bool {
	return slices.ContainsFunc(names, func(want string) bool {
		prefix, open := strings.CutSuffix(want, "*")
		return name == want || open && strings.HasPrefix(name, prefix)
	})
}

// lacks returns the variables that programs are to get and this daemon was not given.
func (b *Background) lacks(cfg config.Config) []string {
	if b == nil || b.named == nil {
		return nil
	}
	names, _ := cfg.Variables()
	return slices.DeleteFunc(names, func(name string) bool { return among(name, b.named) })
}

// directory is where the daemon runs: in the first root, unless a setting is a path that
// begins at the current directory.
func (b *Background) directory() (string, error) {
	for _, o := range config.Options(&b.cfg) {
		if (o.Arg == "FILE" || o.Arg == "DIR") && o.Field.String() != "" && !filepath.IsAbs(o.Field.String()) {
			return os.Getwd()
		}
	}
	return b.roots[0], nil
}

// StateBases returns the directories of state that may hold the daemons of the roots.
func StateBases(cfg config.Config, roots []string) ([]string, error) {
	opt, err := cfg.Workspace()
	if err != nil {
		return nil, err
	}
	bases := append([]string{opt.StateBase}, opt.StateDefaults...)
	if fallback := state.FallbackBase(); fallback != "" {
		bases = append(bases, fallback)
	}
	bases = slices.DeleteFunc(bases, func(base string) bool { return base == "" || state.Within(base, roots...) != "" })
	if len(bases) == 0 {
		return nil, config.Usagef("name a directory outside of the roots with --state-dir", "jobs.detach: there is no place for state")
	}
	return bases, nil
}

// key is that of the daemon: a client with another is served by another.
func (b *Background) key(cfg config.Config) string {
	environ := slices.DeleteFunc(slices.Clone(b.environ), func(v string) bool {
		return strings.HasPrefix(v, "TOOLCRIB_") // they are among the settings, and programs do not get them
	})
	slices.Sort(environ)
	return daemon.Key(b.version, daemon.World(), b.roots, b.dir, environ, b.given, cfg)
}

// Relay connects the client to the daemon. If there is none, it starts one with the
// command serve and the flag --daemon.
func (b *Background) Relay(ctx context.Context, p *Process) error {
	ctx, stop := UntilSignal(ctx, true)
	defer stop()
	const command = "serve"
	key := b.key(b.cfg)
	args := b.args
	if len(args) > 0 && args[0] == command {
		args = args[1:]
	}
	j, err := b.state.Join(ctx, key, daemon.Program{Args: slices.Concat([]string{command, "--daemon=" + key}, args), Env: b.environ})
	if said, ok := errors.AsType[*daemon.StartError](err); ok && said.Usage {
		return &config.UsageError{Err: said, Hint: said.Hint}
	}
	if err != nil {
		return fmt.Errorf("jobs.detach: %w", err)
	}
	if level, err := b.cfg.Level(); err == nil && level <= 0 {
		fmt.Fprintf(p.Stderr, "served by process %d in the background; its log is %s\n", j.PID, j.Log)
	}
	defer b.passHangups(p, j)()
	return j.Relay(ctx, p.Stdin, p.Stdout)
}

// passHangups lets the daemon read its files again at each SIGHUP until stop is called.
func (b *Background) passHangups(p *Process, j *daemon.Joined) (stop func()) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	go func() {
		for range hangup {
			if err := j.Reload(); err != nil {
				fmt.Fprintln(p.Stderr, "toolcrib: warning: the server in the background does not read its files again:", err)
			}
		}
	}()
	return func() {
		signal.Stop(hangup)
		close(hangup)
	}
}

// AsDaemon makes this process the server in the background of a key; open opens it and
// serves.
func (p *Process) AsDaemon(key string, open func(*daemon.Birth) error) error {
	birth, err := daemon.Born(key, daemon.Program{Args: p.Args, Env: p.Environ})
	if errors.Is(err, daemon.ErrHandedOn) {
		return nil
	}
	if err != nil {
		return config.Usagef("toolcrib help serve", "--daemon: %w", err)
	}
	p.Stderr = daemon.NewLog(os.Stderr)
	err = open(birth)
	if err != nil {
		why := daemon.StartError{Msg: err.Error()}
		if usage, ok := errors.AsType[*config.UsageError](err); ok {
			why.Usage, why.Hint = true, usage.Hint
		}
		birth.Fail(why)
	}
	return err
}

// Become makes this process the daemon that the relay has asked for, unless its settings
// differ from those of the relay because a file was changed meanwhile.
func (b *Background) Become(birth *daemon.Birth) error {
	if key := b.key(b.cfg); key != birth.Key() {
		return errors.New("the settings of the server in the background are not those of its client: a file has changed meanwhile; start it again")
	}
	b.birth = birth
	return os.Chdir(b.dir)
}

// serve serves relays until ctx ends or nobody needs the daemon any more.
func (b *Background) serve(ctx context.Context, srv *server.Server, e *Engine) error {
	keeps, err := b.birth.Listen(b.state, daemon.Options{
		Roots: b.roots, Log: e.log,
		Load: func() daemon.Load { return daemon.Load(catalog.Load(e.categories)) },
		Serve: func(ctx context.Context, c *daemon.Client) {
			if err := srv.ServePeer(ctx, c, c, c.Gone()); err != nil {
				e.log.Info("a client has ended", "err", err)
			}
		},
		Idle: debug.FreeOSMemory,
	})
	if err != nil {
		return err
	}
	b.daemon.Store(keeps)
	e.log.Info("keeping", "roots", b.roots)
	return keeps.Serve(ctx, b.birth)
}

// rekey has the daemon joined by those who have the settings that it has now.
func (b *Background) rekey(cfg config.Config) error {
	if keeps := b.daemon.Load(); keeps != nil {
		return keeps.Rekey(context.Background(), b.key(cfg))
	}
	return nil
}

// elsewhere returns a line for each job that other processes keep for the same roots.
func elsewhere(cfg config.Config, roots []string) (lines []string) {
	dirs, err := Daemons(cfg)
	if err != nil { // a system without daemons, or without a place for state
		return nil
	}
	where := ""
	if cfg.StateDir != "" {
		where = " --state-dir " + config.ShellWord(cfg.StateDir)
	}
	ours := resolved(roots)
	for _, dir := range dirs {
		for _, other := range dir.List() {
			if other.PID == os.Getpid() || other.Load.Running == 0 || !slices.Equal(resolved(other.Roots), ours) {
				continue
			}
			run := "1 more runs"
			if other.Load.Running > 1 {
				run = fmt.Sprintf("%d more run", other.Load.Running)
			}
			lines = append(lines, fmt.Sprintf("%s in the server of other settings, process %d; the user ends them by: toolcrib detached%s stop %[2]d", run, other.PID, where))
		}
	}
	return lines
}

// resolved returns directories without links, sorted, as far as they exist.
func resolved(dirs []string) []string {
	list := slices.Clone(dirs)
	for i, dir := range list {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			list[i] = real
		}
	}
	slices.Sort(list)
	return list
}

// Daemons returns the directories in which servers in the background of this user may be.
func Daemons(cfg config.Config) ([]*daemon.Dir, error) {
	if err := daemon.Supported(); err != nil {
		return nil, err
	}
	opt, err := cfg.Workspace()
	if err != nil {
		return nil, err
	}
	bases := append([]string{opt.StateBase}, opt.StateDefaults...)
	bases = append(bases, state.FallbackBase())
	slices.Sort(bases)
	return daemon.Existing(slices.DeleteFunc(slices.Compact(bases), func(base string) bool { return base == "" })...), nil
}
