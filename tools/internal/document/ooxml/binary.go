package ooxml

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"unicode/utf16"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/cells"
)

// The records of XLSB that are read, by the names of [MS-XLSB].
const (
	rowHdr       = 0
	cellRk       = 2
	cellError    = 3
	cellBool     = 4
	cellReal     = 5
	cellSt       = 6
	cellIsst     = 7
	fmlaString   = 8
	fmlaNum      = 9
	fmlaBool     = 10
	fmlaError    = 11
	sstItem      = 19
	fmtCode      = 44
	xf           = 47
	cellRString  = 62
	wbProp       = 153
	bundleSh     = 156
	hLink        = 494
	beginCellXFs = 617
	endCellXFs   = 618
	author       = 632
	comment      = 635
	commentText  = 637
)

// item is the body of a record. What is read beyond its end is zero, or no text.
type item []byte

func (r item) byte(at int) byte {
	if at >= len(r) {
		return 0
	}
	return r[at]
}

func (r item) uint(at int) int {
	if at+4 > len(r) {
		return 0
	}
	return int(binary.LittleEndian.Uint32(r[at:]))
}

func (r item) short(at int) int { return int(r.byte(at)) | int(r.byte(at+1))<<8 }

func (r item) float(at int) float64 {
	if at+8 > len(r) {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(r[at:]))
}

// text returns a text and where it ends: the number of its units, and the units.
func (r item) text(at int) (text string, end int) {
	if at+4 > len(r) {
		return "", len(r)
	}
	n, at := r.uint(at), at+4
	n = min(n, (len(r)-at)/2) // a text that is absent claims to be the longest
	units := make([]uint16, n)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(r[at+2*i:])
	}
	return strings.TrimSpace(string(utf16.Decode(units))), at + 2*n
}

// rich returns a text that has a byte before it, which says what follows it.
func (r item) rich(at int) string {
	text, _ := r.text(at + 1)
	return text
}

// records calls read for each record of a part.
func (p *parts) records(part string, read func(kind int, r item) error) error {
	file, err := p.Open(part)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 64<<10)
	var body []byte
	for n := 0; ; n++ {
		kind, err := varint(in, 2)
		if errors.Is(err, io.EOF) {
			return nil
		}
		size := 0
		if err == nil {
			size, err = varint(in, 4)
		}
		if err == nil && size > cap(body) {
			const most = 1 << 20 // a text has 32767 characters
			if size > most {
				return document.Errorf(document.Malformed, "a record of %s has %d bytes", part, size)
			}
			body = make([]byte, size)
		}
		if err == nil {
			_, err = io.ReadFull(in, body[:size])
		}
		if err != nil {
			if _, ours := errors.AsType[*document.Error](err); ours {
				return err
			}
			return document.Errorf(document.Truncated, "the part %s ends within a record", part)
		}
		if n&0xfff == 0 && p.budget.Err() != nil {
			return p.budget.Err()
		}
		if err := read(kind, body[:size]); err != nil {
			return err
		}
	}
}

// varint reads a number of at most so many bytes, 7 bits of it each.
func varint(in *bufio.Reader, most int) (n int, err error) {
	for i := range most {
		b, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if n |= int(b&0x7f) << (7 * i); b < 0x80 {
			break
		}
	}
	return n, nil
}

// binaryHead is [book.head] for XLSB.
func (b *book) binaryHead(styles, texts string) (sheets []sheetEntry, err error) {
	err = b.records(b.main, func(kind int, r item) error {
		switch kind {
		case wbProp:
			b.base1904 = r.byte(0)&1 != 0
		case bundleSh:
			id, end := r.text(8)
			name, _ := r.text(end)
			sheets = append(sheets, sheetEntry{shortName(name), id, r.uint(0) != 0})
			return b.budget.TakeBlock()
		}
		return nil
	})
	if err != nil && len(sheets) == 0 {
		return nil, err
	}
	custom := map[int]string{}
	inCells := false
	for _, part := range []struct {
		name, lost string
		read       func(kind int, r item) error
	}{
		{styles, "formats are missing: ", func(kind int, r item) error {
			switch kind {
			case fmtCode:
				custom[r.short(0)], _ = r.text(2)
				return b.budget.TakeBlock()
			case beginCellXFs, endCellXFs:
				inCells = kind == beginCellXFs
			case xf:
				if inCells && len(b.formats) < 1<<16 {
					format := cells.Builtin(r.short(2))
					if code, ok := custom[r.short(2)]; ok {
						format = cells.ParseFormat(code)
					}
					b.formats = append(b.formats, format)
				}
			}
			return nil
		}},
		{texts, "texts are missing: ", func(kind int, r item) error {
			if kind != sstItem {
				return nil
			}
			return b.addString(r.rich(0))
		}},
	} {
		if part.name == "" || !b.Has(part.name) {
			continue
		}
		if err := b.records(part.name, part.read); err != nil {
			if b.Fatal(err) {
				return nil, err
			}
			b.doc.Warn(part.lost + err.Error())
		}
	}
	return sheets, nil
}

// binarySheet is [book.sheet] for XLSB.
func (b *book) binarySheet(part string, sheet *cells.Sheet) error {
	rels := b.relations(part)
	row := -1
	err := b.records(part, func(kind int, r item) error {
		switch {
		case kind == rowHdr:
			row = r.uint(0)
		case kind == hLink:
			id, _ := r.text(16)
			return sheet.Link(r.uint(0), r.uint(8), rels[id].target)
		case kind > rowHdr && kind <= fmlaError || kind == cellRString:
			if row <= sheet.Area.Bottom {
				return sheet.Put(row, r.uint(0), document.Cell{Text: b.binaryCell(kind, r)})
			}
		}
		return nil
	})
	if part := related(rels, "comments"); part != "" && b.Has(part) {
		if failed := b.records(part, binaryComments(sheet)); failed != nil {
			b.doc.Warn("comments are missing: " + failed.Error())
		}
	}
	return err
}

// binaryCell returns what a cell shows: its column and its style come first, then its value.
func (b *book) binaryCell(kind int, r item) string {
	const value = 8
	style := r.uint(4) & 0xffffff
	switch kind {
	case cellRk:
		return b.number(cells.RK(uint32(r.uint(value))), style)
	case cellReal, fmlaNum:
		return b.number(r.float(value), style)
	case cellBool, cellError, fmlaBool, fmlaError:
		return cells.Truth(r.byte(value), kind == cellError || kind == fmlaError)
	case cellSt, fmlaString:
		text, _ := r.text(value)
		return text
	case cellRString:
		return r.rich(value)
	case cellIsst:
		if i := r.uint(value); i < len(b.strings) {
			return b.strings[i]
		}
	}
	return ""
}

// binaryComments returns what reads the comments of a sheet.
func binaryComments(sheet *cells.Sheet) func(kind int, r item) error {
	var authors []string
	by, at := "", ""
	return func(kind int, r item) error {
		switch kind {
		case author:
			name, _ := r.text(0)
			authors = append(authors, shortName(name))
		case comment:
			if by = ""; r.uint(0) < len(authors) {
				by = authors[r.uint(0)]
			}
			at = cells.Place(r.uint(4), r.uint(12))
		case commentText:
			return sheet.Comment(at, by, r.rich(0))
		}
		return nil
	}
}
