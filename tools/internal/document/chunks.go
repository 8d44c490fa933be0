package document

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ChunkTokens is how many tokens a chunk has at most, if its sentences allow it.
const ChunkTokens = 500

// Chunk is a passage for an index: what is together below a heading.
type Chunk struct {
	Headings []string `json:"headings,omitempty"` // from the outermost to the nearest
	Part     string   `json:"part,omitempty"`     // the page, slide or sheet where it begins; of a long table also its rows
	Text     string   `json:"text"`               // Markdown
	Tokens   int      `json:"tokens"`
}

// Entry is a line of an outline.
type Entry struct {
	Level int // of a heading; 0 = a page, slide, sheet or member
	Text  string
	Start int // where the entry begins in the Markdown, in characters
}

// Chunks returns the passages of a document. They end at headings and at pages; what is
// longer is divided at blocks, then at rows or sentences. A heading that neither text nor a
// heading below it follows is a passage.
func (d *Document) Chunks() []Chunk {
	c := chunker{}
	for i := range d.Blocks {
		c.block(&d.Blocks[i])
	}
	c.endHeading(1)
	return c.chunks
}

type chunker struct {
	chunks []Chunk
	heads  [7]string // by level
	bare   int       // the level of a heading that nothing has followed; 0 = none
	above  string    // the part that has that heading
	part   string
	texts  []string
	tokens int
	inList bool
}

func (c *chunker) block(block *Block) {
	switch block.Kind {
	case Mark:
		c.flush()
		if block.Label != "page" {
			c.endHeading(1)
			clear(c.heads[:])
		}
		c.part = strings.Trim(block.Title(), "[]")
		return
	case Heading:
		level := min(max(block.Level, 1), 6)
		c.endHeading(level)
		clear(c.heads[level:])
		if text := strings.Join(strings.Fields(PlainText(block.Spans)), " "); text != "" {
			c.heads[level], c.bare, c.above = text, level, c.part
		}
		return
	}
	c.inList = block.Kind == Item && c.inList
	var w writer
	w.markdown = true
	if block.Kind == Item {
		for range block.Level {
			w.indents = append(w.indents, 2)
		}
	}
	w.block(block)
	text := strings.TrimRight(w.b.String(), "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	c.bare = 0
	tokens := Tokens(text)
	if c.tokens+tokens > ChunkTokens {
		c.flush()
	}
	if tokens > ChunkTokens {
		c.divide(block, text)
		return
	}
	c.add(text, tokens, block.Kind == Item)
}

func (c *chunker) add(text string, tokens int, item bool) {
	if len(c.texts) > 0 {
		if item && c.inList {
			c.texts = append(c.texts, "\n")
		} else {
			c.texts = append(c.texts, "\n\n")
		}
	}
	c.inList = item
	c.texts = append(c.texts, text)
	c.tokens += tokens
}

// divide makes chunks of a block that is too long for one. Each part of a table has its header.
func (c *chunker) divide(block *Block, text string) {
	var header string
	pieces, sep := sentences(text), " "
	switch block.Kind {
	case Table:
		lines := strings.SplitAfterN(text, "\n", 3)
		header = strings.Join(lines[:min(2, len(lines))], "")
		text = strings.TrimPrefix(text, header)
		pieces, sep = strings.Split(text, "\n"), "\n"
	case Code:
		pieces, sep = strings.Split(text, "\n"), "\n"
	}
	var b strings.Builder
	tokens, first, row := 0, 0, 1 // the header is row 1
	end := func() {
		if b.Len() > 0 {
			whole := c.part
			if block.Kind == Table {
				c.part = strings.TrimPrefix(whole+", "+rows(first, row), ", ")
			}
			c.add(strings.TrimRight(header, "\n")+lineIf(header)+b.String(), tokens+Tokens(header), false)
			c.flush()
			c.part = whole
		}
		b.Reset()
		tokens = 0
	}
	for i, piece := range pieces {
		for piece != "" {
			part := piece
			if len(part) > 6*ChunkTokens || Tokens(part) > ChunkTokens {
				part = Cut(piece)
			}
			piece = piece[len(part):]
			n := Tokens(part)
			if tokens+n > ChunkTokens {
				end()
			}
			if row = i + 2; b.Len() > 0 {
				b.WriteString(sep)
			} else {
				first = row
			}
			b.WriteString(part)
			tokens += n
		}
	}
	end()
}

func rows(first, last int) string {
	if first == last {
		return fmt.Sprintf("row %d", first)
	}
	return fmt.Sprintf("rows %d-%d", first, last)
}

func lineIf(header string) string {
	if header == "" {
		return ""
	}
	return "\n"
}

// Cut returns the start of a long text that has about as many tokens as a chunk.
func Cut(text string) string {
	end := min(len(text), ChunkTokens*3)
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	if space := strings.LastIndexByte(text[:end], ' '); space > end/2 {
		end = space + 1
	}
	if Tokens(text[:end]) > ChunkTokens { // scripts with a token a character
		n := 0
		for i := range text[:end] {
			if n++; n > ChunkTokens {
				return text[:i]
			}
		}
	}
	return text[:end]
}

// endHeading ends the passage before a heading of a level.
func (c *chunker) endHeading(level int) {
	c.flush()
	if c.bare >= level {
		text := c.heads[c.bare]
		part := c.part
		c.part, c.bare = c.above, 0
		c.add(text, Tokens(text), false)
		c.flush()
		c.part = part
	}
}

func (c *chunker) flush() {
	if len(c.texts) == 0 {
		return
	}
	var heads []string
	for _, h := range c.heads {
		if h != "" {
			heads = append(heads, h)
		}
	}
	c.chunks = append(c.chunks, Chunk{Headings: heads, Part: c.part, Text: strings.Join(c.texts, ""), Tokens: c.tokens})
	c.texts, c.tokens, c.inList = nil, 0, false
}

// sentences splits a text behind the ends of its sentences.
func sentences(text string) []string {
	var all []string
	start := 0
	ended := false
	for i, r := range text {
		switch {
		case ended && unicode.IsSpace(r):
			all = append(all, strings.TrimSpace(text[start:i]))
			start, ended = i, false
		case strings.ContainsRune("。！？", r):
			all = append(all, strings.TrimSpace(text[start:i+utf8.RuneLen(r)]))
			start, ended = i+utf8.RuneLen(r), false
		default:
			ended = r == '.' || r == '!' || r == '?' || ended && strings.ContainsRune(`)"'”’»`, r) || r == '\n'
		}
	}
	if rest := strings.TrimSpace(text[start:]); rest != "" {
		all = append(all, rest)
	}
	return all
}

// Tokens estimates how many tokens a model takes for a text: one for four letters of an
// alphabet, one for each character of a script without spaces.
func Tokens(text string) int {
	ascii, other, wide := 0, 0, 0
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			ascii++
		case r >= 0x2E80 || r >= 0x0E00 && r < 0x1000:
			wide++
		default:
			other++
		}
	}
	return (ascii+3)/4 + (other+1)/2 + wide
}

// Outline returns the headings and marks of a document with their places in its Markdown.
func (d *Document) Outline() []Entry {
	var entries []Entry
	w := writer{markdown: true}
	chars, measured := 0, 0
	for i := range d.Blocks {
		block := &d.Blocks[i]
		if block.Kind == Heading || block.Kind == Mark {
			chars += utf8.RuneCountInString(w.b.String()[measured:])
			measured = w.b.Len()
			entry := Entry{Start: chars}
			if w.started {
				entry.Start++ // the empty line
			}
			if block.Kind == Heading {
				entry.Level = min(max(block.Level, 1), 6)
				entry.Text = strings.Join(strings.Fields(PlainText(block.Spans)), " ")
			} else {
				entry.Text = strings.Trim(block.Title(), "[]")
			}
			entries = append(entries, entry)
		}
		w.block(block)
	}
	return entries
}
