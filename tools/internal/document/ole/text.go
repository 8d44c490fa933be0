package ole

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf16"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/text/textfile"
)

// readWord reads the text of a DOC by its table of pieces.
func readWord(c *compound) (*document.Document, error) {
	const (
		flags, encrypted, second = 0x0A, 0x0100, 0x0200
		characters, pieces       = 0x4C, 0x01A2
	)
	main := c.stream("WordDocument")
	if len(main) < pieces+8 {
		return nil, document.Errorf(document.Truncated, "the text of the document is not whole")
	}
	about := binary.LittleEndian.Uint16(main[flags:])
	if about&encrypted != 0 {
		return nil, document.Errorf(document.Encrypted, "the document is encrypted")
	}
	name := "0Table"
	if about&second != 0 {
		name = "1Table"
	}
	table := c.stream(name)
	from, size := int64(binary.LittleEndian.Uint32(main[pieces:])), int64(binary.LittleEndian.Uint32(main[pieces+4:]))
	if from+size > int64(len(table)) {
		return nil, document.Errorf(document.Truncated, "the table of the document's pieces is not whole")
	}
	text, err := pieced(c, main, table[from:from+size], deleted(main, table), int(binary.LittleEndian.Uint32(main[characters:])))
	if err != nil {
		return nil, err
	}
	doc := &document.Document{Format: "doc"}
	paragraphs(doc, text)
	return doc, c.budget.Err()
}

// pieced puts the pieces of a text together, without what is gone.
func pieced(c *compound, main, table []byte, gone []extent, most int) (string, error) {
	for len(table) > 3 && table[0] == 1 { // properties
		n := 3 + int(binary.LittleEndian.Uint16(table[1:]))
		table = table[min(n, len(table)):]
	}
	if len(table) < 5 || table[0] != 2 {
		return "", document.Errorf(document.Malformed, "the document has no table of its pieces")
	}
	table = table[5:]
	n := (len(table) - 4) / 12
	western, _ := textfile.Lookup("windows-1252")
	var b strings.Builder
	count := 0
	for i := range n {
		first, end := binary.LittleEndian.Uint32(table[4*i:]), binary.LittleEndian.Uint32(table[4*i+4:])
		at := binary.LittleEndian.Uint32(table[4*(n+1)+8*i+2:])
		if end <= first || count >= most {
			continue
		}
		chars := min(int(end-first), most-count)
		count += chars
		const narrow = 1 << 30
		from, size := int64(at), 2*int64(chars)
		if at&narrow != 0 {
			from, size = int64(at&^narrow)/2, int64(chars)
		}
		if from >= int64(len(main)) {
			continue
		}
		if err := c.budget.TakeSpan(int(min(size, int64(len(main))-from))); err != nil {
			return "", err
		}
		for _, kept := range without(gone, from, min(from+size, int64(len(main)))) {
			part := main[kept.from:kept.to]
			if at&narrow != 0 {
				b.Write(western.Decode(part))
			} else {
				b.WriteString(string(utf16.Decode(words(part))))
			}
		}
	}
	return b.String(), nil
}

// extent is a part of the stream of a text.
type extent struct{ from, to int64 }

// without returns what is left of a part without others, which are in order.
func without(gone []extent, from, to int64) (kept []extent) {
	i, _ := slices.BinarySearchFunc(gone, from, func(g extent, from int64) int { return cmp.Compare(g.to, from) })
	for ; i < len(gone) && gone[i].from < to; i++ {
		if gone[i].from > from {
			kept = append(kept, extent{from, gone[i].from})
		}
		from = max(from, gone[i].to)
	}
	if from < to {
		kept = append(kept, extent{from, to})
	}
	return kept
}

// deleted returns the texts that a tracked change has deleted, by the properties of
// characters: a table of pages, each with runs of characters.
func deleted(main, table []byte) (gone []extent) {
	const place, page, mark = 0x00FA, 512, 0x0800
	from, size := int64(binary.LittleEndian.Uint32(main[place:])), int64(binary.LittleEndian.Uint32(main[place+4:]))
	if from+size > int64(len(table)) || size < 12 {
		return nil
	}
	pages := table[from : from+size]
	n := (len(pages) - 4) / 8
	for i := range n {
		at := int64(binary.LittleEndian.Uint32(pages[4*(n+1)+4*i:])&0x3FFFFF) * page
		if at+page > int64(len(main)) {
			continue
		}
		runs := main[at : at+page]
		count := int(runs[page-1])
		for r := range count {
			if 5*count+4 >= page {
				break
			}
			where := 2 * int(runs[4*(count+1)+r])
			if where == 0 || where+1+int(runs[where]) > page || !has(runs[where+1:where+1+int(runs[where])], mark) {
				continue
			}
			run := extent{int64(binary.LittleEndian.Uint32(runs[4*r:])), int64(binary.LittleEndian.Uint32(runs[4*r+4:]))}
			if run.from < run.to && (len(gone) == 0 || gone[len(gone)-1].to <= run.from) {
				gone = append(gone, run)
			}
		}
	}
	return gone
}

// has reports whether properties set the one with a number.
func has(properties []byte, number uint16) bool {
	for len(properties) >= 3 {
		code := binary.LittleEndian.Uint16(properties)
		size := map[uint16]int{0: 1, 1: 1, 2: 2, 3: 4, 4: 2, 5: 2, 7: 3}[code>>13]
		if size == 0 {
			size = 1 + int(properties[2])
		}
		if code == number {
			return properties[2] != 0
		}
		properties = properties[min(2+size, len(properties)):]
	}
	return false
}

// paragraphs makes blocks of a text with the marks of Word. Rows of tables are tables.
func paragraphs(doc *document.Document, text string) {
	var b strings.Builder
	var row []document.Cell
	var grid *document.Grid
	fields, hidden := 0, 0
	endTable := func() {
		if grid != nil {
			doc.Add(document.Block{Kind: document.Table, Grid: grid})
			grid = nil
		}
	}
	take := func() string {
		line := strings.TrimSpace(b.String())
		b.Reset()
		return line
	}
	for _, r := range text {
		switch r {
		case '\x13': // a field: its instruction, then its result
			fields++
			hidden = fields
		case '\x14':
			hidden = 0
		case '\x15':
			fields = max(fields-1, 0)
			hidden = 0
		case '\x07':
			line := take()
			if line == "" && len(row) > 0 { // the end of a row
				if grid == nil {
					grid = &document.Grid{}
				}
				grid.Rows = append(grid.Rows, row)
				row = nil
				continue
			}
			row = append(row, document.Cell{Text: line})
		case '\r', '\x0c':
			if len(row) > 0 {
				b.WriteByte('\n') // in a cell
				continue
			}
			if line := take(); line != "" {
				endTable()
				doc.Add(document.Block{Spans: document.Text(line)})
			}
		case '\x0b':
			b.WriteByte('\n')
		case '\x1e':
			b.WriteRune('‑')
		default:
			if hidden == 0 && (r >= ' ' || r == '\t') {
				b.WriteRune(r)
			}
		}
	}
	endTable()
	if line := take(); line != "" {
		doc.Add(document.Block{Spans: document.Text(line)})
	}
}

// readSlides reads the texts of a PPT, slide by slide. They are in a list of all slides'
// outlines, and in the boxes of the slides themselves.
func readSlides(c *compound, src document.Source) (*document.Document, error) {
	p := &slides{c: c}
	if err := p.records(c.stream("PowerPoint Document"), 0, nil); err != nil {
		return nil, err
	}
	if len(p.boxes) != len(p.outlines) { // versions from before: which slide one is of, is not known
		if len(slices.Concat(p.outlines...)) > 0 {
			p.boxes = nil
		} else {
			p.outlines = nil
		}
	}
	doc := &document.Document{Format: "ppt"}
	for i := range max(len(p.outlines), len(p.boxes)) {
		if !src.Pages.Has(i + 1) {
			continue
		}
		doc.Add(document.Block{Kind: document.Mark, Label: "slide", Number: i + 1})
		for _, of := range [][][]string{p.outlines, p.boxes} {
			if i >= len(of) {
				continue
			}
			for _, line := range of[i] {
				doc.Add(document.Block{Spans: document.Text(line)})
			}
		}
	}
	return doc, nil
}

type slides struct {
	c               *compound
	outlines, boxes [][]string // the lines of each slide
}

// records reads the records of a container. texts are those that its texts belong to; nil =
// it is neither the list of the slides' outlines nor a slide.
func (p *slides) records(data []byte, depth int, texts *[][]string) error {
	const (
		slide, persist, wide, list, narrow = 1006, 1011, 4000, 4080, 4008
		container                          = 15
	)
	if err := p.c.budget.CheckDepth(depth); err != nil {
		return err
	}
	for len(data) >= 8 {
		version := binary.LittleEndian.Uint16(data)
		kind := binary.LittleEndian.Uint16(data[2:])
		size := min(int64(binary.LittleEndian.Uint32(data[4:])), int64(len(data)-8))
		body := data[8 : 8+size]
		data = data[8+size:]
		var err error
		switch {
		case version&15 == container:
			in := texts
			if kind == list && version>>4 == 0 { // 1 = of the masters, 2 = of the notes
				in = &p.outlines
			} else if kind == slide {
				in = &p.boxes
				p.boxes = append(p.boxes, nil)
				err = p.c.budget.TakeBlock()
			}
			if err == nil {
				err = p.records(body, depth+1, in)
			}
		case texts == nil:
		case kind == persist && texts == &p.outlines:
			p.outlines = append(p.outlines, nil)
			err = p.c.budget.TakeBlock()
		case kind == wide:
			err = p.text(texts, string(utf16.Decode(words(body))))
		case kind == narrow:
			wider := make([]rune, len(body))
			for i, c := range body {
				wider[i] = rune(c)
			}
			err = p.text(texts, string(wider))
		}
		if err != nil {
			return err
		}
	}
	return p.c.budget.Err()
}

func (p *slides) text(texts *[][]string, text string) error {
	if len(*texts) == 0 {
		return nil
	}
	last := &(*texts)[len(*texts)-1]
	for line := range strings.SplitSeq(text, "\r") {
		line = strings.TrimSpace(strings.ReplaceAll(line, "\v", "\n"))
		if err := p.c.budget.TakeSpan(len(line)); err != nil {
			return err
		}
		if line != "" && line != "*" { // the place of a number or a date
			*last = append(*last, line)
		}
	}
	return nil
}
