package patch

import (
	"fmt"
	"strings"
)

// A patch that was cut off is not applied in part. An envelope ends with its marker, a hunk
// with the lines that its head counts. What ends around a patch, such as a code fence,
// proves that it is whole.

// ends reports whether no more follows the lines that were read, and nothing proves that
// they are all.
func (p *parser) ends() bool {
	if p.whole || p.open {
		return false
	}
	for _, l := range p.lines[p.at:] {
		if strings.TrimSpace(l.text) != "" {
			return false
		}
	}
	return true
}

// cut is the error of a patch that ends too early.
func (p *parser) cut(no int, format string, args ...any) *Error {
	e := &Error{
		Line: no, Msg: fmt.Sprintf(format, args...),
		Hint: "the patch was cut off, or counts lines that it has not: send it whole, in several calls where it is long",
	}
	for _, l := range p.lines {
		if l.no == p.last && no != p.last {
			e.Msg += fmt.Sprintf("; the patch ends with its line %d, %s", l.no, shown(l.text))
		}
	}
	return e
}

// openLine is the error of a last line that may be a part of one.
func openLine(l line) error {
	return &Error{
		Line: l.no, Msg: shown(l.text) + " ends the patch without a line feed, so nothing tells whether it is whole",
		Hint: "send the patch with a line feed at its end",
	}
}

// short returns an error for a hunk that ends the patch before its lines are all there.
func (p *parser) short(h head, b body) error {
	if h.old < 0 || b.old > h.old || b.new > h.new || b.old == h.old && b.new == h.new || !p.ends() {
		return nil
	}
	err := p.cut(h.line.no, "the head of the hunk counts %d lines that were there and %d that are then, its body has %d and %d", h.old, h.new, b.old, b.new)
	err.Hint = fmt.Sprintf("if lines are missing, send the patch whole; if none is, the head of this hunk counts -N,%d +N,%d", b.old, b.new)
	return err
}

// torn returns an error for a patch the last line of which may be a part of one.
func (p *parser) torn() error {
	if !p.unended || p.whole || len(p.lines) == 0 || p.lines[len(p.lines)-1].no != p.body {
		return nil
	}
	const open = `\ No newline at end of file`
	l := p.lines[len(p.lines)-1]
	text := l.text
	if text != "" && text[0] != '+' && strings.TrimSpace(text[1:]) != "" && (text[0] != '\\' || text == open) {
		return nil // else what is missing of it is missed in the file
	}
	return openLine(l)
}

// bare returns an error for a header without hunks that ends the patch, where a hunk or
// more of the header may be missing.
func (p *parser) bare(l line, h header, f File) error {
	switch last := p.lines[len(p.lines)-1]; {
	case !p.ends():
		return nil
	case p.unended && h.last == last.no:
		return openLine(last)
	case (f.Kind == Add || f.Kind == Delete) && !h.empty:
		return p.cut(l.no, "no hunk follows the header of %s, and no index line says that the file is empty", shown(f.Path))
	case (f.Kind == Update || f.Kind == Copy) && h.changed:
		return p.cut(l.no, "no hunk follows the header of %s, which says that the content changes", shown(f.Path))
	}
	return nil
}
