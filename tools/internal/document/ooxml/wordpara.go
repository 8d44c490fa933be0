package ooxml

import (
	"strconv"
	"strings"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/latex"
	"toolcrib/tools/internal/document/markup"
)

// runProps are the properties of a run; those that set has are given, the others are those of
// the style.
type runProps struct {
	style, set document.Style
	hidden     bool
	named      string // the style of the run
}

func (r runProps) with(own runProps) runProps {
	own.style |= r.style &^ own.set
	own.set |= r.set
	own.hidden = own.hidden || r.hidden
	return own
}

// read reads the properties that begin here.
func (r *runProps) read(d *markup.Decoder) error {
	return d.Each(func() error {
		value, there := d.Has("val")
		put := func(style document.Style, is bool) {
			r.set |= style
			r.style &^= style
			if is {
				r.style |= style
			}
		}
		switch d.Name() {
		case "b":
			put(document.Bold, on(value, there))
		case "i":
			put(document.Italic, on(value, there))
		case "strike", "dstrike":
			put(document.Strike, on(value, there))
		case "vanish", "webHidden":
			r.hidden = on(value, there)
		case "vertAlign":
			put(document.Superscript, value == "superscript")
			put(document.Subscript, value == "subscript")
		case "rStyle":
			r.named = value
		case "rFonts":
			put(document.Mono, isMono(d.Attr("ascii")))
		}
		return nil
	})
}

func isMono(font string) bool {
	font = strings.ToLower(font)
	for _, name := range []string{"courier", "consolas", "mono", "menlo", "lucida console"} {
		if strings.Contains(font, name) {
			return true
		}
	}
	return false
}

// field is a field whose instruction is being read or whose result is shown.
type field struct {
	instruction strings.Builder
	shown       bool
}

// para reads a paragraph.
type para struct {
	*word
	styleID, numID string
	level, outline int
	run            runProps // of the style
	resolved       style
	spans          []document.Span
	fields         []*field
}

// content reads the children of a paragraph or of what groups runs in it.
func (p *para) content(d *markup.Decoder, link string) error {
	return d.Each(func() error {
		switch d.Name() {
		case "pPr":
			return p.props(d)
		case "r":
			return p.readRun(d, link)
		case "hyperlink":
			to := link
			if rel, ok := p.rels[d.Attr("r:id")]; ok {
				to = rel.target
			}
			return p.content(d, to)
		case "fldSimple":
			return p.content(d, linkOf(d.Attr("instr"), link))
		case "oMath", "oMathPara":
			node, err := d.Tree()
			p.spans = document.Append(p.spans, document.Span{Text: latex.Office(node), Style: document.Math})
			return err
		case "del", "moveFrom", "sdtPr", "rPr", "Fallback":
			return nil
		case "ins", "moveTo", "smartTag", "sdt", "sdtContent", "customXml", "AlternateContent", "Choice", "dir", "bdo", "ruby", "rubyBase":
			return p.content(d, link)
		}
		return nil
	})
}

// props reads the properties of the paragraph.
func (p *para) props(d *markup.Decoder) error {
	numbered := false
	err := d.Each(func() error {
		switch d.Name() {
		case "pStyle":
			p.styleID = d.Attr("val")
		case "outlineLvl":
			if n, err := strconv.Atoi(d.Attr("val")); err == nil && n >= 0 && n < 9 {
				p.outline = n + 1
			}
		case "numPr":
			numbered = true
			return d.Each(func() error {
				switch d.Name() {
				case "numId":
					p.numID = d.Attr("val")
				case "ilvl":
					p.level, _ = strconv.Atoi(d.Attr("val")) // 0 if it is none
				}
				return nil
			})
		}
		return nil
	})
	p.resolved = p.resolve(p.styleID)
	p.run = p.resolved.run
	if p.numID == "" && p.resolved.numID != "" {
		p.numID = p.resolved.numID
		if !numbered {
			p.level = p.resolved.level
		}
	}
	return err
}

// readRun reads a run.
func (p *para) readRun(d *markup.Decoder, link string) error {
	props := p.run
	add := func(text string) error {
		if props.hidden || len(p.fields) > 0 && !p.fields[len(p.fields)-1].shown {
			return nil
		}
		to := link
		if len(p.fields) > 0 {
			to = linkOf(p.fields[len(p.fields)-1].instruction.String(), link)
		}
		p.spans = document.Append(p.spans, document.Span{Text: text, Style: props.style, Link: to})
		return p.budget.TakeSpan(len(text))
	}
	var child func() error
	child = func() error {
		switch d.Name() {
		case "rPr":
			var own runProps
			err := own.read(d)
			if own.named != "" {
				own = p.resolve(own.named).run.with(own)
			}
			props = p.run.with(own)
			return err
		case "t":
			text, err := d.Inner()
			if err != nil {
				_ = add(text) // the error that counts is the first
				return err
			}
			return add(text)
		case "tab", "ptab":
			return add("\t")
		case "br", "cr":
			if d.Attr("type") == "page" || d.Attr("type") == "column" {
				return nil
			}
			return add("\n")
		case "noBreakHyphen":
			return add("‑")
		case "sym":
			if n, err := strconv.ParseUint(d.Attr("char"), 16, 32); err == nil && n >= 0x20 && (n < 0xE000 || n > 0xF8FF) {
				return add(string(rune(n)))
			}
			return nil
		case "fldChar":
			p.fieldChar(d.Attr("fldCharType"))
		case "instrText":
			text, err := d.Inner()
			if n := len(p.fields); n > 0 && p.fields[n-1].instruction.Len() < 4096 {
				p.fields[n-1].instruction.WriteString(text)
			}
			return err
		case "footnoteReference", "endnoteReference":
			return p.note(strings.TrimSuffix(d.Name(), "Reference")+"s", d.Attr("id"))
		case "commentReference":
			if c, ok := p.comments[d.Attr("id")]; ok {
				p.pending = append(p.pending, c)
				return p.budget.TakeRepeated(append(c.Spans, document.Span{Text: c.Label}))
			}
		case "drawing", "pict", "object":
			return p.drawing(d)
		case "AlternateContent", "Choice":
			return d.Each(child)
		}
		return nil
	}
	return d.Each(child)
}

// fieldChar reads the start, the middle or the end of a field.
func (p *para) fieldChar(kind string) {
	n := len(p.fields)
	switch {
	case kind == "begin":
		if n < 64 {
			p.fields = append(p.fields, &field{})
		}
	case n == 0:
	case kind == "separate":
		p.fields[n-1].shown = true
	case kind == "end":
		p.fields = p.fields[:n-1]
	}
}

// linkOf returns the address in a HYPERLINK field.
func linkOf(instruction, otherwise string) string {
	words := strings.Fields(instruction)
	if len(words) > 1 && words[0] == "HYPERLINK" && !strings.HasPrefix(words[1], `\`) {
		return strings.Trim(words[1], `"`)
	}
	return otherwise
}

// note adds a reference to a note.
func (p *para) note(kind, id string) error {
	spans, ok := p.notes[kind+id]
	if !ok {
		return nil
	}
	label := strconv.Itoa(len(p.used) + 1)
	p.used = append(p.used, document.Block{Kind: document.Note, Label: label, Spans: spans})
	p.spans = append(p.spans, document.Span{Text: label, Style: document.Ref})
	return p.budget.TakeRepeated(spans)
}

// drawing reads an image, and the paragraphs of text boxes, which follow the paragraph.
func (p *para) drawing(d *markup.Decoder) error {
	outer := markup.Node{}
	var read func(into *markup.Node) error
	read = func(into *markup.Node) error {
		return d.Each(func() error {
			switch d.Name() {
			case "txbxContent":
				var blocks []document.Block
				err := p.body(d, &blocks)
				p.pending = append(p.pending, blocks...)
				return err
			case "Fallback":
				return nil
			}
			node := d.Node()
			into.Nodes = append(into.Nodes, node)
			return read(node)
		})
	}
	err := read(&outer)
	if span, ok := p.picture(&outer); ok {
		p.spans = document.Append(p.spans, span)
	}
	return err
}

// block returns the block that the paragraph makes; false = it is empty.
func (p *para) block() (document.Block, bool) {
	name := p.resolved.name
	spans := p.spans
	if !isCode(name) {
		spans = document.Trim(spans)
	}
	heading := p.resolved.heading()
	if p.outline > 0 {
		heading = min(p.outline, 6)
	}
	label, isList := p.label(p.numID, p.level) // an empty item counts
	if len(spans) == 0 {
		return document.Block{}, false
	}
	switch {
	case heading > 0:
		if isList && label != "" {
			spans = append(document.Text(label+" "), spans...)
		}
		return document.Block{Kind: document.Heading, Level: heading, Spans: spans}, true
	case isList:
		return document.Block{Kind: document.Item, Level: p.level, Label: label, Spans: spans}, true
	case isCode(name):
		return document.Block{Kind: document.Code, Spans: document.Text(document.PlainText(spans))}, true
	case strings.Contains(name, "quote"), name == "block text":
		return document.Block{Kind: document.Quote, Spans: spans}, true
	}
	return document.Block{Spans: spans}, true
}

func isCode(style string) bool {
	switch style {
	case "source code", "code", "html preformatted", "preformatted text", "plain text", "macro":
		return true
	}
	return false
}
