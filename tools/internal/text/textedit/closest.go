package textedit

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"

	"toolcrib/tools/internal/text/textfile"
)

const (
	// searched is the most bytes of text in which a closest region is looked for.
	searched = 4 << 20
	// mostPairs bounds the pairs of lines that are compared for it.
	mostPairs = 3_000_000
	// detailBytes is the most bytes of a Detail.
	detailBytes = 5000
)

// notFound says why the file does not have Old, and shows the most similar lines.
func (s *session) notFound(e Edit, within lineRange) error {
	if within.end > 0 {
		s := *s
		if m, ok := s.elsewhere(e, within); ok {
			return m
		}
	}
	m := &Mismatch{Msg: "old_text is not in the file"}
	switch {
	case s.text == "":
		m.Msg += ", which is empty"
		return m
	case e.All || e.Count > 1:
		m.Msg += " as it is (no other match is tried for several occurrences)"
	}
	if len(s.text) > tolerated {
		m.Msg += fmt.Sprintf(" (in a file of more than %s only the exact text is looked for)", textfile.Size(tolerated))
	}
	if line := s.already(e.New); line > 0 {
		m.Msg += fmt.Sprintf("; the new text is already there at line %d, so the edit may have been made before", line)
	}
	if why := s.escaped(e.Old); why != "" {
		m.Msg += "; " + why
		return m
	}
	s.diagnose(m, strings.Split(strings.TrimSuffix(e.Old, "\n"), "\n"))
	return m
}

// already returns the line, from 1, that has a new text, 0 if there is none or the text is
// too short to tell: less than 12 characters must be whole lines, with at least 4 that are
// no space.
func (s *session) already(text string) int {
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) >= 12 {
		if at := strings.Index(s.text, text); at >= 0 {
			return strings.Count(s.text[:at], "\n") + 1
		}
		return 0
	}
	if !telling(text) {
		return 0
	}
	pattern := strings.Split(text, "\n")
	for i, line := range pattern {
		pattern[i] = strings.TrimSpace(line)
	}
	if found := s.windows(pattern, strings.TrimSpace); len(found) > 0 {
		return found[0] + 1
	}
	return 0
}

// telling reports whether whole lines are unlikely to be in a file by chance.
func telling(lines string) bool {
	return utf8.RuneCountInString(strings.Join(strings.Fields(lines), "")) >= 4
}

// elsewhere names the lines that have Old, if the given lines do not.
func (s *session) elsewhere(e Edit, within lineRange) (*Mismatch, bool) {
	hits := s.literal(Edit{Old: e.Old}, lineRange{})
	if len(hits) == 0 {
		return nil, false
	}
	return &Mismatch{
		Msg:    fmt.Sprintf("old_text does not begin on %s; it is in the file at line %s", linesWord(within.first, within.end-within.first), s.linesOf(hits)),
		Detail: s.candidates(hits),
	}, true
}

// escaped recognises an old text whose characters were escaped once too often.
func (s *session) escaped(given string) string {
	for _, form := range []struct {
		text, why string
	}{
		{strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "", `\"`, `"`, `\'`, "'", `\\`, `\`).Replace(given), `backslash escapes (\n, \t, \")`},
		{html.UnescapeString(given), "HTML entities (&lt;, &amp;)"},
	} {
		if form.text == given {
			continue
		}
		if at := strings.Index(s.text, form.text); at >= 0 {
			return fmt.Sprintf("it is at line %d if the %s in %s stand for characters: send the characters themselves",
				strings.Count(s.text[:at], "\n")+1, form.why, s.what)
		}
	}
	return ""
}

// diagnose adds to a mismatch the lines of the file that are closest to the given ones.
func (s *session) diagnose(m *Mismatch, given []string) {
	text := s.text
	if len(text) > searched {
		text = text[:searched]
		defer func() { m.Detail += fmt.Sprintf("\n(looked for in the first %s only)", textfile.Size(searched)) }()
	}
	region, ok := alike(text, strings.Join(given, "\n"))
	if !ok {
		s.similar(m, given, strings.Count(text, "\n")+1)
		return
	}
	first := strings.Count(text[:region.start], "\n")
	from, to := s.wholeRegion(region)
	got := text[from:to]
	n := strings.Count(got, "\n") + 1
	m.Msg += fmt.Sprintf("; %s %s only in %s", linesWord(first, n), differ(n), s.differences(got, strings.Join(given, "\n")))
	lines := strings.Split(got, "\n")
	m.Detail = s.sideBySide(lines, first, given)
}

func differ(n int) string {
	if n == 1 {
		return "differs"
	}
	return "differ"
}

// alike finds given text in text, ignoring whitespace, case and lookalikes.
func alike(text, given string) (hit, bool) {
	want := squash(given, true).text
	if want == "" {
		return hit{}, false
	}
	all := squash(text, true)
	i := strings.Index(all.text, want)
	if i < 0 {
		return hit{}, false
	}
	last := i + len(want)
	end := int(all.at[last])
	// Whitespace after the last character is not part of the region.
	return hit{start: int(all.at[i]), end: int(all.at[i]) + len(strings.TrimRight(text[all.at[i]:end], " \t\r\n"))}, true
}

// wholeRegion widens a region over the whitespace of its first and last line, if it has the
// rest of these lines.
func (s *session) wholeRegion(r hit) (from, to int) {
	from, to = r.start, r.end
	if start := strings.LastIndexByte(s.text[:from], '\n') + 1; isBlank(s.text[start:from]) {
		from = start
	}
	end := len(s.text)
	if i := strings.IndexByte(s.text[to:], '\n'); i >= 0 {
		end = to + i
	}
	if isBlank(s.text[to:end]) {
		to = end
	}
	return from, to
}
