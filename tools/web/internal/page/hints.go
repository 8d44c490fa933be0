package page

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// hint is what an element says about itself.
type hint uint16

const (
	hintItem    hint = 1 << iota // itemprop articleBody or reviewBody
	hintBody                     // a name of the body of an article
	hintArticle                  // article
	hintMain                     // main, as an element or a role
	hintThing                    // an item of schema.org that is no article: a product, a recipe
	hintAround                   // a name of something around the text
	hintHidden                   // not in sight, or in a role around the text
	hintQuote                    // blockquote
)

// hintsOf reads an element, and returns the names for which it has hintAround.
func hintsOf(n *html.Node) (h hint, names []string) {
	if n.DataAtom == atom.Body || n.DataAtom == atom.Html {
		return 0, nil
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "class", "id":
			h |= hintsOfName(a.Val, &names)
		case "itemprop":
			switch {
			case strings.Contains(a.Val, "articleBody") || a.Val == "reviewBody":
				h |= hintItem | hintBody
			case a.Val == "author" || a.Val == "caption" || a.Val == "comment":
				h |= hintAround
				names = append(names, "itemprop-"+a.Val)
			}
		case "itemtype":
			if thing(a.Val[strings.LastIndexByte(a.Val, '/')+1:]) {
				h |= hintThing
			}
		case "role":
			switch a.Val {
			case "navigation", "banner", "contentinfo", "search", "dialog", "alertdialog", "menu", "menubar", "tooltip", "complementary":
				h |= hintHidden
			case "main":
				h |= hintMain
			}
		}
	}
	if unseen(n) {
		h |= hintHidden
	}
	if h&hintAround != 0 && contents(n, names) {
		h, names = h&^hintAround, nil
	}
	if h&hintAround != 0 { // a post of others that is quoted in a box named social
		for c := range n.ChildNodes() {
			if c.Type == html.ElementNode {
				if c.DataAtom == atom.Blockquote {
					h, names = h&^hintAround, nil
				}
				break
			}
		}
	}
	switch n.DataAtom {
	case atom.Article:
		h |= hintArticle
	case atom.Main:
		h |= hintMain
	case atom.Aside, atom.Figure:
		h |= hintAround
		names = append(names, n.Data)
	case atom.Blockquote:
		h |= hintQuote
	}
	if h&(hintArticle|hintMain) != 0 {
		h, names = h&^hintAround, nil
	}
	return h, names
}

// contents reports whether a table of contents is the text of an index: its first link leads to
// another page.
func contents(n *html.Node, names []string) bool {
	if slices.ContainsFunc(names, func(name string) bool { return name != "toc" }) {
		return false
	}
	for in := range n.Descendants() { // of which few are around one another, as the tree is not deep
		if in.DataAtom == atom.A {
			return !strings.Contains(attr(in, "href"), "#")
		}
	}
	return false
}

// hintsOfName splits a class or id into words, at punctuation and inside camelCase.
func hintsOfName(name string, names *[]string) (h hint) {
	low := strings.ToLower(name)
	for _, b := range words().body {
		if strings.Contains(low, b) {
			h |= hintBody
			break
		}
	}
	for item := range strings.FieldsSeq(name) {
		if subject(item) {
			continue
		}
		begin, prev := -1, rune(0)
		word := func(end int) {
			if begin >= 0 {
				if w := strings.ToLower(item[begin:end]); words().around[w] {
					h |= hintAround
					*names = append(*names, w)
				}
			}
			begin = -1
		}
		for i, r := range item {
			in := unicode.IsLetter(r) || unicode.IsDigit(r)
			if !in || unicode.IsUpper(r) && unicode.IsLower(prev) {
				word(i)
			}
			if in && begin < 0 {
				begin = i
			}
			prev = r
		}
		word(len(item))
	}
	return h
}

// subject reports whether an item of a class names the subject or form of a text: blogs
// give their posts such classes.
func subject(item string) bool {
	for _, prefix := range [...]string{"category-", "tag-", "has-", "type-", "format-"} {
		if strings.HasPrefix(item, prefix) {
			return true
		}
	}
	return false
}

// thing reports whether a type of schema.org is of a page whose substance is not an article.
func thing(name string) bool {
	switch name {
	case "Product", "ProductGroup", "Recipe", "QAPage", "FAQPage", "DiscussionForumPosting", "ItemList", "CollectionPage", "SearchResultsPage",
		"Event", "JobPosting", "SoftwareApplication", "Book", "Movie", "LocalBusiness", "Restaurant", "Hotel", "HowTo", "Dataset":
		return true
	}
	return false
}

// unseen reports whether an element says by itself that no reader sees it.
func unseen(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			if n.Namespace == "" && a.Val != "until-found" {
				return true
			}
		case "aria-hidden":
			if a.Val == "true" {
				return true
			}
		case "style":
			if a.Val != "" && unseenStyle(a.Val) {
				return true
			}
		}
	}
	return n.DataAtom == atom.Dialog && !has(n, "open")
}

// unseenStyle reads the declarations of a style that take an element out of sight.
func unseenStyle(style string) bool {
	zero, clipped, absolute, away := false, false, false, false
	for declaration := range strings.SplitSeq(strings.ToLower(style), ";") {
		name, value, ok := strings.Cut(declaration, ":")
		value = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "!important"))
		if !ok {
			continue
		}
		switch strings.TrimSpace(name) {
		case "display":
			if value == "none" {
				return true
			}
		case "visibility":
			if value == "hidden" || value == "collapse" {
				return true
			}
		case "opacity", "font-size":
			if n, ok := number(value); ok && n < 0.05 {
				return true
			}
		case "width", "height", "max-width", "max-height":
			n, ok := number(value)
			zero = zero || ok && n <= 1 && !strings.HasSuffix(value, "em") && !strings.HasSuffix(value, "%") || ok && n == 0
		case "overflow", "overflow-x", "overflow-y":
			clipped = clipped || value == "hidden" || value == "clip"
		case "clip", "clip-path":
			if strings.Trim(value, "rect()01px,\t ") == "" && strings.HasPrefix(value, "rect(") || value == "inset(100%)" || value == "inset(50%)" {
				return true
			}
		case "position":
			absolute = value == "absolute" || value == "fixed"
		case "left", "top", "right", "bottom":
			n, ok := number(value)
			away = away || ok && n <= -999
		case "text-indent":
			if n, ok := number(value); ok && n <= -999 {
				return true
			}
		}
	}
	return zero && clipped || absolute && away
}

// number reads the number that a value begins with.
func number(value string) (float64, bool) {
	end := strings.IndexFunc(value, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '-' && r != '+' })
	if end < 0 {
		end = len(value)
	}
	n, err := strconv.ParseFloat(value[:end], 64)
	return n, err == nil
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

// skipped reports whether an element holds nothing of a page's main text.
func skipped(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object, atom.Embed, atom.Button, atom.Input, atom.Select,
		atom.Textarea, atom.Nav, atom.Footer, atom.Canvas, atom.Audio, atom.Video, atom.Map, atom.Menu, atom.Dialog, atom.Datalist, atom.Head, atom.Figcaption, atom.Label:
		return true
	}
	return false
}

// isBlock reports whether an element begins and ends lines.
func isBlock(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Center, atom.Dd, atom.Details, atom.Div, atom.Dl, atom.Dt, atom.Fieldset,
		atom.Figcaption, atom.Figure, atom.Form, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hr, atom.Html, atom.Legend, atom.Li, atom.Main, atom.Ol, atom.P,
		atom.Pre, atom.Section, atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr, atom.Ul:
		return true
	}
	return false
}

func isHeading(a atom.Atom) bool {
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}
