package telemetry

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"toolcrib/server/run"
)

// Bounds of a client's values in a span.
const (
	maxState    = 512 // bytes of tracestate, as W3C Trace Context wants at least
	maxProtocol = 32
)

// spanContext identifies a span and its trace.
type spanContext struct {
	trace   [16]byte
	span    [8]byte
	state   string
	sampled bool
}

// spanContextOf reads the span context that a client gave, by W3C Trace Context level 2; false
// if it gave no valid one. Fields that later versions than 00 add are ignored.
func spanContextOf(t run.Trace) (spanContext, bool) {
	var p spanContext
	h := t.Parent
	if len(h) < 55 || h[2] != '-' || h[35] != '-' || h[52] != '-' || strings.ToLower(h) != h {
		return p, false
	}
	version, flags := make([]byte, 1), make([]byte, 1)
	for _, part := range []struct {
		to   []byte
		text string
	}{{version, h[:2]}, {p.trace[:], h[3:35]}, {p.span[:], h[36:52]}, {flags, h[53:55]}} {
		if _, err := hex.Decode(part.to, []byte(part.text)); err != nil {
			return spanContext{}, false
		}
	}
	switch {
	case version[0] == 0xff, version[0] == 0 && len(h) != 55, len(h) > 55 && h[55] != '-',
		p.trace == [16]byte{}, p.span == [8]byte{}:
		return spanContext{}, false
	}
	p.sampled = flags[0]&1 == 1
	if len(t.State) <= maxState && printable(t.State) {
		p.state = t.State
	}
	return p, true
}

func printable(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// begun returns the span context of a trace that begins here, without a span yet.
func begun() spanContext {
	var p spanContext
	rand.Read(p.trace[:])
	return p
}

// inside returns a new span context below p, in the same trace.
func (p spanContext) inside() spanContext {
	rand.Read(p.span[:])
	return p
}

// sampler decides which traces are exported.
type sampler struct {
	byParent bool    // as the client decided, where there is one
	ratio    float64 // of the others, from 0 to 1
}

// samples decides by the last 8 bytes of the trace's id, as all of a trace's
// servers do, so that they decide the same.
func (s sampler) samples(p spanContext, parent bool) bool {
	if parent && s.byParent {
		return p.sampled
	}
	return s.ratio >= 1 || float64(binary.BigEndian.Uint64(p.trace[8:])>>1) < s.ratio*(1<<63)
}
