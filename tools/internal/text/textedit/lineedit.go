package textedit

import (
	"fmt"
	"strings"

	"toolcrib/tools/internal/text/textfile"
)

// overlap refuses edits of missing lines, or of lines of each other.
func overlap(edits []Edit, total int) error {
	for i, e := range edits {
		if e.Old != "" || e.StartLine <= 0 {
			continue
		}
		var msg string
		switch {
		case e.EndLine < e.StartLine-1:
			msg = fmt.Sprintf("end_line %d is before start_line %d; to insert before line %d give end_line %d",
				e.EndLine, e.StartLine, e.StartLine, e.StartLine-1)
		case e.EndLine > total || e.StartLine > total+1:
			msg = fmt.Sprintf("there are no lines %d-%d, the file has %s; to append give start_line %d and end_line %d",
				e.StartLine, e.EndLine, textfile.Count(total, "line"), total+1, total)
			if e.StartLine >= e.EndLine {
				msg = fmt.Sprintf("there is no line %d, the file has %s; to append give start_line %d and end_line %d",
					e.StartLine, textfile.Count(total, "line"), total+1, total)
			}
		}
		for j, other := range edits[:i] {
			if msg == "" && other.Old == "" && other.StartLine > 0 && e.touches(other) {
				msg = fmt.Sprintf("its lines %d-%d are also lines of edit %d (%d-%d); line numbers are those of the file before all edits",
					e.StartLine, e.EndLine, j+1, other.StartLine, other.EndLine)
			}
		}
		if msg != "" {
			if len(edits) > 1 {
				msg = fmt.Sprintf("edit %d: %s", i+1, msg)
			}
			return &Mismatch{Edit: i, Msg: msg}
		}
	}
	return nil
}

// touches reports whether two ranges of lines share a line, or one inserts inside
// of the other.
func (e Edit) touches(other Edit) bool {
	if e.EndLine < e.StartLine {
		return other.StartLine < e.StartLine && e.StartLine <= other.EndLine
	}
	if other.EndLine < other.StartLine {
		return other.touches(e)
	}
	return e.StartLine <= other.EndLine && other.StartLine <= e.EndLine
}

// lineEdit replaces, deletes or inserts whole lines.
func (s *session) lineEdit(e Edit) error {
	n := e.EndLine - e.StartLine + 1
	at, err := s.present(e.StartLine-1, n)
	if err != nil {
		return fmt.Errorf("lines %d-%d cannot be named any more: %w; line numbers are those of the file before all edits",
			e.StartLine, e.EndLine, err)
	}
	var texts []string
	var final *bool
	if e.New != "" {
		bare, ended := strings.CutSuffix(e.New, "\n")
		texts = strings.Split(bare, "\n")
		if ended {
			final = &ended
		}
	}
	if n == 0 && len(texts) == 0 {
		return fmt.Errorf("changes nothing: it inserts no text before line %d", e.StartLine)
	}
	changed, err := s.apply([]change{s.whole(at, n, texts, final)})
	if err != nil {
		return s.inexpressible(err, e.New)
	}
	if !changed {
		return fmt.Errorf("changes nothing: lines %d-%d equal new_text", e.StartLine, e.EndLine)
	}
	s.count++
	return nil
}

// lineRange is lines of the present text, from 0, the last excluded; the zero value is the
// whole text.
type lineRange struct{ first, end int }

// startRange returns the lines on which an Old must begin.
func (s *session) startRange(e Edit) (lineRange, error) {
	at, err := s.present(e.StartLine-1, 0)
	if err != nil {
		return lineRange{}, fmt.Errorf("start_line %d cannot be named any more: %w", e.StartLine, err)
	}
	if at >= len(s.lines) {
		return lineRange{}, fmt.Errorf("there is no line %d, the file has %s", e.StartLine, textfile.Count(len(s.lines), "line"))
	}
	return lineRange{at, at + max(e.EndLine-e.StartLine, 0) + 1}, nil
}

// in returns the hits that begin on the lines.
func (s *session) in(within lineRange, hits []hit) []hit {
	if within.end == 0 {
		return hits
	}
	var kept []hit
	for i, line := range s.lineIndexes(hits) {
		if line >= within.first && line < within.end {
			kept = append(kept, hits[i])
		}
	}
	return kept
}

// lineIndexes returns the lines, from 0, on which hits begin.
func (d *draft) lineIndexes(hits []hit) []int {
	lines := make([]int, len(hits))
	index, counted := 0, 0
	for i, h := range hits {
		index += strings.Count(d.text[counted:h.start], "\n")
		counted = h.start
		lines[i] = index
	}
	return lines
}
