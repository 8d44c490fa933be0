package page

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean leaves out of a text what [Page.Main] leaves out of a page: characters that no reader
// sees and a model would read.
func Clean(text string) string { return clean(text) }

// clean leaves out of text what no reader sees and a model would read: tag characters,
// controls of direction, runs of characters without width, selectors that select nothing.
// One joiner between letters stays, since some scripts and emoji need it.
func clean(text string) string {
	if strings.IndexFunc(text, invisible) < 0 {
		return text
	}
	var b strings.Builder
	prev := rune(0)  // the last character that was read
	shown := rune(0) // the last one that was written
	for i, r := range text {
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		pair := r == emojiStyle && next == zeroJoiner || r == zeroJoiner && prev == emojiStyle
		if !invisible(r) || shown > ' ' && (pair || joiner(r) && !invisible(prev) && next > ' ' && !invisible(next)) {
			b.WriteRune(r)
			shown = r
		}
		prev = r
	}
	return b.String()
}

const (
	zeroJoiner = '\u200d'
	emojiStyle = '\ufe0f'
)

// joiner reports whether an invisible character changes its neighbours.
func joiner(r rune) bool {
	return r == '\u200c' || r == zeroJoiner || r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef || r >= 0x180b && r <= 0x180d
}

func invisible(r rune) bool {
	switch {
	case r < 0x80:
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7f
	case r < 0x200b:
		return r >= 0x80 && r < 0xa0 || r == 0xad || r == 0x34f || r == 0x61c || r == 0x115f || r == 0x1160 || r == 0x17b4 || r == 0x17b5 || r >= 0x180b && r <= 0x180e
	case r < 0x3000:
		return r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0x2028 || r == 0x2029
	}
	return r == 0x3164 || r >= 0xfe00 && r <= 0xfe0f || r == 0xfeff || r == 0xffa0 || r >= 0xfff0 && r <= 0xfffb || r >= 0xe0000 && r <= 0xe0fff || r >= 0x1d173 && r <= 0x1d17a
}

// space reports whether a byte is one of the spaces that HTML collapses.
func space(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' && c != '\v' }

func lower(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// collapse makes one space of each run of spaces, and none at the ends.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// escape makes Markdown show text as it is: it marks what would otherwise be emphasis,
// code, a link or a tag. before is the character before it, 0 = none.
func escape(b []byte, text string, before byte) []byte {
	for i := range len(text) {
		c := text[i]
		prev, next := before, byte(0)
		if i > 0 {
			prev = text[i-1]
		}
		if i+1 < len(text) {
			next = text[i+1]
		}
		special := false
		switch c {
		case '\\':
			special = next != 0 && next < utf8.RuneSelf && unicode.IsPunct(rune(next)) || next == '`' || next == '<' || next == '|'
		case '*', '`':
			special = !spaceOrEnd(prev) || !spaceOrEnd(next)
		case '_':
			special = !word(prev) && !spaceOrEnd(next) // what opens no emphasis closes none
		case '~':
			special = next == '~'
		case '<':
			special = word(next) && (next < '0' || next > '9') || next == '/' || next == '!' || next == '?'
		case ']':
			special = next == '('
		case '&':
			if end := strings.IndexByte(text[i:min(len(text), i+10)], ';'); end > 1 {
				special = word(text[i+1]) || text[i+1] == '#'
			}
		}
		if special {
			b = append(b, '\\')
		}
		b = append(b, c)
	}
	return b
}

func spaceOrEnd(c byte) bool { return c == 0 || space(c) }

func word(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= utf8.RuneSelf
}

// escapeStart marks what would make something else of a line than a paragraph.
func escapeStart(line string) string {
	if line == "" {
		return line
	}
	switch c := line[0]; {
	case c == '#':
		if rest := strings.TrimLeft(line, "#"); len(line)-len(rest) <= 6 && (rest == "" || rest[0] == ' ') {
			return `\` + line
		}
	case c == '>':
		return `\` + line
	case c == '-' || c == '+' || c == '=' || c == '*':
		if len(line) == 1 || line[1] == ' ' || strings.Trim(line, string(c)+" ") == "" {
			return `\` + line
		}
	case c == ':' && len(line) > 1 && line[1] == ' ':
		return `\` + line
	case c == '|':
		return `\` + line
	case c == '~' && strings.HasPrefix(line, "~~~"):
		return `\` + line
	case c >= '0' && c <= '9':
		digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
		if digits <= 9 && len(line) > digits && (line[digits] == '.' || line[digits] == ')') && (len(line) == digits+1 || line[digits+1] == ' ') {
			return line[:digits] + `\` + line[digits:]
		}
	}
	return line
}
