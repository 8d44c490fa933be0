package textedit

import (
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"toolcrib/tools/internal/text/textfile"
)

// shownText is a text as read_file shows it.
type shownText struct {
	text  string
	marks []shownMark // in order
}

// shownMark is an escape and the character that it shows, in bytes of the two texts.
type shownMark struct{ shown, shownEnd, real, realEnd int }

func show(text string) shownText {
	s := shownText{text: textfile.Visible(text)}
	if len(s.text) == len(text) {
		return s
	}
	for i, j := 0, 0; i < len(text); {
		if text[i] == s.text[j] { // no character that is shown begins as an escape does
			i++
			j++
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		end := j + strings.IndexByte(s.text[j:], '}') + 1
		s.marks = append(s.marks, shownMark{j, end, i, i + size})
		i, j = i+size, end
	}
	return s
}

// real returns the position in the text for a position in the shown text; false inside of
// an escape.
func (s shownText) real(at int) (int, bool) {
	n := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].shown >= at })
	if n == 0 {
		return at, true
	}
	m := s.marks[n-1]
	return m.realEnd + at - m.shownEnd, at >= m.shownEnd
}

// hasEscape reports whether a text may show characters as escapes.
func hasEscape(text string) bool {
	return strings.Contains(text, `\u{`) || strings.Contains(text, `\x{`)
}

// shown finds Old in the text as read_file shows it. Escapes in New become characters if
// the same escapes matched in Old.
func (s *session) shown(e Edit, within lineRange) []hit {
	if !hasEscape(e.Old) {
		return nil
	}
	view := show(s.text)
	if len(view.marks) == 0 {
		return nil
	}
	step := 1
	if e.All || e.Count > 1 {
		step = len(e.Old)
	}
	var hits []hit
	for at := 0; ; at += step {
		i := strings.Index(view.text[at:], e.Old)
		if i < 0 {
			break
		}
		at += i
		start, ok := view.real(at)
		end, ok2 := view.real(at + len(e.Old))
		if !ok || !ok2 {
			continue
		}
		if text, ok := view.unescape(e.New, s.text, at, at+len(e.Old)); ok {
			hits = append(hits, hit{start, end, text})
		}
	}
	hits = s.in(within, hits)
	if len(hits) > 0 {
		s.note("matched the characters that read_file shows as escapes in old_text; the same escapes in new_text were written as these characters")
	}
	return hits
}

// unescape replaces the escapes between two positions of the shown text by their
// characters. It fails if the text there also has the same letters literally: the meaning
// is unclear then.
func (s shownText) unescape(text, all string, from, to int) (string, bool) {
	escapes, ok := s.escapes(all, from, to)
	if !ok {
		return "", false
	}
	return escapes.Replace(text), true
}

// escapes returns a replacer that turns escapes between two positions of the shown text
// into characters, as [shownText.unescape] does.
func (s shownText) escapes(all string, from, to int) (*strings.Replacer, bool) {
	var pairs []string
	for _, m := range s.marks {
		if m.shown < from || m.shownEnd > to {
			continue
		}
		escape := s.text[m.shown:m.shownEnd]
		if !slices.Contains(pairs, escape) {
			pairs = append(pairs, escape, all[m.real:m.realEnd])
		}
	}
	start, _ := s.real(from)
	end, _ := s.real(to)
	for i := 0; i < len(pairs); i += 2 {
		if strings.Contains(all[start:end], pairs[i]) {
			return nil, false
		}
	}
	return strings.NewReplacer(pairs...), true
}

var numberedLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ *(\d{1,9})\t`) })

// bareEdit is an edit without its line numbers.
type bareEdit struct {
	Edit
	inNew string // " and new_text" if that had them too
}

// stripNumbers takes the line numbers of read_file off an old text if all its lines have
// them, in sequence, and off a new text if all its lines have them. first is the number of
// the first line.
func stripNumbers(before, after string) (bare bareEdit, first int, ok bool) {
	var numbers []int
	if bare.Old, numbers = withoutNumbers(before); numbers == nil {
		return bare, 0, false
	}
	for i, n := range numbers {
		if n != numbers[0]+i {
			return bare, 0, false
		}
	}
	bare.New = after
	if text, numbers := withoutNumbers(after); numbers != nil {
		bare.New, bare.inNew = text, " and new_text"
	}
	return bare, numbers[0], true
}

// withoutNumbers returns no numbers if a line has none.
func withoutNumbers(text string) (string, []int) {
	var b strings.Builder
	var numbers []int
	for line := range strings.Lines(text) {
		m := numberedLine().FindStringSubmatch(line)
		if m == nil {
			return text, nil
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return text, nil
		}
		numbers = append(numbers, n)
		b.WriteString(line[len(m[0]):])
	}
	return b.String(), numbers
}

// numbered returns the hit that begins on the line number of the old text, or all hits if
// none does.
func (s *session) numbered(hits []hit, first int) []hit {
	for i, at := range s.lineIndexes(hits) {
		if at+1 == first && len(hits) > 1 {
			return hits[i : i+1]
		}
	}
	return hits
}

// escapedLines returns where lines of a chunk match as read_file and diffs show them. It
// skips places that also have the letters of an escape literally: the meaning is unclear
// there.
func (s *session) escapedLines(before []string) []match {
	if !slices.ContainsFunc(before, hasEscape) {
		return nil
	}
	var places []match
	for _, first := range s.windows(before, textfile.Visible) {
		region := strings.Join(s.texts(first, len(before)), "\n")
		view := show(region)
		if escapes, ok := view.escapes(region, 0, len(view.text)); ok {
			places = append(places, match{first: first, n: len(before), escapes: escapes})
		}
	}
	return places
}

// real replaces escapes by the characters of the file.
func (s *session) real(p match, shown sides) sides {
	after := make([]string, len(shown.after))
	for i, line := range shown.after {
		after[i] = p.escapes.Replace(line)
	}
	s.note("matched the characters that read_file shows as escapes; the same escapes in added lines were written as these characters")
	return sides{s.texts(p.first, p.n), after, shown.parts}
}
