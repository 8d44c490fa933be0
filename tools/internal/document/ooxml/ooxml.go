// Package ooxml reads the formats of Office Open XML: DOCX, XLSX, XLSB, PPTX.
//
// It imports the model and what opens archives and XML, and must not import another reader.
// Start at [Word], [Sheet] and [Slides].
package ooxml

import (
	"path"
	"strings"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/markup"
	"toolcrib/tools/internal/document/pack"
)

// parts is an open file with its parts.
type parts struct {
	*pack.Archive
	budget *document.Budget
	doc    *document.Document
	main   string // the part that the file is about
}

// relation is where a part points to.
type relation struct {
	kind   string // the last word of its type
	target string // a part, or an address
	extern bool
}

// open opens a file whose main part is one of a kind.
func open(src document.Source, budget *document.Budget, format string) (*parts, error) {
	archive, err := pack.Open(src, budget)
	if err != nil {
		return nil, err
	}
	p := &parts{Archive: archive, budget: budget, doc: &document.Document{Format: format}}
	for _, rel := range p.relations("") {
		switch rel.kind {
		case "officeDocument":
			p.main = rel.target
		case "core-properties":
			p.properties(rel.target)
		}
	}
	if p.main == "" || !p.Has(p.main) {
		p.main = map[string]string{"docx": "word/document.xml", "xlsx": "xl/workbook.xml", "pptx": "ppt/presentation.xml"}[format]
	}
	return p, nil
}

// relations returns the relations of a part by their IDs. A part without any has none.
func (p *parts) relations(part string) map[string]relation {
	all := map[string]relation{}
	name := path.Join(path.Dir(part), "_rels", path.Base(part)+".rels")
	if part == "" {
		name = "_rels/.rels"
	}
	p.Optional(p.doc, name, func(d *markup.Decoder) error {
		return d.Elements(func() error {
			if d.Name() != "Relationship" {
				return nil
			}
			rel := relation{kind: path.Base(d.Attr("Type")), target: d.Attr("Target"), extern: d.Attr("TargetMode") == "External"}
			switch {
			case rel.extern:
			case strings.HasPrefix(rel.target, "/"):
				rel.target = rel.target[1:]
			default:
				rel.target = path.Join(path.Dir(part), rel.target)
			}
			const longest = 4096
			if len(rel.target) > longest {
				return nil
			}
			all[d.Attr("Id")] = rel
			return p.budget.TakeBlock()
		})
	})
	return all
}

// related returns the part that a part points to in a relation of a kind; "" = none.
func related(relations map[string]relation, kind string) string {
	for _, rel := range relations {
		if rel.kind == kind {
			return rel.target
		}
	}
	return ""
}

// properties reads the title and the like.
func (p *parts) properties(name string) {
	p.Optional(p.doc, name, func(d *markup.Decoder) error {
		return d.Elements(func() error {
			if d.Name() != "coreProperties" {
				return nil
			}
			return d.Each(func() error {
				name := d.Name()
				text, err := d.Inner()
				switch name {
				case "title":
					p.doc.Title = strings.TrimSpace(text)
				case "creator":
					p.doc.Field("author", text)
				case "modified", "subject", "keywords", "description":
					p.doc.Field(name, text)
				}
				return err
			})
		})
	})
}

// on reports whether a property that is there is set: <w:b/>, <w:b w:val="0"/>.
func on(value string, there bool) bool {
	return there && value != "0" && value != "false" && value != "off" && value != "none" || !there
}
