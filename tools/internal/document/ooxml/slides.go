package ooxml

import (
	"path"
	"strconv"
	"strings"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/latex"
	"toolcrib/tools/internal/document/markup"
)

// deck reads the parts of a PPTX.
type deck struct {
	*parts
	rels map[string]relation
}

// Slides reads a PPTX in the order of its show, with the notes of each slide.
func Slides(src document.Source, budget *document.Budget) (*document.Document, error) {
	p, err := open(src, budget, "pptx")
	if err != nil {
		return nil, err
	}
	defer p.Close()
	rels := p.relations(p.main)
	var order []string
	err = p.ReadXML(p.main, func(d *markup.Decoder) error {
		return d.Elements(func() error {
			if d.Name() == "sldId" {
				order = append(order, rels[d.Attr("r:id")].target)
			}
			return nil
		})
	})
	if err != nil && len(order) == 0 {
		return nil, err
	}
	for i, part := range order {
		if !src.Pages.Has(i + 1) {
			continue
		}
		err := budget.TakeBlock()
		if err == nil {
			err = (&deck{parts: p}).slide(part, i+1)
		}
		if err != nil {
			if p.Fatal(err) {
				return nil, err
			}
			p.doc.Warn("slide " + strconv.Itoa(i+1) + " ends early: " + err.Error())
		}
	}
	if len(p.doc.Blocks) == 0 && !src.Pages.All() {
		return nil, document.Errorf(document.Absent, "there is no such slide: the file has %d", len(order))
	}
	return p.doc, nil
}

func (k *deck) slide(part string, number int) error {
	k.rels = k.relations(part)
	var blocks []document.Block
	hidden, title := false, ""
	err := k.ReadXML(part, func(d *markup.Decoder) error {
		return d.Elements(func() error {
			switch d.Name() {
			case "sld":
				if show, there := d.Has("show"); there && !on(show, true) {
					hidden = true
				}
			case "spTree":
				return k.shapes(d, &blocks, &title)
			}
			return nil
		})
	})
	mark := document.Block{Kind: document.Mark, Label: "slide", Number: number}
	if hidden {
		mark.State = "hidden"
	}
	if len(blocks) == 0 {
		mark.State = strings.TrimPrefix(mark.State+", no text", ", ")
	}
	k.doc.Add(mark)
	if title != "" {
		k.doc.Add(document.Block{Kind: document.Heading, Level: 2, Spans: document.Text(title)})
	}
	k.doc.Add(blocks...)
	k.notes(related(k.rels, "notesSlide"))
	k.remarks(related(k.rels, "comments"))
	return err
}

// shapes reads a tree or a group of shapes.
func (k *deck) shapes(d *markup.Decoder, out *[]document.Block, title *string) error {
	return d.Each(func() error {
		switch d.Name() {
		case "sp":
			return k.shape(d, out, title)
		case "grpSp", "AlternateContent", "Choice":
			return k.shapes(d, out, title)
		case "graphicFrame":
			return k.frame(d, out)
		case "pic":
			node, err := d.Tree()
			if node != nil {
				w := word{parts: k.parts, rels: k.rels}
				if span, ok := w.picture(node); ok {
					*out = append(*out, document.Block{Spans: []document.Span{span}})
				}
			}
			return err
		}
		return nil
	})
}

func (k *deck) shape(d *markup.Decoder, out *[]document.Block, title *string) error {
	kind := ""
	placeholder := false
	var blocks []document.Block
	err := d.Each(func() error {
		switch d.Name() {
		case "nvSpPr":
			return d.Each(func() error {
				if d.Name() != "nvPr" {
					return nil
				}
				return d.Each(func() error {
					if d.Name() == "ph" {
						placeholder, kind = true, d.Attr("type")
					}
					return nil
				})
			})
		case "txBody":
			return k.text(d, &blocks, placeholder && (kind == "" || kind == "body" || kind == "obj"))
		}
		return nil
	})
	switch kind {
	case "dt", "ftr", "sldNum", "hdr", "sldImg":
		return err
	case "title", "ctrTitle":
		if *title == "" {
			*title = strings.Join(strings.Fields(document.PlainText(document.Flatten(blocks))), " ")
			return err
		}
	}
	*out = append(*out, blocks...)
	return err
}

// text reads the paragraphs of a shape. list says that they are items unless they say
// otherwise.
func (k *deck) text(d *markup.Decoder, out *[]document.Block, list bool) error {
	var counters [10]int
	return d.Each(func() error {
		if d.Name() != "p" {
			return nil
		}
		var spans []document.Span
		item, label, lvl := list, "", 0
		err := k.paragraph(d, &spans, func() error {
			lvl, _ = strconv.Atoi(d.Attr("lvl")) // 0 if it is none
			lvl = min(max(lvl, 0), 8)
			return d.Each(func() error {
				switch d.Name() {
				case "buNone":
					item = false
				case "buChar", "buBlip":
					item = true
				case "buAutoNum":
					item = true
					start, err := strconv.Atoi(d.Attr("startAt"))
					if err != nil {
						start = 1
					}
					label = autoNumber(d.Attr("type"), start+counters[lvl])
				}
				return nil
			})
		})
		clear(counters[lvl+1:])
		if err == nil {
			err = k.budget.TakeBlock()
		}
		if spans = document.Trim(spans); len(spans) == 0 {
			return err
		}
		if label != "" {
			counters[lvl]++
		} else {
			counters[lvl] = 0
		}
		if item {
			*out = append(*out, document.Block{Kind: document.Item, Level: lvl, Label: label, Spans: spans})
		} else {
			*out = append(*out, document.Block{Spans: spans})
		}
		return err
	})
}

func autoNumber(kind string, n int) string {
	format := "decimal"
	for prefix, name := range map[string]string{"alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman", "romanUc": "upperRoman"} {
		if strings.HasPrefix(kind, prefix) {
			format = name
		}
	}
	text := counter(n, format)
	switch {
	case strings.HasSuffix(kind, "ParenBoth"):
		return "(" + text + ")"
	case strings.HasSuffix(kind, "ParenR"):
		return text + ")"
	}
	return text + "."
}

func (k *deck) paragraph(d *markup.Decoder, spans *[]document.Span, props func() error) error {
	return d.Each(func() error {
		switch d.Name() {
		case "pPr":
			return props()
		case "r", "fld":
			return k.run(d, spans)
		case "br":
			*spans = document.Append(*spans, document.Span{Text: "\n"})
		case "m", "AlternateContent", "Choice":
			return k.paragraph(d, spans, func() error { return nil })
		case "oMath", "oMathPara":
			node, err := d.Tree()
			*spans = document.Append(*spans, document.Span{Text: latex.Office(node), Style: document.Math})
			return err
		}
		return nil
	})
}

func (k *deck) run(d *markup.Decoder, spans *[]document.Span) error {
	var span document.Span
	return d.Each(func() error {
		switch d.Name() {
		case "rPr":
			for name, style := range map[string]document.Style{"b": document.Bold, "i": document.Italic} {
				if value, there := d.Has(name); there && on(value, true) {
					span.Style |= style
				}
			}
			if strike := d.Attr("strike"); strike == "sngStrike" || strike == "dblStrike" {
				span.Style |= document.Strike
			}
			if base, err := strconv.Atoi(d.Attr("baseline")); err == nil && base != 0 {
				span.Style |= document.Superscript
				if base < 0 {
					span.Style ^= document.Superscript | document.Subscript
				}
			}
			return d.Each(func() error {
				if d.Name() == "hlinkClick" {
					if rel := k.rels[d.Attr("r:id")]; rel.extern {
						span.Link = rel.target
					}
				}
				return nil
			})
		case "t":
			text, err := d.Inner()
			if err == nil {
				err = k.budget.TakeSpan(0)
			}
			span.Text = strings.ReplaceAll(text, "\v", "\n")
			*spans = document.Append(*spans, span)
			return err
		}
		return nil
	})
}

// frame reads a table, or the texts of a diagram or a chart.
func (k *deck) frame(d *markup.Decoder, out *[]document.Block) error {
	return d.Each(func() error {
		switch d.Name() {
		case "graphic", "graphicData":
			return k.frame(d, out)
		case "tbl":
			return k.table(d, out)
		case "relIds": // a diagram
			part := k.rels[d.Attr("r:dm")].target
			k.Optional(k.doc, part, func(d *markup.Decoder) error {
				return d.Elements(func() error {
					if d.Name() != "t" || d.Full() != "dgm:t" {
						return nil
					}
					return k.text(d, out, true)
				})
			})
		}
		return nil
	})
}

func (k *deck) table(d *markup.Decoder, out *[]document.Block) error {
	var grid document.Grid
	err := d.Each(func() error {
		if d.Name() != "tr" {
			return nil
		}
		var row []document.Cell
		err := d.Each(func() error {
			if d.Name() != "tc" {
				return nil
			}
			covered := d.Attr("hMerge") + d.Attr("vMerge")
			var blocks []document.Block
			err := d.Each(func() error {
				if d.Name() != "txBody" {
					return nil
				}
				return k.text(d, &blocks, false)
			})
			if covered != "" && covered != "0" {
				blocks = nil
			}
			row = append(row, document.CellOf(document.Flatten(blocks)))
			if err == nil {
				err = k.budget.TakeCells(1)
			}
			return err
		})
		grid.Rows = append(grid.Rows, row)
		return err
	})
	if len(grid.Rows) > 0 {
		*out = append(*out, document.Block{Kind: document.Table, Grid: &grid})
	}
	return err
}

// notes reads the speaker's notes of a slide.
func (k *deck) notes(part string) {
	rels := k.rels
	defer func() { k.rels = rels }()
	if part == "" {
		return
	}
	k.rels = k.relations(part)
	var blocks []document.Block
	title := "-" // nothing there is a title
	k.Optional(k.doc, part, func(d *markup.Decoder) error {
		return d.Elements(func() error {
			if d.Name() != "spTree" {
				return nil
			}
			return k.shapes(d, &blocks, &title)
		})
	})
	kept := blocks[:0]
	for _, b := range blocks {
		if b.Kind == document.Item {
			b.Kind = document.Paragraph
		}
		kept = append(kept, b)
	}
	if spans := document.Flatten(kept); len(spans) > 0 {
		k.doc.Add(document.Block{Kind: document.Note, Spans: spans})
	}
}

// remarks reads the comments on a slide.
func (k *deck) remarks(part string) {
	if part == "" {
		return
	}
	authors := map[string]string{}
	k.Optional(k.doc, path.Join(path.Dir(k.main), "commentAuthors.xml"), func(d *markup.Decoder) error {
		return d.Elements(func() error {
			if d.Name() == "cmAuthor" {
				name := d.Attr("name")
				authors[d.Attr("id")] = name[:min(len(name), 200)]
			}
			return nil
		})
	})
	k.Optional(k.doc, part, func(d *markup.Decoder) error {
		return d.Elements(func() error {
			if d.Name() != "cm" {
				return nil
			}
			author := authors[d.Attr("authorId")]
			return d.Each(func() error {
				switch d.Name() {
				case "text", "txBody":
				default:
					return nil
				}
				text, err := d.Inner()
				k.doc.Add(document.Block{Kind: document.Comment, Label: author, Spans: document.Text(strings.TrimSpace(text))})
				return err
			})
		})
	})
}
