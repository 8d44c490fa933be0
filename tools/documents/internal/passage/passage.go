// Package passage divides documents into the passages that an index has and a search returns.
//
// It reads no files. It imports the model of documents and, for the lines of Markdown, the reader
// of texts. Start at [OfDocument] and [OfLines].
package passage

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/plain"
)

// Passage is a part of a document.
type Passage struct {
	Place    string // "12-40": lines; otherwise a page, slide, sheet or member; "" = unknown
	Headings string // those above it, from the outermost on
	Text     string
	Tokens   int // what a model takes for the text, as an estimate
}

// OfDocument returns the passages of a document that has no lines, without those that are
// images alone. A title that the first passage lacks, such as the subject of a mail, is above it.
func OfDocument(doc *document.Document) []Passage {
	chunks := doc.Chunks()
	all := make([]Passage, 0, len(chunks))
	for _, c := range chunks {
		if len(c.Headings) == 0 && strings.TrimSpace(image().ReplaceAllString(c.Text, "")) == "" {
			continue
		}
		all = append(all, Passage{Place: c.Part, Headings: path(c.Headings), Text: c.Text, Tokens: c.Tokens})
	}
	if len(all) > 0 && !strings.Contains(all[0].Headings+"\n"+all[0].Text, doc.Title) {
		all[0].Headings = path(slices.DeleteFunc([]string{doc.Title, all[0].Headings}, func(h string) bool { return h == "" }))
	}
	return all
}

// image is one that nothing describes.
var image = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`!\[\]\([^)]*\)`) })

func path(headings []string) string { return strings.Join(headings, " > ") }

// OfLines returns the passages of a text, each with its lines as they are. They end at the
// headings of Markdown, if it is that, at empty lines where they would become too long, or
// else at any line.
func OfLines(text string, markdown bool) []Passage {
	var s splitter
	number := 0
	fence := ""
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(line)
		level, heading := 0, ""
		if markdown {
			if fence == "" {
				level, heading = plain.HeadingOf(line)
			}
			fence = plain.FenceAfter(fence, trimmed)
		}
		switch {
		case level > 0:
			s.heading(number, level, heading)
		case trimmed == "" && fence == "":
			s.endParagraph()
		default:
			s.line(number, line)
		}
	}
	s.heading(number+1, 1, "")
	return s.all
}

// splitter collects lines into paragraphs, and those into passages.
type splitter struct {
	all   []Passage
	heads [7]string // by level
	bare  int       // the line of a heading that nothing has followed; 0 = none
	level int       // of that heading

	paragraph, passage part
}

// part is a run of lines.
type part struct {
	first, last int
	text        strings.Builder
	tokens      int
}

func (p *part) add(first, last int, text, between string, tokens int) {
	if p.text.Len() == 0 {
		p.first, between = first, ""
	}
	p.text.WriteString(between)
	p.text.WriteString(text)
	p.last, p.tokens = last, p.tokens+tokens
}

func (s *splitter) line(number int, line string) {
	s.bare = 0
	for first := true; first || line != ""; first = false {
		piece := line
		if document.Tokens(piece) > document.ChunkTokens {
			piece = document.Cut(line)
		}
		line = line[len(piece):]
		tokens := document.Tokens(piece)
		if s.paragraph.tokens+tokens > document.ChunkTokens {
			s.endParagraph()
			s.endPassage()
		}
		s.paragraph.add(number, number, piece, "\n", tokens)
	}
}

func (s *splitter) endParagraph() {
	p := &s.paragraph
	if p.text.Len() == 0 {
		return
	}
	if s.passage.tokens+p.tokens > document.ChunkTokens {
		s.endPassage()
	}
	s.passage.add(p.first, p.last, p.text.String(), "\n\n", p.tokens)
	s.paragraph = part{}
}

func (s *splitter) endPassage() {
	p := &s.passage
	if p.text.Len() > 0 {
		s.emit(p.first, p.last, p.text.String(), p.tokens)
	}
	s.passage = part{}
}

func (s *splitter) emit(first, last int, text string, tokens int) {
	place := fmt.Sprint(first)
	if last > first {
		place = fmt.Sprintf("%d-%d", first, last)
	}
	heads := slices.DeleteFunc(slices.Clone(s.heads[:]), func(h string) bool { return h == "" })
	s.all = append(s.all, Passage{Place: place, Headings: path(heads), Text: text, Tokens: tokens})
}

// heading ends what is above it. A heading without a text of its own and without headings
// below it is a passage.
func (s *splitter) heading(number, level int, text string) {
	s.endParagraph()
	s.endPassage()
	if s.bare > 0 && level <= s.level {
		bare := s.heads[s.level]
		s.emit(s.bare, s.bare, bare, document.Tokens(bare))
		s.bare = 0
	}
	clear(s.heads[level:])
	if text != "" {
		s.heads[level], s.bare, s.level = text, number, level
	}
}

// Start returns the start of a text that has at most so many tokens, and a sign that there
// is more.
func Start(text string, tokens int) string {
	const step = 64
	end := 0
	for i := range text {
		if i-end < step {
			continue
		}
		if document.Tokens(text[:i]) > tokens {
			break
		}
		end = i
	}
	return strings.TrimRight(text[:end], " \n") + " …"
}
