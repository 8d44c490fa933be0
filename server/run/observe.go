package run

import (
	"context"
	"errors"

	"toolcrib/server/counts"
	"toolcrib/tools"
)

// Observer receives the begin and end of each call and of its parts, for traces. Several
// goroutines call it, and the call waits for it, so it must return at once.
type Observer interface {
	// Begin is called when a part begins. The part runs with the context that Begin
	// returns; end is called once, at the end of the part. Calls that a tool makes begin
	// inside the attempt that makes them.
	Begin(ctx context.Context, part Part) (inside context.Context, end func(Ending))
}

// Part is a call or an observed part of one. It names no argument, path or principal.
type Part struct {
	Kind     PartKind
	Tool     string // of the catalog; [counts.UnknownTool] or [counts.SourceReads]
	ID       string // of the call, as the audit log has it
	Number   int    // of the attempt or the hook, from 1
	Protocol string // revision in which the client speaks
	Trace    Trace  // of a call that a client made
}

// PartKind is the kind of a part.
type PartKind string

// The parts.
const (
	PartCall    PartKind = "call"
	PartAttempt PartKind = "attempt"
	PartPre     PartKind = "pre hook"
	PartPost    PartKind = "post hook" // of any of the lists that run at the end
)

// Trace is the trace context of a call in the format of W3C Trace Context, not checked
// yet.
type Trace struct{ Parent, State string }

// Ending describes how a part ended.
type Ending struct {
	Code     string // ok, asked, skipped or the code of the error
	Source   string // where the result of a call came from: tool, cache, joined or hook
	Attempts int    // of a call
}

var sources = [...]string{sourceTool: "tool", sourceCache: "cache", sourceJoined: "joined", sourceHook: "hook"}

// observe reports the begin of a part of the call to the observer, if there is one.
func (p *pass) observe(ctx context.Context, kind PartKind, number int) (context.Context, func(Ending)) {
	if p.r.cfg.Observe == nil || p.dry {
		return ctx, unobserved
	}
	part := Part{Kind: kind, Tool: p.tool.Name, ID: p.id, Number: number}
	if p.call.Read != nil {
		part.Tool = counts.SourceReads
	}
	if kind == PartCall {
		part.Protocol, part.Trace = p.call.Session.Client.Protocol, p.call.Trace
	}
	return p.r.cfg.Observe.Begin(ctx, part)
}

func unobserved(Ending) {}

// ended returns the Ending of a part that returned err.
func ended(err error) Ending {
	if err == nil {
		return Ending{Code: "ok"}
	}
	if _, asks := errors.AsType[*tools.PendingAsk](err); asks {
		return Ending{Code: "asked"}
	}
	return Ending{Code: string(tools.AsError(err).Code)}
}
