package textedit

import (
	"errors"
	"fmt"
	"strings"

	"toolcrib/tools/internal/diff"
)

// Chunk is one hunk of a patch: lines that are there, lines that go and lines that
// come.
type Chunk struct {
	// Anchors are lines that stand somewhere before the chunk, each after the one
	// before, such as the head of a function. They begin after the chunk before.
	Anchors []string
	Lines   []ChunkLine
	// Line is where the chunk should begin, from 1, in the file before the patch;
	// 0 = not known. The nearest match wins where several are equally exact. A chunk
	// of '+' lines alone is put before Line, or after its anchor, or at the end.
	Line int
	// AtEnd wants the chunk to end with the file.
	AtEnd bool
	// NoFinalNewline says of the new file, where the chunk reaches its end, that
	// its last line has no line feed; nil = as it was.
	NoFinalNewline *bool
}

// ChunkLine is a line of a chunk, without its end.
type ChunkLine struct {
	Op   byte // ' ', '-' or '+'
	Text string
}

// Patch applies chunks in the order of the file, all or none. A chunk whose lines
// stand in several places belongs nearest to its Line, else after its anchors or the
// chunk before; without any of these it is ambiguous. Lines match as in [Text.Apply],
// and context lines keep the file's bytes. Escapes in lines that come are characters
// where the same ones matched characters of the chunk's old lines. An error is a *[Mismatch].
func (t *Text) Patch(chunks []Chunk) (Result, error) {
	s := session{draft: t.draft(), what: "the patch"}
	after := 0 // the line after the chunk before
	for i, c := range chunks {
		s.index, s.name = i, ""
		if len(chunks) > 1 {
			s.name = fmt.Sprintf("hunk %d", i+1)
		}
		var err error
		if after, err = s.chunk(c, after, i > 0); err != nil {
			return Result{}, s.mismatch(err)
		}
	}
	return s.result(t), nil
}

// sides are the lines of a chunk before and after it, and what changes.
type sides struct {
	before, after []string
	parts         []diff.Change
}

func (c Chunk) sides() sides {
	var s sides
	changing := false
	for _, l := range c.Lines {
		if l.Op == ' ' {
			s.before, s.after = append(s.before, l.Text), append(s.after, l.Text)
			changing = false
			continue
		}
		if !changing {
			s.parts = append(s.parts, diff.Change{A0: len(s.before), A1: len(s.before), B0: len(s.after), B1: len(s.after)})
			changing = true
		}
		part := &s.parts[len(s.parts)-1]
		if l.Op == '-' {
			s.before = append(s.before, l.Text)
			part.A1++
		} else {
			s.after = append(s.after, l.Text)
			part.B1++
		}
	}
	return s
}

// withoutPadding leaves out blank context at the ends of a chunk, which is often
// put there for looks.
func (c Chunk) withoutPadding() (Chunk, int) {
	padding := func(l ChunkLine) bool { return l.Op == ' ' && isBlank(l.Text) }
	head := 0
	for head < len(c.Lines) && padding(c.Lines[head]) {
		head++
	}
	tail := len(c.Lines)
	for tail > head && padding(c.Lines[tail-1]) {
		tail--
	}
	n := len(c.Lines) - (tail - head)
	c.Lines = c.Lines[head:tail]
	return c, n
}

// chunk applies a chunk and returns the line after it.
func (s *session) chunk(c Chunk, after int, follows bool) (int, error) {
	sides := c.sides()
	if len(sides.parts) == 0 && c.NoFinalNewline == nil {
		return 0, errors.New("changes nothing: it has no '-' and no '+' lines")
	}
	var ended *bool
	if c.NoFinalNewline != nil {
		ended = new(!*c.NoFinalNewline)
	}
	from, sure, err := s.anchors(c.Anchors, after)
	if err != nil {
		return 0, err
	}
	hint := s.hint(c.Line)
	var p place
	if len(sides.before) == 0 {
		p = place{first: s.insertion(c, from, hint)}
	} else if p, sides, err = s.locate(c, sides, search{from, hint, follows || sure}); err != nil {
		return 0, err
	}
	var texts []string
	for _, l := range c.Lines {
		if l.Op == '+' {
			texts = append(texts, l.Text)
		}
	}
	region := strings.Join(s.texts(p.first, p.n), "\n")
	total, start := len(s.lines), s.original(p.first)
	changes := s.changesAt(p, sides.before, sides.after, sides.parts, ended)
	changed, err := s.apply(s.lastLine(changes, p, ended))
	if err != nil {
		return 0, s.inexpressible(err, strings.Join(texts, "\n"))
	}
	if !changed {
		return 0, fmt.Errorf("changes nothing: what it leads to stands at %s already", linesWord(p.first, p.n))
	}
	if p.like != "" {
		s.note("matched %s but for %s", linesWord(p.first, p.n), s.differences(region, strings.Join(sides.before, "\n")))
	}
	s.count++
	s.starts = append(s.starts, start)
	return p.first + p.n + len(s.lines) - total, nil
}

// hint returns the present line, from 0, of a line of the file before the patch; -1
// where it is not known.
func (s *session) hint(line int) int {
	if line <= 0 {
		return -1
	}
	at := line - 1
	for _, h := range s.hunks {
		if h.OldLine-1 < line-1 {
			at += h.NewLines - h.OldLines
		}
	}
	return max(at, 0)
}

// original returns the line of the file before the patch, from 1, that a present
// line comes from.
func (s *session) original(line int) int {
	at := line
	for _, h := range s.hunks {
		if h.NewLine-1+h.NewLines <= line {
			at += h.OldLines - h.NewLines
		}
	}
	return at + 1
}

// insertion is where lines go that come with no others.
func (s *session) insertion(c Chunk, from, hint int) int {
	switch {
	case c.AtEnd:
		return len(s.lines)
	case hint >= 0:
		return min(hint, len(s.lines))
	case len(c.Anchors) > 0:
		return from
	}
	if len(s.lines) > 0 {
		s.note("has no line of the file to stand at; its lines were put at the end")
	}
	return len(s.lines)
}

// lastLine adds a change of the file's last line where only its line feed changes.
func (s *session) lastLine(changes []change, p place, ended *bool) []change {
	end := p.first + p.n
	if ended == nil || end != len(s.lines) || end == 0 {
		return changes
	}
	if n := len(changes); n > 0 && changes[n-1].first+changes[n-1].n == end {
		return changes
	}
	return append(changes, change{end - 1, 1, []newLine{{text: s.lines[end-1].text, ended: *ended}}})
}
