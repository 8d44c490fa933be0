package textedit

import (
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools/internal/textfile"
)

// anchors returns the line from which on a chunk may stand, after its anchors, each
// being the first that follows the one before. sure says that there are anchors and
// that none stands in several places.
func (s *session) anchors(anchors []string, after int) (from int, sure bool, err error) {
	from, sure = after, len(anchors) > 0
	for _, a := range anchors {
		found, like := s.findAnchor(a, from)
		if len(found) == 0 {
			m := &Mismatch{Msg: fmt.Sprintf("the anchor %q is not in the file", brief(a))}
			if from > 0 {
				m.Msg += fmt.Sprintf(" after line %d", from)
			}
			s.diagnose(m, []string{a})
			return 0, false, m
		}
		if like != "" {
			s.note("matched the anchor %q at line %d but for %s", brief(a), found[0]+1, s.differences(s.lines[found[0]].text, a))
		}
		from, sure = found[0]+1, sure && len(found) == 1
	}
	return from, sure, nil
}

// findAnchor returns the lines from one on that an anchor may be: equal, or but for
// whitespace or lookalikes, or else lines that it is a part of.
func (s *session) findAnchor(anchor string, from int) (found []int, like string) {
	match := func(same func(string) bool) []int {
		var lines []int
		for i := from; i < len(s.lines); i++ {
			if same(s.lines[i].text) {
				lines = append(lines, i)
			}
		}
		return lines
	}
	if found = match(func(l string) bool { return l == anchor }); len(found) > 0 {
		return found, ""
	}
	if hasEscape(anchor) {
		if found = match(func(l string) bool { return textfile.Visible(l) == anchor }); len(found) > 0 {
			return found, ""
		}
	}
	for _, t := range tolerances() {
		key := t.key(anchor)
		if key == "" {
			return nil, ""
		}
		if found = match(func(l string) bool { return t.key(l) == key }); len(found) > 0 {
			if t.indent || t.name == "trailing whitespace" { // anchors are written without indentation
				return found, ""
			}
			return found, t.name
		}
	}
	part := strings.TrimSpace(anchor)
	return match(func(l string) bool { return strings.Contains(l, part) }), ""
}

// search says where a chunk is to be looked for.
type search struct {
	from int // the line after its anchors and the chunk before
	hint int // the line at which it should stand, -1 if not known
	// first takes the first place after from of several.
	first bool
}

// locate finds where the old lines of a chunk stand.
func (s *session) locate(c Chunk, full sides, where search) (place, sides, error) {
	bare, padding := c.withoutPadding()
	tries := []Chunk{c}
	if padding > 0 && len(bare.sides().before) > 0 {
		tries = append(tries, bare)
	}
	for _, atEnd := range []bool{true, false} {
		if atEnd && !c.AtEnd {
			continue
		}
		for i, try := range tries {
			sides := try.sides()
			places := s.matches(sides, atEnd)
			if len(places) == 0 {
				continue
			}
			p, err := s.choose(places, c, where)
			if err != nil {
				return place{}, sides, err
			}
			if p.escapes != nil {
				sides = s.real(p, sides)
			}
			if i > 0 {
				s.note("has blank lines around it that the file has not; they were left out")
			}
			if c.AtEnd && !atEnd {
				s.note("does not end with the file; it was applied at line %d", p.first+1)
			}
			return p, sides, nil
		}
	}
	m := &Mismatch{Msg: "its lines are not in the file"}
	if s.text == "" {
		m.Msg += ", which is empty"
		return place{}, full, m
	}
	if len(s.text) > tolerated {
		m.Msg += fmt.Sprintf(" (in one of more than %d MiB only the exact lines are looked for)", tolerated>>20)
	}
	if slices.ContainsFunc(c.Lines, func(l ChunkLine) bool { return l.Op != ' ' && strings.HasSuffix(l.Text, `\u{d}`) }) {
		m.Msg += `; a \u{d} at the end of a line is its carriage return: a patch keeps line endings; to change them use a program such as dos2unix, or delete the file and write it anew`
	}
	if already := s.windows(full.after, func(l string) string { return l }); len(full.after) > 0 && len(already) > 0 && telling(strings.Join(full.after, " ")) {
		m.Msg += fmt.Sprintf("; what it leads to is already there at line %d, so it may have been applied before", already[0]+1)
	}
	s.diagnose(m, full.before)
	return place{}, full, m
}

// matches returns where the old lines match by the strictest way that matches, apart
// from what the patch changed already.
func (s *session) matches(sides sides, atEnd bool) []place {
	unfit := func(p place) bool {
		if atEnd && p.first+p.n != len(s.lines) {
			return true
		}
		return slices.ContainsFunc(s.hunks, func(h Hunk) bool {
			return h.NewLine-1 < p.first+p.n && p.first < h.NewLine-1+h.NewLines
		})
	}
	var exact []place
	for _, first := range s.windows(sides.before, func(l string) string { return l }) {
		exact = append(exact, place{first: first, n: len(sides.before)})
	}
	if exact = slices.DeleteFunc(exact, unfit); len(exact) > 0 {
		return exact
	}
	if len(s.text) > tolerated {
		return nil
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

// choose takes the place that is meant of several that match equally well.
func (s *session) choose(places []place, c Chunk, where search) (place, error) {
	from := where.from
	if len(c.Anchors) > 0 {
		from-- // the anchor may be repeated as context
	}
	behind := slices.DeleteFunc(slices.Clone(places), func(p place) bool { return p.first < from })
	lines := firstLines(places)
	switch {
	case where.hint >= 0:
		if len(behind) > 0 {
			places = behind
		}
		return slices.MinFunc(places, func(a, b place) int { return abs(a.first-where.hint) - abs(b.first-where.hint) }), nil
	case len(behind) == 1:
		return behind[0], nil
	case len(behind) > 1 && where.first:
		s.note("matches at lines %s; the first was taken", listed(firstLines(behind)))
		return behind[0], nil
	case len(places) == 1 && len(c.Anchors) == 0:
		return places[0], nil
	case len(behind) == 0 && len(c.Anchors) > 0:
		return place{}, &Mismatch{Msg: fmt.Sprintf("its lines do not stand after its anchor but at line %s", listed(lines)), Detail: s.places(lines)}
	}
	return place{}, &Mismatch{
		Msg: fmt.Sprintf("its lines are in the file %s, at lines %s; give more lines of context or an anchor (@@ with a line that stands before)",
			times(len(places)), listed(lines)),
		Detail: s.places(lines),
	}
}

func abs(n int) int { return max(n, -n) }
