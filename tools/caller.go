package tools

import (
	"context"
	"encoding/json"
)

// Caller lets a tool call other tools. A tool that needs one finds it in the
// services of its category. Every inner call goes the whole way of a call: its own
// validation, policy, audit and limits, in the session of the outer call.
//
// ctx is always the one that the outer handler was given, or one made from it.
type Caller interface {
	// Call carries out one call. Its error is an *Error, or the *PendingAsk of
	// the inner tool, which the outer handler passes on. What the policy would
	// ask the user about is denied here, unless a Preflight of the same outer
	// call has settled it.
	Call(ctx context.Context, name string, args json.RawMessage) (Result, error)

	// Tools returns every tool that can be called, in the catalog's order. The list
	// is not changed in place: another list has another first element.
	Tools(ctx context.Context) ([]Tool, error)

	// Refusal says why every call of a tool would be refused in the session of ctx,
	// whatever its arguments; "" where it may be let through.
	Refusal(ctx context.Context, t Tool) string

	// Preflight validates and judges all calls before the first of them runs.
	// Consent that they need is asked for at once, in the name of the outer
	// call, so it may return a *PendingAsk; otherwise it names the first call
	// that cannot go on. A call that it lets through is to be made with the
	// same name and arguments.
	Preflight(ctx context.Context, calls []CallSpec) error
}

// CallSpec is one call that a tool wants to make.
type CallSpec struct {
	Name string // name or alias
	Args json.RawMessage
}
