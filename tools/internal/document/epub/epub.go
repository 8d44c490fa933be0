// Package epub reads EPUB books in the order of their spine.
//
// It imports the model and the reader of HTML, of which chapters are made. Start at [Read].
package epub

import (
	"net/url"
	"path"
	"strings"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/chars"
	"toolcrib/tools/internal/document/html"
	"toolcrib/tools/internal/document/markup"
	"toolcrib/tools/internal/document/pack"
)

type item struct{ href, media, properties string }

type book struct {
	*pack.Archive
	doc   *document.Document
	items map[string]item
	spine []string // IDs, those that are not part of the text left out
}

// Read reads a book.
func Read(src document.Source, budget *document.Budget) (*document.Document, error) {
	archive, err := pack.Open(src, budget)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	b := &book{Archive: archive, doc: &document.Document{Format: "epub"}, items: map[string]item{}}
	if encrypted, err := b.encrypted(); err != nil || encrypted {
		if err == nil {
			err = document.Errorf(document.Encrypted, "the book is protected: its chapters are encrypted")
		}
		return nil, err
	}
	var main string
	if err := b.each("META-INF/container.xml", func(d *markup.Decoder) error {
		if d.Name() == "rootfile" && main == "" {
			main = d.Attr("full-path")
		}
		return nil
	}); err != nil && main == "" {
		return nil, err
	}
	if err := b.each(main, b.read); err != nil && len(b.spine) == 0 {
		return nil, err
	}
	for i, id := range b.spine {
		it, ok := b.items[id]
		if !ok || !src.Pages.Has(i+1) {
			continue
		}
		if err := b.chapter(path.Join(path.Dir(main), it.href), budget); err != nil {
			if b.Fatal(err) {
				return nil, err
			}
			b.doc.Warn("chapter " + it.href + ": " + err.Error())
		}
	}
	if len(b.doc.Blocks) == 0 && !src.Pages.All() {
		return nil, document.Errorf(document.Absent, "there is no such chapter: the book has %d", len(b.spine))
	}
	return b.doc, nil
}

// encrypted reports whether chapters are encrypted; fonts often are.
func (b *book) encrypted() (bool, error) {
	const part = "META-INF/encryption.xml"
	if !b.Has(part) {
		return false, nil
	}
	found := false
	err := b.each(part, func(d *markup.Decoder) error {
		if d.Name() == "CipherReference" {
			ext := strings.ToLower(path.Ext(d.Attr("URI")))
			found = found || ext == ".xhtml" || ext == ".html" || ext == ".htm" || ext == ".opf"
		}
		return nil
	})
	return found, err
}

// each calls a function at the start of each element of a part.
func (b *book) each(part string, start func(d *markup.Decoder) error) error {
	return b.ReadXML(part, func(d *markup.Decoder) error {
		return d.Elements(func() error { return start(d) })
	})
}

// read reads an element of the package document.
func (b *book) read(d *markup.Decoder) error {
	name := d.Name()
	switch name {
	case "title", "creator", "language", "publisher", "date", "description":
		text, err := d.Inner()
		text = strings.Join(strings.Fields(text), " ")
		switch {
		case name == "title" && b.doc.Title == "":
			b.doc.Title = text
		case name == "creator":
			b.doc.Field("author", text)
		case name != "title":
			b.doc.Field(name, text)
		}
		return err
	case "item":
		b.items[d.Attr("id")] = item{unescape(d.Attr("href")), d.Attr("media-type"), d.Attr("properties")}
	case "itemref":
		if id := d.Attr("idref"); !strings.Contains(b.items[id].properties, "nav") {
			b.spine = append(b.spine, id)
		}
	}
	return nil
}

func unescape(href string) string {
	href, _, _ = strings.Cut(href, "#")
	if plain, err := url.PathUnescape(href); err == nil {
		return plain
	}
	return href
}

func (b *book) chapter(part string, budget *document.Budget) error {
	data, err := b.ReadFile(part)
	if err != nil {
		return err
	}
	text, _, err := chars.Decode(data, "")
	if err != nil {
		return err
	}
	page, err := html.Blocks(selfClosed(text), budget, func(href string) string {
		if u, err := url.Parse(href); err == nil && u.Scheme == "" {
			switch strings.ToLower(path.Ext(u.Path)) {
			case ".xhtml", ".html", ".htm", ".xml", "":
				return "" // another chapter
			}
			return path.Base(u.Path)
		}
		return href
	})
	b.doc.Add(page.Blocks...)
	return err
}
