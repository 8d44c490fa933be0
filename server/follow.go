package server

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/workspace"
)

const (
	// maxFollowed is how many resources one client may follow.
	maxFollowed = 256
	// lookEvery is the time between two looks at the resources that are followed.
	lookEvery = time.Second
)

// follower hears of resources that change. It looks in the name of one client.
type follower struct {
	server  *Server
	ctx     context.Context // has the session of the client
	changed func(uri string)
	telling chan struct{} // full while somebody calls changed

	mu       sync.Mutex
	closed   bool
	versions map[string]string // of what is followed, by its URI
	news     []string          // what has changed and is not told yet
	told     bool              // somebody tells it, or is about to
}

// newFollower makes a follower; the session of ctx says in whose name it looks.
// changed is called from a goroutine of the server, never twice at once.
func (s *Server) newFollower(ctx context.Context, changed func(uri string)) *follower {
	return &follower{server: s, ctx: ctx, changed: changed, telling: make(chan struct{}, 1), versions: map[string]string{}}
}

// follow begins to follow a resource. One that does not exist is an error, one
// that is followed already is not.
func (f *follower) follow(uri string) error {
	if err := f.take(uri); err != nil {
		return &followError{uri, err}
	}
	return nil
}

// followError is why a resource cannot be followed.
type followError struct {
	uri string
	err *tools.Error
}

func (e *followError) Error() string { return e.err.Error() }
func (e *followError) Unwrap() error { return e.err }

func (f *follower) take(uri string) *tools.Error {
	version, err := f.server.version(f.ctx, uri)
	if err != nil {
		return tools.AsError(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, known := f.versions[uri]
	switch {
	case known:
		return nil
	case f.closed:
		return tools.Errorf(tools.Cancelled, "the client is gone")
	case len(f.versions) >= maxFollowed:
		return tools.Errorf(tools.TooLarge, "%d resources are followed already", maxFollowed).WithHint("stop following others first")
	}
	f.versions[uri] = version
	f.server.poller.add(f)
	return nil
}

// leave ends following a resource; one that is not followed is fine.
func (f *follower) leave(uri string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.versions, uri)
	if len(f.versions) == 0 {
		f.server.poller.remove(f)
	}
}

// uris returns what is followed, sorted.
func (f *follower) uris() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.versions))
}

// close ends the follower; changed is not called any more when it returns. It
// must not be called by changed.
func (f *follower) close() {
	f.mu.Lock()
	f.closed = true
	clear(f.versions)
	f.server.poller.remove(f)
	f.mu.Unlock()
	f.telling <- struct{}{} // a call that is on its way ends first
	<-f.telling
}

// look compares what is followed with what it was. What has changed is told by
// another goroutine, so that no client waits for another one. What is denied by now is
// not followed any more.
func (f *follower) look(version func(uri string) string) {
	for _, uri := range f.uris() {
		now := version(uri)
		if f.ctx.Err() != nil {
			return
		}
		if now == failed+string(tools.Denied) {
			f.leave(uri)
			continue
		}
		f.note(uri, now)
	}
}

// note takes over a version, and sees to it that it is told where it is news.
func (f *follower) note(uri, version string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	old, followed := f.versions[uri]
	if !followed || old == version {
		return
	}
	f.versions[uri] = version
	if !slices.Contains(f.news, uri) {
		f.news = append(f.news, uri)
	}
	if !f.told {
		f.told = true
		go f.tell()
	}
}

// tell calls changed until there are no news.
func (f *follower) tell() {
	f.telling <- struct{}{}
	defer func() { <-f.telling }()
	for uri, ok := f.next(); ok; uri, ok = f.next() {
		f.changed(uri)
	}
}

// next takes the next of the news that is still followed.
func (f *follower) next() (uri string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.news) > 0 {
		uri, f.news = f.news[0], f.news[1:]
		if _, followed := f.versions[uri]; followed {
			return uri, true
		}
	}
	f.told = false
	return "", false
}

// version returns the version of a resource, "" where it never changes. Who may not read
// it is denied that, too, before anything is looked up.
func (s *Server) version(ctx context.Context, uri string) (version string, err error) {
	src, args, ok := s.source(uri)
	if !ok {
		return "", unknownResource(uri)
	}
	info, err := s.runner.Watch(run.Call{Read: &src.Read, Args: args, Session: *tools.Session(ctx)})
	if err != nil {
		return "", err
	}
	if src.Version == nil {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(tools.WithSession(ctx, &info), lookTimeout)
	defer cancel()
	err = tools.Recover(func() (err error) {
		version, err = src.Version(ctx, uri)
		return err
	})
	if e, ok := errors.AsType[*tools.PanicError](err); ok {
		s.log.Error("panic", "resource", uri, "panic", e.Value, "stack", string(e.Stack))
		err = tools.Errorf(tools.Internal, "%s: crashed", uri)
	}
	return version, err
}

// poller looks at every resource that is followed, in one goroutine, which
// there is only while somebody follows something.
type poller struct {
	mu        sync.Mutex
	followers []*follower
	stop      context.CancelFunc // of the goroutine; nil: there is none
}

func (p *poller) add(f *follower) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.followers, f) {
		p.followers = append(p.followers, f)
	}
	if p.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		p.stop = stop
		go p.run(ctx)
	}
}

func (p *poller) remove(f *follower) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.followers = slices.DeleteFunc(p.followers, func(other *follower) bool { return other == f })
	if len(p.followers) == 0 && p.stop != nil {
		p.stop()
		p.stop = nil
	}
}

func (p *poller) run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.look(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// failed begins what stands for the version of a resource that cannot be looked at; the
// code of the error follows.
const failed = "error "

// sight is what one look at a resource depends on: clients that see the same
// share it.
type sight struct {
	uri, principal string
	workspace      *workspace.Workspace
}

func (p *poller) look(ctx context.Context) {
	p.mu.Lock()
	followers := slices.Clone(p.followers)
	p.mu.Unlock()
	seen := map[sight]string{}
	for _, f := range followers {
		if ctx.Err() != nil {
			return
		}
		session := tools.Session(f.ctx)
		f.look(func(uri string) string {
			at := sight{uri, session.Principal, session.Workspace}
			version, ok := seen[at]
			if !ok {
				var err error
				if version, err = f.server.version(f.ctx, uri); err != nil {
					version = failed + string(tools.AsError(err).Code)
				}
				seen[at] = version
			}
			return version
		})
	}
}
