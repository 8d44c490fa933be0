package page

import (
	"bytes"
	"context"
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The bounds of the tree that a page may become. The parser refuses more than 512 open
// elements; formatting elements that are never closed are repeated in each block, so that
// a small page can become a huge tree.
const (
	maxNodes = 2_000_000
	maxDepth = 150
	maxAttrs = 100
)

// parse makes the tree of a page in UTF-8. A page that is nested deeper, repeats more or
// has more attributes than any real one loses what exceeds the bounds, which tamed reports.
func parse(ctx context.Context, text []byte) (root *html.Node, tamed bool) {
	if fits(text) {
		if root, err := html.Parse(&reader{ctx, text}); err == nil {
			return root, false
		}
	}
	if root, err := html.Parse(&reader{ctx, tame(text)}); err == nil {
		return root, true
	}
	return plain(text), true
}

// reader gives the parser a page in pieces, between which it asks whether there is time.
type reader struct {
	ctx  context.Context
	text []byte
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if len(r.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.text)
	r.text = r.text[n:]
	return n, nil
}

// formatting reports whether the parser repeats an element that is not closed.
func formatting(a atom.Atom) bool {
	switch a {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike, atom.Strong, atom.Tt, atom.U:
		return true
	}
	return false
}

// fits reports whether a page stays within the bounds, counting all that may be repeated.
func fits(text []byte) bool {
	z := html.NewTokenizer(bytes.NewReader(text))
	nodes, open := 0, 0
	for {
		switch z.Next() {
		case html.ErrorToken:
			return true
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			for attrs := 0; more; attrs++ {
				if _, _, more = z.TagAttr(); attrs > maxAttrs {
					return false
				}
			}
			nodes += 1 + min(open, 512)
			if formatting(atom.Lookup(name)) {
				open++
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); open > 0 && formatting(atom.Lookup(name)) {
				open--
			}
		case html.TextToken:
			nodes += 1 + min(open, 512)
		}
		if nodes > maxNodes {
			return false
		}
	}
}

// optional reports whether the parser closes an element by itself when the next begins.
func optional(a atom.Atom) bool {
	switch a {
	case atom.P, atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Td, atom.Th, atom.Tbody, atom.Thead, atom.Tfoot, atom.Option, atom.Optgroup:
		return true
	}
	return false
}

func void(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

// tame leaves out of a page the tags of formatting elements, those nested too deep, and
// attributes beyond the bound.
func tame(text []byte) []byte {
	z := html.NewTokenizer(bytes.NewReader(text))
	var out []byte
	depth, nodes := 0, 0
	for nodes < maxNodes {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		if kind == html.TextToken {
			out = append(out, z.Raw()...)
			nodes++
			continue
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken && kind != html.EndTagToken {
			continue
		}
		raw := bytes.Clone(z.Raw())
		name, more := z.TagName()
		tag := atom.Lookup(name)
		if formatting(tag) && tag != atom.A {
			continue
		}
		nodes++
		nests := !void(tag) && !optional(tag)
		switch {
		case kind == html.EndTagToken && nests && depth > 0:
			depth--
			if depth < maxDepth {
				out = append(out, raw...)
			}
			continue
		case kind == html.StartTagToken && nests:
			depth++
			if depth > maxDepth {
				continue
			}
		}
		var attrs []html.Attribute
		for more {
			var key, value []byte
			key, value, more = z.TagAttr()
			if len(attrs) <= maxAttrs {
				attrs = append(attrs, html.Attribute{Key: string(key), Val: string(value)})
			}
		}
		if len(attrs) > maxAttrs {
			raw = []byte(html.Token{Type: kind, DataAtom: tag, Data: string(name), Attr: attrs[:maxAttrs]}.String())
		}
		out = append(out, raw...)
	}
	return out
}

// plain makes a tree of the words of a page alone.
func plain(text []byte) *html.Node {
	root := &html.Node{Type: html.DocumentNode}
	z := html.NewTokenizer(bytes.NewReader(text))
	skip := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			return root
		case html.StartTagToken:
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			skip = tag == atom.Script || tag == atom.Style || tag == atom.Noscript || tag == atom.Template
		case html.EndTagToken:
			skip = false
		case html.TextToken:
			if s := string(z.Text()); !skip && strings.TrimSpace(s) != "" {
				p := &html.Node{Type: html.ElementNode, DataAtom: atom.P, Data: "p"}
				p.AppendChild(&html.Node{Type: html.TextNode, Data: s})
				root.AppendChild(p)
			}
		}
	}
}
