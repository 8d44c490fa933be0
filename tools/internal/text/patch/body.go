package patch

import "strings"

// body is the lines of a hunk while they are read.
type body struct {
	lines    []line // with their operator as first byte
	old, new int    // lines of each side
	oldOpen  bool   // the last old line has no line feed
	newOpen  bool
	blanks   []int // lines that lost their space
	tabs     []int
}

// add takes a line into the body; it reports whether it is one of a hunk.
func (b *body) add(l line) bool {
	op := byte(' ')
	switch {
	case l.text == "":
		b.blanks = append(b.blanks, l.no)
		l.text = " "
	case l.text[0] == '\t':
		b.tabs = append(b.tabs, l.no)
		l.text = " " + l.text
	case strings.HasPrefix(l.text, `\ `):
		b.endOpen()
		return true
	case strings.IndexByte(" -+", l.text[0]) >= 0:
		op = l.text[0]
	default:
		return false
	}
	if op != '+' {
		b.old++
	}
	if op != '-' {
		b.new++
	}
	b.lines = append(b.lines, l)
	return true
}

// endOpen says that the last line has no line feed.
func (b *body) endOpen() {
	if len(b.lines) == 0 {
		return
	}
	last := &b.lines[len(b.lines)-1]
	last.open = true
	op := last.text[0]
	b.oldOpen = b.oldOpen || op != '+'
	b.newOpen = b.newOpen || op != '-'
}

// changes returns an error for a body that changes nothing, or the ends of lines.
func (b *body) changes(h head) error {
	var gone, come []line
	for _, l := range b.lines {
		switch l.text[0] {
		case '-':
			gone = append(gone, l)
		case '+':
			come = append(come, l)
		}
	}
	if len(gone)+len(come) == 0 {
		return &Error{
			Line: h.line.no, Msg: "the hunk changes nothing: all of its lines begin with a space",
			Hint: "lines that go begin with -, lines that come with +",
		}
	}
	same := len(gone) == len(come)
	for i := range min(len(gone), len(come)) {
		equal := gone[i].text[1:] == come[i].text[1:]
		if equal && gone[i].cr != come[i].cr && !gone[i].open && !come[i].open {
			return &Error{
				Line: come[i].no, Msg: "the hunk changes how a line ends (LF or CRLF), which a patch cannot do here",
				Hint: "lines that come end as those around them; leave the change of ends out",
			}
		}
		same = same && equal
	}
	if same && b.oldOpen == b.newOpen && b.adjacent() {
		return &Error{Line: h.line.no, Msg: "the hunk changes nothing: the lines that go and those that come are the same"}
	}
	return nil
}

// otherEnds reports whether all lines that come end in one way and all that were there in
// the other.
func (b *body) otherEnds() bool {
	lines, crlf := [2]int{}, [2]int{} // that were there, that come
	for _, l := range b.lines {
		side := 0
		if l.text[0] == '+' {
			side = 1
		}
		if !l.open {
			lines[side]++
			if l.cr {
				crlf[side]++
			}
		}
	}
	return lines[0] > 0 && lines[1] > 0 && (crlf == [2]int{0, lines[1]} || crlf == [2]int{lines[0], 0})
}

// crlf reports whether the lines that come end with CRLF, and the head does not.
func (b *body) crlf(h head) bool {
	ends := false
	for _, l := range b.lines {
		if l.text[0] == '+' && !l.open {
			if !l.cr || h.line.cr {
				return false
			}
			ends = true
		}
	}
	return ends
}

// adjacent reports whether no line that stays is between those that go and come.
func (b *body) adjacent() bool {
	first, last := -1, -1
	for i, l := range b.lines {
		if l.text[0] != ' ' {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	for _, l := range b.lines[first : last+1] {
		if l.text[0] == ' ' {
			return false
		}
	}
	return true
}
