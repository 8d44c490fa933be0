package textedit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolcrib/tools/internal/text/diff"
)

// tolerated is the most bytes of text in which inexact matches are looked for, since the
// search cannot be interrupted.
const tolerated = 16 << 20

// tolerance is a difference that whole lines may have and still match.
type tolerance struct {
	name string
	// key is equal for lines that match.
	key func(line string) string
	// indent says that the key ignores indentation, which must then differ in one
	// consistent way.
	indent bool
}

// tolerances returns the ways from the strictest to the loosest.
func tolerances() []tolerance {
	const whitespace = " \t\r\f\v"
	return []tolerance{
		{"trailing whitespace", func(s string) string { return strings.TrimRight(s, whitespace) }, false},
		{"indentation", func(s string) string { return strings.Trim(s, whitespace) }, true},
		{"characters beyond ASCII", func(s string) string { return fold(strings.TrimRightFunc(s, unicode.IsSpace)) }, false},
		{"characters beyond ASCII and indentation", func(s string) string { return fold(strings.TrimSpace(s)) }, true},
		{"spaces inside the line", func(s string) string {
			indent, body, _ := split(s)
			return indent + spaced(fold(body))
		}, false},
		{"spaces inside the line and indentation", func(s string) string { return spaced(fold(strings.TrimSpace(s))) }, true},
	}
}

// spaced writes a line with one space between words and no other spaces.
func spaced(s string) string {
	if !strings.ContainsAny(s, " \t") {
		return s
	}
	word := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	var b strings.Builder
	b.Grow(len(s))
	last := ' '
	gap := false
	for i, r := range s {
		if r == ' ' || r == '\t' {
			gap = true
			continue
		}
		if gap && word(last) && word(r) {
			b.WriteByte(' ')
		}
		_, size := utf8.DecodeRuneInString(s[i:]) // 1 for an invalid byte
		b.WriteString(s[i : i+size])
		last, gap = r, false
	}
	return b.String()
}

// match is where lines of an edit or a chunk match lines of the text.
type match struct {
	first, n int // lines of the text
	// like is the tolerance used, "" if the lines are equal.
	like    string
	indents *indents // nil if the indentation agrees
	// escapes turns the escapes that matched characters of the text into these; nil if none
	// did.
	escapes *strings.Replacer
}

// tolerant replaces whole lines that match Old except for whitespace or lookalike
// characters, if only one place matches; then it tries without the blank lines at the ends
// of Old. After the first tolerance that matches it tries no other.
func (s *session) tolerant(e Edit, within lineRange) (bool, error) {
	if len(s.text) > tolerated {
		return false, nil
	}
	before, after := wholeLines(e.Old, e.New)
	if done, err := s.tolerantLines(e, within, before, after, ""); done || err != nil {
		return done, err
	}
	before, after, ok := withoutBlankEnds(before, after)
	if !ok {
		return false, nil
	}
	return s.tolerantLines(e, within, before, after, "blank lines around it")
}

// tolerantLines is tolerant for the lines of an edit; left names the lines that were
// dropped from them.
func (s *session) tolerantLines(e Edit, within lineRange, before, after []string, left string) (bool, error) {
	for _, like := range tolerances() {
		places := s.find(before, after, like)
		if within.end > 0 {
			places = slices.DeleteFunc(places, func(p match) bool { return p.first < within.first || p.first >= within.end })
		}
		switch len(places) {
		case 0:
			continue
		case 1:
			if left != "" {
				s.note("has blank lines around it in old_text that the file lacks; they were dropped")
			}
			return true, s.replaceLines(e, places[0], before, after)
		}
		lines := firstLines(places)
		return false, &Mismatch{
			Msg: fmt.Sprintf("old_text is not in the file as it is, and but for %s it is there %s, at lines %s; give the text as the file has it, more lines of context, or start_line",
				cmp.Or(left, like.name), times(len(places)), listed(lines)),
			Detail: s.places(lines),
		}
	}
	return false, nil
}

// withoutBlankEnds drops the blank lines at the ends of an old text, and as many of the new
// text's if it has them.
func withoutBlankEnds(before, after []string) (olds, news []string, ok bool) {
	filled := func(line string) bool { return !isBlank(line) }
	head := slices.IndexFunc(before, filled)
	if head < 0 {
		return nil, nil, false
	}
	tail := 0
	for isBlank(before[len(before)-1-tail]) {
		tail++
	}
	olds, news = before[head:len(before)-tail], after
	for range head {
		if len(news) > 0 && isBlank(news[0]) {
			news = news[1:]
		}
	}
	for range tail {
		if len(news) > 0 && isBlank(news[len(news)-1]) {
			news = news[:len(news)-1]
		}
	}
	return olds, news, head+tail > 0
}

func firstLines(places []match) []int {
	lines := make([]int, len(places))
	for i, p := range places {
		lines[i] = p.first
	}
	return lines
}

// wholeLines returns the lines of an old and a new text. A line feed at the end of the old
// one ends its last line, and the new one must end likewise.
func wholeLines(before, after string) (olds, news []string) {
	bare, ended := strings.CutSuffix(before, "\n")
	olds = strings.Split(bare, "\n")
	if ended {
		if after == "" {
			return olds, nil
		}
		after = strings.TrimSuffix(after, "\n")
	}
	return olds, strings.Split(after, "\n")
}

// find returns where lines match with a tolerance: nowhere if they are blank, or if the
// edit changes only the tolerated differences.
func (s *session) find(before, after []string, like tolerance) []match {
	pattern := make([]string, len(before))
	blank := true
	for i, line := range before {
		pattern[i] = like.key(line)
		blank = blank && pattern[i] == ""
	}
	if blank || slices.EqualFunc(pattern, after, func(key, line string) bool { return key == like.key(line) }) {
		return nil
	}
	var places []match
	for _, first := range s.windows(pattern, like.key) {
		p := match{first: first, n: len(before), like: like.name}
		if like.indent {
			to, ok := matchIndents(before, s.texts(first, len(before)))
			if !ok && !firstBare(before, s.texts(first, len(before))) {
				continue
			}
			if ok {
				in := s.newIndents(to, before, after)
				p.indents = &in
			}
		}
		places = append(places, p)
	}
	return places
}

func (d *draft) texts(first, n int) []string {
	texts := make([]string, n)
	for i, l := range d.lines[first : first+n] {
		texts[i] = l.text
	}
	return texts
}

// windows returns the lines at which all lines of a pattern begin, in order. Its time grows
// with the length of the text and the pattern (Knuth, Morris, Pratt).
func (d *draft) windows(pattern []string, key func(string) string) []int {
	ids := map[string]int{}
	want := make([]int, len(pattern))
	for i, p := range pattern {
		if _, known := ids[p]; !known {
			ids[p] = len(ids)
		}
		want[i] = ids[p]
	}
	border := make([]int, len(want)+1) // longest proper border of each prefix
	border[0] = -1
	for i, k := 0, -1; i < len(want); {
		for k >= 0 && want[i] != want[k] {
			k = border[k]
		}
		i, k = i+1, k+1
		border[i] = k
	}
	var found []int
	matched := 0
	for i, l := range d.lines {
		id, known := ids[key(l.text)]
		if !known {
			matched = 0
			continue
		}
		for matched >= 0 && (matched == len(want) || want[matched] != id) {
			matched = border[matched]
		}
		if matched++; matched == len(want) {
			found = append(found, i-matched+1)
		}
	}
	return found
}

func (s *session) replaceLines(e Edit, p match, before, after []string) error {
	region := strings.Join(s.texts(p.first, p.n), "\n")
	if fixed, ok := absolute(before, after, s.texts(p.first, p.n)); ok {
		after, p.indents = fixed, nil
	}
	was := diff.Lines(before, after)
	changed, err := s.apply(s.changesAt(p, before, after, was, nil))
	if err != nil {
		return s.inexpressible(err, e.New)
	}
	if !changed {
		return fmt.Errorf("changes nothing: new_text is already at %s", linesWord(p.first, p.n))
	}
	if given := strings.Join(before, "\n"); given != region || given == strings.TrimSuffix(e.Old, "\n") {
		s.note("matched %s but for %s", linesWord(p.first, p.n), s.differences(region, given))
	}
	s.count++
	return nil
}

func linesWord(first, n int) string {
	if n == 1 {
		return fmt.Sprintf("line %d", first+1)
	}
	return fmt.Sprintf("lines %d-%d", first+1, first+n)
}

// changesAt turns old lines into changes to new ones at the place of a match.
func (s *session) changesAt(p match, before, after []string, parts []diff.Change, final *bool) []change {
	changes := make([]change, 0, len(parts))
	for _, part := range parts {
		texts := make([]string, 0, part.B1-part.B0)
		paired := part.A1-part.A0 == part.B1-part.B0
		for i, text := range after[part.B0:part.B1] {
			if paired {
				at := part.A0 + i
				text = p.adapt(s.lines[p.first+at].text, before[at], text)
			} else {
				text = p.reindent(text)
			}
			texts = append(texts, text)
		}
		changes = append(changes, s.whole(p.first+part.A0, part.A1-part.A0, texts, final))
	}
	return changes
}

// adapt changes a line of the file as an edit changes the line that matches it: parts that
// the edit keeps stay as in the file.
func (p match) adapt(file, before, after string) string {
	if file == before || isBlank(after) {
		return after
	}
	indent, body, trail := split(file)
	oldIndent, oldBody, oldTrail := split(before)
	newIndent, newBody, newTrail := split(after)
	if newIndent != oldIndent && p.indents != nil {
		indent = p.indents.of(newIndent)
	} else if newIndent != oldIndent {
		indent = newIndent
	}
	prefix, suffix := diff.Common(oldBody, newBody)
	if newTrail != oldTrail || suffix == 0 && oldBody != newBody {
		trail = newTrail
	}
	if body == oldBody {
		return indent + newBody + trail
	}
	// The inserted text begins or ends with a space of its own, or keeps the file's.
	middle := newBody[prefix : len(newBody)-suffix]
	head, tail := [2]int{}, [2]int{len(oldBody), len(body)}
	for _, at := range align(oldBody, body) {
		if at[0] <= prefix && (at[0] > head[0] || !strings.HasPrefix(middle, " ")) {
			head = at
		}
		if at[0] >= len(oldBody)-suffix && (at[0] < tail[0] || at[0] == tail[0] && strings.HasSuffix(middle, " ")) {
			tail = at
		}
	}
	return indent + body[:head[1]] + newBody[head[0]:len(newBody)-(len(oldBody)-tail[0])] + body[tail[1]:] + trail
}

// reindent gives a new line the file's indentation for that of the edit.
func (p match) reindent(line string) string {
	if p.indents == nil || isBlank(line) {
		return line
	}
	indent, _, _ := split(line)
	return p.indents.of(indent) + line[len(indent):]
}
