package agents

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"

	"toolcrib/tools"
	"toolcrib/tools/internal/database"
)

// desk has the runs that this process is at work on.
type desk struct {
	caller   tools.Caller
	database *database.Source

	mu      sync.Mutex
	log     *slog.Logger
	live    map[string]*live   // by the handle of the run
	keepers map[string]*keeper // by root
}

// live is a run at work.
type live struct {
	id   string
	stop context.CancelCauseFunc
	done chan struct{} // closed when the run is left

	mu    sync.Mutex
	grown chan struct{} // closed at the next step
}

// errStopped is why a run ends that somebody has stopped.
var errStopped = errors.New("it was stopped")

// enter begins work on a run, in a context that ends when the run is stopped. The error is a
// conflict if another call of this process has the run.
func (d *desk) enter(ctx context.Context, id string) (context.Context, *live, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.live[id] != nil {
		return nil, nil, tools.Errorf(tools.Conflict, "run %s is at work", id).WithHint("wait for its result: job_output job=%s wait=50s, or read %s%s", id, runURI, id)
	}
	ctx, stop := context.WithCancelCause(ctx)
	l := &live{id: id, stop: stop, done: make(chan struct{}), grown: make(chan struct{})}
	d.live[id] = l
	return ctx, l, nil
}

// leave ends the work on a run; again it does nothing.
func (d *desk) leave(l *live) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.live[l.id] != l {
		return
	}
	delete(d.live, l.id)
	l.stop(nil)
	close(l.done)
	l.wrote()
}

// at returns a run at work, nil if it is not here.
func (d *desk) at(id string) *live {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.live[id]
}

// wrote tells those who follow the run that there is more.
func (l *live) wrote() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.grown)
	l.grown = make(chan struct{})
}

// more returns what is closed at the next step.
func (l *live) more() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.grown
}

func (d *desk) warn(what string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log.Warn(what, "err", err)
}

// keeper returns that of the root of a session.
func (d *desk) keeper(s *tools.SessionInfo) (*keeper, error) {
	root := s.Workspace.Origin()
	d.mu.Lock()
	defer d.mu.Unlock()
	if k := d.keepers[root]; k != nil {
		return k, nil
	}
	k, err := newKeeper(d, s.Workspace, root)
	if err != nil {
		return nil, tools.Errorf(tools.Unavailable, "no run can go on in the background: %v", err).
			WithHint("start the server with a --state-dir that can be written, outside of its roots; or leave background out")
	}
	d.keepers[root] = k
	return k, nil
}

// start lets runs go on here whose process has died, for the session in ctx.
func (d Deps) start(ctx context.Context, _ func() bool) (stop func()) {
	s := tools.Session(ctx)
	if s == nil || d.Caller == nil || s.Workspace.StateBase() == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.watch(ctx, s)
	}()
	return func() {
		cancel()
		<-done
	}
}

// close leaves the runs in the background to other processes.
func (d Deps) close() error {
	d.desk.mu.Lock()
	keepers := maps.Clone(d.desk.keepers)
	clear(d.desk.keepers)
	d.desk.mu.Unlock() // runs that unwind take it
	var errs []error
	for _, k := range keepers {
		errs = append(errs, k.engine.Close())
	}
	return errors.Join(errs...)
}

// load says why a server in the background stays.
func (d Deps) load() tools.Load {
	d.desk.mu.Lock()
	defer d.desk.mu.Unlock()
	return tools.Load{Running: len(d.desk.live)}
}
