package page

import (
	"context"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Link is a link of a page.
type Link struct {
	Text string `json:"text"`
	Href string `json:"href"`
}

// Links returns at most so many links of the page, in its order and each address once, and
// how many there are. Links that no reader sees and those to parts of the page or to
// scripts are none.
func (p *Page) Links(most int) (links []Link, total int) {
	seen := map[string]bool{}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode && (unseen(n) || n.DataAtom == atom.Script || n.DataAtom == atom.Template) {
			return
		}
		if n.DataAtom == atom.A || n.DataAtom == atom.Area {
			if href := resolve(p.base, attr(n, "href")); href != "" && !seen[href] {
				seen[href] = true
				total++
				if len(links) < most {
					links = append(links, Link{labelOf(n), href})
				}
			}
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
	}
	walk(p.root)
	return links, total
}

// labelOf returns what a reader reads on a link.
func labelOf(n *html.Node) string {
	text := collapse(clean(textOf(n)))
	if text == "" {
		text = collapse(clean(attr(n, "aria-label") + attr(n, "title") + attr(n, "alt")))
	}
	for c := range n.Descendants() {
		if text == "" && c.DataAtom == atom.Img {
			text = collapse(clean(attr(c, "alt")))
		}
	}
	return cut(text, 200)
}

// cut shortens a text to so many characters.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimSpace(text[:bytesOf(text, most)]) + "…"
}

// Structured is a page in brief.
type Structured struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Text        string `json:"text"`
	Links       []Link `json:"links"`
}

// The bounds of a page in brief.
const (
	structuredText  = 5000
	structuredLinks = 20
)

// Structured returns the page in brief.
func (p *Page) Structured(ctx context.Context) Structured {
	links, _ := p.Links(structuredLinks)
	return Structured{p.Meta.Title, p.Meta.Description, cut(p.Main(ctx).Markdown, structuredText), links}
}
