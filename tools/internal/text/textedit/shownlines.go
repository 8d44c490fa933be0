package textedit

import (
	"slices"
	"strings"

	"toolcrib/tools/internal/text/textfile"
)

// escapedLines returns where lines of a chunk match as read_file and diffs show
// them. It leaves out places where the letters of an escape stand literally too, as
// nobody can tell then which is meant.
func (s *session) escapedLines(before []string) []place {
	if !slices.ContainsFunc(before, hasEscape) {
		return nil
	}
	var places []place
	for _, first := range s.windows(before, textfile.Visible) {
		region := strings.Join(s.texts(first, len(before)), "\n")
		view := show(region)
		if escapes, ok := view.escapes(region, 0, len(view.text)); ok {
			places = append(places, place{first: first, n: len(before), escapes: escapes})
		}
	}
	return places
}

// real puts the characters of the file in the place of their escapes.
func (s *session) real(p place, shown sides) sides {
	after := make([]string, len(shown.after))
	for i, line := range shown.after {
		after[i] = p.escapes.Replace(line)
	}
	s.note("matched the characters that read_file shows as escapes; the same escapes in lines that come were written as these characters")
	return sides{s.texts(p.first, p.n), after, shown.parts}
}
