// Package feed makes a Markdown list of a feed: RSS, Atom or JSON Feed.
//
// It reads bytes that somebody else fetched, by package page what they hold of HTML, and
// imports nothing else of toolcrib. Start at [Parse] and [Feed.Markdown].
package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	"toolcrib/tools/web/internal/page"
)

// Feed is a list of entries.
type Feed struct {
	Title       string
	Description string
	Link        string
	Entries     []Entry
	Cut         bool // there are more entries
}

// Entry is one of a feed. Fields that it does not have are "".
type Entry struct {
	Title   string
	Link    string
	Date    string
	Author  string
	Media   string // the address of a file that belongs to it
	Summary string // HTML or text
}

// The bounds of a feed.
const (
	maxEntries = 500
	maxField   = 64 << 10
	maxDepth   = 64
	maxSummary = 1000 // characters that are shown
)

// Parse reads a feed in UTF-8. ok is false for what is no feed; of a damaged one it returns
// the entries before the damage.
func Parse(text []byte) (f Feed, ok bool) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	trimmed := bytes.TrimSpace(text)
	switch {
	case len(trimmed) == 0:
		return Feed{}, false
	case trimmed[0] == '{':
		return parseJSON(trimmed)
	case trimmed[0] == '<':
		return parseXML(trimmed)
	}
	return Feed{}, false
}

func parseJSON(text []byte) (Feed, bool) {
	type author struct {
		Name string `json:"name"`
	}
	var doc struct {
		Version     string `json:"version"`
		Title       string `json:"title"`
		Description string `json:"description"`
		HomePage    string `json:"home_page_url"`
		Items       []struct {
			URL         string   `json:"url"`
			ExternalURL string   `json:"external_url"`
			Title       string   `json:"title"`
			Summary     string   `json:"summary"`
			Text        string   `json:"content_text"`
			HTML        string   `json:"content_html"`
			Published   string   `json:"date_published"`
			Modified    string   `json:"date_modified"`
			Author      author   `json:"author"`
			Authors     []author `json:"authors"`
			Attachments []struct {
				URL string `json:"url"`
			} `json:"attachments"`
		} `json:"items"`
	}
	if err := json.Unmarshal(text, &doc); err != nil || !strings.Contains(doc.Version, "jsonfeed.org/") {
		return Feed{}, false
	}
	f := Feed{Title: doc.Title, Description: doc.Description, Link: doc.HomePage}
	for _, item := range doc.Items {
		if f.Cut = len(f.Entries) == maxEntries; f.Cut {
			break
		}
		e := Entry{Title: item.Title, Link: either(item.URL, item.ExternalURL), Date: either(item.Published, item.Modified), Author: item.Author.Name}
		for _, a := range item.Authors {
			e.Author = either(e.Author, a.Name)
		}
		for _, a := range item.Attachments {
			e.Media = either(e.Media, a.URL)
		}
		e.Summary = either(item.Summary, item.HTML, item.Text)
		f.Entries = append(f.Entries, e)
	}
	return f, true
}

// either returns the first text that is not empty.
func either(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}

// xmlReader reads the elements of RSS and Atom, which it knows by their place.
type xmlReader struct {
	feed  Feed
	path  []string
	entry *Entry
	at    int // the depth of the entry
	text  strings.Builder
	known bool
}

var errBounds = errors.New("the feed exceeds the bounds")

func parseXML(text []byte) (Feed, bool) {
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Strict = false
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8 by now
	var r xmlReader
	for {
		token, err := d.Token()
		if err == nil {
			err = r.take(token)
		}
		if err != nil { // also of a damaged feed what came before counts
			return r.feed, r.known
		}
	}
}

// foreign reports whether an element of a name that feeds have is of a vocabulary beside
// them.
func foreign(space string) bool {
	return strings.Contains(space, "mrss") || strings.Contains(space, "itunes") || space == "media" || strings.Contains(space, "googleplay")
}

func (r *xmlReader) take(token xml.Token) error {
	switch t := token.(type) {
	case xml.Directive:
		if bytes.HasPrefix(bytes.ToUpper(t), []byte("DOCTYPE HTML")) {
			return errBounds
		}
	case xml.StartElement:
		name := t.Name.Local
		if foreign(t.Name.Space) {
			name = "-" + name
		}
		if len(r.path) == 0 {
			r.known = name == "rss" || name == "feed" || name == "RDF"
			if !r.known {
				return errBounds
			}
		}
		if len(r.path) == maxDepth {
			return errBounds
		}
		r.path = append(r.path, name)
		return r.start(name, t.Attr)
	case xml.CharData:
		if r.text.Len()+len(t) <= maxField {
			r.text.Write(t)
		}
	case xml.EndElement:
		if len(r.path) > 0 {
			r.end(r.path[len(r.path)-1])
			r.path = r.path[:len(r.path)-1]
		}
	}
	return nil
}

func (r *xmlReader) start(name string, attrs []xml.Attr) error {
	get := func(key string) string {
		for _, a := range attrs {
			if a.Name.Local == key {
				return a.Value
			}
		}
		return ""
	}
	switch {
	case r.entry == nil && (name == "item" || name == "entry"):
		if len(r.feed.Entries) == maxEntries {
			r.feed.Cut = true
			return errBounds
		}
		r.feed.Entries = append(r.feed.Entries, Entry{})
		r.entry, r.at = &r.feed.Entries[len(r.feed.Entries)-1], len(r.path)
		r.entry.Link = get("about") // of RSS 1.0
	case name == "link" && get("href") != "":
		rel := get("rel")
		switch {
		case r.entry == nil && (rel == "" || rel == "alternate"):
			r.feed.Link = either(r.feed.Link, get("href"))
		case r.entry == nil:
		case rel == "" || rel == "alternate":
			r.entry.Link = either(r.entry.Link, get("href"))
		case rel == "enclosure":
			r.entry.Media = either(r.entry.Media, get("href"))
		}
	case name == "enclosure" && r.entry != nil:
		r.entry.Media = either(r.entry.Media, get("url"))
	}
	if r.entry == nil && len(r.path) <= 3 || r.entry != nil && len(r.path) <= r.at+1 { // texts may have elements inside
		r.text.Reset()
	}
	return nil
}

func (r *xmlReader) end(name string) {
	text := strings.TrimSpace(r.text.String())
	depth := len(r.path)
	if r.entry == nil {
		if depth > 3 {
			return
		}
		switch name {
		case "title":
			r.feed.Title = either(r.feed.Title, text)
		case "description", "subtitle", "tagline":
			r.feed.Description = either(r.feed.Description, text)
		case "link":
			r.feed.Link = either(r.feed.Link, text)
		}
		r.text.Reset()
		return
	}
	e := r.entry
	if depth == r.at {
		r.entry = nil
		return
	}
	if name == "name" && depth == r.at+2 && r.path[depth-2] == "author" {
		e.Author = either(e.Author, text)
	}
	if depth > r.at+1 {
		return
	}
	switch name {
	case "title":
		e.Title = either(e.Title, text)
	case "link":
		e.Link = either(text, e.Link)
	case "guid", "id":
		if strings.HasPrefix(text, "http") {
			e.Link = either(e.Link, text)
		}
	case "pubDate", "published", "date", "issued":
		e.Date = either(text, e.Date)
	case "updated", "modified":
		e.Date = either(e.Date, text)
	case "author", "creator":
		e.Author = either(e.Author, text)
	case "description", "summary", "encoded", "content":
		if len(text) > len(e.Summary) && (e.Summary == "" || name == "summary" || name == "description") {
			e.Summary = text
		}
	}
	r.text.Reset()
}

// Markdown returns the feed as a list, its addresses relative to that of the feed.
func (f Feed) Markdown(ctx context.Context, address *url.URL) string {
	var b strings.Builder
	name := plain(ctx, f.Title, address)
	if name != "" {
		b.WriteString("# " + name + "\n\n")
	}
	if d := plain(ctx, f.Description, address); d != "" && d != name {
		b.WriteString(d + "\n\n")
	}
	for _, e := range f.Entries {
		title := plain(ctx, e.Title, address)
		summary := plain(ctx, e.Summary, address)
		if title == "" {
			title = either(shortened(summary, 80), absolute(address, e.Link), "entry")
		}
		b.WriteString("- ")
		if link := absolute(address, e.Link); link != "" {
			b.WriteString("[" + strings.NewReplacer("[", `\[`, "]", `\]`).Replace(title) + "](" + link + ")")
		} else {
			b.WriteString(title)
		}
		for _, part := range []string{plain(ctx, e.Date, address), plain(ctx, e.Author, address)} {
			if part != "" {
				b.WriteString(" · " + part)
			}
		}
		if media := absolute(address, e.Media); media != "" {
			b.WriteString(" · [file](" + media + ")")
		}
		if summary != "" && summary != title {
			b.WriteString("\n  " + shortened(summary, maxSummary))
		}
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String())
}

// plain returns text or HTML as one line of text.
func plain(ctx context.Context, text string, address *url.URL) string {
	if strings.ContainsAny(text, "<&") {
		text = page.Parse(ctx, []byte(text), address).Whole(ctx).Markdown
	}
	return strings.Join(strings.Fields(text), " ")
}

func shortened(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	runes := []rune(text)[:most]
	return strings.TrimSpace(string(runes)) + "…"
}

// absolute returns an address of the web, "" for any other.
func absolute(base *url.URL, address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || address == "" {
		return ""
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return strings.NewReplacer("(", "%28", ")", "%29").Replace(u.String())
}
