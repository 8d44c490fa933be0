package patch

import "strings"

// envelope reads the section of a file after its marker.
func (p *parser) envelope(l line, m marker, path string) error {
	p.at++
	f := File{Path: path, Line: l.no}
	switch m {
	case addFile:
		f.Kind = Add
		p.added(&f, l.cr)
	case deleteFile:
		f.Kind = Delete
	default:
		f.Kind = Update
		if err := p.updated(&f); err != nil {
			return err
		}
	}
	p.files = append(p.files, f)
	return nil
}

// added reads the lines of a new file. crlf says that lines of the patch itself end with
// CRLF, which says nothing about the file.
func (p *parser) added(f *File, crlf bool) {
	p.skipHeader(f)
	if l, ok := p.more(); ok && strings.HasPrefix(l.text, "@@") {
		p.notes.add(l.no, "an added file has no hunks; its header is ignored")
		p.at++
	}
	var text []line
	for {
		l, ok := p.more()
		switch {
		case ok && strings.HasPrefix(l.text, "+"):
			text = append(text, line{text: l.text[1:], cr: l.cr, no: l.no})
		case ok && l.text == "" && len(text) > 0:
			blanks := p.blanks()
			if next, ok := p.peek(len(blanks)); !ok || !strings.HasPrefix(next.text, "+") {
				f.Content = content(text, crlf)
				return
			}
			for _, l := range blanks {
				p.notes.add(l.no, "a blank line without its +; read as a line of the added file")
			}
			text = append(text, blanks...)
			p.at += len(blanks)
			continue
		case ok && strings.HasPrefix(l.text, `\ `) && len(text) > 0:
			f.Content = strings.TrimSuffix(content(text, crlf), "\n")
			p.at++
			return
		default:
			if m, _ := markerOf(l.text); ok && m == endOfFile {
				p.at++
			}
			f.Content = content(text, crlf)
			return
		}
		p.at++
	}
}

// blanks returns the run of blank lines that begins at the current one.
func (p *parser) blanks() []line {
	end := p.at
	for end < len(p.lines) && p.lines[end].text == "" {
		end++
	}
	return p.lines[p.at:end]
}

// content puts lines together, each with its end.
func content(lines []line, crlf bool) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text)
		if l.cr && !crlf {
			b.WriteByte('\r')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// updated reads a move and the hunks of a file.
func (p *parser) updated(f *File) error {
	if l, ok := p.more(); ok {
		if m, to := markerOf(l.text); m == moveTo {
			if to == "" {
				return &Error{Line: l.no, Msg: shown(l.text) + " names no file"}
			}
			if to != f.Path {
				f.To = to
			}
			p.at++
		}
	}
	p.skipHeader(f)
	if err := p.hunks(f, false); err != nil {
		return err
	}
	if len(f.Chunks) > 0 || f.To != "" {
		return nil
	}
	if l, ok := p.more(); ok && p.nothingOf(l) {
		return foreign(l)
	}
	return &Error{Line: f.Line, Msg: "the patch has no change of " + shown(f.Path), Hint: "the shortest patch:\n" + Example}
}

// skipHeader passes the header of a unified diff below a marker.
func (p *parser) skipHeader(f *File) {
	if p.at < len(p.lines) && p.headerAt(p.at) {
		p.notes.add(p.lines[p.at].no, "the header of a unified diff below the marker is ignored")
		p.at += 2
	}
}
