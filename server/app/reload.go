package app

import (
	"os"
	"os/signal"
	"strings"
	"syscall"

	"toolcrib/server"
	"toolcrib/server/config"
	"toolcrib/server/config/settings"
)

// reloading applies changes of the configuration files to a running server. Calls in
// flight keep the settings that they began with.
type reloading struct {
	*Process
	serving Serving
	cfg     config.Config // that the server runs with
	engine  *Engine
	srv     *server.Server
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

// reload applies the files as they are now. If any has an error, nothing changes.
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
func (r *reloading) next() (config.Config, error) {
	l, err := r.serving.From.Read()
	if err != nil {
		return config.Config{}, err
	}
	if _, err := r.Select(l.Config); err != nil {
		return config.Config{}, l.Locate(err)
	}
	if _, err := r.validate(l.Config, r.engine.redactor, r.engine.log); err != nil {
		return config.Config{}, l.Locate(err)
	}
	for _, line := range l.Notes {
		r.engine.log.Warn(line)
	}
	next := r.cfg.Clone()
	for _, key := range settings.Renew(&next, &l.Config) {
		r.engine.log.Warn("a change of the configuration needs a restart", "key", key)
	}
	for _, name := range r.serving.Background.lacks(next) {
		r.engine.log.Warn("the server in the background was started without a variable that programs are to get; that waits for a restart: a client that starts anew has a server with it", "key", "programs.env", "variable", name)
	}
	return next, nil
}

func (r *reloading) apply(next config.Config) error {
	level, err := next.Level()
	if err != nil {
		return err
	}
	selected, err := r.Choose(next)
	if err != nil {
		return err
	}
	r.addFixtures(&selected)
	checked, err := r.validate(next, r.engine.redactor, r.engine.log)
	if err != nil {
		return err
	}
	if err := r.engine.Runner.Reconfigure(settingsOf(next, selected, checked)); err != nil {
		return err
	}
	r.engine.selected = selected
	if err := r.srv.SetTools(selected.Listed, r.engine.hidden(), selected.Tailored, selected.Omitted, r.sources(selected)); err != nil {
		return err
	}
	r.Apply(next, r.serving.Roots, r.engine.log, r.Redactor(next))
	r.engine.level.Set(level)
	r.cfg = next
	if r.serving.Background != nil {
		return r.serving.Background.rekey(next)
	}
	return nil
}
