package page

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The bounds of a rendered page: its bytes, how deep lists and quotes are shown as such,
// and how deep marks are put into each other.
const (
	maxMarkdown = 16 << 20
	maxNested   = 20
	maxMarks    = 8
)

// renderer makes Markdown of a part of a page.
type renderer struct {
	ctx    context.Context
	base   *url.URL
	picked map[*html.Node]struct{} // the nodes of text that are shown; nil = all
	out    map[*html.Node]struct{} // elements that are left out whole
	hidden bool                    // what no reader sees is shown too
	holds  map[*html.Node]struct{} // inline elements with blocks inside
	passed int                     // how many of picked have been shown
	room   int                     // bytes left
	nested int                     // open lists and quotes
	marks  int                     // open marks
	cut    bool                    // something was left out for the bounds
}

// render returns the Markdown of what is below a node.
func (r *renderer) render(root *html.Node) string {
	r.room = maxMarkdown
	r.holds = map[*html.Node]struct{}{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || !isBlock(n.DataAtom) {
			continue
		}
		for p := n.Parent; p != nil && p != root.Parent && !isBlock(p.DataAtom); p = p.Parent {
			if _, ok := r.holds[p]; ok {
				break
			}
			r.holds[p] = struct{}{}
		}
	}
	f := flow{r: r}
	f.node(root)
	f.flush()
	return strings.Join(withoutRules(f.out), "\n\n")
}

const rule = "---"

// withoutRules drops rules that separate nothing.
func withoutRules(blocks []string) []string {
	var out []string
	for _, b := range blocks {
		if b != rule || len(out) > 0 && out[len(out)-1] != rule {
			out = append(out, b)
		}
	}
	for len(out) > 0 && out[len(out)-1] == rule {
		out = out[:len(out)-1]
	}
	return out
}

// passes reports whether a node of text is shown.
func (r *renderer) passes(n *html.Node) bool {
	if r.picked == nil {
		return true
	}
	if _, ok := r.picked[n]; !ok {
		return len(n.Data) < 100 && strings.Trim(n.Data, " \t\r\n\f") == ""
	}
	r.passed++
	return true
}

// skips reports whether an element is left out with all it holds.
func (r *renderer) skips(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Nav, atom.Footer, atom.Menu, atom.Dialog, atom.Label, atom.Figcaption:
		if r.picked != nil {
			return true
		}
	default:
		if skipped(n.DataAtom) && !shadow(n) && !opener(n) {
			return true
		}
	}
	if _, ok := r.out[n]; ok && n.DataAtom != atom.Figure {
		return true
	}
	return !r.hidden && unseen(n) || lineNumbers(n)
}

// lineNumbers reports whether an element holds the numbers of lines of code.
func lineNumbers(n *html.Node) bool {
	for name := range strings.FieldsSeq(attr(n, "class")) {
		switch name {
		case "linenos", "lineno", "linenodiv", "gutter", "rouge-gutter", "blob-num", "line-numbers-rows", "lnt", "ln", "headerlink", "anchorjs-link":
			return true
		}
	}
	return false
}

// done reports whether the bounds or the time are used up.
func (r *renderer) done() bool {
	if r.room < 0 || r.ctx.Err() != nil {
		r.cut = true
	}
	return r.cut
}

// flow makes blocks of nodes in their order.
type flow struct {
	r    *renderer
	out  []string
	in   line
	href string // the link around blocks, until the first of them has it
}

// add ends the paragraph and adds a block.
func (f *flow) add(block string) {
	f.flush()
	if block != "" {
		f.out = append(f.out, block)
	}
}

// flush ends the paragraph.
func (f *flow) flush() {
	text := f.in.take()
	if text == "" {
		return
	}
	if f.href != "" {
		text = link(text, f.href)
		f.href = ""
	}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		lines := strings.Split(strings.Trim(paragraph, " \n"), "\n")
		for i, l := range lines {
			lines[i] = escapeStart(strings.TrimSpace(l))
		}
		if p := strings.Join(lines, "  \n"); p != "" {
			f.out = append(f.out, p)
		}
	}
}

func (f *flow) children(n *html.Node) {
	for c := range n.ChildNodes() {
		f.node(c)
	}
}

// below returns the blocks of what an element holds.
func (f *flow) below(n *html.Node) []string {
	inner := flow{r: f.r, href: f.href}
	inner.children(n)
	inner.flush()
	if inner.href == "" {
		f.href = ""
	}
	return inner.out
}

func (f *flow) node(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		if !f.r.done() && f.r.passes(n) {
			f.r.room -= f.in.write(n.Data)
		}
		return
	case html.DocumentNode:
		f.children(n)
		return
	case html.ElementNode:
	default:
		return
	}
	if f.r.done() {
		return
	}
	if f.r.skips(n) {
		if n.DataAtom == atom.Input && attr(n, "type") != "hidden" {
			f.in.space() // it parts labels
		}
		return
	}
	if _, holds := f.r.holds[n]; !holds && !isBlock(n.DataAtom) {
		f.inline(n)
		return
	}
	f.flush()
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		f.heading(n)
	case atom.Ul, atom.Ol, atom.Menu:
		f.list(n)
	case atom.Dl:
		f.definitions(n)
	case atom.Pre:
		f.code(n)
	case atom.Blockquote:
		f.quote(n)
	case atom.Table:
		f.table(n)
	case atom.Hr:
		f.add(rule)
	case atom.Figure:
		f.figure(n)
	case atom.Summary, atom.Legend:
		if text := oneLine(f.below(n)); text != "" {
			f.add("**" + strings.Trim(text, "*") + "**")
		}
	case atom.A:
		if href := f.r.resolve(attr(n, "href")); href != "" {
			f.href = href
		}
		f.children(n)
		f.flush()
		f.href = ""
	default:
		f.children(n)
	}
	f.flush()
}

func oneLine(blocks []string) string {
	return collapse(strings.Join(blocks, " "))
}

func (f *flow) heading(n *html.Node) {
	text := oneLine(f.below(n))
	text = strings.TrimSpace(strings.TrimRight(text, "¶§#"))
	if inner, ok := strings.CutPrefix(text, "**"); ok {
		if inner, ok = strings.CutSuffix(inner, "**"); ok && !strings.Contains(inner, "**") {
			text = inner
		}
	}
	if text != "" {
		f.add(strings.Repeat("#", int(n.Data[1]-'0')) + " " + strings.TrimPrefix(text, `\`))
	}
}

// list renders items; what lies between them belongs to the item before.
func (f *flow) list(n *html.Node) {
	if f.r.nested >= maxNested {
		f.children(n)
		return
	}
	f.r.nested++
	defer func() { f.r.nested-- }()
	var items []string
	number, loose := 1, false
	if start, err := strconv.Atoi(attr(n, "start")); err == nil && start >= 0 && start < 1e6 {
		number = start
	}
	for c := range n.ChildNodes() {
		if c.Type != html.ElementNode || f.r.skips(c) {
			continue
		}
		inner := flow{r: f.r}
		if c.DataAtom == atom.Li {
			inner.children(c)
		} else {
			inner.node(c)
		}
		inner.flush()
		if len(inner.out) == 0 {
			continue
		}
		text := inner.out[0]
		for i, block := range inner.out[1:] {
			gap := "\n\n"
			if i == 0 && isList(block) {
				gap = "\n"
			} else {
				loose = true
			}
			text += gap + block
		}
		if c.DataAtom != atom.Li && len(items) > 0 {
			items[len(items)-1] += "\n" + indent(text, 2)
			continue
		}
		marker := "- "
		if n.DataAtom == atom.Ol {
			if value, err := strconv.Atoi(attr(c, "value")); err == nil && value >= 0 && value < 1e6 {
				number = value
			}
			marker = strconv.Itoa(number) + ". "
			number++
		}
		if box := checkbox(c); box != "" {
			text = box + text
		}
		items = append(items, marker+strings.TrimLeft(indent(text, len(marker)), " "))
	}
	gap := "\n"
	if loose {
		gap = "\n\n"
	}
	f.add(strings.Join(items, gap))
}

func isList(block string) bool {
	rest := strings.TrimLeft(block, "0123456789")
	return strings.HasPrefix(block, "- ") || len(rest) < len(block) && strings.HasPrefix(rest, ". ")
}

// checkbox returns the mark of an item that begins with one.
func checkbox(item *html.Node) string {
	for c := range item.Descendants() {
		switch {
		case c.Type == html.TextNode && strings.TrimSpace(c.Data) != "":
			return ""
		case c.DataAtom == atom.Input && attr(c, "type") == "checkbox":
			if has(c, "checked") {
				return "[x] "
			}
			return "[ ] "
		}
	}
	return ""
}

// indent puts spaces before each line that is not empty.
func indent(text string, by int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString("               "[:by])
		}
		b.WriteString(line)
	}
	return b.String()
}

func (f *flow) definitions(n *html.Node) {
	var out []string
	for c := range n.Descendants() {
		if c.DataAtom != atom.Dt && c.DataAtom != atom.Dd || owner(c, atom.Dl) != n || f.r.skips(c) {
			continue
		}
		blocks := f.below(c)
		switch {
		case len(blocks) == 0:
		case c.DataAtom == atom.Dt:
			text := oneLine(blocks)
			if !strings.ContainsAny(text, "*`") {
				text = "**" + text + "**"
			}
			out = append(out, "\n"+text)
		default:
			out = append(out, ": "+strings.TrimLeft(indent(strings.Join(blocks, "\n\n"), 2), " "))
		}
	}
	f.add(strings.TrimLeft(strings.Join(out, "\n"), "\n"))
}

// owner returns the nearest element of a kind around a node.
func owner(n *html.Node, kind atom.Atom) *html.Node {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.DataAtom == kind {
			return p
		}
	}
	return nil
}

func (f *flow) quote(n *html.Node) {
	if f.r.nested >= maxNested {
		f.children(n)
		return
	}
	f.r.nested++
	text := strings.Join(f.below(n), "\n\n")
	f.r.nested--
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight("> "+l, " ")
		if strings.HasSuffix(l, "  ") {
			lines[i] += "  "
		}
	}
	f.add(strings.Join(lines, "\n"))
}

// code renders a block of code as it is, with its language.
func (f *flow) code(n *html.Node) {
	var b strings.Builder
	f.raw(n, &b)
	text := strings.Trim(strings.ReplaceAll(b.String(), "\r\n", "\n"), "\n")
	text = strings.TrimRight(text, " \t\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	fence := strings.Repeat("`", max(3, longest(text, '`')+1))
	f.add(fence + language(n) + "\n" + clean(text) + "\n" + fence)
}

// raw collects text with its spaces.
func (f *flow) raw(n *html.Node, b *strings.Builder) {
	for c := range n.ChildNodes() {
		switch {
		case f.r.done():
			return
		case c.Type == html.TextNode && f.r.passes(c):
			b.WriteString(c.Data)
			f.r.room -= len(c.Data)
		case c.Type == html.ElementNode && c.DataAtom == atom.Br:
			b.WriteByte('\n')
		case c.Type == html.ElementNode && !f.r.skips(c):
			f.raw(c, b)
			if isBlock(c.DataAtom) && c.NextSibling != nil && !strings.HasSuffix(b.String()[max(0, b.Len()-1):], "\n") {
				b.WriteByte('\n') // each line in an element of its own
			}
		}
	}
}

// longest returns the length of the longest run of a character.
func longest(text string, c byte) (most int) {
	n := 0
	for i := range len(text) {
		if text[i] != c {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}

// language finds the language of a block of code in the names around it.
func language(pre *html.Node) string {
	nodes := []*html.Node{pre}
	for c := range pre.ChildNodes() {
		if c.DataAtom == atom.Code {
			nodes = append([]*html.Node{c}, nodes...)
		}
	}
	for p, i := pre.Parent, 0; p != nil && i < 3; p, i = p.Parent, i+1 {
		nodes = append(nodes, p)
	}
	for i, n := range nodes {
		for _, key := range [...]string{"data-lang", "data-language"} {
			if l := languageName(attr(n, key)); l != "" {
				return l
			}
		}
		classes := strings.Fields(attr(n, "class"))
		for k, class := range classes {
			for _, prefix := range [...]string{"language-", "lang-", "highlight-source-", "highlight-"} {
				if rest, ok := strings.CutPrefix(class, prefix); ok {
					if l := languageName(rest); l != "" && l != "default" && l != "text" && l != "none" {
						return l
					}
				}
			}
			if (class == "brush:" || class == "sourceCode" || class == "src") && k+1 < len(classes) && i < 3 {
				return languageName(strings.TrimSuffix(classes[k+1], ";"))
			}
			if rest, ok := strings.CutPrefix(class, "src-"); ok { // of Org mode
				return languageName(rest)
			}
		}
	}
	return ""
}

// languageName returns a name that may follow a fence.
func languageName(s string) string {
	s = strings.ToLower(s)
	if len(s) == 0 || len(s) > 20 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789+#-_.") != "" {
		return ""
	}
	return s
}

// figure renders the image; its caption stands for a missing description.
func (f *flow) figure(n *html.Node) {
	caption := ""
	for c := range n.Descendants() {
		if f.r.picked != nil && c.DataAtom == atom.Figcaption && !unseen(c) {
			caption = collapse(clean(textOf(c)))
			break
		}
	}
	if _, out := f.r.out[n]; out { // the picture of an article, not what else the box has
		for c := range n.Descendants() {
			if c.DataAtom == atom.Img && !f.r.skips(c) {
				f.image(c, caption)
			}
		}
		f.flush()
		return
	}
	for c := range n.ChildNodes() {
		if c.DataAtom == atom.Img {
			f.image(c, caption)
		} else {
			f.node(c)
		}
	}
	f.flush()
}
