package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // what DBOS needs for SQLite

	"toolcrib/tools/internal/database"
	"toolcrib/workspace/state"
)

// format is the version of what the kinds record in the database, the names and order of
// their steps. It is raised by hand when a run that an older program began can no longer be
// continued; such runs then wait for a program of their version.
const format = "1"

// Times of the engine.
const (
	poll         = time.Second            // between two looks at a queue
	tendWithin   = 8 * time.Second        // for such a look
	reportEvery  = 2 * time.Second        // between two reports that the process lives, and looks for runs that others cancelled
	idleAfter    = 30 * time.Second       // without a run, the engine stops
	launchWithin = 30 * time.Second       // on a machine that is busy
	stopWithin   = 5 * time.Second        // for runs to unwind when it stops
	heldUp       = 3 * time.Second        // since its begin record or the last report, after which an effect or a run asks whether it may begin
	look         = 200 * time.Millisecond // between two looks at a run of another process
)

// tendEvery is the time between two looks for the dead; tests change it.
var tendEvery = 500 * time.Millisecond

// usualAdoptions is how often a run is continued after the death of its process. One that
// brought down so many has ended.
const usualAdoptions = 5

// defaultWorkers is how many runs of a queue a process has at once.
const defaultWorkers = 8

// Options configure an engine.
type Options struct {
	// State is where the database of SQLite is, and the locks of the executors.
	State *state.Dir
	// Database, if it is PostgreSQL, has the runs instead.
	Database *database.DB
	// Scope tells apart those who share a database: only executors of a scope carry out its
	// runs. a-z, 0-9, "-" and "_"; "" = "toolcrib".
	Scope string
	Kinds map[string]Kind // by name: a-z and "_"
	Log   *slog.Logger    // nil = discard
	// IdleAfter is how long the engine stays launched without a run; 0 = 30 s.
	IdleAfter time.Duration
	// DeadAfter is how long a process may be silent in PostgreSQL until the others take it
	// for dead, and how often each looks for runs that nobody carries out; 0 = 20 s. All
	// processes have the same.
	DeadAfter time.Duration
}

// Kind is a kind of runs.
type Kind struct {
	// Do carries out a run. It may be called again for the same run, in another process:
	// its steps must come in the same order, so it asks no clock, no random number and no
	// map outside of them.
	Do func(r *Run, input json.RawMessage) (json.RawMessage, error)
	// Workers is how many enqueued runs a process has at once; 0 = 8.
	Workers int
	// Adoptions is how often a run is continued after the death of its process; 0 = 5.
	Adoptions int
	// GivenUp hears of a run before it is given up, perhaps again. Its error keeps the run until
	// the next look. nil = nobody hears of it.
	GivenUp func(ctx context.Context, id string) error
}

// Engine starts runs and carries them out. Its methods may be called by several goroutines.
type Engine struct {
	opt Options
	log *slog.Logger

	mu     sync.Mutex
	closed bool
	on     *session // nil: not launched
	begun  *launching
	users  int // calls that use on
	idle   *time.Timer
	active map[string]*Run // the runs that this process carries out, by their full ID
}

// New makes an engine. It opens and starts nothing.
func New(opt Options) *Engine {
	if opt.Scope == "" {
		opt.Scope = "toolcrib"
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.IdleAfter == 0 {
		opt.IdleAfter = idleAfter
	}
	if opt.DeadAfter == 0 {
		opt.DeadAfter = deadAfter
	}
	return &Engine{opt: opt, log: opt.Log, active: map[string]*Run{}}
}

// ErrClosed is the error of an engine after Close.
var ErrClosed = errors.New("the engine of durable runs is closed")

// session is the time from a launch to the stop.
type session struct {
	dbos    dbos.Context
	members members
	store   store
	id      string // of the executor
	end     context.CancelFunc
	first   chan struct{} // closed when the dead were looked for once
	tended  chan struct{} // closed when nobody looks for them any more
	ctx     context.Context
	lived   atomic.Pointer[time.Time] // when this process last said that it lives; nil: not yet
	lost    map[string]bool           // runs of this process that it did not have at the last look, by their full ID
}

// launching is a launch that has begun. It goes on if those who wait for it give up.
type launching struct {
	done chan struct{}
	err  error // valid once done is closed
}

// use returns the launched session and a function to call when it is no longer used.
func (e *Engine) use(ctx context.Context) (*session, func(), error) {
	for {
		e.mu.Lock()
		if e.closed {
			e.mu.Unlock()
			return nil, nil, ErrClosed
		}
		if on := e.on; on != nil {
			e.users++
			e.mu.Unlock()
			return on, sync.OnceFunc(e.leave), nil
		}
		l := e.begun
		if l == nil {
			l = &launching{done: make(chan struct{})}
			e.begun = l
			go e.begin(context.WithoutCancel(ctx), l)
		}
		e.mu.Unlock()
		select {
		case <-l.done:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
		if l.err != nil {
			return nil, nil, l.err
		}
	}
}

// begin launches the engine.
func (e *Engine) begin(ctx context.Context, l *launching) {
	limited, cancel := context.WithTimeout(ctx, launchWithin)
	defer cancel()
	on, err := e.launch(limited)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.on, e.begun, l.err = on, nil, err
	if on != nil && e.closed {
		l.err = errors.Join(ErrClosed, e.stop())
	}
	e.rest()
	close(l.done)
}

func (e *Engine) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.users--
	e.rest()
}

// rest arranges that the engine stops when it has been idle for long enough. The caller
// holds mu.
func (e *Engine) rest() {
	if e.users > 0 || len(e.active) > 0 || e.on == nil {
		if e.idle != nil {
			e.idle.Stop()
		}
		return
	}
	if e.idle == nil {
		e.idle = time.AfterFunc(e.opt.IdleAfter, e.doze)
		return
	}
	e.idle.Reset(e.opt.IdleAfter)
}

// doze stops the engine if it is still idle and nothing waits for it.
func (e *Engine) doze() {
	e.mu.Lock()
	defer e.mu.Unlock()
	on := e.on
	if on == nil || e.users > 0 || len(e.active) > 0 {
		return
	}
	select {
	case <-on.first:
	default:
		e.rest()
		return
	}
	// Calls do not wait for this look, which takes long if the database does not answer.
	e.users++
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(on.ctx, stopWithin)
	defer cancel()
	waiting, err := within(ctx, func() ([]dbos.WorkflowStatus, error) {
		return dbos.ListWorkflows(on.dbos, e.filter(dbos.WithFilterStatus(dbos.WorkflowStatusEnqueued, dbos.WorkflowStatusDelayed), dbos.WithFilterLimit(1))...)
	})
	var owned []dbos.WorkflowStatus
	if err == nil {
		owned, err = e.owned(ctx, on)
	}
	e.mu.Lock()
	e.users--
	if err != nil || len(waiting)+len(owned) > 0 || e.on != on || e.users > 0 || len(e.active) > 0 {
		e.rest()
		return
	}
	if err := e.stop(); err != nil {
		e.log.Warn("the engine of durable runs did not stop cleanly", "err", err)
	}
}

// Close stops the engine. Runs that it carries out are left to the other processes, or to the
// next one.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.idle != nil {
		e.idle.Stop()
	}
	if l := e.begun; l != nil { // which stops what it has launched
		e.mu.Unlock()
		select {
		case <-l.done:
		case <-time.After(stopWithin):
		}
		e.mu.Lock()
	}
	if e.on == nil {
		return nil
	}
	return e.stop()
}

// stop ends the session. The caller holds mu.
func (e *Engine) stop() error {
	on := e.on
	e.on = nil
	left := len(e.active) > 0
	e.mu.Unlock() // runs that unwind take it
	defer e.mu.Lock()
	on.end()
	<-on.tended
	// It ends the contexts of the runs. They are not to end otherwise: DBOS would take that
	// for a cancellation.
	err := dbos.Shutdown(on.dbos, stopWithin)
	return errors.Join(err, on.members.leave(left), on.store.close())
}

// launch opens the database and starts to carry out runs. Those of the dead are adopted at
// once.
func (e *Engine) launch(ctx context.Context) (_ *session, err error) {
	for _, name := range []string{"DBOS__VMID", "DBOS__APPVERSION", "DBOS__CLOUD"} {
		if os.Getenv(name) != "" {
			return nil, fmt.Errorf("the variable %s is set, which would change whose runs are whose; unset it", name)
		}
	}
	on := &session{first: make(chan struct{}), tended: make(chan struct{})}
	if on.store, err = e.openStore(ctx); err != nil {
		return nil, err
	}
	on.members = on.store.members()
	if on.id, err = on.members.join(ctx); err != nil {
		return nil, errors.Join(err, on.store.close())
	}
	fail := func(err error) (*session, error) {
		return nil, errors.Join(err, on.members.leave(false), on.store.close())
	}
	config := dbos.Config{
		AppName: e.opt.Scope, ApplicationVersion: format, ExecutorID: on.id,
		Logger:                   slog.New(quiet{e.log.Handler()}),
		SchedulerPollingInterval: 24 * time.Hour, // its schedules are not used
		SystemDBStartupTimeout:   launchWithin,
	}
	on.store.configure(&config)
	// The engine lives until it is stopped, whatever the call that launches it.
	alive := context.WithoutCancel(ctx)
	on.ctx, on.end = context.WithCancel(alive)
	err = on.store.alone(ctx, func() (err error) {
		on.dbos, err = dbos.NewContext(alive, config)
		return err
	})
	if err != nil {
		on.end()
		return fail(err)
	}
	undo := func(err error) (*session, error) {
		on.end()
		_ = dbos.Shutdown(on.dbos, stopWithin)
		return fail(err)
	}
	dbos.RegisterWorkflow(on.dbos, e.carry, dbos.WithWorkflowName(workflowName))
	queues := []string{e.queue("")} // none has that name; a list without names would mean all queues
	for name := range e.opt.Kinds {
		queues = append(queues, e.queue(name))
	}
	dbos.ListenQueues(on.dbos, queues...) // a kind that only a newer program knows waits for one
	for name, kind := range e.opt.Kinds {
		workers := kind.Workers
		if workers == 0 {
			workers = defaultWorkers
		}
		_, err := dbos.RegisterQueue(on.dbos, e.queue(name), dbos.WithWorkerConcurrency(workers), dbos.WithQueueBasePollingInterval(poll))
		if err != nil {
			return undo(err)
		}
	}
	if err := on.members.begin(ctx); err != nil {
		return undo(err)
	}
	if err := dbos.Launch(on.dbos); err != nil { // which shuts it down
		on.end()
		return fail(err)
	}
	go e.tend(on, time.NewTicker(tendEvery))
	return on, nil
}

// workflowName is the only workflow of DBOS: it carries out the runs of all kinds.
const workflowName = "run"

// The full ID of a run names its scope and its kind.
func (e *Engine) full(kind, id string) string { return e.opt.Scope + ":" + kind + ":" + id }

func (e *Engine) queue(kind string) string { return e.opt.Scope + ":" + kind }

// split returns the kind and the ID of a full ID of this scope.
func (e *Engine) split(full string) (kind, id string, ok bool) {
	rest, ok := strings.CutPrefix(full, e.opt.Scope+":")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ":")
}

func (e *Engine) filter(more ...dbos.ListWorkflowsOption) []dbos.ListWorkflowsOption {
	return append([]dbos.ListWorkflowsOption{
		dbos.WithFilterWorkflowIDPrefix(e.opt.Scope + ":"), dbos.WithFilterLoadInput(false),
	}, more...)
}

// within waits for f no longer than until ctx ends. DBOS tries again for as long as a database
// cannot be reached, and knows no context of a single request.
func within[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	done := make(chan answer, 1)
	go func() {
		v, err := f()
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.v, a.err
	case <-ctx.Done():
		var zero T
		return zero, context.Cause(ctx)
	}
}

// quiet passes on what DBOS logs as errors, as warnings: it goes on after them.
type quiet struct{ to slog.Handler }

func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelError && q.to.Enabled(ctx, slog.LevelWarn)
}

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	r.Level = slog.LevelWarn
	r.Message = "durable runs: " + r.Message
	return q.to.Handle(ctx, r)
}

func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.to.WithAttrs(attrs)} }
func (q quiet) WithGroup(name string) slog.Handler       { return quiet{q.to.WithGroup(name)} }
