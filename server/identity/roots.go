package identity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"toolcrib/workspace"
)

const (
	// maxOpen is how many workspaces are open at once, and idleOpen how long one stays
	// open that nobody uses.
	maxOpen  = 1024
	idleOpen = 5 * time.Minute
)

// ErrCrowded is why no workspace is opened: all that may be open are in use.
var ErrCrowded = errors.New("too many principals work at once")

// Roots gives each principal a workspace of its own. Its methods may be called by
// several goroutines; nil Roots give none.
type Roots struct {
	all  *template // nil = only tokens have roots of their own
	open func(ctx context.Context, dir string) (*workspace.Workspace, error)

	mu    sync.Mutex
	byDir map[string]*lodging
	sweep *time.Timer // nil: nothing is idle
}

// lodging is an open workspace. Its users hold it open.
type lodging struct {
	ready chan struct{} // closed when ws or err is there
	ws    *workspace.Workspace
	err   error

	users int // guarded by Roots.mu
	since time.Time
}

// NewRoots makes Roots in directories of a template such as /srv/work/${sub}; "" gives
// one only to tokens that have a template of their own. It returns an error if the
// template is invalid, or the directory above the variables cannot be used.
func NewRoots(pattern string, open func(ctx context.Context, dir string) (*workspace.Workspace, error)) (*Roots, error) {
	r := &Roots{open: open, byDir: map[string]*lodging{}}
	if pattern == "" {
		return r, nil
	}
	t, err := parseTemplate(pattern)
	switch {
	case err != nil:
		return nil, err
	case !t.tells():
		return nil, fmt.Errorf("the root %q is the same for all; it wants a component ${sub}", pattern)
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	r.all = t
	return r, nil
}

// Enter returns the workspace of a principal and what to call when it is no longer
// used, both nil if it has none of its own.
func (r *Roots) Enter(ctx context.Context, who Who) (*workspace.Workspace, func(), error) {
	if r == nil || who.root == nil && r.all == nil {
		return nil, nil, nil
	}
	dir, err := cmp.Or(who.root, r.all).make(who)
	if err != nil {
		return nil, nil, fmt.Errorf("the root of %s: %w", who.Principal, err)
	}
	r.mu.Lock()
	l := r.byDir[dir]
	if l == nil && len(r.byDir) >= maxOpen && !r.evict() {
		r.mu.Unlock()
		return nil, nil, ErrCrowded
	}
	if l == nil {
		l = &lodging{ready: make(chan struct{}), users: 1} // who fills it
		r.byDir[dir] = l
		go r.fill(context.WithoutCancel(ctx), l, dir)
	}
	l.users++
	r.mu.Unlock()
	leave := sync.OnceFunc(func() { r.leave(l) })
	select {
	case <-l.ready:
	case <-ctx.Done():
		leave()
		return nil, nil, ctx.Err()
	}
	if l.err != nil {
		leave()
		return nil, nil, fmt.Errorf("the root of %s: %w", who.Principal, l.err)
	}
	return l.ws, leave, nil
}

// fill opens the workspace of a lodging. One that fails is tried again by the next who
// enters.
func (r *Roots) fill(ctx context.Context, l *lodging, dir string) {
	l.err = errors.New("opening it was broken off")
	defer func() {
		if l.err != nil {
			r.mu.Lock()
			delete(r.byDir, dir)
			r.mu.Unlock()
		}
		close(l.ready)
		r.leave(l)
	}()
	l.ws, l.err = r.open(ctx, dir)
}

func (r *Roots) leave(l *lodging) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.users--
	l.since = time.Now()
	if l.users == 0 && r.sweep == nil && r.byDir != nil {
		r.sweep = time.AfterFunc(idleOpen, r.expire)
	}
}

// expire closes the workspaces that were idle for long enough, and schedules itself for the
// rest.
func (r *Roots) expire() {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := time.Duration(-1)
	for dir, l := range r.byDir {
		if l.users > 0 {
			continue
		}
		left := idleOpen - time.Since(l.since)
		if left <= 0 {
			r.close(dir)
		} else if next < 0 || left < next {
			next = left
		}
	}
	r.sweep = nil
	if next >= 0 {
		r.sweep = time.AfterFunc(next, r.expire)
	}
}

// evict closes the workspace that was idle for longest, and reports whether there was
// one. The caller holds mu.
func (r *Roots) evict() bool {
	var oldest string
	for dir, l := range r.byDir {
		if l.users == 0 && (oldest == "" || l.since.Before(r.byDir[oldest].since)) {
			oldest = dir
		}
	}
	if oldest == "" {
		return false
	}
	r.close(oldest)
	return true
}

// close closes an idle workspace. The caller holds mu.
func (r *Roots) close(dir string) {
	_ = r.byDir[dir].ws.Close() // the descriptors were only read from
	delete(r.byDir, dir)
}

// Close closes all workspaces. Nobody may use one any more.
func (r *Roots) Close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	all := r.byDir
	r.byDir = nil
	if r.sweep != nil {
		r.sweep.Stop()
	}
	r.mu.Unlock()
	var errs []error
	for _, l := range all {
		if <-l.ready; l.ws != nil {
			errs = append(errs, l.ws.Close())
		}
	}
	return errors.Join(errs...)
}
