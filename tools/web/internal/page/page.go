// Package page makes Markdown of web pages: their main text or all that is in sight, with
// tables, lists, code, images and links.
//
// It reads bytes that somebody else fetched and opens nothing; it must not import tools or
// any category. What no reader of the page sees is left out. Start at [Decode] and [Parse],
// then [Page.Main]: layout.go makes runs of text of the tree, scope.go says where to look,
// article.go and listing.go choose among them, and markdown.go renders what is chosen.
package page

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Page is a parsed page. It does not change and is not safe for concurrent use.
type Page struct {
	Meta  Meta
	root  *html.Node
	base  *url.URL
	tamed bool
}

// Document is a page, or its main part, as Markdown.
type Document struct {
	Markdown string
	// Note says in what way the text is not simply the main text, "" = it is.
	Note string
	// Cut reports whether something may be missing, since the page exceeds the bounds or the
	// time is over.
	Cut bool
}

// Parse reads a page in UTF-8, which lies at an address. Any bytes are a page. When the time
// of the context is over, the page is what has been read in another way.
func Parse(ctx context.Context, text []byte, address *url.URL) *Page {
	p := &Page{}
	p.root, p.tamed = parse(ctx, text)
	p.base = baseOf(p.root, address)
	p.Meta = metaOf(p.root, p.base)
	return p
}

// baseOf returns the address that links of a page are relative to.
func baseOf(root *html.Node, address *url.URL) *url.URL {
	for n := range root.Descendants() {
		if n.DataAtom == atom.Body {
			break
		}
		if n.DataAtom == atom.Base && has(n, "href") {
			u, err := url.Parse(strings.TrimSpace(attr(n, "href")))
			if err != nil {
				break
			}
			if address != nil {
				u = address.ResolveReference(u)
			}
			if u.Scheme == "http" || u.Scheme == "https" {
				return u
			}
			break
		}
	}
	return address
}

// Main returns the main text. It is empty only if the page has no text at all, hidden text
// and a title among it.
func (p *Page) Main(ctx context.Context) Document {
	d := layOut(ctx, p.root, p.Meta)
	how := d.pick()
	r := renderer{ctx: ctx, base: p.base, picked: map[*html.Node]struct{}{}, out: map[*html.Node]struct{}{}}
	root := d.boxes[d.root]
	for i := root.from; i < root.to; i++ {
		if d.runs[i].keep {
			for _, n := range d.runs[i].nodes {
				r.picked[n] = struct{}{}
			}
		}
	}
	if len(r.picked) == 0 {
		return p.Whole(ctx)
	}
	for i := d.root + 1; i < len(d.boxes); i++ {
		if b := &d.boxes[i]; b.out || b.dropped {
			r.out[b.node] = struct{}{}
		}
	}
	for n := root.node; n != nil; n = n.Parent {
		r.hidden = r.hidden || unseen(n)
	}
	doc := p.document(&r, root.node)
	if doc.Markdown == "" {
		return p.Whole(ctx)
	}
	switch beside := d.linksBeside(); {
	case how == chosenVisible:
		doc.Note = "the page has no main text that can be told from the rest: this is all of it but menus"
	case r.hidden:
		doc.Note = "the page hides this text until a script runs"
	case beside > 0:
		doc.Note = fmt.Sprintf("%d links beside this text are left out", beside)
	}
	return doc
}

// Whole returns all of the page that is in sight, with menus and footers. If nothing is, it
// returns what is hidden, and if there is nothing at all, what the page says of itself.
func (p *Page) Whole(ctx context.Context) Document {
	if doc := p.document(&renderer{ctx: ctx, base: p.base}, p.root); doc.Markdown != "" {
		return doc
	}
	doc := p.document(&renderer{ctx: ctx, base: p.base, hidden: true}, p.root)
	if doc.Markdown != "" {
		doc.Note = "nothing of the page is in sight: this is text that it hides, perhaps until a script runs"
		return doc
	}
	doc.Note = "the page has no text without its scripts: this is what it says of itself"
	var parts []string
	for _, part := range []string{p.Meta.Title, p.Meta.Description, p.withoutScripts(ctx)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	doc.Markdown = strings.Join(parts, "\n\n")
	if doc.Markdown == "" {
		doc.Note = "the page has no text"
	}
	return doc
}

func (p *Page) document(r *renderer, root *html.Node) Document {
	text := r.render(root)
	doc := Document{Markdown: strings.TrimSpace(text), Cut: r.cut || p.tamed}
	if len(doc.Markdown) < fewLetters && p.asksPassword() {
		doc.Note = "the page asks for a password"
	}
	return doc
}

// fewLetters is the length from which a page says more than what its form asks.
const fewLetters = 300

func (p *Page) asksPassword() bool {
	for n := range p.root.Descendants() {
		if n.DataAtom == atom.Input && strings.EqualFold(attr(n, "type"), "password") && !unseen(n) {
			return true
		}
	}
	return false
}

// withoutScripts returns what a page shows where no scripts run, and its frames as links.
func (p *Page) withoutScripts(ctx context.Context) string {
	var parts []string
	for n := range p.root.Descendants() {
		switch {
		case n.DataAtom == atom.Noscript && n.FirstChild != nil:
			inner, _ := parse(ctx, []byte(textOf(n)))
			r := renderer{ctx: ctx, base: p.base}
			if text := r.render(inner); text != "" && len(parts) < 10 {
				parts = append(parts, text)
			}
		case n.DataAtom == atom.Frame || n.DataAtom == atom.Iframe:
			if href := resolve(p.base, attr(n, "src")); href != "" && len(parts) < 10 {
				name := collapse(clean(attr(n, "title") + " " + attr(n, "name")))
				if name == "" {
					name = "frame"
				}
				parts = append(parts, link(name, href))
			}
		}
	}
	return strings.Join(parts, "\n\n")
}
