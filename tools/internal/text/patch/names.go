package patch

import (
	"encoding/json"
	"strings"
)

// nowhere is the name of a missing side.
const nowhere = "/dev/null"

// nameOf returns the name in a header line after "--- " or "+++ ". A tab ends a name that
// has blanks. Without a tab, a time after the name is dropped, and so are blanks around the
// name, with a note.
func (p *parser) nameOf(no int, text string) string {
	if strings.HasPrefix(text, `"`) {
		name, _ := quoted(text)
		return name
	}
	if name, _, ok := strings.Cut(text, "\t"); ok {
		return name
	}
	text = timeRule().ReplaceAllString(text, "")
	name := strings.Trim(text, " ")
	if name != text {
		p.notes.add(no, "blanks around the name are dropped; a tab after it keeps them")
	}
	return name
}

// wholeName returns the name that is the rest of a header line.
func wholeName(text string) string {
	if strings.HasPrefix(text, `"`) {
		text, _ = quoted(text)
	}
	return text
}

var timeRule = expression(` +\d{4}-\d\d-\d\d[ T]\d\d:\d\d.*$| +\(revision \d+\)$`)

// unquote takes the quotes or backticks off a path of an envelope.
func unquote(path string) string {
	if len(path) < 2 || path[0] != path[len(path)-1] {
		return path
	}
	switch path[0] {
	case '`', '\'':
		return path[1 : len(path)-1]
	case '"':
		var name string
		if json.Unmarshal([]byte(path), &name) == nil { // as results print odd paths
			return name
		}
		name, _ = quoted(path)
		return name
	}
	return path
}

// quoted reads a name that begins with a double quote, as C has it: \n, \t, \",
// \\ and bytes in octal. It returns what follows the closing quote.
func quoted(text string) (name, rest string) {
	simple := map[byte]byte{'a': '\a', 'b': '\b', 't': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r', '"': '"', '\\': '\\'}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		c := text[i]
		if c == '"' {
			return b.String(), text[i+1:]
		}
		if c != '\\' || i+1 == len(text) {
			b.WriteByte(c)
			continue
		}
		i++
		if s, ok := simple[text[i]]; ok {
			b.WriteByte(s)
			continue
		}
		value, digits := 0, 0
		for digits < 3 && i+digits < len(text) && text[i+digits] >= '0' && text[i+digits] <= '7' {
			value = value*8 + int(text[i+digits]-'0')
			digits++
		}
		if digits == 0 {
			b.WriteByte('\\')
			b.WriteByte(text[i])
			continue
		}
		b.WriteByte(byte(value))
		i += digits - 1
	}
	return b.String(), ""
}

// strip takes the prefixes off the names of both sides that git and others write,
// as -p1 does.
func strip(before, after string) (string, string) {
	o, oRest, oOK := strings.Cut(before, "/")
	n, nRest, nOK := strings.Cut(after, "/")
	switch {
	case before == nowhere && (n == "a" || n == "b") && nOK:
		return before, nRest
	case after == nowhere && (o == "a" || o == "b") && oOK:
		return oRest, after
	case before == nowhere || after == nowhere || !oOK || !nOK || o == n:
		return before, after
	case (o == "a" || o == "b") && (n == "a" || n == "b"), oRest == nRest: // the latter of diff -u old/x new/x
		return oRest, nRest
	}
	return before, after
}

// gitNames returns the names of a "diff --git" line, "" where they cannot be told
// apart; bare says that they carry no prefix.
func gitNames(text string) (before, after string, bare bool) {
	if strings.HasPrefix(text, `"`) {
		before, text = quoted(text)
		after = wholeName(strings.TrimPrefix(text, " "))
		o, n := strip(before, after)
		return o, n, o == before
	}
	if before, rest, ok := strings.Cut(text, ` "`); ok {
		after, _ = quoted(`"` + rest)
		o, n := strip(before, after)
		return o, n, o == before
	}
	for i := range len(text) {
		if text[i] != ' ' {
			continue
		}
		if before, after = text[:i], text[i+1:]; before == after {
			return before, after, true
		}
		if o, n := strip(before, after); o == n {
			return o, n, false
		}
	}
	return "", "", false
}
