// Package jobs runs programs that may outlast a call: it starts them in the sandbox,
// keeps what they print within bounds, ends them, and knows them by handles. What is
// printed is kept raw; package screen makes text of it.
//
// Start reading at [Manager.Start], then [Job] and [Log]. The package imports workspace
// and the sandbox and must not import the contract of tools.
package jobs

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"toolcrib/tools/internal/programs/sandbox"
)

// Options bounds the jobs. Zero fields have defaults.
type Options struct {
	Keep    time.Duration // how long the output of a job that has ended can be read; 1 h
	Output  int64         // most bytes that are kept of the output of one; 64 MiB
	Disk    int64         // most bytes that the output of all of them takes; 1 GiB
	Running int           // most jobs of a principal at a time; 32
	Shells  int           // most named shells of a principal; 8
	Idle    time.Duration // how long a named shell may have nothing to do; 30 min
	// Foreground is how long a call waits before what it started goes on as a job, 45 s;
	// Timeout when a program is ended that has no timeout of its own, 30 min. Both are for
	// who starts programs.
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

// Manager owns the jobs of a server. Its methods may be called by several goroutines.
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
		engine: engine, instance: word(instanceBytes),
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

// Neighbours sets what tells of the jobs of other servers, a line each.
func (m *Manager) Neighbours(tell func() []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.others = tell
}

// Elsewhere tells of the jobs that other servers have for the same user, a line each.
func (m *Manager) Elsewhere() []string {
	m.mu.Lock()
	tell := m.others
	m.mu.Unlock()
	if tell == nil {
		return nil
	}
	return tell()
}

// Options returns the options, the defaults in the place of zero.
func (m *Manager) Options() Options {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.opt
}

// Of handles: "k7qm-" and 128 random bits.
const (
	instanceBytes = 3
	secretBytes   = 16
)

// word is random bytes as letters and digits.
func word(bytes int) string {
	b := make([]byte, bytes)
	rand.Read(b)
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b))
}

// ErrUnknown says that the principal has no job of that handle, or has none any more.
var ErrUnknown = errors.New("no job has this handle")

// ElsewhereError says that another server has the job, or had it.
type ElsewhereError struct{ Theirs, Ours string }

func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("the job belongs to server %s, this one is %s", e.Theirs, e.Ours)
}

// ErrTooMany says that the principal has as many jobs, or named shells, as it may have.
var ErrTooMany = errors.New("too many are running")

// Get returns the job of a handle.
func (m *Manager) Get(principal, handle string) (*Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if j := m.jobs[handle]; j != nil && j.Principal == principal {
		return j, nil
	}
	if instance, _, ok := strings.Cut(handle, "-"); ok && instance != m.instance && len(instance) == len(m.instance) {
		return nil, &ElsewhereError{Theirs: instance, Ours: m.instance}
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

// Count returns how many jobs run, how many have ended whose output can be read, and how
// many named shells there are.
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

// add makes a job known.
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
	j.ID, j.keep = m.instance+"-"+word(secretBytes), m.opt.Keep
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

// expire forgets a job some time after its end.
func (m *Manager) expire(j *Job) { time.AfterFunc(j.keep, func() { m.Forget(j) }) }

// lastWait is how long the end of the jobs may take when they are killed.
const lastWait = time.Second

// Close ends all jobs, and returns when they have ended.
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
		case <-late.Done(): // the kernel holds it: whoever ends the server does not wait for that
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
