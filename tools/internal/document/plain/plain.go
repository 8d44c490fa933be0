// Package plain reads the formats that are text: CSV, JSON, XML, feeds, notebooks, Markdown.
//
// It imports the model and the reader of HTML, which feeds and notebooks contain. Start at
// [Text].
package plain

import (
	"bytes"
	"errors"
	"io"
	"path"
	"strings"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/chars"
	"toolcrib/tools/internal/document/markup"
)

// decoded returns a file of text in UTF-8 and the name of its encoding.
func decoded(src document.Source, budget *document.Budget) ([]byte, string, error) {
	if err := budget.CheckFile(src.Size); err != nil {
		return nil, "", err
	}
	if err := budget.TakeText(int(src.Size)); err != nil {
		return nil, "", err
	}
	data, err := src.Bytes(budget)
	if err != nil {
		return nil, "", err
	}
	text, name, err := chars.Decode(data, "")
	if err == nil && bytes.IndexByte(text[:min(len(text), 8<<10)], 0) >= 0 {
		err = document.Errorf(document.Unsupported, "the file is no text")
	}
	return text, name, err
}

// Text reads a text: Markdown by its headings and code, code as code, anything else by
// paragraphs.
func Text(src document.Source, budget *document.Budget) (*document.Document, error) {
	text, encoding, err := decoded(src, budget)
	if err != nil {
		return nil, err
	}
	doc := &document.Document{Format: "text"}
	if encoding != "utf-8" {
		doc.Field("encoding", encoding)
	}
	switch ext := strings.ToLower(path.Ext(src.Name)); ext {
	case ".md", ".markdown", ".mdx":
		doc.Format = "markdown"
		doc.Blocks = Markdown(string(text))
	case ".txt", ".text", ".log", "":
		doc.Add(document.Paragraphs(string(text))...)
	default:
		doc.Add(document.Block{Kind: document.Code, Label: strings.TrimPrefix(ext, "."), Spans: document.Text(string(text))})
	}
	return doc, nil
}

// Markdown divides Markdown at its headings, code and empty lines. What is inside of
// paragraphs stays as it is.
func Markdown(text string) []document.Block {
	var blocks []document.Block
	var lines []string
	fence, lang := "", ""
	flush := func() {
		if p := strings.Join(lines, "\n"); strings.TrimSpace(p) != "" {
			if fence != "" {
				blocks = append(blocks, document.Block{Kind: document.Code, Label: lang, Spans: document.Text(p)})
			} else {
				blocks = append(blocks, document.Block{Spans: []document.Span{{Text: strings.TrimRight(p, " \n"), Style: document.Markup}}})
			}
		}
		lines = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		level, heading := HeadingOf(line)
		after := FenceAfter(fence, trimmed)
		switch {
		case fence != "" && after == "":
			flush()
			fence = ""
		case fence != "":
			lines = append(lines, line)
		case after != "":
			flush()
			fence = after
			lang, _, _ = strings.Cut(strings.TrimSpace(trimmed[len(fence):]), " ")
		case level > 0:
			flush()
			blocks = append(blocks, document.Block{Kind: document.Heading, Level: level, Spans: []document.Span{{Text: heading, Style: document.Markup}}})
		case trimmed == "":
			flush()
		default:
			lines = append(lines, line)
		}
	}
	flush()
	return blocks
}

// HeadingOf returns the level of a heading of Markdown, 0 for another line.
func HeadingOf(line string) (level int, text string) {
	if strings.HasPrefix(line, "    ") {
		return 0, ""
	}
	line = strings.TrimSpace(line)
	rest := strings.TrimLeft(line, "#")
	level = len(line) - len(rest)
	if level == 0 || level > 6 || !strings.HasPrefix(rest, " ") {
		return 0, ""
	}
	return level, strings.TrimSpace(strings.TrimRight(rest, "# "))
}

// FenceAfter returns the sign that ends the block of code of Markdown in which the next line
// is, "" if it is in none. fence is that of a line, which is trimmed.
func FenceAfter(fence, line string) string {
	if fence != "" {
		if strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == "" {
			return ""
		}
		return fence
	}
	for _, sign := range [...]string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, sign)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// XML reads any XML: a feed as its entries, anything else as it is, once it is known to be
// harmless.
func XML(src document.Source, budget *document.Budget) (*document.Document, error) {
	if err := budget.CheckFile(src.Size); err != nil {
		return nil, err
	}
	root := ""
	d := markup.New(io.NewSectionReader(src, 0, src.Size), budget)
	for n := 0; ; n++ {
		kind, err := d.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if document.Is(err, document.Truncated) && n > 0 {
			break // the rest is shown
		}
		if err != nil {
			return nil, err
		}
		if n%4096 == 0 && budget.Err() != nil {
			return nil, budget.Err()
		}
		if kind == markup.Start && root == "" {
			root = d.Name()
		}
	}
	switch root {
	case "rss", "feed", "RDF":
		return feed(src, budget)
	case "":
		return nil, document.Errorf(document.Malformed, "the XML has no element")
	}
	text, _, err := decoded(src, budget)
	if err != nil {
		return nil, err
	}
	doc := &document.Document{Format: "xml"}
	doc.Add(document.Block{Kind: document.Code, Label: "xml", Spans: document.Text(string(text))})
	return doc, nil
}
