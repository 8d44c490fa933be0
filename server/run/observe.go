package run

import (
	"context"
	"errors"

	"toolcrib/tools"
)

// Observer is told of each call and of its parts, for traces. It is called by
// several goroutines, in the way of the call, and must return at once.
type Observer interface {
	// Begin is told that a part begins. What happens inside of the part has the
	// context that Begin returns; end is called once, at its end. Calls that a tool
	// makes begin inside of the attempt that makes them.
	Begin(ctx context.Context, part Part) (inside context.Context, end func(Ending))
}

// Part is a call or what is observed inside of one. It names no argument, path or
// principal.
type Part struct {
	Kind     PartKind
	Tool     string // of the catalog; [UnknownTool] or [SourceReads] as in Stats
	ID       string // of the call, as the audit log has it
	Number   int    // of the attempt or the hook, from 1
	Protocol string // revision in which the client speaks
	Trace    Trace  // of a call that a client made
}

// PartKind is what begins.
type PartKind string

// The parts.
const (
	PartCall    PartKind = "call"
	PartAttempt PartKind = "attempt"
	PartPre     PartKind = "pre hook"
	PartPost    PartKind = "post hook" // of any of the lists that run at the end
)

// Trace is the place of a call in the trace of its client, as W3C Trace Context
// words it. Nothing of it is checked yet.
type Trace struct{ Parent, State string }

// Ending is how a part ended.
type Ending struct {
	Code     string // ok, asked, skipped or the code of the error
	Source   string // where the result of a call came from: tool, cache, joined or hook
	Attempts int    // of a call
}

var sources = [...]string{sourceTool: "tool", sourceCache: "cache", sourceJoined: "joined", sourceHook: "hook"}

// observe tells the observer, if there is one, that a part of the call begins.
func (p *pass) observe(ctx context.Context, kind PartKind, number int) (context.Context, func(Ending)) {
	if p.r.cfg.Observe == nil || p.dry {
		return ctx, unobserved
	}
	part := Part{Kind: kind, Tool: p.tool.Name, ID: p.id, Number: number}
	if p.call.Read != nil {
		part.Tool = SourceReads
	}
	if kind == PartCall {
		part.Protocol, part.Trace = p.call.Session.Client.Protocol, p.call.Trace
	}
	return p.r.cfg.Observe.Begin(ctx, part)
}

func unobserved(Ending) {}

// ended words how a part ended that returned an error or none.
func ended(err error) Ending {
	if err == nil {
		return Ending{Code: "ok"}
	}
	if _, asks := errors.AsType[*tools.PendingAsk](err); asks {
		return Ending{Code: "asked"}
	}
	return Ending{Code: string(tools.AsError(err).Code)}
}
