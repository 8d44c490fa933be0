package tools

import (
	"context"

	"toolcrib/workspace"
)

// SessionInfo is whose call this is and in which workspace it runs.
type SessionInfo struct {
	// Principal is [Local] on stdio, "anonymous" over HTTP without
	// authentication, else issuer and subject.
	Principal string
	Client    Client
	// Call is the id of the call, as the audit log has it; "" outside the pipeline.
	Call      string
	Workspace *workspace.Workspace
	// May reports whether the principal may call a tool; nil = every one.
	May func(*Tool) bool
	// Lasting reports that the call may take as long as it needs: its client gets a
	// handle from the protocol once it lasts, so the tool makes none of its own.
	Lasting bool
	// Once reports that the process ends with the call, and all that it started with it.
	Once bool
}

// Allows reports whether the principal may call a tool.
func (s *SessionInfo) Allows(t *Tool) bool { return s.May == nil || s.May(t) }

// Local is the principal of whoever started the server and speaks to it over
// its pipes or the command line.
const Local = "local"

// Client is the program that made the call and what it can do.
type Client struct {
	Name, Version string
	// Protocol is the revision that the call was made in.
	Protocol string
	// Forms reports that the client can put a form before its user.
	Forms bool
	// Sampling reports that the client can ask its model.
	Sampling bool
	// Tasks reports that the client takes a task for a call that lasts.
	Tasks bool
}

// Ability is something that a client may be able to do, by the name that the
// protocol has for it; that of an extension has a slash.
type Ability string

// The abilities.
const (
	Elicitation Ability = "elicitation"
	Sampling    Ability = "sampling"
	Tasks       Ability = "io.modelcontextprotocol/tasks"
)

// Can reports whether the client has an ability.
func (c Client) Can(a Ability) bool {
	return a == Elicitation && c.Forms || a == Sampling && c.Sampling || a == Tasks && c.Tasks
}

// Session returns the session of the call. It is nil outside a call.
func Session(ctx context.Context) *SessionInfo {
	s, _ := ctx.Value(sessionKey{}).(*SessionInfo)
	return s
}

// WithSession returns a context that belongs to a call of s.
func WithSession(ctx context.Context, s *SessionInfo) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

type sessionKey struct{}

// Resolve resolves a path argument in the workspace of the call, whose root must be where
// the user named it.
func Resolve(ctx context.Context, path string) (workspace.Path, error) {
	p, err := Session(ctx).Workspace.Resolve(path)
	if err == nil {
		err = p.CheckRoot()
	}
	return p, err
}
