package textedit

import (
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools/internal/text/diff"
)

// Chunk is one hunk of a patch: lines that are there, lines that go and lines that
// come.
type Chunk struct {
	// Anchors are lines that stand somewhere before the chunk, each after the one
	// before, such as the head of a function. They begin after the chunk before.
	Anchors []string
	Lines   []ChunkLine
	// Line is where the chunk should begin, from 1, in the file before the patch;
	// 0 = not known. A chunk of '+' lines alone is put before Line, as far from it as
	// the chunk before is from its own, or after its anchor, or at the end.
	Line int
	// Heading is what the patch says is the last line before the chunk that begins
	// with a letter, "_" or "$", maybe cut at its end; "" = not known.
	Heading string
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

// Patch applies chunks in the order of the file, all or none. Where the lines of a chunk
// stand in several places, all chunks decide together ([session.assign]): their order,
// the lines at which the patch has them and how far the ones beside are from theirs, the
// heading. What all of this leaves open is an error. Lines match as in [Text.Apply], and
// context lines keep the file's bytes. Escapes in lines that come are characters where
// the same ones matched characters of the chunk's old lines. An error is a *[Mismatch].
func (t *Text) Patch(chunks []Chunk) (Result, error) {
	s := session{draft: t.draft(), what: "the patch"}
	bom := t.bom
	if bom != "" && marked(chunks) {
		s.foldBOM(bom)
		bom = ""
	}
	all := make([]*wanted, len(chunks))
	after := 0 // the line after the chunk before, at the earliest
	for i, c := range chunks {
		s.chunkAt(i, len(chunks))
		w, err := s.chunk(c, after)
		if err != nil {
			return Result{}, s.mismatch(err)
		}
		all[i] = w
		after = w.earliest(after)
	}
	if i, err := s.assign(all); err != nil {
		s.chunkAt(i, len(chunks))
		return Result{}, s.mismatch(err)
	}
	for i, w := range all {
		s.chunkAt(i, len(chunks))
		s.settle(w)
		s.starts = append(s.starts, w.places[0].first+1)
	}
	// From the last to the first, so that places stay those of the text as it was.
	order := byPlace(all)
	for _, i := range slices.Backward(order) {
		s.chunkAt(i, len(chunks))
		if err := s.put(all[i]); err != nil {
			return Result{}, s.mismatch(err)
		}
	}
	return s.result(bom), nil
}

// chunkAt makes a chunk the one that notes and errors are about.
func (s *session) chunkAt(i, n int) {
	s.index, s.name = i, ""
	if n > 1 {
		s.name = fmt.Sprintf("hunk %d", i+1)
	}
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
// put there for looks; head is how many lines that are at its beginning.
func (c Chunk) withoutPadding() (bare Chunk, head, n int) {
	padding := func(l ChunkLine) bool { return l.Op == ' ' && isBlank(l.Text) }
	for head < len(c.Lines) && padding(c.Lines[head]) {
		head++
	}
	tail := len(c.Lines)
	for tail > head && padding(c.Lines[tail-1]) {
		tail--
	}
	n = len(c.Lines) - (tail - head)
	c.Lines = c.Lines[head:tail]
	return c, head, n
}

// put applies a chunk at its place.
func (s *session) put(w *wanted) error {
	p, ended := w.places[0], w.ended()
	changes := s.changesAt(p, w.sides.before, w.sides.after, w.sides.parts, ended)
	changed, err := s.apply(s.lastLine(changes, p, ended))
	if err != nil {
		var come []string
		for _, l := range w.Lines {
			if l.Op == '+' {
				come = append(come, l.Text)
			}
		}
		return s.inexpressible(err, strings.Join(come, "\n"))
	}
	if !changed {
		return fmt.Errorf("changes nothing: what it leads to stands at %s already", linesWord(p.first, p.n))
	}
	s.count++
	return nil
}

// ended says whether the file's last line is to end with a line feed, nil = as it was.
func (c Chunk) ended() *bool {
	if c.NoFinalNewline == nil {
		return nil
	}
	return new(!*c.NoFinalNewline)
}

// lastLine adds a change of the file's last line where only its line feed changes.
func (s *session) lastLine(changes []change, p match, ended *bool) []change {
	end := p.first + p.n
	if ended == nil || end != len(s.lines) || end == 0 {
		return changes
	}
	if n := len(changes); n > 0 && changes[n-1].first+changes[n-1].n == end {
		return changes
	}
	return append(changes, change{end - 1, 1, []newLine{{text: s.lines[end-1].text, ended: *ended}}})
}
