package command

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"toolcrib/tools"
)

// words expands the words of a command, as far as their text tells.
func (w *walker) words(list []*syntax.Word) (words []tools.Word) {
	for _, word := range list {
		words = append(words, w.expand(word)...)
	}
	return words
}

// expand returns the words that one word becomes. Its substitutions are walked.
func (w *walker) expand(word *syntax.Word) []tools.Word {
	w.parts(word.Parts)
	split := &syntax.Word{Parts: word.Parts}
	if !syntax.SplitBraces(split) {
		return []tools.Word{w.value(word)}
	}
	alternatives, ok := braces(split.Parts, maxWords)
	if !ok {
		return []tools.Word{{Text: w.source(word), Kind: tools.Many}}
	}
	var words []tools.Word
	for _, parts := range alternatives {
		if len(parts) == 0 {
			continue // nothing is left of it
		}
		v := w.joined(parts)
		if v.Kind != tools.Known {
			v.Text = w.source(word)
		}
		words = append(words, v)
	}
	return words
}

// braces returns the words that brace expansion makes of parts; ok is false where they
// are more than most, or a sequence.
func braces(parts []syntax.WordPart, most int) (all [][]syntax.WordPart, ok bool) {
	all = [][]syntax.WordPart{nil}
	for _, part := range parts {
		b, is := part.(*syntax.BraceExp)
		if !is {
			for i := range all {
				all[i] = append(slices.Clip(all[i]), part)
			}
			continue
		}
		if b.Sequence {
			return nil, false
		}
		var longer [][]syntax.WordPart
		for _, before := range all {
			for _, elem := range b.Elems {
				sub, ok := braces(elem.Parts, most)
				if !ok || len(longer)+len(sub) > most {
					return nil, false
				}
				for _, s := range sub {
					longer = append(longer, append(slices.Clip(before), s...))
				}
			}
		}
		all = longer
	}
	return all, true
}

// value returns a word without brace expansion.
func (w *walker) value(word *syntax.Word) tools.Word {
	v := w.joined(word.Parts)
	if v.Kind != tools.Known {
		v.Text = w.source(word)
	}
	return v
}

// source returns a word as it was written.
func (w *walker) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(w.src) || from >= to {
		return "$?"
	}
	return w.src[from:to]
}

func (w *walker) joined(parts []syntax.WordPart) tools.Word {
	var b strings.Builder
	kind := tools.Known
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text, globbed := unescape(part.Value)
			b.WriteString(text)
			if globbed {
				kind = tools.Many
			}
		case *syntax.SglQuoted:
			b.WriteString(w.quotedText(part))
		case *syntax.DblQuoted:
			text, k := w.doubleQuoted(part)
			b.WriteString(text)
			kind = max(kind, k)
		case *syntax.ProcSubst:
			kind = max(kind, tools.Some)
		default:
			kind = tools.Many
		}
	}
	return tools.Word{Text: b.String(), Kind: kind}
}

func (w *walker) quotedText(q *syntax.SglQuoted) string {
	text := q.Value
	if q.Dollar {
		text = ansi(text)
	}
	w.mayBeCode(text)
	return text
}

// mayBeCode notes text that would run something if a shell evaluated it.
func (w *walker) mayBeCode(text string) {
	w.code = w.code || strings.Contains(text, "$(") || strings.Contains(text, "`") || strings.Contains(text, "${")
}

func (w *walker) doubleQuoted(q *syntax.DblQuoted) (text string, kind tools.WordKind) {
	var b strings.Builder
	for _, part := range q.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text := inQuotes(part.Value)
			w.mayBeCode(text)
			b.WriteString(text)
		case *syntax.ParamExp:
			if kind = max(kind, tools.Some); listed(part) {
				kind = tools.Many
			}
		default:
			kind = max(kind, tools.Some)
		}
	}
	return b.String(), kind
}

// listed reports whether a parameter becomes any number of words in double quotes too.
func listed(p *syntax.ParamExp) bool {
	if p.Names != 0 || p.Excl || p.Exp != nil || p.Param == nil {
		return true
	}
	if p.Param.Value == "@" {
		return true
	}
	index, ok := p.Index.(*syntax.Word)
	return ok && index.Lit() == "@"
}

// unescape reads unquoted text. globbed reports whether it is a pattern that file names may
// replace.
func unescape(text string) (plain string, globbed bool) {
	if !strings.ContainsAny(text, `\*?[`) {
		return text, false
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i++; i < len(text) && text[i] != '\n' {
				b.WriteByte(text[i])
			}
			continue
		case '*', '?':
			globbed = true
		case '[': // the command of that name is no pattern
			globbed = globbed || strings.Contains(text[i:], "]")
		}
		b.WriteByte(text[i])
	}
	return b.String(), globbed
}

// inQuotes reads text in double quotes.
func inQuotes(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			switch text[i+1] {
			case '$', '`', '"', '\\':
				i++
			case '\n':
				i++
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// ansi reads the escapes of $'...'.
func ansi(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		number := func(base, most int) (n rune, digits int) {
			for digits < most && i+1 < len(text) {
				d := strings.IndexByte("0123456789abcdef", lower(text[i+1]))
				if d < 0 || d >= base {
					break
				}
				n, digits = n*rune(base)+rune(d), digits+1
				i++
			}
			return n, digits
		}
		switch c := text[i]; c {
		case 'a', 'b', 'f', 'n', 'r', 't', 'v':
			b.WriteByte("\a\b\f\n\r\t\v"[strings.IndexByte("abfnrtv", c)])
		case 'e', 'E':
			b.WriteByte(0x1b)
		case 'x':
			if n, digits := number(16, 2); digits > 0 {
				b.WriteByte(byte(n))
			} else {
				b.WriteString(`\x`)
			}
		case 'u', 'U':
			most := 4
			if c == 'U' {
				most = 8
			}
			if n, digits := number(16, most); digits > 0 && n >= 0 && n <= utf8.MaxRune {
				b.WriteRune(n)
			} else {
				b.WriteByte('\\')
				b.WriteByte(c)
			}
		case '0', '1', '2', '3', '4', '5', '6', '7':
			i--
			n, _ := number(8, 3)
			b.WriteByte(byte(n))
		case 'c':
			if i++; i < len(text) {
				b.WriteByte(text[i] & 0x1f)
			}
		case '\\', '\'', '"', '?':
			b.WriteByte(c)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	plain, _, _ := strings.Cut(b.String(), "\x00") // as bash has it
	return plain
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// Quote writes a text as one word of a line of bash.
func Quote(text string) (string, error) {
	quoted, err := syntax.Quote(text, syntax.LangBash)
	if err != nil {
		return "", fmt.Errorf("%q cannot be a word of a command line: %w", text, err)
	}
	return quoted, nil
}
