package telemetry

import (
	"encoding/binary"
	"math"
	"slices"
	"time"
)

// encoder appends fields in the binary form of Protocol Buffers
// (https://protobuf.dev/programming-guides/encoding). The numbers of the fields are
// those of the OpenTelemetry protocol 1; a test reads the result with its own types.
type encoder struct{ buf []byte }

// The wire types.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

func (e *encoder) tag(field, wire uint64) { e.buf = binary.AppendUvarint(e.buf, field<<3|wire) }

func (e *encoder) bytes(field uint64, data []byte) {
	e.tag(field, wireBytes)
	e.buf = append(binary.AppendUvarint(e.buf, uint64(len(data))), data...)
}

func (e *encoder) text(field uint64, text string) {
	if text != "" {
		e.tag(field, wireBytes)
		e.buf = append(binary.AppendUvarint(e.buf, uint64(len(text))), text...)
	}
}

func (e *encoder) number(field, v uint64) {
	e.tag(field, wireVarint)
	e.buf = binary.AppendUvarint(e.buf, v)
}

func (e *encoder) fixed(field, v uint64) {
	e.tag(field, wireFixed64)
	e.buf = binary.LittleEndian.AppendUint64(e.buf, v)
}

func (e *encoder) fixed32(field uint64, v uint32) {
	e.tag(field, wireFixed32)
	e.buf = binary.LittleEndian.AppendUint32(e.buf, v)
}

func (e *encoder) double(field uint64, v float64) { e.fixed(field, math.Float64bits(v)) }

func (e *encoder) time(field uint64, t time.Time) { e.fixed(field, uint64(t.UnixNano())) }

// fixeds appends a repeated field of numbers of 64 bits, packed.
func (e *encoder) fixeds(field uint64, n int, v func(i int) uint64) {
	e.tag(field, wireBytes)
	e.buf = binary.AppendUvarint(e.buf, uint64(8*n))
	for i := range n {
		e.buf = binary.LittleEndian.AppendUint64(e.buf, v(i))
	}
}

// message appends a message that fill writes. Its length is put before it when it is
// known, so that all messages share one buffer.
func (e *encoder) message(field uint64, fill func(e *encoder)) {
	e.tag(field, wireBytes)
	start := len(e.buf)
	fill(e)
	var size [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(size[:], uint64(len(e.buf)-start))
	e.buf = slices.Insert(e.buf, start, size[:n]...)
}

// labels appends attributes, each with the value of a string.
func (e *encoder) labels(field uint64, labels []label) {
	for _, l := range labels {
		e.message(field, func(e *encoder) {
			e.text(1, l.key)
			e.message(2, func(e *encoder) {
				e.tag(1, wireBytes)
				e.buf = append(binary.AppendUvarint(e.buf, uint64(len(l.value))), l.value...)
			})
		})
	}
}
