package textedit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools/internal/text/textfile"
)

// wanted is a chunk and its places in the original text.
type wanted struct {
	Chunk  // as it matched: perhaps without blank context at its ends
	sides  sides
	places []match // in order; in the end one
	// start and stop delimit the changed lines, counted from the beginning of a place.
	start, stop int
	hint        int // the chunk's first line in the patch, from 0; -1 = unknown
	// edge is the line of the place that must be at the end or the beginning of the file,
	// because the chunk has less context on that side; -1 if there is none. Programs leave
	// context out only there.
	edge int
	// free says that the chunk has no old lines, but a line number.
	free bool
	// early says that the file goes on after the chunk, which should end it.
	early bool
	notes []string
}

// drift is the distance of a chunk that begins at a line from its line in the patch.
func (w *wanted) drift(first int) int { return first - w.hint }

// earliest returns the line after the first possible place of the chunk, given the line at
// which the previous one ends.
func (w *wanted) earliest(after int) int {
	for _, p := range w.places {
		if p.first >= after {
			return p.first + w.stop
		}
	}
	return after
}

// chunk finds the places of a chunk's old lines, with the strictest match that succeeds.
// after is the first line at which it may begin, given the chunks before it.
func (s *session) chunk(c Chunk, after int) (*wanted, error) {
	w := &wanted{Chunk: c, sides: c.sides(), hint: c.Line - 1, edge: -1}
	if len(w.sides.parts) == 0 && c.NoFinalNewline == nil {
		return nil, errors.New("changes nothing: it has no '-' and no '+' lines")
	}
	from, sure, err := s.anchors(c.Anchors, after)
	if err != nil {
		return nil, err
	}
	if len(w.sides.before) == 0 {
		return w, s.insertion(w, from, sure)
	}
	if err := s.search(w); err != nil {
		return nil, err
	}
	w.start, w.stop = len(w.sides.before), len(w.sides.before)
	if n := len(w.sides.parts); n > 0 {
		w.start, w.stop = w.sides.parts[0].A0, w.sides.parts[n-1].A1
	}
	if len(c.Anchors) == 0 {
		w.edge = s.edge(w, c)
		return w, nil
	}
	lines := firstLines(w.places)
	// The anchor may be repeated as context.
	w.places = slices.DeleteFunc(w.places, func(p match) bool { return p.first < from-1 })
	switch {
	case len(w.places) == 0:
		return nil, &Mismatch{Msg: fmt.Sprintf("its lines are not after its anchor but at line %s", listed(lines)), Detail: s.places(lines)}
	case len(w.places) > 1 && sure && w.hint < 0:
		w.notes = append(w.notes, fmt.Sprintf("matches at lines %s; the first after its anchor was taken", listed(firstLines(w.places))))
		w.places = w.places[:1]
	}
	return w, nil
}

// edge computes [wanted.edge].
func (s *session) edge(w *wanted, c Chunk) int {
	lead := slices.IndexFunc(c.Lines, func(l ChunkLine) bool { return l.Op != ' ' })
	trail := 0
	for trail < len(c.Lines) && c.Lines[len(c.Lines)-1-trail].Op == ' ' {
		trail++
	}
	if w.hint < 0 || lead == trail {
		return -1
	}
	for _, p := range w.places {
		if lead < trail && p.first == 0 || lead > trail && p.first+p.n == len(s.lines) {
			return p.first
		}
	}
	return -1
}

// insertion finds the place of a chunk that only adds lines.
func (s *session) insertion(w *wanted, from int, sure bool) error {
	at := len(s.lines)
	switch {
	case w.AtEnd:
	case w.hint > len(s.lines):
		return fmt.Errorf("has no context lines, and the file has no line %d; add context lines", w.hint)
	case w.hint >= 0:
		w.free = true
		at = w.hint
	case len(w.Anchors) > 0 && !sure:
		return errors.New("has no context lines, and its anchor is in several places; add context lines")
	case len(w.Anchors) > 0:
		at = from
	case len(s.lines) > 0:
		w.notes = append(w.notes, "has no context lines; its lines were put at the end")
	}
	w.places = []match{{first: at}}
	return nil
}

// search fills in the places of a chunk that has lines to look for.
func (s *session) search(w *wanted) error {
	whole := w.Chunk
	bare, head, padding := whole.withoutPadding()
	for _, atEnd := range []bool{true, false} {
		if atEnd && !w.AtEnd {
			continue
		}
		for i, try := range []Chunk{whole, bare} {
			if i > 0 && (padding == 0 || len(bare.sides().before) == 0) {
				continue
			}
			sides := try.sides()
			places := s.matches(sides, atEnd)
			if len(places) == 0 {
				continue
			}
			w.Chunk, w.sides, w.places = try, sides, places
			if i > 0 {
				w.notes = append(w.notes, "has blank lines around it that the file lacks; they were dropped")
				if w.hint >= 0 {
					w.hint += head
				}
			}
			if w.AtEnd && !atEnd {
				w.early = true
			}
			return nil
		}
	}
	return s.nowhere(w)
}

// nowhere is the error of a chunk whose lines the file does not have.
func (s *session) nowhere(w *wanted) error {
	m := &Mismatch{Msg: "its lines are not in the file"}
	if s.text == "" {
		m.Msg += ", which is empty"
		return m
	}
	if len(s.text) > tolerated {
		m.Msg += fmt.Sprintf(" (in one of more than %s only the exact lines are looked for)", textfile.Size(tolerated))
	}
	if slices.ContainsFunc(w.Lines, func(l ChunkLine) bool { return l.Op != ' ' && strings.HasSuffix(l.Text, `\u{d}`) }) {
		m.Msg += `; a \u{d} at the end of a line is its carriage return: a patch keeps line endings; to change them use a program such as dos2unix, or delete the file and write it anew`
	}
	full := w.sides
	if already := s.windows(full.after, func(l string) string { return l }); len(full.after) > 0 && len(already) > 0 && telling(strings.Join(full.after, " ")) {
		m.Msg += fmt.Sprintf("; its result is already there at line %d, so it may have been applied before", already[0]+1)
	}
	s.diagnose(m, full.before)
	return m
}

// matches returns the places of the old lines for the strictest tolerance that matches, or
// that matches at the end of the file.
func (s *session) matches(sides sides, atEnd bool) []match {
	unfit := func(p match) bool { return atEnd && p.first+p.n != len(s.lines) }
	var exact []match
	for _, first := range s.windows(sides.before, func(l string) string { return l }) {
		exact = append(exact, match{first: first, n: len(sides.before)})
	}
	if exact = slices.DeleteFunc(exact, unfit); len(exact) > 0 || len(s.text) > tolerated {
		return exact
	}
	if found := slices.DeleteFunc(s.escapedLines(sides.before), unfit); len(found) > 0 {
		return found
	}
	for _, like := range tolerances() {
		if found := slices.DeleteFunc(s.find(sides.before, sides.after, like), unfit); len(found) > 0 {
			return found
		}
	}
	return nil
}

// settle notes how a chunk, which has one place now, was read.
func (s *session) settle(w *wanted) {
	for _, n := range w.notes {
		s.note("%s", n)
	}
	p := w.places[0]
	if w.early {
		s.note("does not end with the file; it was applied at line %d", p.first+1)
	}
	if p.like != "" {
		s.note("matched %s but for %s", linesWord(p.first, p.n),
			s.differences(strings.Join(s.texts(p.first, p.n), "\n"), strings.Join(w.sides.before, "\n")))
	}
	if p.escapes != nil {
		w.sides = s.real(p, w.sides)
	}
}
