package page

import "strings"

// Plain returns a text in Markdown without its marks: the text of links, the description of
// images, the cells of tables with tabs between them, code as it is.
func Plain(markdown string) string {
	var b strings.Builder
	code := false
	for line := range strings.Lines(markdown) {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			code = !code
			continue
		case code:
			b.WriteString(line)
			continue
		case isRule(trimmed):
			continue
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		text := strings.TrimLeft(trimmed, "#>")
		if text != trimmed {
			text = strings.TrimSpace(text)
		}
		if strings.HasPrefix(text, "| ") && strings.HasSuffix(text, "|") {
			text = strings.ReplaceAll(strings.Trim(text, "| "), " | ", "\t")
		}
		b.WriteString(indent + plainInline(text) + "\n")
	}
	return strings.TrimSpace(b.String())
}

// isRule reports whether a line only separates: a rule, or the second line of a table.
func isRule(line string) bool {
	return len(line) >= 3 && strings.Trim(line, "-|: *_") == "" && strings.Contains(line, "--") || line == "***"
}

// plainInline takes away links, emphasis and escapes.
func plainInline(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && strings.IndexByte("\\`*_{}[]()#+-.!|<>~", text[i+1]) >= 0:
			i++
			b.WriteByte(text[i])
		case c == '!' && i+1 < len(text) && text[i+1] == '[':
		case c == '[':
		case c == ']' && i+1 < len(text) && text[i+1] == '(':
			if end := closing(text[i+1:]); end > 0 {
				i += 1 + end
			}
		case c == ']':
		case c == '*' || c == '`':
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// closing returns the place of the parenthesis that closes the first one, 0 = there is none.
func closing(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return 0
}
