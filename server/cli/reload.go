package cli

import (
	"os"
	"os/signal"
	"reflect"
	"strings"
	"syscall"

	"toolcrib/server"
	"toolcrib/server/settings"
)

// reloading brings what has changed in the files of configuration into a server that
// runs. Calls in flight go on as they began.
type reloading struct {
	*serve // its Config is the one that the server runs with
	p      *Process
	from   *sources
	engine *engine
	srv    *server.Server
	keeps  *keeping // nil: this is no keeper
}

// onHangup reloads at each SIGHUP until stop is called.
func (r *reloading) onHangup() (stop func()) {
	hangup, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(hangup, syscall.SIGHUP)
	go func() {
		defer close(done)
		for range hangup {
			r.reload()
		}
	}()
	return func() {
		signal.Stop(hangup)
		close(hangup)
		<-done
	}
}

// reload puts the files to work as they are now. Whatever is wrong with them, nothing
// changes.
func (r *reloading) reload() {
	next, err := r.next()
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			r.engine.log.Error("the configuration is not reloaded", "err", strings.TrimSpace(line))
		}
		return
	}
	if err := r.apply(next); err != nil {
		r.engine.log.Error("the configuration is not reloaded", "err", err)
		return
	}
	r.engine.log.Warn("the configuration is reloaded", "listed", len(r.engine.selected.Listed), "enabled", len(r.engine.selected.Enabled))
}

// next returns the settings to run with: what can change from the files, the rest as it
// is.
func (r *reloading) next() (server.Config, error) {
	l, err := r.from.read()
	if err != nil {
		return server.Config{}, err
	}
	if _, err := r.p.validate(l.Config, r.engine.redactor, r.engine.log); err != nil {
		return server.Config{}, l.place(err)
	}
	for _, line := range l.notes {
		r.engine.log.Warn(line)
	}
	next := r.Config
	was, is := settings.Fields(&next), settings.Fields(&l.Config)
	for i, f := range was {
		switch same := reflect.DeepEqual(f.Value.Interface(), is[i].Value.Interface()); {
		case same:
		case f.Live:
			f.Value.Set(is[i].Value)
		default:
			r.engine.log.Warn("a change of the configuration needs a restart", "key", f.Key)
		}
	}
	if next.Jobs.Detach != r.Jobs.Detach {
		r.engine.log.Warn("a change of the configuration needs a restart", "key", "jobs.detach")
		next.Jobs.Detach = r.Jobs.Detach
	}
	for _, name := range r.keeps.lacks(next) {
		r.engine.log.Warn("the server in the background was started without a variable that programs are to get; that waits for a restart: a client that starts anew has a server with it", "key", "programs.env", "variable", name)
	}
	return next, nil
}

func (r *reloading) apply(next server.Config) error {
	level, err := next.Level()
	if err != nil {
		return err
	}
	selected, err := r.p.choose(next)
	if err != nil {
		return err
	}
	r.p.addFixtures(&selected)
	checked, err := r.p.validate(next, r.engine.redactor, r.engine.log)
	if err != nil {
		return err
	}
	if err := r.engine.runner.Reconfigure(settingsOf(next, selected, checked)); err != nil {
		return err
	}
	r.engine.selected = selected
	if err := r.srv.SetTools(selected.Listed, r.engine.hidden(), selected.Tailored, r.p.resources(selected)); err != nil {
		return err
	}
	r.p.contain(next, checked, r.engine.log)
	r.engine.level.Set(level)
	r.Config = next
	if r.keeps != nil {
		return r.keeps.rekey(next)
	}
	return nil
}
