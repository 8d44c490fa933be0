package view

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"toolcrib/tools"
	"toolcrib/tools/internal/paging"
	"toolcrib/tools/internal/text/textfile"
)

const (
	// LineChars is the most characters of a line that are shown.
	LineChars = textfile.LineChars
	// lineBytes is how many bytes of a line must be read to show LineChars of it.
	lineBytes = 4*LineChars + 16
	// maxWindow is the most bytes of a window of bytes.
	maxWindow = 50_000
)

// page is a window of lines while it is put together.
type page struct {
	first   int64 // number of the first line
	numbers bool  // lines are shown with their numbers
	body    []byte
	lines   int64
	cut     int64 // lines of which a part is shown
	marks   textfile.Marks
	endings textfile.Endings
	pos     int64 // position of the line after the page
	ended   bool  // the last line of the page ends with a line feed
}

func (s *Source) lineWindow(ctx context.Context, offset int64, limit int, numbers bool) (Window, error) {
	lines := textfile.NewLines(s, s.Size, s.Form)
	if s.Whole {
		lines = textfile.LinesOf(s.Data, s.Form)
	}
	first, pos, err := s.seek(ctx, lines, offset)
	if err != nil {
		return Window{}, s.fail(err)
	}
	if pos < 0 {
		return s.pastEnd("offset", offset, "line", first, first), nil
	}
	p := page{pos: pos, first: first, numbers: numbers}
	p.body = make([]byte, 0, min(s.Size-pos+s.Size/8, 128*int64(limit), tools.MaxText))
	for p.pos < s.Size && p.lines < int64(limit) {
		line, err := lines.Line(ctx, p.pos, lineBytes)
		if err != nil {
			return Window{}, s.fail(err)
		}
		if !p.add(s, line) {
			break
		}
	}
	out := Window{Status: s.pageStatus(&p), Body: bytes.TrimSuffix(p.body, []byte{'\n'})}
	if p.pos < s.Size {
		out.More = tools.NextAt("offset", p.next())
	}
	return out, nil
}

// next returns the number of the line after the page.
func (p *page) next() int64 { return p.first + p.lines }

// seek returns the number of the line that offset names and its position. The
// number is negative where only its distance from the end is known. Past the end
// it is that of the last line, and the position is negative.
func (s *Source) seek(ctx context.Context, lines *textfile.Lines, offset int64) (first, pos int64, err error) {
	if offset >= 0 {
		offset = max(offset, 1)
		at, err := s.skip(ctx, lines, offset-1)
		if err == nil && at.Pos >= s.Size && (offset > 1 || at.Line > 0) {
			s.index.setTotal(at.Line)
			return at.Line, -1, nil
		}
		return offset, at.Pos, err
	}
	pos, found, err := lines.Tail(ctx, -offset)
	switch total := s.TotalLines(); {
	case err != nil:
		return 0, 0, err
	case pos == lines.Start().Pos:
		return 1, pos, nil
	case total < 0:
		return -found, pos, nil
	default:
		return total - found + 1, pos, nil
	}
}

// skip passes n lines, most of them by the index.
func (s *Source) skip(ctx context.Context, lines *textfile.Lines, n int64) (textfile.Position, error) {
	from := lines.Start()
	if known, ok := s.index.before(n); ok {
		ended, err := lines.EndedAt(ctx, known.Pos)
		if err != nil {
			return textfile.Position{}, err
		}
		if ended {
			from = known
		} else {
			s.index.forget()
		}
	}
	if s.index != nil {
		lines.Passed = s.index.add
	}
	return lines.Skip(ctx, from, n)
}

// pastEnd returns the answer to an offset past the end.
func (s *Source) pastEnd(argument string, offset int64, unit string, total, last int64) Window {
	return Window{Status: s.Path + ": " + paging.PastEnd(argument, offset, textfile.Count(total, unit), last)}
}

// add appends a line to the page, unless the page has no room for it.
func (p *page) add(s *Source, line textfile.Line) bool {
	text, taken := s.Form.Encoding.Prefix(line.Raw, LineChars)
	cut := line.Len - int64(taken)
	crlf := false
	if cut == 0 && line.Ended {
		text, crlf = bytes.CutSuffix(text, []byte{'\r'})
	}
	size := len(p.body)
	var marks textfile.Marks
	if p.numbers {
		p.body = append(strconv.AppendInt(p.body, p.first+p.lines, 10), '\t')
	}
	p.body = marks.Append(p.body, text)
	if cut > 0 {
		p.body = fmt.Appendf(p.body, "…[+%d bytes: byte_offset=%d byte_limit=%d]",
			cut, p.pos+int64(taken), min(cut, maxWindow))
	}
	p.body = append(p.body, '\n')
	if len(p.body) > s.Room {
		p.body = p.body[:size]
		return false
	}
	p.lines++
	p.pos, p.ended = line.Next, line.Ended
	p.marks.Merge(marks)
	switch {
	case cut > 0:
		p.cut++
	case crlf:
		p.endings.CRLF++
	case line.Ended:
		p.endings.LF++
	}
	return true
}

func (s *Source) pageStatus(p *page) string {
	total := s.TotalLines()
	first, last := p.first, p.first+p.lines-1
	if p.pos >= s.Size && first > 0 {
		total = last
		s.index.setTotal(last)
	}
	b := fmt.Appendf(nil, "%s: line", s.Path)
	switch {
	case p.lines == 0:
		b = fmt.Appendf(b, " %d has no room", first)
	case p.lines == 1:
		b = fmt.Appendf(b, " %d", first)
	case first < 0:
		b = fmt.Appendf(b, "s %d to %d", first, last)
	default:
		b = fmt.Appendf(b, "s %d-%d", first, last)
	}
	if total >= 0 {
		b = fmt.Appendf(b, " of %d", total)
	}
	b = fmt.Appendf(b, "; %s", s.describe())
	endings := p.endings
	if s.Whole {
		endings = s.Form.Encoding.Count(s.Data)
	}
	if text := endings.String(); text != "" {
		b = fmt.Appendf(b, ", %s", text)
	}
	if s.Whole && !s.FinalNewline() || p.pos >= s.Size && !p.ended {
		b = append(b, ", no final newline"...)
	}
	b = fmt.Appendf(b, ", %s, %s", textfile.Size(s.Size), s.ID())
	if p.cut > 0 {
		b = fmt.Appendf(b, "; %s cut at %d characters", textfile.Count(p.cut, "line"), LineChars)
	}
	b = appendMarks(b, &p.marks)
	if p.pos < s.Size {
		b = fmt.Appendf(b, "; next: %soffset=%d", s.Call, p.next())
	}
	return string(b)
}

func appendMarks(b []byte, m *textfile.Marks) []byte {
	if text := m.String(); text != "" {
		b = fmt.Appendf(b, "; shown as escapes: %s", text)
	}
	return b
}
