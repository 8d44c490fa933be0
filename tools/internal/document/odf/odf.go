// Package odf reads OpenDocument: texts, spreadsheets and presentations.
//
// It imports the model and what opens archives and XML, and must not import another reader.
// Start at [Read].
package odf

import (
	"path"
	"strconv"
	"strings"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/cells"
	"toolcrib/tools/internal/document/latex"
	"toolcrib/tools/internal/document/markup"
	"toolcrib/tools/internal/document/pack"
)

// file is an open file.
type file struct {
	*pack.Archive
	styles
	src    document.Source
	area   cells.Area
	budget *document.Budget
	doc    *document.Document
	notes  []document.Block
	after  []document.Block // comments on the paragraph, and what lies in its frames
	sheets []string
	slides int
	depth  int
}

// Read reads a file of any of the three formats.
func Read(src document.Source, budget *document.Budget) (*document.Document, error) {
	area, err := cells.ParseArea(src.Range)
	if err != nil {
		return nil, err
	}
	archive, err := pack.Open(src, budget)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	f := &file{Archive: archive, styles: newStyles(), src: src, area: area, budget: budget, doc: &document.Document{Format: "odt"}}
	if err := f.checkManifest(); err != nil {
		return nil, err
	}
	f.Optional(f.doc, "meta.xml", f.meta)
	f.Optional(f.doc, "styles.xml", func(d *markup.Decoder) error { return f.content(d) })
	err = f.ReadXML("content.xml", f.content)
	if err != nil {
		if f.Fatal(err) || len(f.doc.Blocks) == 0 {
			return nil, err
		}
		f.doc.Warn("the content ends early: " + err.Error())
	}
	f.doc.Add(f.notes...)
	switch {
	case f.doc.Format == "ods" && len(f.doc.Blocks) == 0 && len(f.sheets) > 0:
		return nil, cells.NoSheet(src, f.sheets)
	case f.doc.Format == "odp" && len(f.doc.Blocks) == 0 && !src.Pages.All():
		return nil, document.Errorf(document.Absent, "there is no such slide: the file has %d", f.slides)
	}
	return f.doc, nil
}

// checkManifest refuses files whose parts are encrypted.
func (f *file) checkManifest() error {
	encrypted := false
	f.Optional(f.doc, "META-INF/manifest.xml", func(d *markup.Decoder) error {
		return d.Elements(func() error {
			encrypted = encrypted || d.Name() == "encryption-data"
			return nil
		})
	})
	if encrypted {
		return document.Errorf(document.Encrypted, "the file is encrypted")
	}
	return nil
}

func (f *file) meta(d *markup.Decoder) error {
	return d.Elements(func() error {
		switch name := d.Name(); name {
		case "title", "creator", "date", "subject", "description", "keyword":
			text, err := d.Inner()
			switch name {
			case "title":
				f.doc.Title = strings.TrimSpace(text)
			case "creator":
				f.doc.Field("author", text)
			case "date":
				f.doc.Field("modified", text)
			default:
				f.doc.Field(name, text)
			}
			return err
		}
		return nil
	})
}

// content reads the styles and the body of a part.
func (f *file) content(d *markup.Decoder) error {
	return d.Elements(func() error {
		switch d.Name() {
		case "style":
			if err := f.budget.TakeText(256); err != nil {
				return err
			}
			return f.readStyle(d)
		case "list-style":
			return f.readListStyle(d, d.Attr("name"))
		case "outline-style":
			return f.readListStyle(d, outline)
		case "master-styles", "scripts":
			return d.Skip()
		case "text":
			if d.Full() == "office:text" {
				return f.body(d, &f.doc.Blocks)
			}
		case "spreadsheet":
			f.doc.Format = "ods"
			return f.spreadsheet(d)
		case "presentation":
			if d.Full() == "office:presentation" {
				f.doc.Format = "odp"
				return f.presentation(d)
			}
		case "drawing":
			if d.Full() == "office:drawing" {
				f.doc.Format = "odg"
				return f.presentation(d)
			}
		}
		return nil
	})
}

// body reads what contains paragraphs.
func (f *file) body(d *markup.Decoder, out *[]document.Block) error {
	return d.Each(func() error { return f.child(d, out) })
}

func (f *file) child(d *markup.Decoder, out *[]document.Block) error {
	switch d.Name() {
	case "h", "p":
		return f.paragraph(d, out, nil)
	case "list":
		return f.list(d, out, nil)
	case "table":
		return f.table(d, out)
	case "section", "index-body", "table-of-content", "numbered-paragraph", "text-box", "alphabetical-index", "bibliography", "illustration-index", "user-index", "g":
		return f.body(d, out)
	case "frame", "custom-shape", "rect", "ellipse":
		return f.frame(d, out)
	}
	return nil
}

// item is the place of a paragraph in a list.
type item struct {
	level int
	label string
	first bool // of its item
}

// paragraph reads a paragraph or a heading.
func (f *file) paragraph(d *markup.Decoder, out *[]document.Block, in *item) error {
	saved := f.after
	f.after = nil
	defer func() { f.after = saved }()
	heading := 0
	style := f.resolve(d.Attr("style-name"))
	if d.Name() == "h" {
		heading, _ = strconv.Atoi(d.Attr("outline-level")) // 0 becomes 1
		heading = max(heading, 1)
	}
	var spans []document.Span
	err := f.inline(d, &spans, style.run, "")
	if style.kind != "code" {
		spans = document.Trim(spans)
	}
	if style.hidden {
		spans = nil
	}
	if len(spans) > 0 {
		*out = f.add(*out, spans, style, heading, in)
	}
	*out = append(*out, f.after...)
	if err == nil {
		err = f.budget.TakeBlock()
	}
	return err
}

func (f *file) add(out []document.Block, spans []document.Span, style style, heading int, in *item) []document.Block {
	if heading == 0 && style.kind == "title" {
		heading = 1
	}
	last := len(out) - 1
	switch {
	case heading > 0:
		label := f.count(outline, heading-1)
		if in != nil && in.first {
			label = in.label
		}
		if label != "" {
			spans = append(document.Text(label+" "), spans...)
		}
		return append(out, document.Block{Kind: document.Heading, Level: min(heading, 6), Spans: spans})
	case in != nil && !in.first && last >= 0 && out[last].Kind == document.Item:
		out[last].Spans = document.Append(out[last].Spans, document.Span{Text: "\n"})
		for _, s := range spans {
			out[last].Spans = document.Append(out[last].Spans, s)
		}
		return out
	case in != nil:
		return append(out, document.Block{Kind: document.Item, Level: in.level, Label: in.label, Spans: spans})
	case style.kind == "code":
		text := document.PlainText(spans)
		if last >= 0 && out[last].Kind == document.Code {
			out[last].Spans = document.Append(document.Append(out[last].Spans, document.Span{Text: "\n"}), document.Span{Text: text})
			return out
		}
		return append(out, document.Block{Kind: document.Code, Spans: document.Text(text)})
	case style.kind == "quote":
		return append(out, document.Block{Kind: document.Quote, Spans: spans})
	}
	return append(out, document.Block{Spans: spans})
}

// inline reads the content of a paragraph or a span.
func (f *file) inline(d *markup.Decoder, spans *[]document.Span, style document.Style, link string) error {
	add := func(text string) {
		*spans = document.Append(*spans, document.Span{Text: text, Style: style, Link: link})
	}
	for depth := d.Depth(); ; {
		kind, err := d.Next()
		if err != nil {
			return err
		}
		switch {
		case kind == markup.End && d.Depth() < depth:
			return nil
		case kind == markup.Text:
			text := fold(string(d.Text()))
			if n := len(*spans); n > 0 && strings.HasSuffix((*spans)[n-1].Text, " ") || n == 0 {
				text = strings.TrimPrefix(text, " ")
			}
			add(text)
			if err := f.budget.TakeSpan(len(text)); err != nil {
				return err
			}
		case kind != markup.Start:
		default:
			if err := f.inlineChild(d, spans, style, link, add); err != nil {
				return err
			}
		}
	}
}

// inlineChild reads an element in a paragraph, whole.
func (f *file) inlineChild(d *markup.Decoder, spans *[]document.Span, style document.Style, link string, add func(string)) error {
	switch d.Name() {
	case "span":
		own := f.resolve(d.Attr("style-name"))
		if own.hidden {
			return d.Skip()
		}
		return f.inline(d, spans, style|own.run, link)
	case "a":
		return f.inline(d, spans, style, d.Attr("href"))
	case "s":
		n, _ := strconv.Atoi(d.Attr("c")) // 0 becomes 1
		add(strings.Repeat(" ", min(max(n, 1), 256)))
	case "tab":
		add("\t")
	case "line-break":
		add("\n")
	case "note":
		return f.note(d, spans)
	case "annotation":
		comment, err := f.annotation(d)
		f.after = append(f.after, comment)
		return err
	case "frame", "custom-shape", "rect", "ellipse", "g":
		return f.frameIn(d, spans)
	case "ruby":
		return d.Each(func() error {
			if d.Name() == "ruby-base" {
				return f.inline(d, spans, style, link)
			}
			return nil
		})
	case "annotation-end", "tracked-changes", "script", "hidden-text", "hidden-paragraph":
		return d.Skip()
	default: // fields, bookmarks, meta
		return f.inline(d, spans, style, link)
	}
	return d.Skip()
}

func fold(text string) string {
	if !strings.ContainsAny(text, "\t\n\r") && !strings.Contains(text, "  ") {
		return text
	}
	var b strings.Builder
	space := false
	for _, r := range text {
		if r == ' ' || r == '\t' || r == '\n' || r == '\r' {
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		}
		b.WriteRune(r)
		space = false
	}
	return b.String()
}

func (f *file) note(d *markup.Decoder, spans *[]document.Span) error {
	var blocks []document.Block
	label := strconv.Itoa(len(f.notes) + 1)
	*spans = append(*spans, document.Span{Text: label, Style: document.Ref})
	at := len(f.notes)
	f.notes = append(f.notes, document.Block{Kind: document.Note, Label: label})
	err := d.Each(func() error {
		if d.Name() == "note-body" {
			return f.body(d, &blocks)
		}
		return nil
	})
	f.notes[at].Spans = document.Flatten(blocks)
	return err
}

// annotation reads a comment.
func (f *file) annotation(d *markup.Decoder) (document.Block, error) {
	comment := document.Block{Kind: document.Comment}
	var blocks []document.Block
	err := d.Each(func() error {
		switch d.Name() {
		case "creator":
			name, err := d.Inner()
			comment.Label = strings.TrimSpace(name)
			return err
		case "p", "list":
			return f.child(d, &blocks)
		}
		return nil
	})
	comment.Spans = document.Flatten(blocks)
	return comment, err
}

// frameIn reads a frame in a paragraph: an image or an equation is a part of the line, all
// else follows it.
func (f *file) frameIn(d *markup.Decoder, spans *[]document.Span) error {
	var blocks []document.Block
	err := f.frame(d, &blocks)
	for _, b := range blocks {
		if b.Kind == document.Paragraph && len(b.Spans) == 1 && b.Spans[0].Style&(document.Picture|document.Math) != 0 {
			*spans = append(*spans, b.Spans[0])
		} else {
			f.after = append(f.after, b)
		}
	}
	return err
}

// frame reads a frame: a text box, an image, a table or an equation.
func (f *file) frame(d *markup.Decoder, out *[]document.Block) error {
	var image, alt, object string
	var blocks []document.Block
	if f.depth++; f.depth > 32 {
		f.depth--
		return d.Skip()
	}
	defer func() { f.depth-- }()
	err := d.Each(func() error {
		switch d.Name() {
		case "image":
			if image == "" {
				image = path.Base(d.Attr("href"))
			}
		case "title", "desc":
			text, err := d.Inner()
			if alt == "" {
				alt = strings.TrimSpace(text)
			}
			return err
		case "object":
			object = strings.TrimPrefix(d.Attr("href"), "./")
		default:
			return f.child(d, &blocks)
		}
		return nil
	})
	if object != "" {
		var equation string
		f.Optional(f.doc, object+"/content.xml", func(d *markup.Decoder) error {
			for {
				kind, err := d.Next()
				if err != nil {
					return err
				}
				if kind == markup.Start && d.Name() == "math" {
					node, err := d.Tree()
					equation = latex.MathML(node)
					return err
				}
				if kind == markup.Start && d.Depth() > 1 {
					return nil
				}
			}
		})
		if equation != "" {
			*out = append(*out, document.Block{Spans: []document.Span{{Text: equation, Style: document.Math}}})
			return err
		}
	}
	if len(blocks) == 0 && image != "" && image != "." {
		blocks = append(blocks, document.Block{Spans: []document.Span{{Text: alt, Link: image, Style: document.Picture}}})
	}
	*out = append(*out, blocks...)
	return err
}
