package page

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"toolcrib/tools/internal/lexical"
)

// Heading is a heading of a text in Markdown.
type Heading struct {
	Level  int
	Text   string // without marks
	Offset int    // in characters
}

// Outline returns the headings of a text in Markdown.
func Outline(markdown string) []Heading {
	var out []Heading
	fence, offset := "", 0
	for line := range strings.Lines(markdown) {
		text := strings.TrimRight(line, "\n")
		bare := strings.TrimLeft(text, " >")
		ticks := bare[:len(bare)-len(strings.TrimLeft(bare, "`"))]
		switch {
		case fence != "":
			if len(ticks) >= len(fence) && ticks == bare {
				fence = ""
			}
		case len(ticks) >= 3:
			fence = ticks
		default:
			rest := strings.TrimLeft(text, "#")
			if level := len(text) - len(rest); level >= 1 && level <= 6 && strings.HasPrefix(rest, " ") {
				out = append(out, Heading{level, strings.TrimSpace(plainInline(rest)), offset})
			}
		}
		offset += utf8.RuneCountInString(line)
	}
	return out
}

// Section is a part of a text in Markdown.
type Section struct {
	Path   []string // the headings around it and its own
	Text   string   // with its heading
	Offset int      // in characters
}

// sectionSize is the number of characters from which a section is parted at its paragraphs.
const sectionSize = 1500

// Sections parts a text at its headings, and what is long between them at paragraphs. The
// texts of all sections in their order are the whole text.
func Sections(markdown string) []Section {
	headings := Outline(markdown)
	var out []Section
	var path []Heading
	names := func() []string {
		var list []string
		for _, h := range path {
			list = append(list, h.Text)
		}
		return list
	}
	rest, at := markdown, 0
	take := func(to int) {
		text := rest[:bytesOf(rest, to-at)]
		rest = rest[len(text):]
		for len(text) > 0 {
			n := cutAt(text)
			out = append(out, Section{names(), text[:n], at})
			at += utf8.RuneCountInString(text[:n])
			text = text[n:]
		}
	}
	for _, h := range headings {
		take(h.Offset)
		for len(path) > 0 && path[len(path)-1].Level >= h.Level {
			path = path[:len(path)-1]
		}
		path = append(slices.Clip(path), h)
	}
	take(at + utf8.RuneCountInString(rest))
	return out
}

// bytesOf returns how many bytes the first n characters have.
func bytesOf(s string, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

// cutAt returns where the first part of a section ends: at the last paragraph within the
// size, or the first one behind it.
func cutAt(text string) int {
	if limit := bytesOf(text, sectionSize); limit < len(text) {
		if i := strings.LastIndex(text[:limit], "\n\n"); i > 0 {
			return i + 2
		}
		if i := strings.Index(text[limit:], "\n\n"); i >= 0 {
			return limit + i + 2
		}
	}
	return len(text)
}

// around returns the part of a section with the line that answers a query best: as many characters
// as are asked for, a third of them before that line.
func (s Section) around(words []string, limit int) Section {
	lines := strings.SplitAfter(s.Text, "\n")
	docs := make([][]string, len(lines))
	for i, line := range lines {
		docs[i] = lexical.Tokens(line)
	}
	from, before := 0, limit/3
	if hits := lexical.New(docs).Search(words); len(hits) > 0 {
		from = hits[0].Doc
	}
	for ; from > 0 && utf8.RuneCountInString(lines[from-1]) <= before; from-- {
		before -= utf8.RuneCountInString(lines[from-1])
	}
	for from < len(lines)-1 && lines[from] == "\n" {
		from++
	}
	head := strings.Join(lines[:from], "")
	rest := s.Text[len(head):]
	return Section{s.Path, rest[:bytesOf(rest, limit)], s.Offset + utf8.RuneCountInString(head)}
}

// Best returns the sections that answer a query best, as many as have room in a number of
// characters, in the order of the text. Of a best one that is longer the lines around the one
// that answers best are there. No section has a word of the query: none is returned.
func Best(sections []Section, query string, limit int) []Section {
	docs := make([][]string, len(sections))
	for i, s := range sections {
		docs[i] = lexical.Tokens(strings.Join(s.Path, " ") + " " + s.Text)
	}
	var chosen []int
	var out []Section
	room, words := limit, lexical.Tokens(query)
	for _, hit := range lexical.New(docs).Search(words) {
		n := utf8.RuneCountInString(sections[hit.Doc].Text)
		switch {
		case n <= room:
			chosen = append(chosen, hit.Doc)
			room -= n
		case len(chosen) == 0:
			return []Section{sections[hit.Doc].around(words, limit)}
		}
	}
	slices.SortFunc(chosen, cmp.Compare)
	for _, i := range chosen {
		out = append(out, sections[i])
	}
	return out
}
