package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/server/identity"
	"toolcrib/server/inbound"
	"toolcrib/server/outlet"
	"toolcrib/server/run"
	"toolcrib/server/wire"
	"toolcrib/tools"
)

// Endpoint is the path at which streamable HTTP is served.
const Endpoint = "/mcp"

// HTTP configures streamable HTTP.
type HTTP struct {
	// Auth finds the principal of a request; nil = all requests are anonymous.
	Auth *identity.Gate
	// Roots gives principals their own workspaces; nil = all use that of the server.
	Roots *identity.Roots
	// Hosts are names by which clients may call the server, in addition to localhost and
	// the addresses of its listener.
	Hosts []string
	// Origins are the web origins whose pages may call the server, as browsers
	// send them: https://example.com.
	Origins []string
	// SessionIdle is how long a session of the older revisions lives without a
	// request; 0 = DefaultSessionIdle.
	SessionIdle time.Duration
}

// Bounds of streamable HTTP.
const (
	// maxRunningHTTP is the most tools/call requests of all clients that run at once.
	maxRunningHTTP = 256
	// maxHeader is the most bytes of a request's headers.
	maxHeader = 16 << 10
	// headerWait is how long a connection may take to send its headers, idleWait how long
	// it may be silent between two requests.
	headerWait = 5 * time.Second
	idleWait   = 2 * time.Minute
	// drainWait is how long a connection waits for the rest of an unread body before it
	// is closed.
	drainWait = time.Second
	// graceHTTP is how long running calls may go on at shutdown.
	graceHTTP = 10 * time.Second
)

// httpServer answers the requests of one listener.
type httpServer struct {
	server    *Server
	origins   inbound.OriginCheck
	auth      *identity.Gate
	roots     *identity.Roots
	admission *admission
	bodies    *inbound.Bodies
	sessions  *sessions
	ctx       context.Context // of all calls
	streaming context.Context // of streams that end only with their client or the server
	beyond    *beyond         // of tasks
	requests  atomic.Int64    // numbers the links of the stateless era
}

// ServeStreamable serves clients over streamable HTTP at [Endpoint] of a listener until
// ctx ends, and closes the listener. When ctx ends, streams end at once and running calls
// get ten seconds. An error means that the listener failed.
func (s *Server) ServeStreamable(ctx context.Context, ln net.Listener, opt HTTP) error {
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	streaming, endStreams := context.WithCancel(calls)
	defer endStreams()
	h := &httpServer{
		server:    s,
		origins:   inbound.NewOriginCheck(Loopback(ln.Addr()), opt.Hosts, opt.Origins, mcp.HeaderSessionID+", WWW-Authenticate, Retry-After"),
		auth:      opt.Auth,
		roots:     opt.Roots,
		admission: newAdmission(maxRunningHTTP),
		bodies:    inbound.NewBodies(),
		sessions:  newSessions(cmp.Or(opt.SessionIdle, DefaultSessionIdle)),
		ctx:       calls,
		streaming: streaming,
		beyond:    &beyond{ctx: streaming},
	}
	s.traffic.sessions.Store(h.sessions)
	srv := &http.Server{
		Handler: h,
		// OPTIONS * is checked like any other request.
		DisableGeneralOptionsHandler: true,
		BaseContext:                  func(net.Listener) context.Context { return calls },
		ReadHeaderTimeout:            headerWait,
		IdleTimeout:                  idleWait,
		MaxHeaderBytes:               maxHeader,
		ErrorLog:                     slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	select {
	case err := <-ended:
		cancel()
		_ = srv.Close()
		h.sessions.end()
		return fmt.Errorf("accept connections: %w", err)
	case <-ctx.Done():
	}
	endStreams()
	patient, stop := context.WithTimeout(calls, graceHTTP)
	defer stop()
	if err := srv.Shutdown(patient); err != nil { // calls still run
		cancel()
		last, stop := context.WithTimeout(context.WithoutCancel(calls), farewell)
		defer stop()
		_ = srv.Shutdown(last) // requests that have not ended by now are cut off
		_ = srv.Close()
	}
	h.sessions.end()
	h.beyond.wait(farewell)
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP implements [http.Handler]: it decides from the headers alone whether the
// client may call, before it reads the body.
func (h *httpServer) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	// In all cases, a body that does not come or an answer that nobody reads must not
	// hold the connection.
	control := http.NewResponseController(rw)
	_ = control.SetWriteDeadline(time.Now().Add(outlet.WriteWait))
	if r.Body != http.NoBody {
		_ = control.SetReadDeadline(time.Now().Add(inbound.BodyWait))
	}
	w := &responseWriter{ResponseWriter: rw, from: r.RemoteAddr}
	defer h.server.traffic.count(w)
	r = traced(r)
	defer func() {
		if p := recover(); p != nil {
			bad := h.server.panicked(p)
			if w.status != 0 {
				panic(http.ErrAbortHandler) // a part is sent and cannot become an error: the client sees that it is cut off
			}
			h.refuse(w, http.StatusInternalServerError, bad)
		}
	}()
	if len(r.TransferEncoding) > 0 {
		// A Content-Length may have contradicted this, so the rest of the connection is
		// not trusted (RFC 9112, 6.1).
		w.Header().Set("Connection", "close")
	}
	if why := h.origins.Refuses(r); why != "" {
		h.refuse(w, http.StatusForbidden, wire.Refuse(mcp.INVALID_REQUEST, "%s", why))
		return
	}
	if m := h.auth.Metadata(); m.Serves(r.URL.Path, Endpoint) {
		m.ServeHTTP(w, r)
		return
	}
	if r.URL.Path != Endpoint {
		h.refuse(w, http.StatusNotFound, wire.Refuse(mcp.INVALID_REQUEST, "the server answers at %s alone", Endpoint))
		return
	}
	if h.origins.Preflight(w, r) {
		return
	}
	who, bad := h.auth.Admit(r)
	if bad != nil {
		h.challenge(w, bad, nil)
		return
	}
	r = r.WithContext(withGrant(r.Context(), who.Grant))
	switch modern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)); {
	case r.Method == http.MethodPost:
		h.post(w, r, who)
	case r.Method == http.MethodGet && !modern:
		h.get(w, r, who)
	case r.Method == http.MethodDelete && !modern:
		h.delete(w, r, who)
	default:
		allowed := "POST, GET, DELETE"
		if modern {
			allowed = "POST"
		}
		w.Header().Set("Allow", allowed)
		h.refuse(w, http.StatusMethodNotAllowed, wire.Refuse(mcp.INVALID_REQUEST, "%s is not answered here, %s is", wire.Tellable(r.Method), allowed))
	}
}

// responseWriter remembers the status of a response that has begun.
type responseWriter struct {
	http.ResponseWriter
	status int    // 0 before
	from   string // address of the client
}

// WriteHeader implements [http.ResponseWriter].
func (w *responseWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *responseWriter) Write(data []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(data)
}

// Unwrap gives [http.ResponseController] access to the server's own writer.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// refuse answers with an error that belongs to no request, and closes the
// connection: there may be a body that nobody reads.
func (h *httpServer) refuse(w http.ResponseWriter, status int, bad *wire.Fault) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Connection", "close")
	if status == http.StatusServiceUnavailable {
		header.Set("Retry-After", outlet.RetryAfter)
	}
	h.server.tellRefused(w, status, bad)
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(outlet.WriteWait)) // a failure is the write's
	_ = control.SetReadDeadline(time.Now().Add(drainWait))
	w.WriteHeader(status)
	_, _ = w.Write(append(bad.Line(), '\n')) // a client that has gone is told nothing
}

// get serves the stream of a session, for messages that belong to no request.
func (h *httpServer) get(w http.ResponseWriter, r *http.Request, who identity.Who) {
	if !outlet.Accepts(r).Events {
		h.refuse(w, http.StatusNotAcceptable, wire.Refuse(mcp.INVALID_REQUEST, "a GET opens a stream: the header Accept must have %s", outlet.EventStream))
		return
	}
	s := h.session(w, r, who)
	if s == nil {
		return
	}
	defer h.sessions.release(s)
	if r.Body != http.NoBody {
		h.refuse(w, http.StatusBadRequest, wire.Refuse(mcp.INVALID_REQUEST, "a GET has no body"))
		return
	}
	st := outlet.NewStream(w, outlet.Accepted{Events: true})
	defer st.End()
	defer s.attach(st)()
	st.Open()
	if p := s.peer.Load(); p != nil && p.caps.Roots != nil {
		go s.learnRoots(&request{link: s.link, out: st, ctx: r.Context()})
	}
	streaming, stop := h.until(who)
	defer stop()
	select {
	case <-r.Context().Done():
	case <-st.Over: // another stream takes its place
	case <-s.ctx.Done():
	case <-streaming.Done():
	}
}

// delete ends a session.
func (h *httpServer) delete(w http.ResponseWriter, r *http.Request, who identity.Who) {
	s := h.session(w, r, who)
	if s == nil {
		return
	}
	h.sessions.remove(s)
	h.sessions.release(s)
	w.WriteHeader(http.StatusNoContent)
}

// session returns the session that a request names, busy until it is released. If there
// is none, it answers the request and returns nil.
func (h *httpServer) session(w http.ResponseWriter, r *http.Request, who identity.Who) *httpSession {
	id := strings.Join(r.Header.Values(mcp.HeaderSessionID), ", ") // several are none that exists
	if id == "" {
		h.refuse(w, http.StatusBadRequest, wire.Refuse(mcp.INVALID_REQUEST,
			"the header %s is missing: initialize opens a session, and requests of revision %s need none but name the revision in params._meta", mcp.HeaderSessionID, mcp.ProtocolVersion20260728))
		return nil
	}
	s := h.sessions.acquire(id, who.Principal)
	if s == nil {
		h.refuse(w, http.StatusNotFound, wire.Refuse(mcp.INVALID_REQUEST, "there is no such session, or not any more; call initialize"))
	}
	return s
}

// Loopback reports whether a listener at addr can only be reached from this machine.
func Loopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

type grantKey struct{}

// withGrant returns the context of a request whose token has a grant. Two requests
// of one session may have different ones.
func withGrant(ctx context.Context, g *identity.Grant) context.Context {
	return context.WithValue(ctx, grantKey{}, g)
}

// granted returns which tools the request of a context may call; nil means all.
func granted(ctx context.Context) func(*tools.Tool) bool {
	if g, _ := ctx.Value(grantKey{}).(*identity.Grant); g != nil {
		return g.Allows
	}
	return nil
}

// until returns a context for streams, which end with the token that opened them.
func (h *httpServer) until(who identity.Who) (context.Context, context.CancelFunc) {
	if who.Expires.IsZero() {
		return h.streaming, func() {}
	}
	return context.WithDeadline(h.streaming, who.Expires)
}

// enter returns the caller of a request with its workspace. Where there is none to be
// had it answers the request and returns false.
func (h *httpServer) enter(w http.ResponseWriter, r *http.Request, who identity.Who) (caller, bool) {
	ws, leave, err := h.roots.Enter(r.Context(), who)
	switch {
	case errors.Is(err, identity.ErrCrowded):
		h.refuse(w, http.StatusServiceUnavailable, wire.Refuse(mcp.INTERNAL_ERROR, "%v; try again later", err))
		return caller{}, false
	case err != nil: // its text names directories of this machine
		h.server.log.Error("no workspace for a principal", "principal", who.Principal, "error", err)
		h.refuse(w, http.StatusInternalServerError, wire.Refuse(mcp.INTERNAL_ERROR, "the directory of this principal cannot be opened; the log of the server has the details"))
		return caller{}, false
	case ws == nil:
		ws = h.server.workspace
	}
	return caller{principal: who.Principal, base: ws, leave: leave}, true
}

// challenge refuses a request that its token does not allow. id is that of the message,
// if it was read.
func (h *httpServer) challenge(w http.ResponseWriter, bad *identity.Refusal, id []byte) {
	if bad.Challenge != "" {
		w.Header().Set("WWW-Authenticate", bad.Challenge)
	}
	h.refuse(w, bad.Status, &wire.Fault{ID: id, Code: mcp.INVALID_REQUEST, Msg: bad.Message})
}

// forbids refuses a call of an existing tool that the token of the request does not
// allow. In a batch, and for calls inside a call, the policy refuses instead.
func (h *httpServer) forbids(w http.ResponseWriter, who identity.Who, m *wire.Message) bool {
	if who.Grant == nil || m.Method != string(mcp.MethodToolsCall) || m.ID == nil {
		return false
	}
	name, _ := m.Params.Get("name")
	if len(name) == 0 || name[0] != '"' {
		return false
	}
	args, _ := m.Params.Get("arguments")
	t, ok := h.server.tool(wire.Unquote(name), args)
	if !ok || who.Grant.Allows(t) {
		return false
	}
	h.challenge(w, h.auth.Insufficient(who.Grant.Needed(t), "the token does not let "+t.Name+" be called"), m.ID)
	return true
}

// toolsOf returns the tool of each name that can be called.
func (s *Server) toolsOf(names []string) []*tools.Tool {
	var list []*tools.Tool
	for _, name := range names {
		if t, ok := s.tool(name, nil); ok {
			list = append(list, t)
		}
	}
	return list
}

// Refusal is a request over HTTP that was refused before it became a call: its origin,
// host or token may not call, or calls too often.
type Refusal struct {
	Status int    // one of RefusalStatuses
	From   string // address of the connection: that of a proxy, where there is one
	Why    string
}

// RefusalStatuses are the possible values of a Refusal's Status.
func RefusalStatuses() []int {
	return []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests}
}

// tellRefused reports a refused request to Options.Refused, if that is set.
func (s *Server) tellRefused(w http.ResponseWriter, status int, bad *wire.Fault) {
	if s.refused == nil {
		return
	}
	if !slices.Contains(RefusalStatuses(), status) {
		return
	}
	told := Refusal{Status: status, Why: bad.Msg}
	if rw, ok := w.(*responseWriter); ok {
		told.From = rw.from
	}
	s.refused(told)
}

// traffic counts sessions and requests over HTTP.
type traffic struct {
	answered [600]atomic.Uint64 // by status
	sessions atomic.Pointer[sessions]
}

// Traffic returns the number of open sessions over HTTP and, for each status, the number
// of requests that it answered.
func (s *Server) Traffic() (live int, requests map[int]uint64) {
	if ss := s.traffic.sessions.Load(); ss != nil {
		live = ss.count()
	}
	requests = map[int]uint64{}
	for status := range s.traffic.answered {
		if n := s.traffic.answered[status].Load(); n > 0 {
			requests[status] = n
		}
	}
	return live, requests
}

// count counts a request at its end.
func (t *traffic) count(w *responseWriter) {
	status := w.status
	if status == 0 {
		status = http.StatusOK // what net/http answers where nobody says anything
	}
	if status < len(t.answered) {
		t.answered[status].Add(1)
	}
}

func (ss *sessions) count() int {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return len(ss.byID)
}

// The names of a request's trace context, as headers and in _meta.
const (
	traceParent = "traceparent"
	traceState  = "tracestate"
)

type traceKey struct{}

// traced returns the request with the trace context of its headers, if they have one.
func traced(r *http.Request) *http.Request {
	parent := r.Header.Get(traceParent)
	if parent == "" {
		return r
	}
	t := run.Trace{Parent: parent, State: r.Header.Get(traceState)}
	return r.WithContext(context.WithValue(r.Context(), traceKey{}, t))
}

// trace returns the trace context of the request. That of _meta wins over the headers,
// which a proxy may have set.
func (r *request) trace() run.Trace {
	if parent := r.msg.Meta.Text(traceParent); parent != "" {
		return run.Trace{Parent: parent, State: r.msg.Meta.Text(traceState)}
	}
	t, _ := r.ctx.Value(traceKey{}).(run.Trace)
	return t
}
