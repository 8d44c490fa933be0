package tooltest

import (
	"regexp"
	"strings"
)

// Match compares a wanted text with a tool's. In the wanted text "…" matches any text
// within a line and a line "..." any lines. It returns "" if they match, else both texts.
func Match(want, got string) string {
	want, got = strings.TrimRight(want, "\n"), strings.TrimRight(got, "\n")
	var b strings.Builder
	b.WriteString(`\A`)
	for line := range strings.SplitSeq(want, "\n") {
		if line == "..." {
			b.WriteString(`(?:.*\n)*`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + `\n`)
	}
	b.WriteString(`\z`)
	if regexp.MustCompile(b.String()).MatchString(got + "\n") {
		return ""
	}
	return "want\n" + want + "\ngot\n" + got
}
