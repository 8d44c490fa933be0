package match

import (
	"context"
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

const (
	// maxStates bounds the memory of the states of a DFA, in bytes, roughly.
	maxStates = 4 << 20
	// A DFA may compute firstSteps transitions, and one more for each stepBytes
	// that were searched. A pattern that wants more has so many states that
	// package regexp is faster.
	firstSteps = 4096
	stepBytes  = 16
	// stateSize is the memory of a state without its row and its key.
	stateSize = 64
)

// unknown is the state behind a transition that was not computed yet. Like the
// state accept it is never left, so that a loop over many bytes need not look
// for the two at each one.
const unknown = 0

// dfa is an automaton with the states that its searches came through. A state is
// the index of its row in next. One search at a time can use it.
type dfa struct {
	*automaton
	next   []uint32 // the state behind each state and class of byte
	stride uint32   // classes of bytes
	accept uint32   // the line matches; its row is behind that of unknown
	start  uint32   // at the start of a line
	keys   []string // the contents of each state
	states map[string]uint32
	memory int // of all states, roughly, in bytes
	room   int // how much that may be
	cycle  int // how many times the states were thrown away
	steps  int // transitions computed
	every  int // steps between two looks at ctx
	spend  int // how many these may be before the first byte is searched
	read   int // bytes searched
	lanes  [maxLanes]lane
	ctx    context.Context // of the search; nil = it has no end

	// The state that is being made: instructions that consume a rune or wait for
	// the next one, the kind of the byte before, and bytes that are no rune yet.
	set     []uint32
	before  before
	partial partial

	seen  []uint32 // by instruction the round in which it was last followed
	round uint32
	spare []uint32
	stack []uint32
	key   []byte
}

func newDFA(a *automaton) *dfa {
	d := &dfa{automaton: a, stride: uint32(len(a.sample)), room: maxStates, spend: firstSteps, seen: make([]uint32, len(a.prog.Inst)), every: effort/looks/len(a.prog.Inst) + 1}
	d.accept = d.stride
	d.clear()
	return d
}

// clear throws all states away but those of the lanes.
func (d *dfa) clear() {
	keep := d.keys
	d.cycle++
	d.states, d.keys, d.memory = map[string]uint32{}, make([]string, 2), 0
	d.next = append(d.next[:0], make([]uint32, 2*d.stride)...)
	for i := d.stride; i < 2*d.stride; i++ {
		d.next[i] = d.accept
	}
	if !d.begin() {
		d.start = d.intern()
	}
	for i := range d.lanes {
		if l := &d.lanes[i]; l.state > d.accept {
			l.state = d.named(keep[l.state/d.stride])
		}
	}
}

// begin makes the state at the start of a line; it reports whether that matches.
func (d *dfa) begin() bool {
	d.reset()
	d.before, d.partial = lineStart, partial{}
	return d.follow(uint32(d.prog.Start), d.before.behind())
}

func (d *dfa) reset() {
	d.set = d.set[:0]
	d.round++
	if d.round == 0 { // the counter is used up
		clear(d.seen)
		d.round = 1
	}
}

// afford reports whether computing one more transition pays.
func (d *dfa) afford() bool { return d.steps < d.spend+d.read/stepBytes }

// step computes the transition from a state by a class of bytes; it returns false
// where there are too many states, or the context of the search has ended.
func (d *dfa) step(state uint32, class uint8) (to uint32, ok bool) {
	if !d.afford() {
		return 0, false
	}
	if d.steps++; d.steps%d.every == 0 && d.ctx != nil && d.ctx.Err() != nil {
		return 0, false
	}
	d.load(d.keys[state/d.stride])
	b := d.sample[class]
	cycle := d.cycle
	switch {
	case d.consumeByte(b):
		to = d.accept
	case b == '\n':
		to = d.start
	default:
		to = d.intern()
	}
	if cycle == d.cycle {
		d.next[state+uint32(class)] = to
	}
	return to, true
}

// consumeByte advances the state that is being made; it reports whether the line
// matches.
func (d *dfa) consumeByte(b byte) bool {
	p := d.partial
	d.partial = partial{}
	switch {
	case p.left > 0 && p.lo <= b && b <= p.hi:
		if p = d.extend(p, b); p.left > 0 {
			d.partial = p
			return false
		}
		return d.consume(p.class)
	case p == pendingCR:
		if b != '\n' && d.consume(d.of('\r')) {
			return true
		}
	default:
		for range p.size { // each byte of invalid UTF-8 is a rune
			if d.consume(d.of(noRune)) {
				return true
			}
		}
	}
	switch {
	case b == '\n':
		return d.assert(d.before.conditions(false, true))
	case b == '\r':
		d.partial = pendingCR
		return false
	case b < utf8.RuneSelf:
		return d.consume(d.of(rune(b)))
	}
	if p, ok := d.lead(b); ok {
		d.partial = p
		return false
	}
	return d.consume(d.of(noRune))
}

// consume advances the state that is being made by a rune of the given class; it
// reports whether the line matches.
func (d *dfa) consume(class uint16) bool {
	word := d.word != nil && d.word.has(class)
	if d.assert(d.before.conditions(word, false)) {
		return true
	}
	from := d.set
	d.set = d.spare[:0]
	d.spare = from
	d.reset()
	d.before = other
	if word {
		d.before = wordRune
	}
	for _, pc := range from {
		if accepts := d.accepts[pc]; accepts != nil && accepts.has(class) && d.follow(d.prog.Inst[pc].Out, 0) {
			return true
		}
	}
	return d.follow(uint32(d.prog.Start), 0) // a match can begin anywhere
}

// assert follows the assertions that wait for what comes next, which is now
// known; it reports whether the line matches.
func (d *dfa) assert(holds syntax.EmptyOp) bool {
	for _, pc := range d.set {
		in := &d.prog.Inst[pc]
		if in.Op == syntax.InstEmptyWidth && syntax.EmptyOp(in.Arg)&^holds == 0 && d.follow(in.Out, holds) {
			return true
		}
	}
	return false
}

// follow adds to the set what can be reached from pc without a rune; it reports
// whether the line matches. Of the assertions those in holds hold; those about
// what comes next are kept, the others do not hold.
func (d *dfa) follow(pc uint32, holds syntax.EmptyOp) bool {
	d.stack = append(d.stack[:0], pc)
	for len(d.stack) > 0 {
		pc := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		if d.seen[pc] == d.round {
			continue
		}
		d.seen[pc] = d.round
		switch in := &d.prog.Inst[pc]; in.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			d.stack = append(d.stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			d.stack = append(d.stack, in.Out)
		case syntax.InstEmptyWidth:
			switch missing := syntax.EmptyOp(in.Arg) &^ holds; {
			case missing == 0:
				d.stack = append(d.stack, in.Out)
			case missing&beginnings == 0:
				d.set = append(d.set, pc)
			}
		case syntax.InstFail:
		default:
			d.set = append(d.set, pc)
		}
	}
	return false
}

// intern returns the state that was made, as a new one if there is none like it.
func (d *dfa) intern() uint32 {
	slices.Sort(d.set)
	if !slices.ContainsFunc(d.set, func(pc uint32) bool { return d.prog.Inst[pc].Op == syntax.InstEmptyWidth }) {
		d.before = other // not used
	}
	p := d.partial
	if len(d.set) == 0 {
		p = partial{} // nothing can match any more
	}
	known := byte(0)
	if p.known {
		known = 1
	}
	d.key = append(d.key[:0], byte(d.before), p.size, p.left, p.lo, p.hi, known)
	d.key = binary.LittleEndian.AppendUint16(d.key, p.class)
	d.key = binary.LittleEndian.AppendUint32(d.key, uint32(p.bits))
	for _, pc := range d.set {
		d.key = binary.LittleEndian.AppendUint32(d.key, pc)
	}
	if state, ok := d.states[string(d.key)]; ok {
		return state
	}
	return d.named(string(d.key))
}

// named returns the state with the given key, as a new one if there is none. It
// may throw others away.
func (d *dfa) named(key string) uint32 {
	if state, ok := d.states[key]; ok {
		return state
	}
	if d.memory > d.room && len(d.keys) > 2*maxLanes {
		d.clear()
	}
	state := uint32(len(d.next))
	d.next = append(d.next, make([]uint32, d.stride)...)
	d.keys = append(d.keys, key)
	d.states[key] = state
	d.memory += int(4*d.stride) + len(key) + stateSize
	return state
}

// load makes the state with the given key the one that is being made.
func (d *dfa) load(key string) {
	d.reset()
	head := []byte(key[:keyHead])
	d.before = before(head[0])
	d.partial = partial{
		size: head[1], left: head[2], lo: head[3], hi: head[4], known: head[5] != 0,
		class: binary.LittleEndian.Uint16(head[6:]), bits: rune(binary.LittleEndian.Uint32(head[8:])),
	}
	for i := keyHead; i < len(key); i += 4 {
		pc := binary.LittleEndian.Uint32([]byte(key[i : i+4]))
		d.set = append(d.set, pc)
		d.seen[pc] = d.round
	}
}

// keyHead is where the instructions of a key begin.
const keyHead = 12
