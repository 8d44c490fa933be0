package textedit

import (
	"errors"
	"fmt"
	"strings"

	"toolcrib/tools/internal/text/textfile"
)

// hit is a place of Old, in bytes of the text, and its replacement.
type hit struct {
	start, end int
	text       string
}

// replaceText tries the ways in which a text may match, from the strictest.
func (s *session) replaceText(e Edit) error {
	var within lineRange
	if e.StartLine > 0 {
		var err error
		if within, err = s.startRange(e); err != nil {
			return err
		}
	}
	hits := s.literal(e, within)
	if len(hits) == 0 {
		hits = s.shown(e, within)
	}
	if len(hits) == 0 {
		if bare, first, ok := stripNumbers(e.Old, e.New); ok && bare.Old != bare.New && bare.Old != "" {
			bare.All, bare.Count = e.All, e.Count
			if hits = s.literal(bare.Edit, within); len(hits) == 0 {
				hits = s.shown(bare.Edit, within)
			}
			if len(hits) > 0 {
				hits = s.numbered(hits, first)
				s.note("carries the line numbers of read_file in old_text%s; they were taken off", bare.inNew)
				e.Old, e.New = bare.Old, bare.New
			}
		}
	}
	if len(hits) == 0 && !e.All && e.Count <= 1 {
		done, err := s.tolerant(e, within)
		if done || err != nil {
			return err
		}
	}
	if len(hits) == 0 {
		return s.notFound(e, within)
	}
	if err := s.expected(e, hits); err != nil {
		return err
	}
	if len(hits) == 1 && !e.All {
		hits[0] = s.onceIndented(hits[0], e.Old)
	}
	return s.replace(hits, e)
}

// mostOverlapping is how many overlapping occurrences are looked for.
const mostOverlapping = 1000

// literal finds Old literally. If one occurrence is wanted, overlapping ones count as
// several.
func (s *session) literal(e Edit, within lineRange) []hit {
	step := 1
	if e.All || e.Count > 1 {
		step = len(e.Old)
	}
	var hits []hit
	for at := 0; ; {
		i := strings.Index(s.text[at:], e.Old)
		if i < 0 {
			break
		}
		at += i
		hits = append(hits, hit{at, at + len(e.Old), e.New})
		if len(hits) == mostOverlapping {
			step = len(e.Old)
		}
		at += step
	}
	return s.in(within, hits)
}

// expected checks the number of matches.
func (s *session) expected(e Edit, hits []hit) error {
	want := e.Count
	switch {
	case want == 0 && e.All:
		return nil
	case want == 0:
		want = 1
	}
	if len(hits) == want {
		return nil
	}
	msg := fmt.Sprintf("old_text is in the file %s, at lines %s", times(len(hits)), s.linesOf(hits))
	if len(hits) == 1 {
		msg = fmt.Sprintf("old_text is in the file once, at line %s", s.linesOf(hits))
	}
	if e.Count > 0 {
		return &Mismatch{Msg: fmt.Sprintf("%s, not %s as expected_count says", msg, times(want)), Detail: s.candidates(hits)}
	}
	return &Mismatch{
		Msg:    msg + "; give more lines of context, start_line of the one that is meant, or replace_all",
		Detail: s.candidates(hits),
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// replace replaces texts, which are in order.
func (s *session) replace(hits []hit, e Edit) error {
	changed, err := s.apply(s.lineChanges(hits))
	if err != nil {
		return s.inexpressible(err, e.New)
	}
	if !changed {
		return errors.New("changes nothing")
	}
	s.count += len(hits)
	return nil
}

// lineChanges turns replacements within lines into changes of whole lines.
func (d *draft) lineChanges(hits []hit) []change {
	var changes []change
	index, counted := 0, 0 // line at a position of the text
	for len(hits) > 0 {
		start := strings.LastIndexByte(d.text[:hits[0].start], '\n') + 1
		index += strings.Count(d.text[counted:start], "\n")
		counted = start
		var b strings.Builder
		at := start
		rested := false // the last line keeps some text at its end, and so its ending
		for {
			b.WriteString(d.text[at:hits[0].start])
			b.WriteString(hits[0].text)
			at = hits[0].end
			hits = hits[1:]
			if (b.Len() == 0 || strings.HasSuffix(b.String(), "\n")) && (at == len(d.text) || at == 0 || d.text[at-1] == '\n') {
				break
			}
			rest := strings.IndexByte(d.text[at:], '\n') + 1
			if rest == 0 {
				rest = len(d.text) - at
			}
			if len(hits) > 0 && hits[0].start < at+rest {
				continue
			}
			b.WriteString(d.text[at : at+rest])
			at += rest
			rested = rest > len("\n")
			break
		}
		n := strings.Count(d.text[start:at], "\n")
		if at == len(d.text) && at > start && d.text[at-1] != '\n' {
			n++
		}
		lines := newLines(b.String())
		if rested && n > 0 && len(lines) > 0 {
			lines[len(lines)-1].end = d.lines[index+n-1].end
		}
		changes = append(changes, change{index, n, lines})
	}
	return changes
}

func newLines(text string) []newLine {
	if text == "" {
		return nil
	}
	var lines []newLine
	for l := range strings.Lines(text) {
		bare, ended := strings.CutSuffix(l, "\n")
		lines = append(lines, newLine{text: bare, ended: ended})
	}
	return lines
}

// inexpressible describes an error of storing new text.
func (s *session) inexpressible(err error, text string) error {
	bad, ok := errors.AsType[*unwritable](err)
	if !ok {
		return err
	}
	char, isChar := errors.AsType[*textfile.EncodeError](err)
	if !isChar {
		return err
	}
	where := fmt.Sprintf("line %d of the new file", bad.line+1)
	if i := strings.IndexRune(text, char.Rune); i >= 0 {
		where = fmt.Sprintf("line %d, character %d of new_text", strings.Count(text[:i], "\n")+1,
			len([]rune(text[strings.LastIndexByte(text[:i], '\n')+1:i]))+1)
	}
	return &Mismatch{Msg: fmt.Sprintf("%v, in %s; leave it out, or convert the file first: write it whole with encoding=utf-8", char, where)}
}
