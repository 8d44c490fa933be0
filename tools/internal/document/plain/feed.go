package plain

import (
	"errors"
	"io"
	"strings"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/html"
	"toolcrib/tools/internal/document/markup"
)

// entry is an entry of a feed.
type entry struct{ title, link, date, author, text string }

// feed reads RSS and Atom.
func feed(src document.Source, budget *document.Budget) (*document.Document, error) {
	doc := &document.Document{Format: "feed"}
	d := markup.New(io.NewSectionReader(src, 0, src.Size), budget)
	var entries []entry
	var about string
	for {
		kind, err := d.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				if budget.Err() != nil || document.Is(err, document.TooLarge) {
					return nil, err
				}
				doc.Warn("the feed ends early: " + err.Error())
			}
			break
		}
		if kind != markup.Start {
			continue
		}
		switch d.Name() {
		case "item", "entry":
			e, err := readEntry(d)
			entries = append(entries, e)
			if err != nil && (budget.Err() != nil || document.Is(err, document.TooLarge)) {
				return nil, err
			}
		case "image", "author", "textInput":
			if err := d.Skip(); err != nil {
				continue // the next token says it again
			}
		case "title", "description", "subtitle":
			name := d.Name()
			text, _ := d.Inner() // the next token says it again
			if name == "title" && doc.Title == "" {
				doc.Title = strings.TrimSpace(text)
			} else if about == "" {
				about = text
			}
		}
	}
	if doc.Title != "" {
		doc.Add(document.Block{Kind: document.Heading, Level: 1, Spans: document.Text(doc.Title)})
	}
	addHTML(doc, about, budget)
	for _, e := range entries {
		title := document.Span{Text: e.title, Link: e.link}
		if title.Text == "" {
			title.Text = e.link
		}
		doc.Add(document.Block{Kind: document.Heading, Level: 2, Spans: []document.Span{title}})
		if by := strings.Trim(e.date+", "+e.author, ", "); by != "" {
			doc.Add(document.Block{Spans: document.Text(by)})
		}
		addHTML(doc, e.text, budget)
	}
	return doc, budget.Err()
}

func addHTML(doc *document.Document, text string, budget *document.Budget) {
	if strings.TrimSpace(text) == "" {
		return
	}
	page, err := html.Blocks([]byte(text), budget, nil)
	if err != nil {
		doc.Warn("an entry: " + err.Error())
	}
	for _, b := range page.Blocks {
		if b.Kind == document.Heading {
			b.Level = min(b.Level+2, 6)
		}
		doc.Add(b)
	}
}

func readEntry(d *markup.Decoder) (entry, error) {
	var e entry
	err := d.Each(func() error {
		name, full := d.Name(), d.Full()
		switch name {
		case "link":
			rel := d.Attr("rel")
			if href := d.Attr("href"); href != "" && (rel == "" || rel == "alternate") {
				e.link = href
				return nil
			}
		case "title", "pubDate", "date", "updated", "published", "author", "creator", "description", "summary", "content", "encoded":
		default:
			return nil
		}
		text, err := d.Inner()
		text = strings.TrimSpace(text)
		switch name {
		case "link":
			if text != "" {
				e.link = text
			}
		case "title":
			if e.title == "" {
				e.title = strings.Join(strings.Fields(text), " ")
			}
		case "pubDate", "date", "published":
			e.date = text
		case "updated":
			if e.date == "" {
				e.date = text
			}
		case "author", "creator":
			e.author = strings.Join(strings.Fields(text), " ")
		case "content", "encoded":
			if !strings.HasPrefix(full, "media:") && text != "" {
				e.text = text
			}
		default:
			if e.text == "" {
				e.text = text
			}
		}
		return err
	})
	return e, err
}
