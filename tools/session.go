package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolcrib/workspace"
)

// SessionInfo says in whose name a call is made and in which workspace it runs.
type SessionInfo struct {
	// Principal is [Local] on stdio, [Anonymous] over HTTP without authentication, else the
	// name of a token, or issuer and subject.
	Principal string
	Client    Client
	// Call is the id of the call in the audit log; "" outside the pipeline.
	Call string
	// Group is the run of an agent that the call belongs to, "" = none: what the calls of a run
	// change is undone together.
	Group     string
	Workspace *workspace.Workspace
	// May reports whether the principal may call a tool; nil = every one.
	May func(*Tool) bool
	// Lasting reports whether the call may take as long as it needs: the protocol gives its
	// client a handle for a long call, so the tool makes none.
	Lasting bool
	// Sample asks the client's model by the params of sampling/createMessage, and returns the
	// result. nil = the client has none, or its revision cannot be asked during a call.
	Sample func(ctx context.Context, params any) (json.RawMessage, error)
	// Once reports whether the process, with everything that it started, ends with the call.
	Once bool
}

// Allows reports whether the principal may call a tool.
func (s *SessionInfo) Allows(t *Tool) bool { return s.May == nil || s.May(t) }

// Local is the principal of the user who started the server and speaks to it over stdio or
// the command line.
const Local = "local"

// Anonymous is the principal of everybody over HTTP without authentication.
const Anonymous = "anonymous"

// Client is the program that made the call, with its capabilities.
type Client struct {
	Name, Version string
	// Protocol is the protocol revision of the call.
	Protocol string
	// Forms reports whether the client can show a form to its user.
	Forms bool
	// Sampling reports whether the client can ask its model, and SamplingTools whether with tools.
	Sampling, SamplingTools bool
	// Tasks reports whether the client accepts a task as the answer to a long call.
	Tasks bool
}

// Ability is something that a client may be able to do, by its name in the protocol. The
// name of an extension has a slash.
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

// Resolve resolves a path argument in the workspace of the call. It fails if the root is no
// longer at the path that the user gave.
func Resolve(ctx context.Context, path string) (workspace.Path, error) {
	p, err := Session(ctx).Workspace.Resolve(path)
	if err == nil {
		err = p.CheckRoot()
	}
	if e, ok := errors.AsType[*workspace.Error](err); ok && e.Rule == workspace.RuleOutside && ofCommands(path) {
		told := *e
		told.Hint = "if a command has made it, have the command write in the workspace, or cp the file there; " + e.Hint
		err = &told
	}
	return p, err
}

// ofCommands reports whether a path lies where commands write that do not write in the workspace.
// Whether the file is the one that others see there depends on the level of the sandbox.
func ofCommands(path string) bool {
	home, err := os.UserHomeDir()
	if err != nil || home == "/" {
		home = "/tmp"
	}
	dirs := []string{"/tmp", "/var/tmp", "/dev/shm", home, os.TempDir()}
	if temp, err := filepath.EvalSymlinks(os.TempDir()); err == nil {
		dirs = append(dirs, temp)
	}
	path = filepath.ToSlash(path)
	return slices.ContainsFunc(dirs, func(dir string) bool {
		dir = strings.TrimSuffix(filepath.ToSlash(dir), "/")
		return path == dir || strings.HasPrefix(path, dir+"/")
	})
}

// Caller lets a tool call other tools. A tool that needs one gets it from the services of
// its category. Every inner call goes through the whole pipeline, with its own validation,
// policy, limits and audit, in the session of the outer call.
//
// ctx must be the context of the outer handler or derived from it.
type Caller interface {
	// Call carries out one call. Its error is an *Error, or the *PendingAsk of the inner
	// tool, which the outer handler returns. A call that the policy would ask the user
	// about is denied, unless a Preflight of the same outer call has obtained the consent.
	Call(ctx context.Context, name string, args json.RawMessage) (Result, error)

	// Tools returns every tool that can be called, in the catalog's order, those that are
	// listed, and those that are off. A slice is never changed in place: if the tools
	// change, the next slice has another first element.
	Tools(ctx context.Context) (Selected, error)

	// Names returns the names under which these tools can be called.
	Names(ctx context.Context) (*Names, error)

	// Refusal says why every call of a tool would be refused in the session of ctx,
	// whatever its arguments; "" = it may be allowed.
	Refusal(ctx context.Context, t Tool) string

	// Preflight validates and judges all calls before the first of them runs. It asks for
	// all consent at once, in the name of the outer call, so it may return a *PendingAsk.
	// If calls cannot run, the error is a *RefusedCalls, or that of the call if it is a
	// single one; nothing is asked then, and a Preflight of the others may pass. Calls that
	// pass must then be made with the same name and arguments. It returns the arguments that
	// the tools will have.
	Preflight(ctx context.Context, calls []CallSpec) ([]Bound, error)

	// Judge validates and judges a call that is to be made later, and returns what the user
	// must be asked about it; "" = nothing. Its error says why the call would be refused.
	Judge(ctx context.Context, call CallSpec) (question string, err error)

	// Later carries out a call that belongs to no other. Its ctx is that of no call.
	Later(ctx context.Context, call LaterCall) (Result, error)
}

// LaterCall is a call in the name of somebody who is not there: nobody can be asked, and what
// would ask is denied.
type LaterCall struct {
	CallSpec
	Session SessionInfo
	// Consented reports whether the user consented to this very call when it was planned.
	Consented bool
}

// RefusedCalls is the error of a Preflight of several calls.
type RefusedCalls struct {
	Errs []error // by call; nil = it may run
}

// Unwrap returns the error of the first call that cannot run, which says which call it is.
func (e *RefusedCalls) Unwrap() error {
	for i, err := range e.Errs {
		if err != nil {
			c := *AsError(err)
			c.Msg = fmt.Sprintf("call %d of %d: %s", i+1, len(e.Errs), c.Msg)
			return &c
		}
	}
	return nil
}

func (e *RefusedCalls) Error() string { return e.Unwrap().Error() }

// CallSpec is one call that a tool wants to make.
type CallSpec struct {
	Name string // name or alias
	Args json.RawMessage
}
