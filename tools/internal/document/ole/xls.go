package ole

import (
	"encoding/binary"
	"math"
	"strings"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/cells"
	"toolcrib/tools/internal/text/textfile"
)

// workbook is an XLS that is being read.
type workbook struct {
	c        *compound
	data     []byte
	wide     bool // texts are those of Excel 97 and later
	encoding textfile.Encoding
	base1904 bool
	codes    map[int]string
	formats  []cells.Format
	styles   []int // numbers of formats, by that of a cell's style
	strings  []string
	sheets   []sheetPlace
}

type sheetPlace struct {
	name   string
	at     int
	hidden bool
	chart  bool // or macros: it has no cells
}

// readWorkbook reads an XLS. Cells have the values that they show.
func readWorkbook(c *compound, src document.Source, stream string) (*document.Document, error) {
	area, err := cells.ParseArea(src.Range)
	if err != nil {
		return nil, err
	}
	b := &workbook{c: c, data: c.stream(stream), codes: map[int]string{}, encoding: codePage(1252)}
	if err := b.globals(); err != nil {
		return nil, err
	}
	doc := &document.Document{Format: "xls"}
	var names []string
	found := false
	for i, place := range b.sheets {
		names = append(names, place.name)
		if !cells.Wanted(src, place.name, i+1) {
			continue
		}
		found = true
		if place.chart {
			continue
		}
		sheet := cells.NewSheet(place.name, i+1, place.hidden, area, c.budget)
		whole, err := b.sheet(place.at, sheet)
		if err != nil {
			return nil, err
		}
		if !whole {
			doc.Warn("sheet " + place.name + " ends early")
		}
		doc.Add(sheet.Blocks()...)
	}
	if !found {
		return nil, cells.NoSheet(src, names)
	}
	return doc, c.budget.Err()
}

// globals reads what all sheets share.
func (b *workbook) globals() error {
	const excel97, sheet, hides = 0x0600, 0, 3
	for at := 0; ; {
		r, next, ok := nextRecord(b.data, at)
		if !ok || r.kind == biffEOF {
			break
		}
		at = next
		body := r.body
		switch {
		case r.kind == biffBegin && len(body) >= 4:
			b.wide = binary.LittleEndian.Uint16(body) >= excel97
		case r.kind == biffFilePass:
			return document.Errorf(document.Encrypted, "workbooks of Excel before 2007 with a password cannot be opened here")
		case r.kind == biffCodePage && len(body) >= 2:
			b.encoding = codePage(int(binary.LittleEndian.Uint16(body)))
		case r.kind == biffDate1904 && len(body) >= 2:
			b.base1904 = body[0] == 1
		case r.kind == biffFormat && len(body) >= 3:
			length := 1
			if b.wide {
				length = 2
			}
			b.codes[int(binary.LittleEndian.Uint16(body))] = b.text(r, 2, length)
		case r.kind == biffXF && len(body) >= 4:
			b.styles = append(b.styles, int(binary.LittleEndian.Uint16(body[2:])))
		case r.kind == biffSheet && len(body) >= 8:
			b.sheets = append(b.sheets, sheetPlace{b.text(r, 6, 1), int(binary.LittleEndian.Uint32(body)), body[4]&hides != 0, body[5] != sheet})
		case r.kind == biffStrings && len(body) >= 8:
			t := &texts{rest: body[8:], more: r.more}
			for !t.ended() {
				text := t.rich(2)
				if err := b.c.budget.TakeSpan(len(text)); err != nil {
					return err
				}
				b.strings = append(b.strings, text)
			}
		}
		if err := b.c.budget.TakeText(16); err != nil {
			return err
		}
	}
	if len(b.sheets) == 0 {
		return document.Errorf(document.Truncated, "the workbook has no sheets, so it is not whole")
	}
	for _, id := range b.styles {
		format := cells.Builtin(id)
		if code, ok := b.codes[id]; ok && code != "" {
			format = cells.ParseFormat(code)
		}
		b.formats = append(b.formats, format)
	}
	return nil
}

// sheet reads the cells from an offset on, and reports whether the sheet is whole.
func (b *workbook) sheet(at int, sheet *cells.Sheet) (whole bool, err error) {
	type place struct{ row, col int }
	var waits *place // for the text of its formula
	remarks, object := map[int]string{}, 0
	depth := 0
	for {
		r, next, ok := nextRecord(b.data, at)
		if !ok {
			return false, nil
		}
		at = next
		body := r.body
		word := func(at int) int { return int(binary.LittleEndian.Uint16(body[at:])) }
		switch {
		case r.kind == biffBegin:
			depth++ // a chart lies in the sheet
		case r.kind == biffEOF:
			if depth--; depth <= 0 {
				return true, nil
			}
		case depth > 1:
		case r.kind == biffString && waits != nil:
			err = sheet.Put(waits.row, waits.col, document.Cell{Text: b.text(r, 0, 2)})
			waits = nil
		case r.kind == biffObject && len(body) >= 8:
			object = word(6)
		case r.kind == biffObjText && len(body) >= 12 && len(r.more) > 0:
			t := &texts{rest: r.more[0], more: r.more[1:]}
			remarks[object] = t.characters(word(10), t.number(1)&1 != 0)
			err = b.c.budget.TakeSpan(len(remarks[object]))
		case r.kind == biffNote && len(body) >= 8 && b.wide:
			if text := remarks[word(6)]; text != "" {
				err = sheet.Comment(cells.Place(word(0), word(2)), strings.TrimSpace(b.text(r, 8, 2)), text)
			}
		case len(body) < 6:
		case r.kind == biffMulRK:
			for col, rest := word(2), body[4:]; len(rest) >= 8 && err == nil; col, rest = col+1, rest[6:] {
				err = b.number(sheet, word(0), col, int(binary.LittleEndian.Uint16(rest)), cells.RK(binary.LittleEndian.Uint32(rest[2:])))
			}
		default:
			row, col := word(0), word(2)
			if r.kind == biffFormula && len(body) >= 14 && body[12] == 0xFF && body[13] == 0xFF && body[6] == 0 {
				waits = &place{row, col}
			}
			err = b.cell(r, sheet, row, col)
		}
		if err == nil {
			err = b.c.budget.TakeCells(0)
		}
		if err != nil {
			return false, err
		}
	}
}

// cell reads the record of one cell.
func (b *workbook) cell(r record, sheet *cells.Sheet, row, col int) error {
	body := r.body
	style := int(binary.LittleEndian.Uint16(body[4:]))
	show := func(text string) error { return sheet.Put(row, col, document.Cell{Text: text}) }
	switch {
	case r.kind == biffLabel || r.kind == biffRichLabel:
		return show(b.text(r, 6, 2))
	case r.kind == biffLabelSST && len(body) >= 10:
		if i := int(binary.LittleEndian.Uint32(body[6:])); i < len(b.strings) {
			return show(b.strings[i])
		}
	case r.kind == biffNumber && len(body) >= 14:
		return b.number(sheet, row, col, style, math.Float64frombits(binary.LittleEndian.Uint64(body[6:])))
	case r.kind == biffRK && len(body) >= 10:
		return b.number(sheet, row, col, style, cells.RK(binary.LittleEndian.Uint32(body[6:])))
	case r.kind == biffBool && len(body) >= 8:
		return show(cells.Truth(body[6], body[7] != 0))
	case r.kind == biffFormula && len(body) >= 14:
		if body[12] != 0xFF || body[13] != 0xFF {
			return b.number(sheet, row, col, style, math.Float64frombits(binary.LittleEndian.Uint64(body[6:])))
		}
		if body[6] == 1 || body[6] == 2 {
			return show(cells.Truth(body[8], body[6] == 2))
		}
	}
	return nil
}

func (b *workbook) number(sheet *cells.Sheet, row, col, style int, value float64) error {
	text := cells.General(value)
	if style < len(b.formats) {
		text = b.formats[style].Show(value, b.base1904)
	}
	return sheet.Put(row, col, document.Cell{Text: text})
}
