package patch

import (
	"strconv"
	"strings"

	"toolcrib/tools/internal/text/textedit"
)

// hunkRule is the header of a hunk with its ranges.
var hunkRule = expression(`^@@+ *-(\d{1,9})(?:,(\d{1,9}))? +\+(\d{1,9})(?:,(\d{1,9}))?(?: *@@ ?(.*))?$`)

// head is the content of the header lines before a hunk's body.
type head struct {
	line     line // the first of them
	anchors  []string
	start    int // of the old lines; 0 = not given
	old, new int // how many lines; -1 = not given
	heading  string
}

// head reads the lines that begin with @@; there may be several, each an anchor.
func (p *parser) head() head {
	h := head{old: -1, new: -1}
	h.line, _ = p.more()
	for l, ok := p.more(); ok && strings.HasPrefix(l.text, "@@"); l, ok = p.more() {
		if m := hunkRule().FindStringSubmatch(l.text); m != nil {
			h.start, h.old, h.new = atoi(m[1]), count(m[2]), count(m[4])
			if h.old == 0 { // the line before the new ones
				h.start++
			}
			h.start, h.heading = max(h.start, 1), strings.TrimRight(m[5], " \t")
		} else if text := anchor(l.text); text != "" {
			h.anchors = append(h.anchors, text)
		}
		p.at++
	}
	return h
}

// anchor returns the text that a header names.
func anchor(text string) string {
	text = strings.TrimPrefix(text, "@@")
	text = strings.TrimPrefix(text, " ")
	text = strings.TrimRight(text, " \t")
	if before, ok := strings.CutSuffix(text, "@@"); ok && (before == "" || strings.HasSuffix(before, " ")) {
		text = strings.TrimRight(before, " \t")
	}
	if text == "..." || text == "…" {
		return ""
	}
	return text
}

// atoi reads digits whose number a rule bounds.
func atoi(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// count reads the number of lines in a range, 1 if none is given.
func count(digits string) int {
	if digits == "" {
		return 1
	}
	return atoi(digits)
}

// hunks reads all hunks of a file. In a unified diff a header of two lines begins
// the next file.
func (p *parser) hunks(f *File, unified bool) error {
	for {
		from := p.at
		l, ok := p.more()
		for ok && l.text == "" {
			p.at++
			l, ok = p.more()
		}
		if !ok {
			return nil
		}
		m, _ := p.marker(l)
		switch {
		case m == endOfFile && len(f.Chunks) > 0:
			f.Chunks[len(f.Chunks)-1].AtEnd = true
			p.at++
			continue
		case strings.HasPrefix(l.text, "@@") && !strings.HasPrefix(l.text, "@@@"):
		case p.inBody(unified):
		default:
			p.at = from // blank lines separate the next part
			return nil
		}
		if err := p.hunk(f, unified); err != nil {
			return err
		}
	}
}

// hunk reads one hunk.
func (p *parser) hunk(f *File, unified bool) error {
	h := p.head()
	from := p.at
	b, ok := p.counted(h, unified)
	if !ok {
		p.at = from
		b = p.loose(f, unified)
		if err := p.short(h, b); err != nil && len(b.lines) > 0 {
			return err
		}
		if h.old >= 0 && len(b.lines) > 0 {
			p.notes.add(h.line.no, "the hunk's header counts %d and %d lines, its body has %d and %d; the body was taken", h.old, h.new, b.old, b.new)
		}
	}
	if unified && p.at > from {
		p.body = p.lines[p.at-1].no
	}
	for _, no := range b.blanks {
		p.notes.add(no, "a blank line without its space; read as a context line")
	}
	for _, no := range b.tabs {
		p.notes.add(no, "begins with a tab; read as a context line")
	}
	return p.chunk(f, h, b)
}

// chunk turns a hunk into a value.
func (p *parser) chunk(f *File, h head, b body) error {
	c := textedit.Chunk{Anchors: h.anchors, Line: h.start, Heading: h.heading}
	for _, l := range b.lines {
		text := l.text[1:]
		if f.Kind == Add && l.cr && !h.line.cr {
			text += "\r"
		}
		c.Lines = append(c.Lines, textedit.ChunkLine{Op: l.text[0], Text: text})
	}
	if len(b.lines) == 0 {
		if l, ok := p.more(); ok && p.nothingOf(l) {
			return foreign(l)
		}
		return &Error{Line: h.line.no, Msg: "the hunk has no lines", Hint: "after @@ come lines that begin with space, - or +"}
	}
	if err := b.changes(h); err != nil && (f.Kind == Update || f.Kind == Copy) {
		return err
	}
	if f.Kind != Add && !h.line.cr && b.otherEnds() {
		p.notes.add(h.line.no, "its added lines end otherwise (LF or CRLF) than its old ones; they were written with the file's line endings")
	}
	if b.oldOpen || b.newOpen {
		open := b.newOpen
		c.NoFinalNewline, c.AtEnd = &open, true
	}
	f.CRLF = b.crlf(h) && (f.CRLF || len(f.Chunks) == 0)
	f.Chunks, f.At = append(f.Chunks, c), append(f.At, h.line.no)
	return nil
}

// nothingOf reports whether a line is not blank and begins nothing known.
func (p *parser) nothingOf(l line) bool {
	m, _ := markerOf(l.text)
	return m == notMarker && strings.TrimSpace(l.text) != "" && !p.unifiedAt(p.at) && !strings.HasPrefix(l.text, "***")
}

// foreign is the error of a line in a hunk that is of no known kind.
func foreign(l line) error {
	if strings.HasPrefix(l.text, "@@@") {
		return &Error{Line: l.no, Msg: "combined diffs of merges are not supported", Hint: "give a diff against one parent"}
	}
	return &Error{
		Line: l.no, Msg: shown(l.text) + " does not begin with a space, - or +",
		Hint: "a context line begins with one space before its text",
	}
}

// counted reads a body of exactly as many lines as its header counts, and reports whether
// it could.
func (p *parser) counted(h head, unified bool) (b body, ok bool) {
	if h.old < 0 {
		return b, false
	}
	for b.old < h.old || b.new < h.new {
		l, ok := p.more()
		if !ok || !b.add(l) || b.old > h.old || b.new > h.new {
			return b, false
		}
		p.at++
	}
	if l, ok := p.more(); ok && strings.HasPrefix(l.text, `\ `) {
		b.endOpen()
		p.at++
	}
	return b, !p.inBody(unified)
}

// loose reads a body up to the first line that cannot be part of it.
func (p *parser) loose(f *File, unified bool) (b body) {
	for p.inBody(unified) {
		l, _ := p.more()
		begin := p.at
		for ; l.text == "" && p.at < len(p.lines); l, _ = p.more() { // a whole run of blank lines at once
			b.add(l)
			p.at++
		}
		if p.at > begin && (p.at == len(p.lines) || !p.inBody(unified)) {
			return b
		}
		if m, _ := markerOf(l.text); m != notMarker && strings.HasPrefix(l.text, " ") {
			f.Doubts = append(f.Doubts, "patch line "+itoa(l.no)+" looks like a marker but is indented: it was read as a line of the file")
		}
		b.add(l)
		p.at++
	}
	return b
}

// inBody reports whether the current line belongs to the body of a hunk. Blank lines that
// lost their space belong to it if more of the body follows.
func (p *parser) inBody(unified bool) bool {
	n := 0
	l, ok := p.more()
	for ok && l.text == "" {
		n++
		l, ok = p.peek(n)
	}
	if !ok {
		return false
	}
	if m, _ := p.marker(l); m != notMarker {
		return m == endOfFile && n > 0
	}
	if strings.IndexByte(" -+\t\\", l.text[0]) < 0 || l.text[0] == '\\' && !strings.HasPrefix(l.text, `\ `) {
		return false
	}
	return !unified || !p.headerAt(p.at+n) && !p.signatureAt(p.at+n)
}

// marker reads a line where a hunk may go on. An indented marker is a line of the hunk,
// unless all markers are indented or it ends the text.
func (p *parser) marker(l line) (marker, string) {
	m, path := markerOf(l.text)
	if m == notMarker || strings.HasPrefix(l.text, "*") {
		return m, path
	}
	rest, padded := strings.CutPrefix(l.text, p.padding)
	switch {
	case p.padding != "" && padded && strings.HasPrefix(rest, "*"):
		p.notes.add(l.no, "an indented marker")
		return m, path
	case m == endPatch && p.open && l.no == p.last:
		return m, path
	}
	return notMarker, ""
}

// signatureAt reports whether a line is git's signature below a mailed patch.
func (p *parser) signatureAt(i int) bool {
	return p.lines[i].text == "-- " && i+1 < len(p.lines) && versionRule().MatchString(p.lines[i+1].text)
}

var versionRule = expression(`^\d+\.\d+[\w.-]*$`)
