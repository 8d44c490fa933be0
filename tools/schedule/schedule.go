package schedule

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/database"
	"toolcrib/tools/internal/services"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace/redact"
)

// Settings are those of the category.
type Settings struct {
	Schedules Schedules `file:"schedules" help:"schedules: their zone, their number, whether a server stays for them" live:"yes" topic:"schedules"`
}

// Schedules bounds schedules. Zero fields have defaults.
type Schedules struct {
	Zone string `json:"zone,omitempty" jsonschema_description:"IANA zone of times without one, such as Europe/Berlin (default that of the machine)"`
	Most int    `json:"most,omitempty" jsonschema:"minimum=1,maximum=10000" jsonschema_description:"schedules that a principal may have in a root (default 100)"`
	Keep bool   `json:"keep,omitempty" jsonschema_description:"whether a server in the background, which jobs.detach makes, stays as long as there are schedules (default false)"`
}

// Check returns the errors of the settings.
func (set *Settings) Check(tools.Host) []tools.SettingError {
	if _, err := time.LoadLocation(set.Schedules.Zone); err != nil {
		return []tools.SettingError{{Key: "schedules", Err: errors.New("schedules.zone: " + err.Error())}}
	}
	return nil
}

// Deps is what the tools of the category share in a process.
type Deps struct {
	Caller   tools.Caller
	Database *database.Source
	Settings *tools.SettingsOf[Settings]
	// Now is the clock.
	Now func() time.Time

	*shared
}

// shared is the state of a process.
type shared struct {
	mu       sync.Mutex
	log      *slog.Logger
	redactor *redact.Redactor
	outlasts bool
	keepers  map[string]*keeper // by root
	standing *keeper            // that looks at the clock; nil: this process waits for none
}

// Category returns the tools that run others at their times.
func Category(s *services.Services) tools.Category {
	d := New(s.Caller, s.Database(), time.Now)
	return tools.Category{
		ID: "schedule", Title: "run tools at their times",
		Guide:    "schedule_create runs a tool at its times; schedule_list shows the results",
		Settings: d.Settings, Tools: Tools(d), Sources: Sources(d),
		Start: d.start, Close: d.close, CallsTools: true, Load: d.load, Doctor: d.examine,
	}
}

// New returns the dependencies of the tools. It opens nothing.
func New(caller tools.Caller, source *database.Source, now func() time.Time) Deps {
	d := Deps{Caller: caller, Database: source, Now: now, shared: &shared{keepers: map[string]*keeper{}, log: slog.New(slog.DiscardHandler)}}
	d.Settings = tools.NewSettings(Settings{Schedules: Schedules{Most: 100}}, func(_ Settings, setup tools.Setup) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if setup.Log != nil {
			d.log = setup.Log
		}
		d.redactor, d.outlasts = setup.Redactor, setup.Outlasts
	})
	return d
}

// Tools returns the tools of the category.
func Tools(d Deps) []tools.Tool {
	return []tools.Tool{
		scheduleCreateTool(d),
		scheduleDeleteTool(d),
		scheduleListTool(d),
		scheduleRunTool(d),
	}
}

// start looks at the clock for the schedules of the session in ctx.
func (d Deps) start(ctx context.Context, _ func() bool) (stop func()) {
	s := tools.Session(ctx)
	if s == nil || d.Caller == nil || s.Workspace.StateBase() == "" {
		return func() {}
	}
	k, err := d.keeper(s)
	if err != nil {
		d.log.Warn("schedules do not run", "err", err)
		return func() {}
	}
	d.mu.Lock()
	d.standing = k
	d.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.watch(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

func (d Deps) close() error {
	d.mu.Lock()
	keepers := maps.Clone(d.keepers)
	clear(d.keepers)
	d.standing = nil
	d.mu.Unlock() // runs that unwind take it
	var errs []error
	for _, k := range keepers {
		errs = append(errs, k.engine.Close())
	}
	return errors.Join(errs...)
}

// load says why a server in the background stays.
func (d Deps) load() tools.Load {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.standing == nil || !d.Settings.Now().Schedules.Keep {
		return tools.Load{}
	}
	return tools.Load{Kept: int(d.standing.waiting.Load())}
}

// keeper returns the keeper of the root of a session.
func (d Deps) keeper(s *tools.SessionInfo) (*keeper, error) {
	if s == nil || s.Workspace == nil || d.Database == nil {
		return nil, tools.Errorf(tools.Unavailable, "schedules need a workspace")
	}
	root := s.Workspace.Roots()[0]
	d.mu.Lock()
	defer d.mu.Unlock()
	if k := d.keepers[root]; k != nil {
		return k, nil
	}
	k, err := newKeeper(d, s, root)
	if err != nil {
		return nil, tools.Errorf(tools.Unavailable, "schedules cannot be kept: %v", err).WithHint("start the server with a --state-dir that can be written, outside of its roots")
	}
	d.keepers[root] = k
	return k, nil
}

// redacted returns a text without secrets.
func (d Deps) redacted(text string) string {
	d.mu.Lock()
	r := d.redactor
	d.mu.Unlock()
	if r == nil {
		r = new(redact.Redactor)
	}
	return r.String(text)
}

// zone returns the zone of a name; "" is that of the settings or of the machine.
func (d Deps) zone(name string) (*time.Location, error) {
	if name == "" {
		name = d.Settings.Now().Schedules.Zone
	}
	if name == "" {
		return time.Local, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, tools.Errorf(tools.InvalidArgument, "/zone: %q is not an IANA zone", name).WithHint("such as Europe/Berlin, America/New_York or UTC")
	}
	return zone, nil
}

// serves returns why the schedules of a session would never run, or nil. Servers run those of
// the only user that they have, see [Deps.start]; the local one has other servers too.
func (d Deps) serves(s *tools.SessionInfo) error {
	if s == nil || s.Principal == tools.Local || d.stands(s) {
		return nil
	}
	return tools.Errorf(tools.Unsupported, "schedules of %s would never run: a server with tokens, or with a root for each principal, runs none", s.Principal).
		WithHint("the user can make it over stdio, or on a server with neither")
}

// stands reports whether this process looks at the clock for the schedules of a session.
func (d Deps) stands(s *tools.SessionInfo) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.standing != nil && d.standing.principal == s.Principal && d.standing.store.root == s.Workspace.Roots()[0]
}

// examine says whether schedules can run.
func (d Deps) examine(ctx context.Context) []tools.Finding {
	s := tools.Session(ctx)
	if s.Workspace.StateBase() == "" {
		return nil // that there is no state is told elsewhere
	}
	k, err := d.keeper(s)
	if err == nil && !k.exists() {
		return []tools.Finding{{State: tools.Fine, What: "schedule", Say: "none"}}
	}
	var all []row
	if err == nil {
		all, err = k.store.list(ctx, s.Principal)
	}
	if err == nil {
		err = told(k.engine.Check(ctx))
	}
	if err != nil {
		e := tools.AsError(err)
		return []tools.Finding{{State: tools.Broken, What: "schedule", Say: e.Msg + "; " + e.Hint}}
	}
	waiting := 0
	for _, r := range all {
		if r.Over == "" {
			waiting++
		}
	}
	return []tools.Finding{{State: tools.Fine, What: "schedule", Say: textfile.Count(waiting, "schedule") + "; toolcrib help schedules says what runs them"}}
}
