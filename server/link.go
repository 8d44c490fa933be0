package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/server/follow"
	"toolcrib/server/outlet"
	"toolcrib/server/wire"
	"toolcrib/workspace"
)

// link is a client as the server knows it. Over pipes it is the connection; over HTTP it
// is a session of the older revisions, or a single request of the stateless revision.
type link struct {
	server *Server
	id     string
	caller
	admission *admission
	ctx       context.Context // of all requests
	cancel    context.CancelFunc
	streaming context.Context      // of requests that end only with the client or the server
	beyond    *beyond              // of tasks; nil: the link has none
	peer      atomic.Pointer[peer] // nil before the handshake
	onPeer    func()               // called once, before the handshake is answered; may be nil
	level     atomic.Pointer[mcp.LoggingLevel]
	asks      asks
	roots     roots

	mu       sync.Mutex
	home     outlet.Outlet // for messages that belong to no request; nil: the client does not listen
	inflight map[string]*request
	closed   bool   // no request is taken any more
	news     bool   // the client wants to hear of changes of the lists
	mute     func() // ends that it hears of them; nil: it does not hear of them now
	wg       sync.WaitGroup
	follower *follow.Follower // of the session of the link; nil: it follows nothing
}

// caller is the principal of a link and its workspace.
type caller struct {
	principal string
	base      *workspace.Workspace // as it was opened, see link.workspace; nil: there are no files
	leave     func()               // says that base is no longer used; nil: nobody asks
}

// quit ends the use of the workspace.
func (c caller) quit() {
	if c.leave != nil {
		c.leave()
	}
}

// newLink makes a link whose requests end with ctx.
func (s *Server) newLink(ctx context.Context, id string, c caller, a *admission) *link {
	l := &link{server: s, id: id, caller: c, admission: a}
	level := mcp.LoggingLevelInfo
	l.level.Store(&level)
	l.ctx, l.cancel = context.WithCancel(ctx)
	l.streaming = l.ctx
	return l
}

// notified handles a notification.
func (l *link) notified(m *wire.Message) {
	switch m.Method {
	case string(mcp.MethodNotificationCancelled):
		l.abandon(m)
	case string(mcp.MethodNotificationInitialized):
		l.mu.Lock()
		l.news = true
		l.tellNews()
		l.mu.Unlock()
	case mcp.MethodNotificationRootsListChanged:
		l.roots.forget()
	}
}

// abandon cancels the request that a notification names. Nothing more is sent for it. An
// id that is not in flight is unknown or already answered, and is ignored.
func (l *link) abandon(m *wire.Message) {
	id, ok := m.Params.Get("requestId")
	if !ok || !wire.ValidID(id) {
		return
	}
	l.mu.Lock()
	r := l.inflight[wire.IDKey(id)]
	l.mu.Unlock()
	if r != nil {
		r.abandoned.Store(true)
		r.cancel()
	}
}

// tellNews sends changes of the lists to a client that opened with initialize, for as
// long as it listens. Such a client needs no subscription. The caller holds mu.
func (l *link) tellNews() {
	if l.closed || !l.news || l.mute != nil || l.home == nil || l.peer.Load() == nil {
		return
	}
	s := l.newSession(l.id, nil)
	if err := l.server.mcp.RegisterSession(l.ctx, s); err != nil {
		l.server.log.Error("register session", "error", err)
		return
	}
	ctx, stop := context.WithCancel(l.ctx)
	l.mute = func() {
		l.server.mcp.UnregisterSession(l.ctx, l.id)
		stop()
		l.mute = nil
	}
	go s.pump(ctx)
}

// close refuses further requests and ends the requests that wait for the client.
func (l *link) close() {
	l.mu.Lock()
	l.closed = true
	if l.mute != nil {
		l.mute()
	}
	f := l.follower
	l.mu.Unlock()
	if f != nil {
		f.Close()
	}
	l.asks.end()
}

// end ends the link with all its requests.
func (l *link) end() {
	l.close()
	l.cancel()
	l.roots.forget()
	if l.leave != nil {
		go func() {
			l.wg.Wait() // no request comes any more
			l.quit()
		}()
	}
}

// tell sends a notification that belongs to no request.
func (l *link) tell(method string, params any) {
	l.mu.Lock()
	home := l.home
	l.mu.Unlock()
	if home == nil {
		return
	}
	if line := l.server.notification(method, params); line != nil {
		home.Write(func() []byte { return line })
	}
}

// notification encodes a notification. It returns nil if that fails.
func (s *Server) notification(method string, params any) []byte {
	line, err := wire.AppendCall(nil, "", method, params)
	if err != nil {
		s.log.Error("encode notification", "method", method, "error", err)
		return nil
	}
	return line
}

// panicked logs a panic under an id and returns the error that names it.
func (s *Server) panicked(p any) *wire.Fault {
	id := rand.Text()[:8]
	s.log.Error("panic", "id", id, "panic", p, "stack", string(debug.Stack()))
	return wire.Refuse(mcp.INTERNAL_ERROR, "internal error %s; the log of the server has the details", id)
}

// asks holds the server's requests that wait for a response of the client.
type asks struct {
	mu      sync.Mutex
	last    int
	waiting map[string]chan *wire.Message
	ended   bool // the client is gone
}

var errClientGone = errors.New("the client is gone")

// ask sends a request to the client on behalf of r and waits for the response.
func (r *request) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	if !r.out.Streams() {
		return nil, errors.New("the client takes no events, so it cannot be asked")
	}
	id, response, err := r.link.asks.open()
	if err != nil {
		return nil, err
	}
	defer r.link.asks.forget(id)
	line, err := wire.AppendCall(nil, id, method, params)
	if err != nil {
		return nil, err
	}
	r.send(line)
	select {
	case m, ok := <-response:
		switch {
		case !ok:
			return nil, errClientGone
		case m.Err != nil:
			return nil, fmt.Errorf("%s: the client answered %s", method, m.Err)
		}
		return m.Result, nil
	case <-ctx.Done():
		// The dialog must not stay open for a call that nobody waits for.
		cancelled := map[string]string{"requestId": id, "reason": "the call has ended"}
		if line := r.link.server.notification(string(mcp.MethodNotificationCancelled), cancelled); line != nil {
			r.out.Write(func() []byte { return line })
		}
		return nil, ctx.Err()
	}
}

func (a *asks) open() (id string, response chan *wire.Message, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return "", nil, errClientGone
	}
	a.last++
	id, response = fmt.Sprintf("ask-%d", a.last), make(chan *wire.Message, 1)
	if a.waiting == nil {
		a.waiting = map[string]chan *wire.Message{}
	}
	a.waiting[id] = response
	return id, response, nil
}

func (a *asks) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, id)
}

// answered passes a response of the client to the request that waits for it. Without such
// a request it is dropped: the call may have ended.
func (a *asks) answered(m *wire.Message) {
	if m.ID[0] != '"' {
		return
	}
	id := wire.Unquote(m.ID)
	a.mu.Lock()
	defer a.mu.Unlock()
	if response, ok := a.waiting[id]; ok {
		response <- m
		delete(a.waiting, id)
	}
}

// end ends all waiting for the client with an error.
func (a *asks) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, response := range a.waiting {
		close(response)
	}
	a.waiting, a.ended = nil, true
}
