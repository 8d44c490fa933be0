package ooxml

import (
	"path"
	"strconv"
	"strings"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/latex"
	"toolcrib/tools/internal/document/markup"
)

// word reads the parts of a DOCX.
type word struct {
	*parts
	styles
	rels     map[string]relation
	comments map[string]document.Block
	notes    map[string][]document.Span // by kind and ID
	used     []document.Block           // notes that the text refers to
	pending  []document.Block           // comments on the paragraph and what lies in text boxes
	depth    int                        // of tables in each other
}

// Word reads a DOCX. Insertions are taken as accepted and deletions are left out.
func Word(src document.Source, budget *document.Budget) (*document.Document, error) {
	p, err := open(src, budget, "docx")
	if err != nil {
		return nil, err
	}
	defer p.Close()
	w := &word{
		parts: p, styles: styles{byID: map[string]style{}, lists: map[string]list{}},
		comments: map[string]document.Block{}, notes: map[string][]document.Span{},
	}
	main := p.relations(p.main)
	p.Optional(p.doc, related(main, "styles"), func(d *markup.Decoder) error { return w.readStyles(d, budget) })
	p.Optional(p.doc, related(main, "numbering"), func(d *markup.Decoder) error { return w.readNumbering(d, budget) })
	for _, kind := range []string{"footnotes", "endnotes", "comments"} {
		part := related(main, kind)
		if part == "" {
			continue
		}
		w.rels = p.relations(part)
		p.Optional(p.doc, part, func(d *markup.Decoder) error { return w.readNotes(d, kind) })
	}
	w.rels = main
	w.used = nil
	err = p.ReadXML(p.main, func(d *markup.Decoder) error {
		return d.Elements(func() error {
			if d.Name() != "body" {
				return nil
			}
			return w.body(d, &p.doc.Blocks)
		})
	})
	if err != nil {
		if p.Fatal(err) || len(p.doc.Blocks) == 0 {
			return nil, err
		}
		p.doc.Warn("the text ends early: " + err.Error())
	}
	p.doc.Add(w.used...)
	return p.doc, nil
}

// readNotes reads the part of the footnotes, the endnotes or the comments.
func (w *word) readNotes(d *markup.Decoder, kind string) error {
	return d.Elements(func() error {
		switch d.Name() {
		case "footnote", "endnote", "comment":
		default:
			return nil
		}
		if t := d.Attr("type"); t != "" && t != "normal" { // separators
			return d.Skip()
		}
		id, author := d.Attr("id"), d.Attr("author")
		var blocks []document.Block
		err := w.body(d, &blocks)
		spans := document.Flatten(blocks)
		if kind == "comments" {
			w.comments[id] = document.Block{Kind: document.Comment, Label: author, Spans: spans}
		} else {
			w.notes[kind+id] = spans
		}
		return err
	})
}

// body reads what contains paragraphs and tables.
func (w *word) body(d *markup.Decoder, out *[]document.Block) error {
	return d.Each(func() error {
		switch d.Name() {
		case "p":
			return w.paragraph(d, out)
		case "tbl":
			return w.table(d, out)
		case "del", "moveFrom", "sdtPr", "sectPr", "Fallback":
			return nil
		case "sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag", "AlternateContent", "Choice":
			return w.body(d, out)
		case "oMathPara", "oMath":
			node, err := d.Tree()
			*out = append(*out, document.Block{Spans: []document.Span{{Text: latex.Office(node), Style: document.Math}}})
			return err
		}
		return nil
	})
}

// paragraph reads a paragraph with what hangs on it.
func (w *word) paragraph(d *markup.Decoder, out *[]document.Block) error {
	saved := w.pending
	w.pending = nil
	defer func() { w.pending = saved }()
	p := para{word: w}
	err := p.content(d, "")
	block, ok := p.block()
	if last := len(*out) - 1; ok && block.Kind == document.Code && last >= 0 && (*out)[last].Kind == document.Code {
		code := &(*out)[last]
		code.Spans = document.Append(document.Append(code.Spans, document.Span{Text: "\n"}), block.Spans[0])
	} else if ok {
		*out = append(*out, block)
	}
	*out = append(*out, w.pending...)
	if err == nil {
		err = w.budget.TakeBlock()
	}
	return err
}

// table reads a table. One of a single cell is a frame, whose content is taken for itself.
func (w *word) table(d *markup.Decoder, out *[]document.Block) error {
	w.depth++
	defer func() { w.depth-- }()
	var grid document.Grid
	var only []document.Block
	cells := 0
	var rows func() error
	rows = func() error {
		switch d.Name() {
		case "tr":
			var row []document.Cell
			deleted := false
			var cell func() error
			cell = func() error {
				switch d.Name() {
				case "trPr":
					return d.Each(func() error {
						switch d.Name() {
						case "del":
							deleted = true
						case "gridBefore":
							n, _ := strconv.Atoi(d.Attr("val")) // 0 if it is none
							row = append(row, make([]document.Cell, min(max(n, 0), 64))...)
						}
						return nil
					})
				case "tc":
					cells++
					var blocks []document.Block
					span, continued, err := w.cell(d, &blocks)
					if !continued {
						only = blocks
						row = append(row, document.CellOf(document.Flatten(blocks)))
					} else {
						row = append(row, document.Cell{})
					}
					row = append(row, make([]document.Cell, span-1)...)
					if err == nil {
						err = w.budget.TakeCells(span)
					}
					return err
				case "sdt", "sdtContent":
					return d.Each(cell)
				}
				return nil
			}
			err := d.Each(cell)
			if !deleted && len(row) > 0 {
				grid.Rows = append(grid.Rows, row)
			}
			return err
		case "sdt", "sdtContent", "ins":
			return d.Each(rows)
		}
		return nil
	}
	err := d.Each(rows)
	switch {
	case cells == 1:
		*out = append(*out, only...)
	case len(grid.Rows) > 0:
		*out = append(*out, document.Block{Kind: document.Table, Grid: &grid})
	}
	return err
}

func (w *word) cell(d *markup.Decoder, blocks *[]document.Block) (span int, continued bool, err error) {
	span = 1
	err = d.Each(func() error {
		switch d.Name() {
		case "tcPr":
			return d.Each(func() error {
				switch d.Name() {
				case "gridSpan":
					n, _ := strconv.Atoi(d.Attr("val")) // 0 if it is none
					span = min(max(n, 1), 1024)
				case "vMerge":
					continued = d.Attr("val") != "restart"
				case "hMerge":
					continued = continued || d.Attr("val") != "restart"
				}
				return nil
			})
		case "p":
			return w.paragraph(d, blocks)
		case "tbl":
			return w.table(d, blocks)
		case "sdt", "sdtContent", "ins", "customXml":
			return w.body(d, blocks)
		}
		return nil
	})
	return span, continued, err
}

// picture returns the span of an image that a drawing has.
func (w *word) picture(node *markup.Node) (document.Span, bool) {
	var alt, target string
	var look func(n *markup.Node)
	look = func(n *markup.Node) {
		switch n.Name {
		case "docPr", "cNvPr":
			if text := n.Attr("descr"); text != "" && alt == "" {
				alt = text
			}
		case "blip", "imagedata":
			id := n.Attr("r:embed") + n.Attr("r:id")
			if id == "" {
				id = n.Attr("r:link")
			}
			if target == "" {
				target = path.Base(w.rels[id].target)
			}
			if alt == "" {
				alt = n.Attr("title")
			}
		case "txbxContent", "Fallback":
			return
		}
		for _, c := range n.Nodes {
			look(c)
		}
	}
	look(node)
	if target == "" || target == "." {
		return document.Span{}, false
	}
	return document.Span{Text: strings.TrimSpace(alt), Link: target, Style: document.Picture}, true
}
