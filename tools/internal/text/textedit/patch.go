package textedit

import (
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools/internal/text/diff"
)

// Chunk is one hunk of a patch: context lines, removed lines and added lines.
type Chunk struct {
	// Anchors are lines somewhere before the chunk, each after the one before, such as the
	// head of a function. They come after the previous chunk.
	Anchors []string
	Lines   []ChunkLine
	// Line is where the chunk should begin, from 1, in the file before the patch; 0 =
	// unknown. A chunk of '+' lines alone goes before Line, moved as far as the previous
	// chunk was, or after its anchor, or at the end.
	Line int
	// Heading is the last line before the chunk that begins with a letter, "_" or "$", as
	// the patch gives it, perhaps cut at its end; "" = unknown.
	Heading string
	// AtEnd wants the chunk to end with the file.
	AtEnd bool
	// NoFinalNewline says whether the last line of the new file has no line feed, if the
	// chunk reaches the end; nil = as before.
	NoFinalNewline *bool
}

// ChunkLine is a line of a chunk, without its end.
type ChunkLine struct {
	Op   byte // ' ', '-' or '+'
	Text string
}

// Patch applies chunks in the order of the file, all or none. If the lines of a chunk are
// in several places, all chunks decide together ([session.assign]): by their order, their
// line numbers in the patch, how far their neighbours have moved, and the heading. If that
// leaves several places, it is an error. Lines match as in [Text.Apply], and context lines
// keep the file's bytes. Escapes in added lines become characters if the same escapes
// matched characters of the chunk's old lines. An error is a *[Mismatch].
func (t *Text) Patch(chunks []Chunk) (Result, error) {
	s := session{draft: t.draft(), what: "the patch"}
	bom := t.bom
	if bom != "" && marked(chunks) {
		s.foldBOM(bom)
		bom = ""
	}
	all := make([]*wanted, len(chunks))
	after := 0 // the first line that may follow the previous chunk
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
	// From the last to the first, so that the places stay valid.
	order := byPlace(all)
	for _, i := range slices.Backward(order) {
		s.chunkAt(i, len(chunks))
		if err := s.put(all[i]); err != nil {
			return Result{}, s.mismatch(err)
		}
	}
	return s.result(bom), nil
}

// chunkAt selects the chunk that notes and errors name.
func (s *session) chunkAt(i, n int) {
	s.index, s.name = i, ""
	if n > 1 {
		s.name = fmt.Sprintf("hunk %d", i+1)
	}
}

// sides are the lines of a chunk before and after it, and the changes.
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

// withoutPadding drops blank context at the ends of a chunk, which models often add; head
// is the number of blank lines at its beginning.
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
		return fmt.Errorf("changes nothing: its result is already at %s", linesWord(p.first, p.n))
	}
	s.count++
	return nil
}

// ended says whether the file's last line must end with a line feed, nil = as before.
func (c Chunk) ended() *bool {
	if c.NoFinalNewline == nil {
		return nil
	}
	return new(!*c.NoFinalNewline)
}

// lastLine adds a change of the file's last line if only its line feed changes.
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
