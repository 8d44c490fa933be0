package match

import (
	"bytes"
	"context"
)

const (
	// maxLanes is how many parts of a text are searched at the same time, in one
	// loop: a step from state to state waits for memory, and the steps of
	// different parts need not wait for each other.
	maxLanes = 4
	// A text is searched piece by piece, the first ones short for a search that
	// ends with its first match.
	firstPiece = 8 << 10
	maxPiece   = 256 << 10
	// block is how many bytes a lane moves between two looks at its state.
	block = 8
)

// lane is the search of one part of a text.
type lane struct {
	at, end int // the rest to search
	state   uint32
	found   []int // an offset in each line that matches, its line ending included
}

// lines yields the lines of text that match, as Matcher.Lines does. It returns
// where it gave up because of too many states, the start of a line; len(text) if
// it did not.
func (d *dfa) lines(ctx context.Context, text []byte, yield func(Line) bool) (next int) {
	last := Line{} // the last one that was yielded
	d.lanes[0].state = d.start
	for at, piece := 0, firstPiece; at < len(text); piece = min(2*piece, maxPiece) {
		if ctx.Err() != nil {
			return len(text)
		}
		end := min(at+piece, len(text))
		n := d.split(text, at, end)
		if !d.run(text, n) {
			return bytes.LastIndexByte(text[:at], '\n') + 1
		}
		d.read += end - at
		for i := range d.lanes[:n] {
			for _, found := range d.lanes[i].found {
				last = LineAt(text, last.Next, found)
				if !yield(last) {
					return len(text)
				}
			}
		}
		at = d.lanes[n-1].at
		d.lanes[0].state = d.lanes[n-1].state
	}
	if len(text) > last.Next && text[len(text)-1] != '\n' {
		switch matched, ok := d.finish(d.lanes[0].state, text); {
		case !ok:
			return max(last.Next, bytes.LastIndexByte(text, '\n')+1)
		case matched:
			yield(LineAt(text, last.Next, len(text)))
		}
	}
	return len(text)
}

// to returns the state behind a state and a byte; false if there are too many.
func (d *dfa) to(state uint32, b byte) (uint32, bool) {
	class := d.bytes[b]
	if to := d.next[state+uint32(class)]; to != unknown {
		return to, true
	}
	return d.step(state, class)
}

// split hands text[at:end] to lanes: the first goes on with its state, each of the
// others begins with a line. It returns their number.
func (d *dfa) split(text []byte, at, end int) (n int) {
	part := (end - at + maxLanes - 1) / maxLanes
	for n < maxLanes {
		l := &d.lanes[n]
		if n > 0 {
			l.state = d.start
		}
		l.at, l.end, l.found = at, end, l.found[:0]
		n++
		if end-at <= part {
			break
		}
		i := bytes.IndexByte(text[at+part:end], '\n')
		if i < 0 {
			break
		}
		at += part + i + 1
		l.end = at
	}
	for i := n; i < maxLanes; i++ {
		d.lanes[i] = lane{found: d.lanes[i].found[:0]}
	}
	return n
}

// run searches the first n lanes to their ends; it returns false if there are too
// many states.
func (d *dfa) run(text []byte, n int) bool {
	for n == maxLanes {
		d.together(text)
		for i := range d.lanes {
			if !d.alone(text, &d.lanes[i], block) {
				return false
			}
		}
		for i := range d.lanes {
			if d.lanes[i].end-d.lanes[i].at < block {
				n = 0
			}
		}
	}
	for i := range d.lanes {
		if !d.alone(text, &d.lanes[i], len(text)) {
			return false
		}
	}
	return true
}

// together moves all lanes until one of them comes to its end, to a match or to
// a transition that is not known.
func (d *dfa) together(text []byte) {
	a, b, c, e := &d.lanes[0], &d.lanes[1], &d.lanes[2], &d.lanes[3]
	n := min(a.end-a.at, b.end-b.at, c.end-c.at, e.end-e.at)
	ta, tb, tc, te := text[a.at:a.at+n], text[b.at:b.at+n], text[c.at:c.at+n], text[e.at:e.at+n]
	sa, sb, sc, se := a.state, b.state, c.state, e.state
	next, classes, accept := d.next, &d.bytes, d.accept
	i := 0
	for ; i+block <= n; i += block {
		pa, pb, pc, pe := (*[block]byte)(ta[i:]), (*[block]byte)(tb[i:]), (*[block]byte)(tc[i:]), (*[block]byte)(te[i:])
		na, nb, nc, ne := sa, sb, sc, se
		for j := range block {
			na = next[na+uint32(classes[pa[j]])]
			nb = next[nb+uint32(classes[pb[j]])]
			nc = next[nc+uint32(classes[pc[j]])]
			ne = next[ne+uint32(classes[pe[j]])]
		}
		if na <= accept || nb <= accept || nc <= accept || ne <= accept {
			break
		}
		sa, sb, sc, se = na, nb, nc, ne
	}
	a.at, a.state = a.at+i, sa
	b.at, b.state = b.at+i, sb
	c.at, c.state = c.at+i, sc
	e.at, e.state = e.at+i, se
}

// alone moves a lane by n bytes, or to its end; it returns false if there are too
// many states.
func (d *dfa) alone(text []byte, l *lane, n int) (ok bool) {
	at, end, state := l.at, min(l.end, l.at+n), l.state
	for at < end {
		class := d.bytes[text[at]]
		to := d.next[state+uint32(class)]
		if to == unknown {
			if to, ok = d.step(state, class); !ok {
				return false
			}
		}
		if state = to; state != d.accept {
			at++
			continue
		}
		l.found = append(l.found, at)
		state = d.start
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			at += i + 1
		} else {
			at = len(text)
		}
	}
	l.at, l.state = at, state
	return true
}

// matches reports whether a line without its ending matches; ok is false where there
// are too many states.
func (d *dfa) matches(ctx context.Context, line []byte) (matched, ok bool) {
	state := d.start
	d.read += len(line)
	for i, b := range line {
		to := d.next[state+uint32(d.bytes[b])]
		if to <= d.accept {
			if to == d.accept {
				return true, true
			}
			if to, ok = d.step(state, d.bytes[b]); !ok || to == d.accept {
				return ok, ok
			}
		}
		if state = to; i%longLine == longLine-1 && ctx.Err() != nil {
			return false, true
		}
	}
	return d.finish(state, line)
}

// finish reports whether a line matches that ends without an ending, in a state; ok is
// false if there are too many.
func (d *dfa) finish(state uint32, line []byte) (matched, ok bool) {
	if len(line) > 0 && line[len(line)-1] == '\r' {
		// It is not part of the line ending: the ending begins with one more.
		if state, ok = d.to(state, '\r'); !ok || state == d.accept {
			return ok, ok
		}
	}
	to, ok := d.to(state, '\n')
	return ok && to == d.accept, ok
}
