// Package roff writes texts for man pages. Start at [Text]. The package imports nothing of
// ours.
package roff

import "strings"

// Text writes paragraphs; indented lines are examples.
func Text(b *strings.Builder, text string) {
	example := false
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		indented := strings.HasPrefix(line, " ")
		switch {
		case indented && !example:
			b.WriteString(".EX\n")
		case !indented && example:
			b.WriteString(".EE\n")
		}
		example = indented
		if line == "" {
			b.WriteString(".PP\n")
			continue
		}
		b.WriteString(Line(line) + "\n")
	}
	if example {
		b.WriteString(".EE\n")
	}
}

// Line escapes a text for one line of a man page.
func Line(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
