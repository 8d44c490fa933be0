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

// add takes a line into the body and reports whether it belongs to a hunk.
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

// endOpen records that the last line has no line feed.
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

// changes returns an error for a body that changes nothing, or only line endings.
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
			Hint: "removed lines begin with -, added lines with +",
		}
	}
	same := len(gone) == len(come)
	for i := range min(len(gone), len(come)) {
		equal := gone[i].text[1:] == come[i].text[1:]
		if equal && gone[i].cr != come[i].cr && !gone[i].open && !come[i].open {
			return &Error{
				Line: come[i].no, Msg: "the hunk changes how a line ends (LF or CRLF), which a patch cannot do here",
				Hint: "give added lines the ending of the lines around them; leave the change of endings out",
			}
		}
		same = same && equal
	}
	if same && b.oldOpen == b.newOpen && b.adjacent() {
		return &Error{Line: h.line.no, Msg: "the hunk changes nothing: its removed and its added lines are the same"}
	}
	return nil
}

// otherEnds reports whether all added lines have one ending and all old lines the other.
func (b *body) otherEnds() bool {
	lines, crlf := [2]int{}, [2]int{} // old, added
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

// crlf reports whether the added lines end with CRLF, and the header does not.
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

// adjacent reports whether no context line is between the removed and the added lines.
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
