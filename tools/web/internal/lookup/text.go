package lookup

import (
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/html"
)

// maxText is how many characters of a title, a snippet or an error are kept.
const maxText = 400

// clean returns a text of a service as one line without marks of HTML and without characters
// that nobody sees.
func clean(text string) string {
	if strings.ContainsAny(text, "<&") {
		text = inner(text)
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d', r == unicode.ReplacementChar:
			return -1 // the two that are kept join and part letters of real scripts
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	n := 0
	for i := range text {
		if n++; n > maxText {
			return strings.TrimSpace(text[:i]) + "…"
		}
	}
	return text
}

// inner returns the text of a piece of HTML.
func inner(source string) string {
	var text strings.Builder
	z := html.NewTokenizer(strings.NewReader(source))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return text.String()
		case html.TextToken:
			text.Write(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			if name, _ := z.TagName(); string(name) == "br" || string(name) == "p" {
				text.WriteByte(' ')
			}
		}
	}
}

// day returns a time that a service tells as a date, other texts as they are.
func day(text string) string {
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05.000", time.RFC1123, time.RFC1123Z} {
		if t, err := time.Parse(form, text); err == nil {
			return t.Format(time.DateOnly)
		}
	}
	return clean(text)
}
