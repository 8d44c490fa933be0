package telemetry

import (
	"math"
	"time"
)

// scope is who made the spans and metrics.
const scope = "toolcrib"

// cumulative is the temporality of everything that only grows.
const cumulative = 2

// spanRequest is an ExportTraceServiceRequest.
func spanRequest(resource []label, spans []span) []byte {
	var e encoder
	e.message(1, func(e *encoder) {
		e.message(1, func(e *encoder) { e.labels(1, resource) })
		e.message(2, func(e *encoder) {
			e.message(1, func(e *encoder) { e.text(1, scope) })
			for i := range spans {
				e.message(2, spans[i].encode)
			}
		})
	})
	return e.buf
}

func (s *span) encode(e *encoder) {
	const kindInternal, kindServer, statusError = 1, 2, 2
	e.bytes(1, s.trace[:])
	e.bytes(2, s.span[:])
	e.text(3, s.state)
	if s.parent != [8]byte{} {
		e.bytes(4, s.parent[:])
	}
	e.text(5, s.name)
	if s.server {
		e.number(6, kindServer)
	} else {
		e.number(6, kindInternal)
	}
	e.time(7, s.begin)
	e.time(8, s.end)
	e.labels(9, s.attributes)
	if s.failed {
		e.message(15, func(e *encoder) { e.number(3, statusError) })
	}
	e.fixed32(16, 1) // sampled
}

// metricRequest is an ExportMetricsServiceRequest.
func metricRequest(resource []label, list []metric, started, now time.Time) []byte {
	var e encoder
	e.message(1, func(e *encoder) {
		e.message(1, func(e *encoder) { e.labels(1, resource) })
		e.message(2, func(e *encoder) {
			e.message(1, func(e *encoder) { e.text(1, scope) })
			for _, m := range list {
				if m.otel != "" && len(m.points) > 0 {
					e.message(2, func(e *encoder) { m.encode(e, started, now) })
				}
			}
		})
	})
	return e.buf
}

func (m metric) encode(e *encoder, started, now time.Time) {
	e.text(1, m.otel)
	e.text(2, m.help)
	e.text(3, m.unit)
	numbers := func(e *encoder) {
		for _, p := range m.points {
			e.message(1, func(e *encoder) {
				e.labels(7, p.labels)
				if m.kind == counter {
					e.time(2, started)
				}
				e.time(3, now)
				e.double(4, p.value)
			})
		}
	}
	switch m.kind {
	case gauge:
		e.message(5, numbers)
	case counter:
		e.message(7, func(e *encoder) {
			numbers(e)
			e.number(2, cumulative)
			e.number(3, 1) // monotonic
		})
	case histogram:
		e.message(9, func(e *encoder) {
			for _, p := range m.points {
				e.message(1, func(e *encoder) { m.encodeBuckets(e, p, started, now) })
			}
			e.number(2, cumulative)
		})
	}
}

func (m metric) encodeBuckets(e *encoder, p point, started, now time.Time) {
	var count uint64
	for _, n := range p.buckets {
		count += n
	}
	e.time(2, started)
	e.time(3, now)
	e.fixed(4, count)
	e.double(5, p.value)
	e.fixeds(6, len(p.buckets), func(i int) uint64 { return p.buckets[i] })
	e.fixeds(7, len(m.bounds), func(i int) uint64 { return math.Float64bits(m.bounds[i]) })
	e.labels(9, p.labels)
}
