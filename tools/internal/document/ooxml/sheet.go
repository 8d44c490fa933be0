package ooxml

import (
	"bytes"
	"path"
	"strconv"
	"strings"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/cells"
	"toolcrib/tools/internal/document/markup"
)

// book reads the parts of a workbook.
type book struct {
	*parts
	strings  []string
	formats  []cells.Format // by the number of a cell's style
	base1904 bool
}

type sheetEntry struct {
	name, id string
	hidden   bool
}

// Sheet reads an XLSX or an XLSB. Cells have the values that they show.
func Sheet(src document.Source, budget *document.Budget) (*document.Document, error) {
	area, err := cells.ParseArea(src.Range)
	if err != nil {
		return nil, err
	}
	p, err := open(src, budget, "xlsx")
	if err != nil {
		return nil, err
	}
	defer p.Close()
	b := &book{parts: p}
	rels := p.relations(p.main)
	read := b.sheet
	if path.Ext(p.main) == ".bin" {
		p.doc.Format = "xlsb"
		read = b.binarySheet
	}
	sheets, err := b.head(rels)
	if err != nil {
		return nil, err
	}
	var names []string
	found := false
	for i, entry := range sheets {
		names = append(names, entry.name)
		if !cells.Wanted(src, entry.name, i+1) {
			continue
		}
		found = true
		part := rels[entry.id].target
		if rels[entry.id].kind == "chartsheet" || part == "" {
			continue
		}
		sheet := cells.NewSheet(entry.name, i+1, entry.hidden, area, budget)
		if err := read(part, sheet); err != nil {
			if p.Fatal(err) {
				return nil, err
			}
			p.doc.Warn("sheet " + entry.name + " ends early: " + err.Error())
		}
		p.doc.Add(sheet.Blocks()...)
	}
	if !found {
		return nil, cells.NoSheet(src, names)
	}
	return p.doc, nil
}

// head reads what the sheets of a file share, and returns the list of them.
func (b *book) head(rels map[string]relation) (sheets []sheetEntry, err error) {
	styles, texts := related(rels, "styles"), related(rels, "sharedStrings")
	if b.doc.Format == "xlsb" {
		return b.binaryHead(styles, texts)
	}
	if err := b.ReadXML(b.main, func(d *markup.Decoder) error { return b.workbook(d, &sheets) }); err != nil && len(sheets) == 0 {
		return nil, err
	}
	b.Optional(b.doc, styles, b.readStyles)
	if texts != "" && b.Has(texts) {
		if err := b.ReadXML(texts, b.readStrings); err != nil {
			if b.Fatal(err) {
				return nil, err
			}
			b.doc.Warn("texts are missing: " + err.Error())
		}
	}
	return sheets, nil
}

func (b *book) workbook(d *markup.Decoder, sheets *[]sheetEntry) error {
	return d.Elements(func() error {
		switch d.Name() {
		case "workbookPr":
			if value, there := d.Has("date1904"); there {
				b.base1904 = on(value, true)
			}
		case "sheet":
			state := d.Attr("state")
			*sheets = append(*sheets, sheetEntry{shortName(d.Attr("name")), d.Attr("r:id"), state == "hidden" || state == "veryHidden"})
			return b.budget.TakeBlock()
		}
		return nil
	})
}

// shortName bounds the name of an author or of a sheet, which has 31 characters.
func shortName(name string) string {
	const longest = 200
	if len(name) > longest {
		name = strings.ToValidUTF8(name[:longest], "")
	}
	return name
}

func (b *book) readStyles(d *markup.Decoder) error {
	custom := map[int]string{}
	return d.Elements(func() error {
		switch d.Name() {
		case "numFmt":
			if id, err := strconv.Atoi(d.Attr("numFmtId")); err == nil {
				custom[id] = d.Attr("formatCode")
			}
		case "cellXfs":
			return d.Each(func() error {
				id, _ := strconv.Atoi(d.Attr("numFmtId")) // 0 = general
				format := cells.Builtin(id)
				if code, ok := custom[id]; ok {
					format = cells.ParseFormat(code)
				}
				if d.Name() == "xf" && len(b.formats) < 1<<16 {
					b.formats = append(b.formats, format)
				}
				return nil
			})
		case "cellStyleXfs", "dxfs":
			return d.Skip()
		}
		return nil
	})
}

func (b *book) readStrings(d *markup.Decoder) error {
	return d.Elements(func() error {
		if d.Name() != "si" {
			return nil
		}
		text, err := richText(d)
		if err != nil {
			return err
		}
		return b.addString(text)
	})
}

func (b *book) addString(text string) error {
	b.strings = append(b.strings, text)
	if len(b.strings) > b.budget.Cells {
		return b.budget.TakeCells(b.budget.Cells)
	}
	return b.budget.TakeCells(0)
}

// richText reads a text with runs; readings of its characters are left out.
func richText(d *markup.Decoder) (string, error) {
	var text strings.Builder
	add := func() error {
		if d.Name() != "t" {
			return nil
		}
		t, err := d.Inner()
		text.WriteString(t)
		return err
	}
	err := d.Each(func() error {
		if d.Name() == "r" {
			return d.Each(add)
		}
		return add()
	})
	return strings.TrimSpace(text.String()), err
}

// sheet reads the cells of a sheet and what is said about them.
func (b *book) sheet(part string, sheet *cells.Sheet) error {
	rels := b.relations(part)
	row := -1
	err := b.ReadXML(part, func(d *markup.Decoder) error {
		return d.Elements(func() error {
			switch d.Name() {
			case "row":
				row++
				if n, err := strconv.Atoi(d.Attr("r")); err == nil && n > 0 {
					row = n - 1
				}
				if row > sheet.Area.Bottom {
					return nil
				}
				return b.row(d, row, sheet)
			case "hyperlink":
				if at, col, ok := cells.Address(d.Attr("ref")); ok {
					return sheet.Link(at, col, rels[d.Attr("r:id")].target)
				}
			}
			return nil
		})
	})
	b.Optional(b.doc, related(rels, "comments"), func(d *markup.Decoder) error { return readComments(d, sheet) })
	return err
}

func (b *book) row(d *markup.Decoder, row int, sheet *cells.Sheet) error {
	col := -1
	for depth := d.Depth(); ; {
		kind, err := d.Next()
		if err != nil {
			return err
		}
		if kind == markup.End && d.Depth() < depth {
			return nil
		}
		if kind != markup.Start || d.Name() != "c" {
			continue
		}
		col++
		if _, c, ok := cells.Address(d.Attr("r")); ok {
			col = c
		}
		cell, err := b.cell(d)
		if err != nil {
			return err
		}
		if err := sheet.Put(row, col, cell); err != nil {
			return err
		}
	}
}

// cell reads the cell that begins.
func (b *book) cell(d *markup.Decoder) (document.Cell, error) {
	kind, styleID := d.Attr("t"), d.Attr("s")
	var value, formula string
	in := byte(0)
	for depth := d.Depth(); ; {
		token, err := d.Next()
		if err != nil {
			return document.Cell{}, err
		}
		switch token {
		case markup.Start:
			switch d.Name() {
			case "v":
				in = 'v'
			case "f":
				in = 'f'
			case "is":
				text, err := richText(d)
				if err != nil {
					return document.Cell{}, err
				}
				value = text
			default:
				in = 0
			}
		case markup.Text:
			switch in {
			case 'v':
				const longest = 1 << 20 // a cell has 32767 characters
				if len(value) < longest {
					value += string(bytes.TrimSpace(d.Text()))
				}
			case 'f':
				if len(formula) < 1024 {
					formula += string(d.Text())
				}
			}
		case markup.End:
			in = 0
			if d.Depth() < depth {
				return document.Cell{Text: b.shown(kind, styleID, value, formula)}, nil
			}
		}
	}
}

// shown returns what a cell shows.
func (b *book) shown(kind, styleID, value, formula string) string {
	if value == "" && formula != "" {
		return "=" + formula // never calculated
	}
	switch kind {
	case "s":
		if i, err := strconv.Atoi(value); err == nil && i >= 0 && i < len(b.strings) {
			return b.strings[i]
		}
		return ""
	case "str", "inlineStr", "e", "d":
		return value
	case "b":
		if value == "1" || value == "true" {
			return "TRUE"
		}
		return "FALSE"
	}
	number, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return value
	}
	style, err := strconv.Atoi(styleID)
	if err != nil {
		style = -1
	}
	return b.number(number, style)
}

// number returns what a cell with a number shows in a style.
func (b *book) number(value float64, style int) string {
	if style >= 0 && style < len(b.formats) {
		return b.formats[style].Show(value, b.base1904)
	}
	return cells.General(value)
}

func readComments(d *markup.Decoder, sheet *cells.Sheet) error {
	var authors []string
	return d.Elements(func() error {
		switch d.Name() {
		case "author":
			name, err := d.Inner()
			authors = append(authors, shortName(name))
			return err
		case "comment":
			at, author := d.Attr("ref"), ""
			if i, err := strconv.Atoi(d.Attr("authorId")); err == nil && i >= 0 && i < len(authors) {
				author = authors[i]
			}
			return d.Each(func() error {
				text, err := richText(d)
				if err != nil {
					return err
				}
				return sheet.Comment(at, author, text)
			})
		}
		return nil
	})
}
