package cli

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
	"toolcrib/server/daemon"
	"toolcrib/tools"
	"toolcrib/workspace/state"
)

// keeping is a server in the background, as its relays and the server itself know it.
type keeping struct {
	place   *daemon.Dir
	roots   []string
	environ []string // of the keeper
	named   []string // the variables that it is given, as only takes them; nil: all
	dir     string   // where it runs
	args    []string
	given   server.Config // by flags and variables: what a reload leaves as it is
	cfg     server.Config
	keeper  atomic.Pointer[daemon.Daemon]
}

// keeping finds out which keeper the settings are for.
func (p *Process) keeping(l *loaded, given server.Config, roots []string) (*keeping, error) {
	if err := daemon.Supported(); err != nil {
		return nil, &wrongKey{"jobs", "jobs.detach", &usageError{fmt.Errorf("jobs.detach: %w", err), "leave jobs.detach out"}}
	}
	opt, err := l.Containment()
	if err != nil {
		return nil, &wrongKey{"sandbox", "", err}
	}
	k := &keeping{roots: roots, given: given, cfg: l.Config, args: p.Args, environ: p.Environ}
	if names, all := opt.Variables(); !all {
		names = append(names, usedVariables...)
		names = append(names, variables(p.Catalog)...)
		if l.doc != nil {
			names = append(names, l.doc.Variables...)
		}
		k.environ, k.named = only(p.Environ, names), names
	}
	if k.dir, err = k.directory(); err != nil {
		return nil, err
	}
	bases, err := basesOf(l.Config, roots)
	if err != nil {
		return nil, err
	}
	if k.place, err = daemon.Open(bases...); err != nil {
		return nil, &usageError{fmt.Errorf("jobs.detach: %w", err), "name another directory with --state-dir"}
	}
	return k, nil
}

// usedVariables are the variables of the environment that the server itself goes by, or
// gives to hooks.
var usedVariables = []string{
	"LC_*", "TMPDIR", "TEMP", "TMP", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "GIT_CONFIG_GLOBAL",
	"TOOLCRIB_*", "OTEL_*", "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG", "GOTRACEBACK",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
}

// only returns the variables of some names, sorted. A name that ends in * stands for all
// that begin so.
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

// lacks returns the variables that programs are to get and this keeper was not given.
func (k *keeping) lacks(cfg server.Config) []string {
	if k == nil || k.named == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(cfg.Programs.Env), func(name string) bool { return among(name, k.named) })
}

// directory is where the keeper runs: in the first root, unless a setting is a path that
// begins at the current directory.
func (k *keeping) directory() (string, error) {
	for _, o := range options(&k.cfg) {
		if (o.arg == "FILE" || o.arg == "DIR") && o.field.String() != "" && !filepath.IsAbs(o.field.String()) {
			return os.Getwd()
		}
	}
	for _, path := range slices.Concat(k.cfg.Programs.Read, k.cfg.Programs.Hide) {
		if !filepath.IsAbs(path) {
			return os.Getwd()
		}
	}
	return k.roots[0], nil
}

// basesOf returns the directories of state that may hold the keepers of the roots.
func basesOf(cfg server.Config, roots []string) ([]string, error) {
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
		return nil, usagef("name a directory outside of the roots with --state-dir", "jobs.detach: there is no place for state")
	}
	return bases, nil
}

// key is that of the keeper: whoever has another is served by another.
func (k *keeping) key(cfg server.Config) string {
	environ := slices.DeleteFunc(slices.Clone(k.environ), func(v string) bool {
		return strings.HasPrefix(v, "TOOLCRIB_") // they are among the settings, and programs do not get them
	})
	slices.Sort(environ)
	return daemon.Key(moduleVersion(), daemon.World(), k.roots, k.dir, environ, k.given, cfg)
}

// relay lets the keeper serve the client, and starts it where there is none.
func (k *keeping) relay(ctx context.Context, p *Process) error {
	ctx, stop := untilSignal(ctx, true)
	defer stop()
	key := k.key(k.cfg)
	args := k.args
	if len(args) > 0 && args[0] == serveCommand().name {
		args = args[1:]
	}
	j, err := k.place.Join(ctx, key, daemon.Program{Args: slices.Concat([]string{serveCommand().name, "--keeper=" + key}, args), Env: k.environ})
	if said, ok := errors.AsType[*daemon.StartError](err); ok && said.Usage {
		return &usageError{said, said.Hint}
	}
	if err != nil {
		return fmt.Errorf("jobs.detach: %w", err)
	}
	if level, err := k.cfg.Level(); err == nil && level <= 0 {
		fmt.Fprintf(p.Stderr, "served by process %d in the background; its log is %s\n", j.PID, j.Log)
	}
	defer k.passHangups(p, j)()
	return j.Relay(ctx, p.Stdin, p.Stdout)
}

// passHangups lets the keeper read its files again at each SIGHUP until stop is called.
func (k *keeping) passHangups(p *Process, j *daemon.Joined) (stop func()) {
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

// keep is the life of a keeper: serve opens and serves.
func (p *Process) keep(key string, serve func(*daemon.Birth) error) error {
	b, err := daemon.Born(key, daemon.Program{Args: p.Args, Env: p.Environ})
	if errors.Is(err, daemon.ErrHandedOn) {
		return nil
	}
	if err != nil {
		return usagef("toolcrib help serve", "--keeper: %w", err)
	}
	p.Stderr = daemon.NewLog(os.Stderr)
	err = serve(b)
	if err != nil {
		why := daemon.StartError{Msg: err.Error()}
		if usage, ok := errors.AsType[*usageError](err); ok {
			why.Usage, why.Hint = true, usage.hint
		}
		b.Fail(why)
	}
	return err
}

// told is what models are told of it.
func (k *keeping) told(enabled []tools.Tool) string {
	if k == nil {
		return ""
	}
	return server.Outlasting(enabled)
}

// settle makes this process the keeper that the relay has asked for, unless it has other
// settings than the relay: then a file was changed meanwhile.
func (k *keeping) settle(asked string) error {
	if key := k.key(k.cfg); key != asked {
		return errors.New("the settings of the server in the background are not those of its client: a file has changed meanwhile; start it again")
	}
	return os.Chdir(k.dir)
}

// serve serves relays until ctx ends or nobody needs the keeper any more.
func (k *keeping) serve(ctx context.Context, srv *server.Server, e *engine, birth *daemon.Birth) error {
	keeps, err := birth.Listen(k.place, daemon.Options{
		Roots: k.roots, Log: e.log,
		Load: func() daemon.Load { return daemon.Load(e.programs.Load()) },
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
	k.keeper.Store(keeps)
	e.log.Info("keeping", "roots", k.roots)
	return keeps.Serve(ctx, birth)
}

// rekey has the keeper joined by those who have the settings that it has now.
func (k *keeping) rekey(cfg server.Config) error {
	if keeps := k.keeper.Load(); keeps != nil {
		return keeps.Rekey(context.Background(), k.key(cfg))
	}
	return nil
}
