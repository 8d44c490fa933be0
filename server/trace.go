package server

import (
	"context"
	"net/http"

	"toolcrib/server/run"
)

// The names under which a request says its place in the trace of its client, as a
// header and in _meta.
const (
	traceParent = "traceparent"
	traceState  = "tracestate"
)

type traceKey struct{}

// traced returns the request with the place of its headers, if they have one.
func traced(r *http.Request) *http.Request {
	parent := r.Header.Get(traceParent)
	if parent == "" {
		return r
	}
	t := run.Trace{Parent: parent, State: r.Header.Get(traceState)}
	return r.WithContext(context.WithValue(r.Context(), traceKey{}, t))
}

// trace returns the place of the request: what its _meta says beats the headers,
// which may be those of a proxy.
func (r *request) trace() run.Trace {
	if parent := r.msg.Meta.Text(traceParent); parent != "" {
		return run.Trace{Parent: parent, State: r.msg.Meta.Text(traceState)}
	}
	t, _ := r.ctx.Value(traceKey{}).(run.Trace)
	return t
}
