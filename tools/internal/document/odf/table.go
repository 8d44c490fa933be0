package odf

import (
	"strconv"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/cells"
	"toolcrib/tools/internal/document/markup"
)

// place is where in a list a paragraph is.
type place struct {
	style string
	level int
}

// list reads a list. outer is the list that it lies in; nil = none.
func (f *file) list(d *markup.Decoder, out *[]document.Block, outer *place) error {
	at := place{style: d.Attr("style-name")}
	if outer != nil {
		at.level = outer.level + 1
		if at.style == "" {
			at.style = outer.style
		}
	} else if d.Attr("continue-numbering") != "true" && d.Attr("continue-list") == "" {
		delete(f.counters, at.style)
	}
	return d.Each(func() error {
		switch d.Name() {
		case "list-item", "list-header":
		default:
			return nil
		}
		in := &item{level: at.level, first: true}
		if d.Name() == "list-item" {
			if start, err := strconv.Atoi(d.Attr("start-value")); err == nil && at.level < 10 {
				if f.counters[at.style] == nil {
					f.counters[at.style] = &[10]int{}
				}
				f.counters[at.style][at.level] = start - 1
			}
		}
		return d.Each(func() error {
			switch d.Name() {
			case "p", "h":
				if in.first {
					in.label = f.count(at.style, at.level)
				}
				before := len(*out)
				err := f.paragraph(d, out, in)
				in.first = in.first && len(*out) == before
				return err
			case "list":
				in.first = false
				return f.list(d, out, &at)
			}
			return f.child(d, out)
		})
	})
}

// table reads a table of a text or a slide.
func (f *file) table(d *markup.Decoder, out *[]document.Block) error {
	var grid document.Grid
	if f.depth++; f.depth > 32 {
		f.depth--
		return d.Skip()
	}
	defer func() { f.depth-- }()
	err := f.rows(d, func(repeat int) error {
		var row []document.Cell
		empty, size := true, 0
		err := f.cells(d, func(cell document.Cell, repeat int, _ []document.Block) error {
			empty = empty && cell.Text == "" && cell.Spans == nil
			if repeat > 1024 && cell.Text == "" && cell.Spans == nil {
				repeat = 1
			}
			if err := f.budget.TakeCells(repeat); err != nil {
				return err
			}
			for range repeat {
				row = append(row, cell)
			}
			size += len(cell.Plain()) * repeat
			return f.budget.TakeText(len(cell.Plain()) * (repeat - 1))
		})
		if empty {
			return err
		}
		for range repeat {
			grid.Rows = append(grid.Rows, row)
			if err := f.budget.TakeCells(len(row)); err != nil {
				return err
			}
			if err := f.budget.TakeText(size); err != nil {
				return err
			}
		}
		return err
	})
	if len(grid.Rows) > 0 {
		*out = append(*out, document.Block{Kind: document.Table, Grid: &grid})
	}
	return err
}

// rows calls a function for each row of a table that begins.
func (f *file) rows(d *markup.Decoder, row func(repeat int) error) error {
	return d.Each(func() error {
		switch d.Name() {
		case "table-row":
			return row(repeated(d, "number-rows-repeated"))
		case "table-header-rows", "table-rows", "table-row-group":
			return f.rows(d, row)
		}
		return nil
	})
}

func repeated(d *markup.Decoder, key string) int {
	n, err := strconv.Atoi(d.Attr(key))
	if err != nil {
		return 1
	}
	return min(max(n, 1), 1<<21)
}

// cells calls a function for each cell of a row that begins.
func (f *file) cells(d *markup.Decoder, cell func(cell document.Cell, repeat int, comments []document.Block) error) error {
	return d.Each(func() error {
		switch d.Name() {
		case "covered-table-cell":
			return cell(document.Cell{}, repeated(d, "number-columns-repeated"), nil)
		case "table-cell":
		default:
			return nil
		}
		repeat, value := repeated(d, "number-columns-repeated"), d.Attr("office:value")
		var blocks, comments []document.Block
		err := d.Each(func() error {
			if d.Name() == "annotation" {
				comment, err := f.annotation(d)
				comments = append(comments, comment)
				return err
			}
			return f.child(d, &blocks)
		})
		if err != nil {
			return err
		}
		spans := document.Flatten(blocks)
		if len(spans) == 0 && value != "" {
			spans = document.Text(value)
		}
		return cell(document.CellOf(spans), repeat, comments)
	})
}

// spreadsheet reads the sheets.
func (f *file) spreadsheet(d *markup.Decoder) error {
	return d.Each(func() error {
		if d.Name() != "table" {
			return nil
		}
		name := d.Attr("name")
		f.sheets = append(f.sheets, name)
		number := len(f.sheets)
		if !cells.Wanted(f.src, name, number) {
			return nil
		}
		sheet := cells.NewSheet(name, number, f.resolve(d.Attr("style-name")).hidden, f.area, f.budget)
		err := f.sheet(d, sheet)
		f.doc.Add(sheet.Blocks()...)
		return err
	})
}

func (f *file) sheet(d *markup.Decoder, sheet *cells.Sheet) error {
	row := 0
	return f.rows(d, func(repeat int) error {
		type placed struct {
			col  int
			cell document.Cell
		}
		var filled []placed
		col := 0
		err := f.cells(d, func(cell document.Cell, across int, comments []document.Block) error {
			for _, c := range comments {
				if err := sheet.Comment(cells.Place(row, col), c.Label, document.PlainText(c.Spans)); err != nil {
					return err
				}
			}
			if cell.Text == "" && cell.Spans == nil {
				col += across
				return nil
			}
			if err := f.budget.TakeCells(across); err != nil {
				return err
			}
			for range across {
				filled = append(filled, placed{col, cell})
				col++
			}
			return nil
		})
		if err != nil {
			return err
		}
		if len(filled) == 0 {
			row += repeat
			return nil
		}
		for range repeat {
			for _, p := range filled {
				if err := sheet.Put(row, p.col, p.cell); err != nil {
					return err
				}
			}
			row++
		}
		return nil
	})
}

// presentation reads the slides.
func (f *file) presentation(d *markup.Decoder) error {
	return d.Each(func() error {
		if d.Name() != "page" {
			return nil
		}
		f.slides++
		if !f.src.Pages.Has(f.slides) {
			return nil
		}
		mark := document.Block{Kind: document.Mark, Label: "slide", Number: f.slides}
		if f.resolve(d.Attr("style-name")).hidden {
			mark.State = "hidden"
		}
		var title, notes []document.Span
		var blocks []document.Block
		err := d.Each(func() error {
			kind := d.Attr("presentation:class")
			switch {
			case d.Name() == "notes":
				var in []document.Block
				err := d.Each(func() error {
					if d.Attr("presentation:class") == "notes" {
						return f.frame(d, &in)
					}
					return nil
				})
				notes = document.Flatten(in)
				return err
			case kind == "title" && title == nil:
				var in []document.Block
				err := f.frame(d, &in)
				title = document.Flatten(in)
				return err
			case kind == "date-time", kind == "footer", kind == "header", kind == "page-number":
				return nil
			case d.Name() == "annotation":
				comment, err := f.annotation(d)
				blocks = append(blocks, comment)
				return err
			}
			return f.child(d, &blocks)
		})
		if len(title) == 0 && len(blocks) == 0 && mark.State == "" {
			mark.State = "no text"
		}
		f.doc.Add(mark)
		if len(title) > 0 {
			f.doc.Add(document.Block{Kind: document.Heading, Level: 2, Spans: title})
		}
		f.doc.Add(blocks...)
		if len(notes) > 0 {
			f.doc.Add(document.Block{Kind: document.Note, Spans: notes})
		}
		return err
	})
}
