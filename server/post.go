package server

import (
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/server/identity"
	"toolcrib/server/inbound"
	"toolcrib/server/outlet"
	"toolcrib/server/wire"
)

// post handles a message. The revision that its header or its _meta names decides whether
// it is served as stateless.
func (h *httpServer) post(w http.ResponseWriter, r *http.Request, who identity.Who) {
	accepted := outlet.Accepts(r)
	switch {
	case !isJSON(r):
		h.refuse(w, http.StatusUnsupportedMediaType, wire.Refuse(mcp.INVALID_REQUEST, "the header Content-Type must be application/json"))
		return
	case !accepted.JSON && !accepted.Events:
		h.refuse(w, http.StatusNotAcceptable, wire.Refuse(mcp.INVALID_REQUEST, "the header Accept must have application/json and %s", outlet.EventStream))
		return
	}
	body, err := h.bodies.Read(w, r, wire.MaxMessage)
	if err != nil {
		h.refuseBody(w, err)
		return
	}
	raw, bad := wire.Text(body)
	if bad != nil {
		h.refuse(w, http.StatusBadRequest, bad)
		return
	}
	st := outlet.NewStream(w, accepted)
	defer st.End()
	if raw[0] == '[' {
		h.batch(st, w, r, who, raw)
		return
	}
	m, bad := wire.Parse(raw)
	switch {
	case bad != nil:
		h.refuse(w, http.StatusBadRequest, bad)
	case m == nil:
		h.refuse(w, http.StatusBadRequest, wire.Refuse(mcp.INVALID_REQUEST, "the message is no request, and no notification or response that can be understood"))
	case h.forbids(w, who, m):
	case m.Modern() || !legacyRevision(r.Header.Get(mcp.HeaderProtocolVersion)):
		h.stateless(st, w, r, who, m)
	default:
		h.stateful(st, w, r, who, m)
	}
}

// stateless serves a message of the stateless revision.
func (h *httpServer) stateless(st *outlet.Stream, w http.ResponseWriter, r *http.Request, who identity.Who, m *wire.Message) {
	switch {
	case m.Method == "":
		h.refuse(w, http.StatusBadRequest, wire.Refuse(mcp.INVALID_REQUEST, "no request of the server waits for a response"))
		return
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted) // closing the stream is what cancels, and nothing else can be told
		return
	}
	if bad := h.server.headers(r.Header, m); bad != nil {
		bad.ID = m.ID
		st.Finish(outlet.Ending{Status: statusOf(bad.Code)}, bad.Line)
		return
	}
	id := "http-" + strconv.FormatInt(h.requests.Add(1), 36)
	c, ok := h.enter(w, r, who)
	if !ok {
		return
	}
	l := h.server.newLink(r.Context(), id, c, h.admission)
	streaming, stop := h.until(who)
	defer stop()
	l.streaming, l.beyond = streaming, h.beyond
	defer l.end()
	l.admit(l.ctx, m, st, nil, inPlace)
}

// stateful serves a message of the revisions that open with initialize.
func (h *httpServer) stateful(st *outlet.Stream, w http.ResponseWriter, r *http.Request, who identity.Who, m *wire.Message) {
	if m.Method == string(mcp.MethodInitialize) && m.ID != nil {
		h.initialize(st, w, r, who, m)
		return
	}
	s := h.session(w, r, who)
	if s == nil {
		return
	}
	defer h.sessions.release(s)
	s.admit(r.Context(), m, st, nil, inPlace)
	if m.Method == "" || m.ID == nil { // nothing answers it
		w.WriteHeader(http.StatusAccepted)
	}
}

// initialize opens a session. If the handshake fails, the session is dropped.
func (h *httpServer) initialize(st *outlet.Stream, w http.ResponseWriter, r *http.Request, who identity.Who, m *wire.Message) {
	c, ok := h.enter(w, r, who)
	if !ok {
		return
	}
	s := h.sessions.open(h.ctx, h.server, c, h.admission)
	if s == nil {
		c.quit()
		h.refuse(w, http.StatusServiceUnavailable, wire.Refuse(mcp.INTERNAL_ERROR, "too many sessions are in use; try again later"))
		return
	}
	s.streaming = h.streaming
	s.onPeer = func() { w.Header().Set(mcp.HeaderSessionID, s.id) }
	s.admit(r.Context(), m, st, nil, inPlace)
	s.onPeer = nil // the response, with all of its request, does not live as long as the session
	if s.peer.Load() == nil {
		h.sessions.remove(s)
	}
	h.sessions.release(s)
}

// batch serves an array of messages of a session. It is refused if the header names a
// revision without sessions, for sessions of any revision: a proxy that reads only
// the headers would take it for one message of that revision.
func (h *httpServer) batch(st *outlet.Stream, w http.ResponseWriter, r *http.Request, who identity.Who, raw []byte) {
	if r.Header.Get(mcp.HeaderSessionID) == "" || !legacyRevision(r.Header.Get(mcp.HeaderProtocolVersion)) {
		h.refuse(w, http.StatusBadRequest, wire.Refuse(mcp.INVALID_REQUEST, "batches exist only in sessions of revision %s; send one message at a time", mcp.ProtocolVersion20250326))
		return
	}
	s := h.session(w, r, who)
	if s == nil {
		return
	}
	defer h.sessions.release(s)
	st.Batch = true
	var members sync.WaitGroup
	defer members.Wait()
	if bad := s.acceptBatch(r.Context(), raw, st, func(f func()) { members.Go(f) }); bad != nil {
		h.refuse(w, http.StatusBadRequest, bad)
	}
}

// inPlace serves a request in the goroutine of its connection.
func inPlace(f func()) { f() }

// headers checks that the headers of a request agree with its body, so that a proxy that
// reads only the headers is not deceived. [Server.refuses] checks the revision's other
// demands on the body.
func (s *Server) headers(header http.Header, m *wire.Message) *wire.Fault {
	mismatch := func(format string, args ...any) *wire.Fault { return wire.Refuse(mcp.HEADER_MISMATCH, format, args...) }
	for _, name := range []string{mcp.HeaderProtocolVersion, mcp.HeaderMethod, mcp.HeaderName} {
		if len(header.Values(name)) > 1 {
			return mismatch("the header %s appears twice", name)
		}
	}
	said, version := header.Get(mcp.HeaderProtocolVersion), m.Version()
	switch {
	case said == "":
		return mismatch("the header %s is missing", mcp.HeaderProtocolVersion)
	case version != "" && said != version:
		return mismatch("the header %s says %q, params._meta %q", mcp.HeaderProtocolVersion, said, version)
	case !mcp.IsValidProtocolVersion(said):
		return wire.Unsupported(said)
	case version == "":
		return wire.Refuse(mcp.INVALID_PARAMS, "params._meta has no %s", mcp.MetaKeyProtocolVersion)
	}
	err := mcp.ValidateStandardHeaders(header.Get, version, mcp.MCPMethod(m.Method), m.ParamsText)
	if err == nil && namesTask(m) {
		id, _ := m.Params.Get("taskId")
		if name, ok := mcp.DecodeHeaderValue(header.Get(mcp.HeaderName)); !ok || len(id) == 0 || id[0] != '"' || name != wire.Unquote(id) {
			return mismatch("the header %s says %q, params.taskId %s", mcp.HeaderName, wire.Tellable(name), wire.Tellable(string(id)))
		}
	}
	if tool := s.nativeTool(m); err == nil && tool != nil {
		err = mcp.ValidateParamHeadersLookup(func(name string) (string, bool) {
			values := header.Values(name)
			return strings.Join(values, ", "), len(values) > 0 // several are one that says something else
		}, &tool.Tool, m.ParamsText)
	}
	if _, ok := errors.AsType[mcp.HeaderMismatchError](err); ok {
		return mismatch("%v", err)
	}
	if err != nil {
		return wire.Refuse(mcp.INVALID_REQUEST, "%v", err)
	}
	return nil
}

// isJSON reports whether the request has a body of JSON, which is UTF-8.
func isJSON(r *http.Request) bool {
	values := r.Header.Values("Content-Type")
	if len(values) != 1 || r.Header.Get("Content-Encoding") != "" {
		return false
	}
	media, params, err := mime.ParseMediaType(values[0])
	charset, named := params["charset"]
	return err == nil && media == "application/json" && (!named || strings.EqualFold(charset, "utf-8"))
}

// refuseBody answers a request whose body was not read.
func (h *httpServer) refuseBody(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, inbound.ErrTooLarge):
		h.refuse(w, http.StatusRequestEntityTooLarge, wire.Refuse(mcp.INVALID_REQUEST, "the message is longer than %d bytes", wire.MaxMessage))
	case errors.Is(err, inbound.ErrCrowded):
		h.refuse(w, http.StatusServiceUnavailable, wire.Refuse(mcp.INTERNAL_ERROR, "too many large messages at once; try again"))
	case errors.Is(err, inbound.ErrSlow):
		h.refuse(w, http.StatusRequestTimeout, wire.Refuse(mcp.INVALID_REQUEST, "the message came too slowly"))
	default:
		h.refuse(w, http.StatusBadRequest, wire.Refuse(mcp.INVALID_REQUEST, "the message did not come whole"))
	}
}
