package telemetry

import (
	"context"
	"sync/atomic"
	"time"

	"toolcrib/server/counts"
	"toolcrib/server/run"
)

// Tracer makes a span of each call and of its parts, and exports them. It
// implements [run.Observer] and never waits: spans that do not fit into its queue
// are dropped and counted. Close ends it.
type Tracer struct {
	opt      TraceOptions
	pipe     bool
	outlet   *outlet
	queue    chan span
	closing  chan struct{}
	closed   chan struct{}
	exported atomic.Uint64
	dropped  atomic.Uint64
}

var _ run.Observer = (*Tracer)(nil)

// span is a part that has ended.
type span struct {
	spanContext
	parent     [8]byte
	name       string
	server     bool // it answers a client; else it is internal
	begin, end time.Time
	attributes []label
	failed     bool
}

type spanKey struct{}

// Begin implements [run.Observer].
func (t *Tracer) Begin(ctx context.Context, part run.Part) (context.Context, func(run.Ending)) {
	outer, nested := ctx.Value(spanKey{}).(spanContext)
	s := span{server: !nested}
	at := outer
	if !nested {
		from, given := spanContextOf(part.Trace)
		if at = from; !given {
			at = begun()
		}
		at.sampled = t.opt.sampler.samples(at, given)
	}
	s.parent = at.span
	s.spanContext = at.inside()
	ctx = context.WithValue(ctx, spanKey{}, s.spanContext)
	if !s.sampled {
		return ctx, func(run.Ending) {}
	}
	s.begin = time.Now()
	s.describe(part, t.pipe)
	return ctx, func(e run.Ending) {
		s.end = s.begin.Add(time.Since(s.begin))
		s.conclude(part, e)
		select {
		case t.queue <- s:
		default:
			t.dropped.Add(1)
		}
	}
}

// describe names the span after the semantic conventions of OpenTelemetry for MCP.
func (s *span) describe(part run.Part, pipe bool) {
	tool := Shown(part.Tool)
	if part.Kind != run.PartCall {
		s.name = string(part.Kind) + " " + itoa(part.Number)
		s.attributes = append(make([]label, 0, 3), label{"gen_ai.tool.name", tool})
		return
	}
	s.attributes = append(make([]label, 0, 9), label{"toolcrib.call.id", part.ID})
	add := func(key, value string) { s.attributes = append(s.attributes, label{key, value}) }
	if part.Tool == counts.SourceReads {
		s.name = part.Tool
		add("mcp.method.name", part.Tool)
	} else {
		s.name = "tools/call " + tool
		add("mcp.method.name", "tools/call")
		add("gen_ai.operation.name", "execute_tool")
		add("gen_ai.tool.name", tool)
	}
	if !s.server {
		s.name = "execute_tool " + tool
		return
	}
	if part.Protocol != "" && len(part.Protocol) <= maxProtocol && printable(part.Protocol) {
		add("mcp.protocol.version", part.Protocol)
	}
	if pipe {
		add("network.transport", "pipe")
	} else {
		add("network.transport", "tcp")
	}
}

// conclude says how the part ended, by codes alone: the text of an error may hold
// what must not leave the machine.
func (s *span) conclude(part run.Part, e run.Ending) {
	add := func(key, value string) { s.attributes = append(s.attributes, label{key, value}) }
	add("toolcrib.outcome", e.Code)
	if part.Kind == run.PartCall {
		add("toolcrib.source", e.Source)
	}
	switch e.Code {
	case "ok", "asked", "skipped":
		return
	}
	s.failed = true
	if part.Kind == run.PartCall {
		add("error.type", "tool_error")
	} else {
		add("error.type", e.Code)
	}
}

// newTracer starts to export.
func newTracer(opt TraceOptions, pipe bool, o *outlet) *Tracer {
	t := &Tracer{
		opt: opt, pipe: pipe, outlet: o,
		queue: make(chan span, opt.Queue), closing: make(chan struct{}), closed: make(chan struct{}),
	}
	go t.work()
	return t
}

// work sends the spans that have ended when there are enough of them, or when the
// oldest has waited long enough.
func (t *Tracer) work() {
	defer close(t.closed)
	batch := make([]span, 0, t.opt.Batch)
	send := func() {
		if len(batch) == 0 {
			return
		}
		if t.outlet.send(spanRequest(t.outlet.resource, batch)) {
			t.exported.Add(uint64(len(batch)))
		} else {
			t.dropped.Add(uint64(len(batch)))
		}
		clear(batch)
		batch = batch[:0]
	}
	tick := time.NewTicker(t.opt.Delay)
	defer tick.Stop()
	for {
		select {
		case s := <-t.queue:
			if batch = append(batch, s); len(batch) == t.opt.Batch {
				send()
			}
			continue
		case <-tick.C:
			send()
			continue
		case <-t.closing:
		}
		for { // send the remaining spans
			select {
			case s := <-t.queue:
				if batch = append(batch, s); len(batch) == t.opt.Batch {
					send()
				}
				continue
			default:
			}
			send()
			return
		}
	}
}

// close sends the remaining spans. The outlet bounds how long that takes.
func (t *Tracer) close() {
	close(t.closing)
	<-t.closed
}
