package document

import (
	"fmt"
	"slices"
	"strings"
)

// Document is what a reader found in a file.
type Document struct {
	Format   string // "docx", "pdf" ...
	Title    string
	Fields   []Field // what the file says of itself, such as author and date
	Blocks   []Block // in reading order
	Warnings []string
	Attached []Attachment // of a message, until they are read
}

// Attachment is a file in a message.
type Attachment struct {
	Name string
	Size int64
	Data []byte // nil = it is too large to be read, or is missing
}

// mostAttached is how many bytes of attachments are read.
const mostAttached = 64 << 20

// Attach adds an attachment to a document, and the line of a list that says so. The data are
// left out if they are too much together with those of the others.
func (d *Document) Attach(a Attachment, about string) {
	total := int64(len(a.Data))
	for _, other := range d.Attached {
		total += int64(len(other.Data))
	}
	if total > mostAttached {
		a.Data = nil
	}
	if a.Name == "" {
		a.Name = "without a name"
	}
	d.Attached = append(d.Attached, a)
	d.Add(Block{Kind: Item, Label: fmt.Sprintf("%d.", len(d.Attached)), Spans: Text(strings.ToValidUTF8(a.Name+" ("+about+")", "\uFFFD"))})
}

// Field is one fact that a file says of itself.
type Field struct{ Name, Value string }

// Warn adds a sentence about what could not be read, once.
func (d *Document) Warn(say string) {
	const most, longest = 100, 500
	if len(say) > longest {
		say = strings.ToValidUTF8(say[:longest], "") + "…"
	}
	if len(d.Warnings) < most && !slices.Contains(d.Warnings, say) {
		d.Warnings = append(d.Warnings, say)
	}
}

// Field adds a field that has a value.
func (d *Document) Field(name, value string) {
	if value = strings.TrimSpace(value); value != "" {
		d.Fields = append(d.Fields, Field{name, value})
	}
}

// Add adds blocks.
func (d *Document) Add(blocks ...Block) { d.Blocks = append(d.Blocks, blocks...) }

// Kind is the kind of a block.
type Kind uint8

// The kinds.
const (
	Paragraph Kind = iota
	Heading
	Item    // of a list
	Quote   //
	Table   //
	Code    //
	Note    // a footnote, an endnote, or the notes of a slide
	Comment // a remark about the text that precedes it
	Mark    // a page, slide, sheet or member of an archive begins
)

// Block is a part of a document.
type Block struct {
	Kind Kind
	// Level is 1 to 6 for a heading; the depth, from 0, for items and quotes.
	Level int
	// Label is the number of an item as shown ("1.2.", "b)"), "" for a bullet; the reference
	// of a note; the author of a comment; the language of code; for a mark what begins:
	// "page", "slide", "sheet", "member", "attachment".
	Label string
	// Number is that of a mark, from 1; 0 = it has none.
	Number int
	// State is what a reader must know of a marked part, such as "hidden" or "no text".
	State string
	// Spans are the content; of a mark its name. Code has one span.
	Spans []Span
	// Grid has the rows of a table.
	Grid *Grid
}

// Style is a set of properties of a span.
type Style uint16

// The styles.
const (
	Bold Style = 1 << iota
	Italic
	Mono // code
	Strike
	Superscript
	Subscript
	Math    // the text is LaTeX
	Picture // the text describes an image and the link is its name
	Ref     // the text is the reference of a note
	Markup  // the text is Markdown as it is
)

// Span is a run of text with one style. A newline in the text is a line break.
type Span struct {
	Text  string
	Style Style
	Link  string // "" = none
}

// Grid is a table. Its first row is its header. A cell that covers several places is in the
// first of them and leaves the others empty.
type Grid struct {
	Rows [][]Cell
}

// Cell is a cell of a table. A zero Cell is empty.
type Cell struct {
	Text  string // if all of it is plain
	Spans []Span // otherwise
}

// Plain returns the cell's text without styles.
func (c Cell) Plain() string {
	if c.Spans == nil {
		return c.Text
	}
	return PlainText(c.Spans)
}

func (c Cell) spans() []Span {
	if c.Spans == nil && c.Text != "" {
		return []Span{{Text: c.Text}}
	}
	return c.Spans
}

// CellOf makes a cell, in the small form where that is enough.
func CellOf(spans []Span) Cell {
	switch {
	case len(spans) == 0:
		return Cell{}
	case len(spans) == 1 && spans[0].Style == 0 && spans[0].Link == "":
		return Cell{Text: spans[0].Text}
	}
	return Cell{Spans: spans}
}

// Text makes spans of a plain text.
func Text(text string) []Span {
	if text == "" {
		return nil
	}
	return []Span{{Text: text}}
}

// Paragraphs makes a block of each paragraph of a plain text; empty lines divide them.
func Paragraphs(text string) []Block {
	var blocks []Block
	for p := range strings.SplitSeq(text, "\n\n") {
		if p = strings.Trim(p, "\n"); strings.TrimSpace(p) != "" {
			blocks = append(blocks, Block{Spans: Text(p)})
		}
	}
	return blocks
}

// Labelled makes a paragraph of lines, each a label and a text. Lines without a text are left
// out.
func Labelled(lines [][2]string) Block {
	var spans []Span
	for _, line := range lines {
		if line[1] == "" {
			continue
		}
		if len(spans) > 0 {
			spans = append(spans, Span{Text: "\n"})
		}
		spans = append(spans, Span{Text: line[0] + ":", Style: Bold}, Span{Text: " " + line[1]})
	}
	return Block{Spans: spans}
}

// PlainText returns the text of spans without styles. Images are left out.
func PlainText(spans []Span) string {
	if len(spans) == 1 && spans[0].Style&Picture == 0 {
		return spans[0].Text
	}
	var b strings.Builder
	for _, s := range spans {
		if s.Style&Picture == 0 {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// Append adds a span. If it has the properties of the last one, both become one, unless that
// is long: texts of a million pieces must not be copied a million times.
func Append(spans []Span, s Span) []Span {
	if s.Text == "" && s.Style&Picture == 0 {
		return spans
	}
	const long = 128
	if n := len(spans); n > 0 && len(spans[n-1].Text) < long && spans[n-1].continues(s) {
		spans[n-1].Text += s.Text
		return spans
	}
	return append(spans, s)
}

// continues reports whether another span has the same properties.
func (s Span) continues(next Span) bool {
	return s.Style == next.Style && s.Link == next.Link && s.Style&(Picture|Ref|Math) == 0
}

// Trim removes space at the start and the end of spans, and spans that become empty.
func Trim(spans []Span) []Span {
	const space = " \t\n\r"
	keep := func(s Span) bool { return s.Text != "" || s.Style&Picture != 0 }
	for len(spans) > 0 && spans[0].Style&Picture == 0 {
		if spans[0].Text = strings.TrimLeft(spans[0].Text, space); keep(spans[0]) {
			break
		}
		spans = spans[1:]
	}
	for n := len(spans); n > 0 && spans[n-1].Style&Picture == 0; n = len(spans) {
		if spans[n-1].Text = strings.TrimRight(spans[n-1].Text, space); keep(spans[n-1]) {
			break
		}
		spans = spans[:n-1]
	}
	return spans
}

// Flatten makes one text of blocks.
func Flatten(blocks []Block) []Span {
	var spans []Span
	for _, b := range blocks {
		if len(spans) > 0 {
			spans = Append(spans, Span{Text: "\n"})
		}
		if b.Kind == Item {
			label := b.Label
			if label == "" {
				label = "•"
			}
			spans = Append(spans, Span{Text: label + " "})
		}
		if b.Grid != nil {
			for i, row := range b.Grid.Rows {
				var line strings.Builder
				if i > 0 {
					line.WriteByte('\n')
				}
				for j, cell := range row {
					if j > 0 {
						line.WriteString("; ")
					}
					line.WriteString(cell.Plain())
				}
				spans = Append(spans, Span{Text: line.String()})
			}
		}
		for _, s := range b.Spans {
			spans = Append(spans, s)
		}
	}
	return Trim(spans)
}
