// Package follow notifies clients of changes of the resources that they follow.
//
// A [Poller] looks at all of them in one goroutine; a [Follower] has the resources of one
// client. Only the maker of the poller knows how to look at a resource. The package must
// not import mcp-go.
package follow

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/workspace"
)

const (
	// Max is the most resources that one client may follow.
	Max = 256
	// lookEvery is the time between two looks at the resources that are followed.
	lookEvery = time.Second
)

// Follower is notified of changed resources. It acts for one client.
type Follower struct {
	poller  *Poller
	ctx     context.Context // has the session of the client
	changed func(uri string)
	telling chan struct{} // full while somebody calls changed

	mu       sync.Mutex
	closed   bool
	versions map[string]string // of the followed resources, by URI
	news     []string          // URIs of changed resources that the client is not told of yet
	sending  bool              // a goroutine sends the news, or is about to
}

// NewFollower makes a follower; the session of ctx says in whose name it looks.
// changed is called from a goroutine of the poller, never twice at once.
func (p *Poller) NewFollower(ctx context.Context, changed func(uri string)) *Follower {
	return &Follower{poller: p, ctx: ctx, changed: changed, telling: make(chan struct{}, 1), versions: map[string]string{}}
}

// Follow begins to follow a resource. One that does not exist is an error, one
// that is followed already is not.
func (f *Follower) Follow(uri string) error {
	if err := f.take(uri); err != nil {
		return &Error{uri, err}
	}
	return nil
}

// Error returns why a resource cannot be followed.
type Error struct {
	URI string
	Err *tools.Error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

func (f *Follower) take(uri string) *tools.Error {
	version, err := f.poller.version(f.ctx, uri)
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
	case len(f.versions) >= Max:
		return tools.Errorf(tools.TooLarge, "%d resources are followed already", Max).WithHint("stop following others first")
	}
	f.versions[uri] = version
	f.poller.add(f)
	return nil
}

// Leave stops following a resource. It does nothing if the resource is not followed.
func (f *Follower) Leave(uri string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.versions, uri)
	if len(f.versions) == 0 {
		f.poller.remove(f)
	}
}

// URIs returns the URIs of the followed resources, sorted.
func (f *Follower) URIs() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.versions))
}

// Close ends the follower; changed is not called any more when it returns. It
// must not be called by changed.
func (f *Follower) Close() {
	f.mu.Lock()
	f.closed = true
	clear(f.versions)
	f.poller.remove(f)
	f.mu.Unlock()
	f.telling <- struct{}{} // a call that is on its way ends first
	<-f.telling
}

// look compares the followed resources with their last versions. Another goroutine sends
// the news, so that no client waits for another one. A resource that is denied by now is no
// longer followed.
func (f *Follower) look(version func(uri string) string) {
	for _, uri := range f.URIs() {
		now := version(uri)
		if f.ctx.Err() != nil {
			return
		}
		if now == failed+string(tools.Denied) {
			f.Leave(uri)
			continue
		}
		f.note(uri, now)
	}
}

// note takes over a version, and sees to it that it is told where it is news.
func (f *Follower) note(uri, version string) {
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
	if !f.sending {
		f.sending = true
		go f.tell()
	}
}

// tell calls changed until there are no news.
func (f *Follower) tell() {
	f.telling <- struct{}{}
	defer func() { <-f.telling }()
	for uri, ok := f.next(); ok; uri, ok = f.next() {
		f.changed(uri)
	}
}

// next takes the next of the news that is still followed.
func (f *Follower) next() (uri string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.news) > 0 {
		uri, f.news = f.news[0], f.news[1:]
		if _, followed := f.versions[uri]; followed {
			return uri, true
		}
	}
	f.sending = false
	return "", false
}

// Poller looks at every resource that is followed, in one goroutine, which
// there is only while somebody follows something.
type Poller struct {
	version func(ctx context.Context, uri string) (string, error)

	mu        sync.Mutex
	followers []*Follower
	stop      context.CancelFunc // of the goroutine; nil: there is none
}

// NewPoller makes a poller. version returns what tells two states of a resource apart,
// for the session of the context.
func NewPoller(version func(ctx context.Context, uri string) (string, error)) *Poller {
	return &Poller{version: version}
}

// Looks reports whether the goroutine that looks at followed resources is running.
func (p *Poller) Looks() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stop != nil
}

func (p *Poller) add(f *Follower) {
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

func (p *Poller) remove(f *Follower) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.followers = slices.DeleteFunc(p.followers, func(other *Follower) bool { return other == f })
	if len(p.followers) == 0 && p.stop != nil {
		p.stop()
		p.stop = nil
	}
}

func (p *Poller) run(ctx context.Context) {
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

// failed begins the version of a resource that cannot be looked at; the code of the error
// follows.
const failed = "error "

// sight identifies a look at a resource: clients for which it is equal share the result.
type sight struct {
	uri, principal string
	workspace      *workspace.Workspace
}

func (p *Poller) look(ctx context.Context) {
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
				if version, err = f.poller.version(f.ctx, uri); err != nil {
					version = failed + string(tools.AsError(err).Code)
				}
				seen[at] = version
			}
			return version
		})
	}
}
