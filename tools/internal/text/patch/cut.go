package patch

import (
	"fmt"
	"strings"
)

// A patch that was cut off is not applied in part. An envelope ends with its marker, a hunk
// with the lines that its header counts. A wrapper that ends, such as a code fence, proves
// that the patch in it is whole.

// ends reports whether the text ends here without proof that the patch is whole.
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
		Hint: "the patch was cut off, or a hunk's header counts too many lines: send the whole patch, in several calls if it is long",
	}
	for _, l := range p.lines {
		if l.no == p.last && no != p.last {
			e.Msg += fmt.Sprintf("; the patch ends with its line %d, %s", l.no, shown(l.text))
		}
	}
	return e
}

// openLine is the error of a last line that may be cut off.
func openLine(l line) error {
	return &Error{
		Line: l.no, Msg: shown(l.text) + " ends the patch without a line feed, so it may be cut off",
		Hint: "end the patch with a line feed",
	}
}

// short returns an error for a hunk that ends the patch before all its lines.
func (p *parser) short(h head, b body) error {
	if h.old < 0 || b.old > h.old || b.new > h.new || b.old == h.old && b.new == h.new || !p.ends() {
		return nil
	}
	err := p.cut(h.line.no, "the hunk's header counts %d old and %d new lines, its body has %d and %d", h.old, h.new, b.old, b.new)
	err.Hint = fmt.Sprintf("if lines are missing, send the whole patch; else write -N,%d +N,%d in the header of this hunk", b.old, b.new)
	return err
}

// torn returns an error for a patch whose last line may be cut off.
func (p *parser) torn() error {
	if !p.unended || p.whole || len(p.lines) == 0 || p.lines[len(p.lines)-1].no != p.body {
		return nil
	}
	const open = `\ No newline at end of file`
	l := p.lines[len(p.lines)-1]
	text := l.text
	if text != "" && text[0] != '+' && strings.TrimSpace(text[1:]) != "" && (text[0] != '\\' || text == open) {
		return nil // a line that is cut off would not match the file
	}
	return openLine(l)
}

// bare returns an error for a header without hunks at the end of the patch, if a hunk or
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
