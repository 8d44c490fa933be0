package document

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Markdown returns the document as GitHub Markdown.
func (d *Document) Markdown() string {
	w := writer{markdown: true}
	w.blocks(d.Blocks)
	return w.b.String()
}

// Text returns the document without marks of styles; the cells of tables are separated by tabs.
func (d *Document) Text() string {
	var w writer
	w.blocks(d.Blocks)
	return w.b.String()
}

// writer writes blocks as Markdown or as text.
type writer struct {
	b        strings.Builder
	markdown bool
	last     Kind
	started  bool
	indents  []int // width of the markers of the items that are open
}

func (w *writer) blocks(blocks []Block) {
	for i := range blocks {
		w.block(&blocks[i])
	}
}

func (w *writer) block(block *Block) {
	if w.started && (block.Kind != Item || w.last != Item) {
		w.b.WriteByte('\n')
	}
	if block.Kind != Item {
		w.indents = w.indents[:0]
	}
	w.last, w.started = block.Kind, true
	switch block.Kind {
	case Heading:
		if w.markdown {
			w.b.WriteString(strings.Repeat("#", min(max(block.Level, 1), 6)) + " ")
		}
		w.line(strings.Join(strings.Fields(w.inline(unbold(block.Spans), false)), " "))
	case Item:
		w.item(block)
	case Quote:
		w.quoted(strings.Repeat("> ", block.Level+1), w.inline(block.Spans, false))
	case Table:
		w.table(block.Grid)
	case Code:
		w.code(block)
	case Note:
		w.note(block)
	case Comment:
		by := ""
		if block.Label != "" {
			by = " by " + block.Label
		}
		w.quoted("> ", "Comment"+by+": "+w.inline(block.Spans, false))
	case Mark:
		w.line(block.Title())
	default:
		w.paragraph(block)
	}
}

func (w *writer) line(text string) {
	w.b.WriteString(text)
	w.b.WriteByte('\n')
}

func (w *writer) quoted(mark, text string) {
	if !w.markdown {
		w.line(strings.TrimPrefix(text, "Notes: "))
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		w.line(strings.TrimRight(mark+line, " "))
	}
}

func (w *writer) note(block *Block) {
	text := w.inline(block.Spans, false)
	switch {
	case block.Label == "":
		w.quoted("> ", "Notes: "+text)
	case w.markdown:
		w.line("[^" + block.Label + "]: " + strings.ReplaceAll(text, "\n", "\n    "))
	default:
		w.line("[" + block.Label + "] " + text)
	}
}

func (w *writer) paragraph(block *Block) {
	if w.markdown && len(block.Spans) == 1 && block.Spans[0].Style&Math != 0 {
		w.line("$$\n" + strings.TrimSpace(block.Spans[0].Text) + "\n$$")
		return
	}
	text := w.inline(block.Spans, false)
	if w.markdown && (len(block.Spans) != 1 || block.Spans[0].Style&Markup == 0) {
		text = escapeStarts(text)
	}
	w.line(text)
}

func (w *writer) item(block *Block) {
	level := min(block.Level, len(w.indents))
	w.indents = w.indents[:level]
	indent := 0
	for _, n := range w.indents {
		indent += n
	}
	marker := "- "
	switch {
	case block.Label == "":
	case !w.markdown:
		marker = block.Label + " "
	case ordered(block.Label):
		marker = block.Label + " "
	default:
		marker = "- " + block.Label + " "
	}
	width := 2
	if block.Label != "" && marker[0] != '-' {
		width = utf8.RuneCountInString(marker)
	}
	w.indents = append(w.indents, width)
	text := w.inline(block.Spans, false)
	if w.markdown && block.Label == "" {
		text = escapeStarts(text)
	}
	space := strings.Repeat(" ", indent)
	w.line(space + marker + strings.ReplaceAll(text, "\n", "\n"+space+strings.Repeat(" ", width)))
}

// ordered reports whether Markdown takes a label for the number of an item.
func ordered(label string) bool {
	digits := strings.TrimRight(label, ".)")
	if len(label)-len(digits) != 1 || digits == "" || len(digits) > 9 {
		return false
	}
	return strings.Trim(digits, "0123456789") == ""
}

func (w *writer) code(block *Block) {
	text := strings.TrimRight(PlainText(block.Spans), "\n")
	if !w.markdown {
		w.line(text)
		return
	}
	fence := strings.Repeat("`", max(3, ticks(text)+1))
	w.line(fence + block.Label + "\n" + text + "\n" + fence)
}

func (w *writer) table(grid *Grid) {
	if grid == nil || len(grid.Rows) == 0 {
		return
	}
	columns := 0
	for _, row := range grid.Rows {
		columns = max(columns, len(row))
	}
	for i, row := range grid.Rows {
		w.row(row, columns)
		if i == 0 && w.markdown {
			w.line("|" + strings.Repeat(" --- |", columns))
		}
	}
}

func (w *writer) row(row []Cell, columns int) {
	if !w.markdown {
		for i, cell := range row {
			if i > 0 {
				w.b.WriteByte('\t')
			}
			w.b.WriteString(strings.Join(strings.Fields(w.inline(cell.spans(), false)), " "))
		}
		w.b.WriteByte('\n')
		return
	}
	w.b.WriteByte('|')
	for i := range columns {
		if i < len(row) {
			if text := w.cell(row[i]); text != "" {
				w.b.WriteByte(' ')
				w.b.WriteString(text)
			}
		}
		w.b.WriteString(" |")
	}
	w.b.WriteByte('\n')
}

func (w *writer) cell(cell Cell) string {
	if cell.Spans == nil {
		return escapeCell(escape(strings.TrimSpace(cell.Text)))
	}
	return strings.TrimSpace(w.inline(cell.Spans, true))
}

var cellText = strings.NewReplacer("|", `\|`, "\r\n", "<br>", "\n", "<br>", "\t", " ")

func escapeCell(text string) string {
	if strings.ContainsAny(text, "|\n\t") {
		return cellText.Replace(text)
	}
	return text
}

// Title is the line that stands for a mark: "[sheet 2: Sales; hidden]".
func (block *Block) Title() string {
	text := block.Label
	if block.Number > 0 {
		text += fmt.Sprintf(" %d", block.Number)
	}
	if name := strings.TrimSpace(PlainText(block.Spans)); name != "" {
		text += ": " + name
	}
	if block.State != "" {
		text += "; " + block.State
	}
	return "[" + strings.Join(strings.Fields(text), " ") + "]"
}

// inline writes spans; those of a link are together.
func (w *writer) inline(spans []Span, inCell bool) string {
	var b strings.Builder
	for i := 0; i < len(spans); {
		n := i + 1
		for n < len(spans) && spans[n].Link == spans[i].Link && (spans[n].Style|spans[i].Style)&Picture == 0 {
			n++
		}
		var text strings.Builder
		for j := i; j < n; {
			s, k := spans[j], j+1
			if k < n && s.continues(spans[k]) {
				for k < n && s.continues(spans[k]) {
					k++
				}
				s.Text = PlainText(spans[j:k])
			}
			text.WriteString(w.span(s))
			j = k
		}
		if link := spans[i].Link; link != "" && w.markdown && spans[i].Style&Picture == 0 {
			before, inner, after := around(text.String())
			b.WriteString(before + "[" + inner + "](" + destination(link) + ")" + after)
		} else {
			b.WriteString(text.String())
		}
		i = n
	}
	text := b.String()
	if inCell {
		return escapeCell(text)
	}
	return text
}

func (w *writer) span(s Span) string {
	switch {
	case s.Style&Picture != 0 && !w.markdown:
		if s.Text == "" {
			return ""
		}
		return "[image: " + s.Text + "]"
	case s.Style&Picture != 0:
		return "![" + escape(strings.Join(strings.Fields(s.Text), " ")) + "](" + destination(s.Link) + ")"
	case s.Style&Ref != 0 && w.markdown:
		return "[^" + s.Text + "]"
	case s.Style&Ref != 0:
		return "[" + s.Text + "]"
	case !w.markdown || s.Style&Markup != 0:
		return s.Text
	case s.Style&Math != 0:
		return "$" + strings.TrimSpace(s.Text) + "$"
	}
	before, text, after := around(s.Text)
	if text == "" {
		return s.Text
	}
	if s.Style&Mono != 0 {
		text = mono(text)
	} else {
		text = escape(text)
	}
	for _, mark := range marks {
		if s.Style&mark.style != 0 {
			text = mark.open + text + mark.end
		}
	}
	return before + text + after
}

var marks = []struct {
	style     Style
	open, end string
}{
	{Superscript, "<sup>", "</sup>"}, {Subscript, "<sub>", "</sub>"}, {Strike, "~~", "~~"}, {Italic, "*", "*"}, {Bold, "**", "**"},
}

// ticks returns the length of the longest run of backticks.
func ticks(text string) int {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

func mono(text string) string {
	fence := strings.Repeat("`", ticks(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + strings.ReplaceAll(text, "\n", " ") + fence
}

// around splits a text into the space at its start, its core and the space at its end.
func around(text string) (before, core, after string) {
	core = strings.TrimLeftFunc(text, unicode.IsSpace)
	before = text[:len(text)-len(core)]
	trimmed := strings.TrimRightFunc(core, unicode.IsSpace)
	return before, trimmed, core[len(trimmed):]
}

func destination(link string) string {
	link = strings.Map(func(r rune) rune {
		if r < ' ' {
			return -1
		}
		return r
	}, link)
	if strings.ContainsAny(link, " ()<>") {
		return "<" + strings.NewReplacer("<", "%3C", ">", "%3E").Replace(link) + ">"
	}
	return link
}

func unbold(spans []Span) []Span {
	plain := make([]Span, 0, len(spans))
	for _, s := range spans {
		s.Style &^= Bold
		plain = Append(plain, s)
	}
	return plain
}

// escape escapes what Markdown would read as something else. It leaves alone what no reader
// of Markdown misunderstands, so that texts stay readable.
func escape(text string) string {
	if !strings.ContainsAny(text, "\\`*_<[~$") {
		return text
	}
	var b strings.Builder
	link := strings.LastIndex(text, "](")
	for i := range len(text) {
		c := text[i]
		next := byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		special := false
		switch c {
		case '`', '*':
			special = true
		case '\\':
			special = next == 0 || next < utf8.RuneSelf && unicode.IsPunct(rune(next))
		case '_':
			special = i == 0 || next == 0 || !wordByte(text[i-1]) || !wordByte(next)
		case '<':
			special = next == '/' || next == '!' || next|0x20 >= 'a' && next|0x20 <= 'z'
		case '[':
			special = next == '^' || i < link
		case '~':
			special = next == '~'
		}
		if special {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

func wordByte(c byte) bool {
	return c >= utf8.RuneSelf || c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// escapeStarts escapes starts of lines that would begin a heading, a list or a quote.
func escapeStarts(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		rest := strings.TrimLeft(line, " \t")
		hashes := len(rest) - len(strings.TrimLeft(rest, "#"))
		switch {
		case hashes > 0 && hashes <= 6 && (len(rest) == hashes || rest[hashes] == ' '),
			strings.HasPrefix(rest, "- "), strings.HasPrefix(rest, "+ "), strings.HasPrefix(rest, ">"),
			strings.HasPrefix(rest, "|"), strings.HasPrefix(rest, "---"), strings.HasPrefix(rest, "==="):
			b.WriteByte('\\')
			b.WriteString(rest)
		default:
			b.WriteString(line)
		}
	}
	return b.String()
}
