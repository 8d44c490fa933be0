package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/server/identity"
	"toolcrib/server/wire"
	"toolcrib/tools"
)

type grantKey struct{}

// withGrant returns the context of a request whose token has a grant. Two requests
// of one session may have different ones.
func withGrant(ctx context.Context, g *identity.Grant) context.Context {
	return context.WithValue(ctx, grantKey{}, g)
}

// granted returns what the request of a context may call; nil is everything.
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
	case err != nil: // the text tells of directories of this machine
		h.server.log.Error("no workspace for a principal", "principal", who.Principal, "error", err)
		h.refuse(w, http.StatusInternalServerError, wire.Refuse(mcp.INTERNAL_ERROR, "the directory of this principal cannot be opened; the log of the server has the details"))
		return caller{}, false
	case ws == nil:
		ws = h.server.workspace
	}
	return caller{principal: who.Principal, base: ws, leave: leave}, true
}

// challenge refuses a request that its token does not let through, id is that of
// the message where it was read.
func (h *httpServer) challenge(w http.ResponseWriter, bad *identity.Refusal, id []byte) {
	if bad.Challenge != "" {
		w.Header().Set("WWW-Authenticate", bad.Challenge)
	}
	h.refuse(w, bad.Status, &wire.Fault{ID: id, Code: mcp.INVALID_REQUEST, Msg: bad.Message})
}

// forbids refuses a call of a tool that exists and is beyond what the token of the
// request may call. In a batch, and for the calls inside a call, the policy does it.
func (h *httpServer) forbids(w http.ResponseWriter, who identity.Who, m *wire.Message) bool {
	if who.Grant == nil || m.Method != string(mcp.MethodToolsCall) || m.ID == nil {
		return false
	}
	name, _ := m.Params.Get("name")
	if len(name) == 0 || name[0] != '"' {
		return false
	}
	t, ok := h.server.tool(wire.Unquote(name))
	if !ok || who.Grant.Allows(t) {
		return false
	}
	h.challenge(w, h.auth.Insufficient(who.Grant.Needed(t), "the token does not let "+t.Name+" be called"), m.ID)
	return true
}

// toolsOf returns the tools of names, of which all that can be called have one.
func (s *Server) toolsOf(names []string) []*tools.Tool {
	var list []*tools.Tool
	for _, name := range names {
		if t, ok := s.tool(name); ok {
			list = append(list, t)
		}
	}
	return list
}
