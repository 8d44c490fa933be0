// Package jobs runs programs that may outlast a call: it starts them in the sandbox, keeps a
// bounded part of their output, ends them, and finds them by handle. Output is kept raw;
// package screen turns it into text.
//
// Start reading at [Manager.Start], then [Job] and [Log]. The package imports workspace, the
// sandbox and screen; it must not import tools.
package jobs

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"toolcrib/tools/internal/handles"
	"toolcrib/tools/internal/programs/sandbox"
)

// Options bounds the jobs. Zero fields have defaults.
type Options struct {
	Keep    time.Duration // how long the output of an ended job is kept; 1 h
	Output  int64         // maximum of bytes kept of one job's output; 64 MiB
	Disk    int64         // maximum of bytes of the output of all jobs; 1 GiB
	Running int           // maximum of running jobs of a principal; 32
	Shells  int           // maximum of named shells of a principal; 8
	Idle    time.Duration // how long a named shell may be idle; 30 min
	// Foreground is how long a call waits before its program goes on as a job, 45 s.
	// Timeout ends a program that has no other timeout, 30 min. Only callers use both.
	Foreground, Timeout time.Duration
	Detached            bool // the server outlasts its clients
}

func (o Options) withDefaults() Options {
	o.Keep = cmp.Or(o.Keep, time.Hour)
	o.Output = cmp.Or(o.Output, 64<<20)
	o.Disk = cmp.Or(o.Disk, 1<<30)
	o.Running = cmp.Or(o.Running, 32)
	o.Shells = cmp.Or(o.Shells, 8)
	o.Idle = cmp.Or(o.Idle, 30*time.Minute)
	o.Foreground = cmp.Or(o.Foreground, 45*time.Second)
	o.Timeout = cmp.Or(o.Timeout, 30*time.Minute)
	return o
}

// Manager owns the jobs of a server. Several goroutines may call its methods.
type Manager struct {
	engine   *sandbox.Engine
	instance string // names this server in handles

	shellTurn sync.Mutex // one named shell is started at a time

	mu     sync.Mutex
	opt    Options
	closed bool
	jobs   map[string]*Job
	shells map[shellKey]*shell
	disk   int64           // bytes that logs were granted
	swept  map[string]bool // states without the files of dead servers
	others func() []string // see Elsewhere; may be nil
}

// New makes a Manager of programs that engine runs. It starts nothing.
func New(engine *sandbox.Engine) *Manager {
	return &Manager{
		engine: engine, instance: handles.New("")[:instanceLength],
		opt:  Options{}.withDefaults(),
		jobs: map[string]*Job{}, shells: map[shellKey]*shell{}, swept: map[string]bool{},
	}
}

// Configure sets the options of the jobs that are started from now on.
func (m *Manager) Configure(opt Options) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opt = opt.withDefaults()
}

// Neighbours sets the function that describes the jobs of other servers, one line each.
func (m *Manager) Neighbours(tell func() []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.others = tell
}

// Elsewhere describes the jobs of the same user's other servers, one line each.
func (m *Manager) Elsewhere() []string {
	m.mu.Lock()
	tell := m.others
	m.mu.Unlock()
	if tell == nil {
		return nil
	}
	return tell()
}

// Recorded reports whether the history of files gets what jobs of the call of ctx change.
func (m *Manager) Recorded(ctx context.Context) bool { return m.engine.Recorded(ctx) }

// Options returns the options with the defaults filled in.
func (m *Manager) Options() Options {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.opt
}

// A handle begins with the instance.
const instanceLength = 3

// handle returns a new handle of a principal.
func (m *Manager) handle(principal string) string {
	for {
		id := m.instance + handles.New(principal)[instanceLength:]
		if m.jobs[id] == nil {
			return id
		}
	}
}

// ErrUnknown says that the principal has no job with that handle.
var ErrUnknown = errors.New("no job has this handle")

// ElsewhereError says that another server has the job, or had it.
type ElsewhereError struct{ Ours string }

func (e *ElsewhereError) Error() string {
	return "the job is of another server: handles of this one begin with " + e.Ours
}

// ErrTooMany says that the principal has the maximum of jobs or named shells.
var ErrTooMany = errors.New("too many are running")

// Get returns the job of a handle.
func (m *Manager) Get(principal, handle string) (*Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if j := m.jobs[handle]; j != nil && j.Principal == principal {
		return j, nil
	}
	if handles.Is(handle) && handle[:instanceLength] != m.instance {
		return nil, &ElsewhereError{Ours: m.instance}
	}
	return nil, ErrUnknown
}

// List returns the jobs of a principal, the newest first.
func (m *Manager) List(principal string) []*Job {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*Job
	for _, j := range m.jobs {
		if j.Principal == principal {
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b *Job) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Count returns the number of running jobs, of ended jobs whose output is kept, and of named
// shells.
func (m *Manager) Count() (running, kept, shells int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, j := range m.jobs {
		if j.isDone() {
			kept++
		} else {
			running++
		}
	}
	return running, kept, len(m.shells)
}

// add registers a job.
func (m *Manager) add(j *Job) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return sandbox.ErrClosed
	}
	running := 0
	for _, other := range m.jobs {
		if other.Principal == j.Principal && !other.isDone() {
			running++
		}
	}
	if running >= m.opt.Running {
		return ErrTooMany
	}
	j.ID, j.keep = m.handle(j.Principal), m.opt.Keep
	j.log = newLog(m.opt.Output/4, m.opt.Output-m.opt.Output/4, func() (store, error) { return m.spool(j.workspace) }, m.grant)
	m.jobs[j.ID] = j
	return nil
}

// Forget drops a job that has ended, with its output.
func (m *Manager) Forget(j *Job) {
	m.mu.Lock()
	known := m.jobs[j.ID] == j
	delete(m.jobs, j.ID)
	m.mu.Unlock()
	if !known {
		return
	}
	disk, _ := j.log.drop() // the file goes with the server at the latest
	m.mu.Lock()
	m.disk -= disk
	m.mu.Unlock()
}

// expire forgets a job when its output has been kept long enough.
func (m *Manager) expire(j *Job) { time.AfterFunc(j.keep, func() { m.Forget(j) }) }

// lastWait is how long Close waits for killed jobs.
const lastWait = time.Second

// Close ends all jobs and waits for their end.
func (m *Manager) Close() error {
	m.mu.Lock()
	m.closed = true
	var all []*Job
	for _, j := range m.jobs {
		all = append(all, j)
	}
	shells := slices.Collect(maps.Values(m.shells))
	m.mu.Unlock()
	for _, s := range shells {
		s.process.Kill()
	}
	for _, j := range all {
		j.kill(ByServer)
	}
	var errs []error
	late, stop := context.WithTimeout(context.Background(), lastWait)
	defer stop()
	for _, j := range all {
		select {
		case <-j.Done():
		case <-late.Done(): // a process stuck in the kernel must not delay the server's end
		}
		_, err := j.log.drop()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Start starts a program as a job. ctx, which carries the session, bounds the start.
func (m *Manager) Start(ctx context.Context, s Spec) (*Job, error) {
	j := newJob(s)
	if err := m.add(j); err != nil {
		return nil, err
	}
	if err := j.start(ctx, m, s); err != nil {
		j.finish(sandbox.Exit{Err: err})
		m.Forget(j)
		return nil, err
	}
	return j, nil
}
