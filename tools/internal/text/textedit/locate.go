package textedit

import (
	"fmt"
	"strings"

	"toolcrib/tools/internal/text/textfile"
)

// anchors returns the first line at which a chunk may begin, after its anchors, each of
// which is the first match after the one before. sure says that there are anchors and each
// has only one match.
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

// findAnchor returns the lines, from a line on, that an anchor may mean: equal lines, else
// lines equal except for whitespace or lookalikes, else lines that contain it.
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
