// Package html reads HTML, whole pages and pieces, into blocks.
//
// It takes all that a reader of the page sees; choosing the main part of a page of the web is
// not its task. It imports the model and must not import another reader. Start at [Read] and
// [Blocks].
package html

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/chars"
	"toolcrib/tools/internal/document/latex"
	"toolcrib/tools/internal/document/markup"
)

// longestPage is how many bytes of HTML are read; its tree takes ten times as much memory.
const longestPage = 16 << 20

// Read reads a file of HTML.
func Read(src document.Source, budget *document.Budget) (*document.Document, error) {
	data, err := src.Bytes(budget)
	if err != nil {
		return nil, err
	}
	text, _, err := chars.Decode(data, "")
	if err != nil {
		return nil, err
	}
	doc := &document.Document{Format: "html"}
	page, err := Blocks(text, budget, nil)
	if err != nil {
		return nil, err
	}
	doc.Title = page.Title
	doc.Field("author", page.Author)
	doc.Blocks = page.Blocks
	return doc, nil
}

// Page is what a page has.
type Page struct {
	Title, Author string
	Blocks        []document.Block
}

// Blocks reads HTML in UTF-8. link turns what a link or an image names into what is shown,
// "" = no link; nil shows it as it is.
func Blocks(text []byte, budget *document.Budget, link func(href string) string) (Page, error) {
	if len(text) > longestPage {
		return Page{}, &document.Error{Cause: document.TooLarge, Limit: "page size", Say: "limit of page size: at most 16 MiB of HTML are read"}
	}
	if err := checkCount(text, budget); err != nil {
		return Page{}, err
	}
	root, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return Page{}, &document.Error{Cause: document.TooLarge, Limit: "depth", Say: "limit of depth: at most 512 elements in each other are read", Err: err}
	}
	if link == nil {
		link = func(href string) string { return href }
	}
	c := &converter{budget: budget, link: link, level: -1}
	c.children(root)
	c.flush()
	return Page{c.title, c.author, c.blocks}, c.err
}

// checkCount refuses a page of so many elements that its tree would take too much memory. The
// parser takes time with the square of the depth of some elements, so that it must not
// get millions.
func checkCount(text []byte, budget *document.Budget) error {
	const most = 500_000
	if bytes.Count(text, []byte("<")) <= most {
		return budget.Err()
	}
	z := html.NewTokenizer(bytes.NewReader(text))
	for n := 0; n <= most; {
		switch z.Next() {
		case html.ErrorToken:
			return nil // the parser says what is wrong
		case html.StartTagToken, html.SelfClosingTagToken:
			n++
		}
	}
	return &document.Error{Cause: document.TooLarge, Limit: "elements", Say: "limit of elements: at most 500000 elements of a page are read"}
}

// converter walks a tree.
type converter struct {
	budget        *document.Budget
	link          func(string) string
	err           error
	title, author string
	blocks        []document.Block

	spans  []document.Span // of the paragraph that is being read
	style  document.Style
	href   string
	level  int // of the list; -1 = none
	quote  int
	item   *string // the label of the item that begins
	inItem bool
}

// flush ends the paragraph.
func (c *converter) flush() {
	spans := document.Trim(c.spans)
	c.spans = nil
	if len(spans) == 0 {
		return
	}
	switch last := len(c.blocks) - 1; {
	case c.item != nil:
		c.blocks = append(c.blocks, document.Block{Kind: document.Item, Level: max(c.level, 0), Label: *c.item, Spans: spans})
		c.item = nil
	case c.inItem && last >= 0 && c.blocks[last].Kind == document.Item && c.blocks[last].Level == max(c.level, 0):
		block := &c.blocks[last]
		block.Spans = document.Append(block.Spans, document.Span{Text: "\n"})
		for _, s := range spans {
			block.Spans = document.Append(block.Spans, s)
		}
	case c.quote > 0:
		c.blocks = append(c.blocks, document.Block{Kind: document.Quote, Level: c.quote - 1, Spans: spans})
	default:
		c.blocks = append(c.blocks, document.Block{Spans: spans})
	}
}

func (c *converter) children(n *html.Node) {
	for child := n.FirstChild; child != nil && c.err == nil; child = child.NextSibling {
		c.node(child)
	}
}

func (c *converter) node(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		c.text(n.Data)
	case html.ElementNode:
		if !hidden(n) {
			c.element(n)
		}
	case html.DocumentNode:
		c.children(n)
	}
}

// text adds text with its space folded.
func (c *converter) text(text string) {
	if c.err = c.budget.TakeSpan(len(text)); c.err != nil {
		return
	}
	folded := fold(text)
	if ended := len(c.spans) == 0 || strings.HasSuffix(c.spans[len(c.spans)-1].Text, " ") || strings.HasSuffix(c.spans[len(c.spans)-1].Text, "\n"); ended {
		folded = strings.TrimPrefix(folded, " ")
	}
	c.spans = document.Append(c.spans, document.Span{Text: folded, Style: c.style, Link: c.href})
}

// fold makes each run of space one space.
func fold(text string) string {
	var b strings.Builder
	space := false
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t', '\n', '\r', '\f':
			if !space {
				b.WriteByte(' ')
			}
			space = true
		default:
			b.WriteByte(text[i])
			space = false
		}
	}
	return b.String()
}

// hidden reports whether a reader of the page does not see an element.
func hidden(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "style":
			style := strings.ToLower(strings.ReplaceAll(a.Val, " ", ""))
			if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
				return true
			}
		}
	}
	return false
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

var styles = map[atom.Atom]document.Style{
	atom.B: document.Bold, atom.Strong: document.Bold, atom.I: document.Italic, atom.Em: document.Italic, atom.Cite: document.Italic,
	atom.Code: document.Mono, atom.Kbd: document.Mono, atom.Samp: document.Mono, atom.Tt: document.Mono,
	atom.S: document.Strike, atom.Del: document.Strike, atom.Strike: document.Strike, atom.Sup: document.Superscript, atom.Sub: document.Subscript,
}

func (c *converter) element(n *html.Node) {
	if style, ok := styles[n.DataAtom]; ok {
		before := c.style
		c.style |= style
		c.children(n)
		c.style = before
		return
	}
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object, atom.Rp, atom.Rt, atom.Select, atom.Textarea, atom.Canvas, atom.Audio, atom.Video:
	case atom.Title:
		if c.title == "" && n.FirstChild != nil {
			c.title = strings.Join(strings.Fields(n.FirstChild.Data), " ")
		}
	case atom.Head:
		c.head(n)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		c.flush()
		c.children(n)
		if spans := document.Trim(c.spans); len(spans) > 0 {
			c.blocks = append(c.blocks, document.Block{Kind: document.Heading, Level: int(n.Data[1] - '0'), Spans: spans})
		}
		c.spans = nil
	case atom.Br:
		c.spans = document.Append(c.spans, document.Span{Text: "\n", Style: c.style, Link: c.href})
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		c.list(n)
	case atom.Li:
		label := ""
		c.listItem(n, &label)
	case atom.Blockquote:
		c.flush()
		c.quote++
		c.children(n)
		c.flush()
		c.quote--
	case atom.Pre, atom.Listing, atom.Xmp:
		c.pre(n)
	case atom.Table:
		c.table(n)
	case atom.Img:
		c.image(n)
	case atom.A:
		c.anchor(n)
	case atom.Math:
		c.spans = document.Append(c.spans, document.Span{Text: latex.MathML(tree(n, 0)), Style: document.Math})
	case atom.Dt:
		c.flush()
		before := c.style
		c.style |= document.Bold
		c.children(n)
		c.style = before
		c.flush()
	case atom.Input:
		if kind := attr(n, "type"); kind == "checkbox" && c.item != nil {
			mark := "[ ] "
			for _, a := range n.Attr {
				if a.Key == "checked" {
					mark = "[x] "
				}
			}
			c.spans = document.Append(c.spans, document.Span{Text: mark})
		}
	default:
		if inline(n) {
			c.children(n)
			return
		}
		c.flush()
		c.children(n)
		c.flush()
	}
}

// inline reports whether an element is a part of a line.
func inline(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Span, atom.Font, atom.U, atom.Small, atom.Big, atom.Mark, atom.Abbr, atom.Acronym, atom.Q, atom.Time, atom.Label, atom.Var, atom.Dfn, atom.Ins,
		atom.Bdo, atom.Bdi, atom.Wbr, atom.Ruby, atom.Rb, atom.Data, atom.Output, atom.Button, atom.Map, atom.Meter, atom.Progress, 0:
		return true
	}
	return false
}

func (c *converter) head(n *html.Node) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		switch child.DataAtom {
		case atom.Title:
			c.element(child)
		case atom.Meta:
			if strings.EqualFold(attr(child, "name"), "author") {
				c.author = attr(child, "content")
			}
		}
	}
}

func (c *converter) anchor(n *html.Node) {
	before := c.href
	if href := strings.TrimSpace(attr(n, "href")); href != "" && !strings.HasPrefix(href, "#") && !strings.HasPrefix(strings.ToLower(href), "javascript:") {
		c.href = c.link(href)
	}
	c.children(n)
	c.href = before
}

func (c *converter) image(n *html.Node) {
	src := strings.TrimSpace(attr(n, "src"))
	if strings.HasPrefix(src, "data:") {
		src = ""
	} else if src != "" {
		src = c.link(src)
	}
	if alt := fold(attr(n, "alt")); alt != "" || src != "" {
		c.spans = document.Append(c.spans, document.Span{Text: strings.TrimSpace(alt), Link: src, Style: document.Picture})
	}
}

// pre reads code as it is.
func (c *converter) pre(n *html.Node) {
	c.flush()
	lang := language(n)
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.DataAtom == atom.Br:
			b.WriteByte('\n')
		case n.DataAtom == atom.Code && lang == "":
			lang = language(n)
		}
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			walk(child)
		}
	}
	walk(n)
	if c.err = c.budget.TakeText(b.Len()); c.err == nil && strings.TrimSpace(b.String()) != "" {
		c.blocks = append(c.blocks, document.Block{Kind: document.Code, Label: lang, Spans: document.Text(strings.Trim(b.String(), "\n"))})
	}
}

func language(n *html.Node) string {
	for class := range strings.FieldsSeq(attr(n, "class")) {
		for _, prefix := range []string{"language-", "lang-"} {
			if lang, ok := strings.CutPrefix(class, prefix); ok {
				return lang
			}
		}
	}
	return ""
}

// tree turns an equation into a tree of the XML reader.
func tree(n *html.Node, depth int) *markup.Node {
	if n.Type != html.ElementNode {
		return &markup.Node{Text: n.Data}
	}
	var attrs []string
	for _, a := range n.Attr {
		attrs = append(attrs, a.Key, a.Val)
	}
	node := markup.Element(n.Data, attrs...)
	for child := n.FirstChild; child != nil && depth < 100; child = child.NextSibling {
		node.Nodes = append(node.Nodes, tree(child, depth+1))
	}
	return node
}
