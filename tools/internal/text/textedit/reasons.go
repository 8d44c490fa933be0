package textedit

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// differences names the differences between a region of the file and the given text:
// "indentation (tabs in the file, spaces in old_text)".
func (s *session) differences(file, given string) string {
	reasons := s.reasons(file, given)
	switch {
	case file == given: // the compared texts lack only the final newline
		return "the final newline"
	case len(reasons) == 0:
		return "the text"
	}
	if n := len(reasons); n > 1 {
		return strings.Join(reasons[:n-1], ", ") + " and " + reasons[n-1]
	}
	return reasons[0]
}

// reasons returns nothing if the texts differ in their words.
func (s *session) reasons(file, given string) []string {
	var out []string
	fileLines, givenLines := strings.Split(file, "\n"), strings.Split(given, "\n")
	if len(fileLines) == len(givenLines) {
		out = s.spacing(fileLines, givenLines)
	} else if squash(file, false).text == squash(given, false).text {
		out = append(out, fmt.Sprintf("line breaks (%d lines in the file, %d in %s)", len(fileLines), len(givenLines), s.what))
	}
	out = append(out, s.lookalikes(file, given)...)
	if a, b := squash(file, false).text, squash(given, false).text; a != b && squash(file, true).text == squash(given, true).text {
		out = append(out, "case")
	}
	return out
}

// spacing compares the whitespace of lines pairwise.
func (s *session) spacing(file, given []string) []string {
	var out []string
	add := func(reason string) {
		if !slices.ContainsFunc(out, func(r string) bool { return strings.SplitN(r, " (", 2)[0] == strings.SplitN(reason, " (", 2)[0] }) {
			out = append(out, reason)
		}
	}
	for i := range file {
		inFile, bodyFile, trailFile := split(file[i])
		inGiven, bodyGiven, trailGiven := split(given[i])
		if bodyFile == "" && bodyGiven == "" {
			if file[i] != given[i] {
				add("whitespace in a blank line")
			}
			continue
		}
		if fold(inFile) != fold(inGiven) {
			add(fmt.Sprintf("indentation (%s in the file, %s in %s)", spaces(inFile), spaces(inGiven), s.what))
		}
		switch {
		case trailFile == trailGiven:
		case trailGiven == "":
			add("trailing whitespace (in the file)")
		default:
			add(fmt.Sprintf("trailing whitespace (in %s)", s.what))
		}
		a, b := fold(bodyFile), fold(bodyGiven)
		if a != b && strings.Join(strings.Fields(a), "") == strings.Join(strings.Fields(b), "") {
			add("spaces inside the line")
		}
	}
	return out
}

// spaces describes an indentation.
func spaces(indent string) string {
	switch {
	case indent == "":
		return "none"
	case strings.Trim(indent, "\t") == "":
		return plural(len(indent), "tab")
	case strings.Trim(indent, " ") == "":
		return plural(len(indent), "space")
	}
	return "tabs and spaces"
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// lookalikes finds characters that one side has more often than the other.
func (s *session) lookalikes(file, given string) []string {
	counts := map[runeClass]int{} // in the file, minus those in the given text
	example := map[runeClass]rune{}
	crs := strings.Count(file, "\r") - strings.Count(given, "\r")
	bad := 0
	count := func(text string, sign int) {
		for i, r := range text {
			if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
				bad += sign
				continue
			}
			if c := class(r); c != ordinary {
				counts[c] += sign
				example[c] = r
			}
		}
	}
	count(file, 1)
	count(given, -1)
	side := func(n int) string {
		if n > 0 {
			return "in the file"
		}
		return "in " + s.what
	}
	var out []string
	for _, k := range []struct {
		class runeClass
		name  string
	}{
		{noBreak, "non-breaking space"}, {space, "a space beyond ASCII"}, {quote, "curly quotes"},
		{dash, "a dash beyond ASCII"}, {ellipsis, "the ellipsis character"}, {invisible, "an invisible character"},
	} {
		if n := counts[k.class]; n != 0 {
			out = append(out, fmt.Sprintf("%s (%U %s)", k.name, example[k.class], side(n)))
		}
	}
	if crs != 0 {
		out = append(out, fmt.Sprintf("a carriage return alone (%s)", side(crs)))
	}
	if bad != 0 {
		out = append(out, fmt.Sprintf("bytes that are not UTF-8 (%s)", side(bad)))
	}
	switch a, b := norm.NFC.IsNormalString(file), norm.NFC.IsNormalString(given); {
	case !a && b:
		out = append(out, fmt.Sprintf("Unicode form (NFD in the file, NFC in %s)", s.what))
	case a && !b:
		out = append(out, fmt.Sprintf("Unicode form (NFC in the file, NFD in %s)", s.what))
	}
	return out
}

// squashed is a text without whitespace and invisible characters, folded.
type squashed struct {
	text string
	// at is the position in the text of each byte, and the end.
	at []int32
}

// squash keeps the characters of a text that carry meaning.
func squash(s string, ignoreCase bool) squashed {
	out := squasher{ignoreCase: ignoreCase, text: make([]byte, 0, len(s)), at: make([]int32, 0, len(s)+1)}
	for i := 0; i < len(s); {
		// Text in NFC goes by characters, the rest by a character with its marks.
		if n := norm.NFC.QuickSpanString(s[i:]); n > 0 {
			for j, r := range s[i : i+n] {
				out.add(r, i+j)
			}
			i += n
			continue
		}
		n := segment(s[i:])
		for _, r := range norm.NFC.String(s[i : i+n]) {
			out.add(r, i)
		}
		i += n
	}
	return squashed{string(out.text), append(out.at, int32(len(s)))}
}

type squasher struct {
	ignoreCase bool
	text       []byte
	at         []int32
}

// add takes a character of the text at a position.
func (q *squasher) add(r rune, at int) {
	if r < utf8.RuneSelf {
		if r > ' ' && r != 0x7f {
			if q.ignoreCase && 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			q.text, q.at = append(q.text, byte(r)), append(q.at, int32(at))
		}
		return
	}
	size := len(q.text)
	switch class(r) {
	case noBreak, space, invisible:
		return
	case ordinary:
		if q.ignoreCase {
			r = unicode.ToLower(r)
		}
		q.text = utf8.AppendRune(q.text, r)
	default:
		q.text = append(q.text, foldRune(r)...)
	}
	for range len(q.text) - size {
		q.at = append(q.at, int32(at))
	}
}
