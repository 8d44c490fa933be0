package page

import (
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// line is the paragraph that is being written.
type line struct {
	b    []byte
	lead bool // it begins with a space, which is not written
	gap  bool // a space is due before what follows
}

// write adds text, with spaces collapsed, also those that do not break lines, and returns how long it is.
func (l *line) write(text string) int {
	text = strings.ReplaceAll(clean(text), "\u00a0", " ")
	for i := 0; i < len(text); {
		if space(text[i]) {
			l.space()
			i++
			continue
		}
		end := i
		for end < len(text) && !space(text[end]) {
			end++
		}
		l.due()
		before := byte(0)
		if len(l.b) > 0 {
			before = l.b[len(l.b)-1]
		}
		l.b = escape(l.b, text[i:end], before)
		i = end
	}
	return len(text)
}

func (l *line) space() {
	l.gap = l.gap || len(l.b) > 0
	l.lead = l.lead || len(l.b) == 0
}

// due writes the space that is due.
func (l *line) due() {
	if l.gap && len(l.b) > 0 && l.b[len(l.b)-1] != '\n' {
		l.b = append(l.b, ' ')
	}
	l.gap = false
}

// put adds what is Markdown already.
func (l *line) put(markdown string) {
	l.due()
	l.b = append(l.b, markdown...)
}

// take returns the paragraph and begins the next.
func (l *line) take() string {
	text := strings.TrimSpace(string(l.b))
	l.b, l.gap, l.lead = l.b[:0], false, false
	return text
}

// inline renders an element inside a paragraph.
func (f *flow) inline(n *html.Node) {
	switch n.DataAtom {
	case atom.Br:
		f.in.gap = false
		f.in.b = append(f.in.b, '\n')
	case atom.Img:
		f.image(n, "")
	case atom.B, atom.Strong:
		f.mark(n, "**")
	case atom.I, atom.Em, atom.Cite, atom.Dfn, atom.Var:
		f.mark(n, "*")
	case atom.S, atom.Del, atom.Strike:
		f.mark(n, "~~")
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		f.verbatim(n)
	case atom.Sup:
		f.raised(n)
	case atom.Q:
		f.in.put("“")
		f.children(n)
		f.in.put("”")
	case atom.A:
		f.anchor(n)
	case atom.Math:
		f.math(n)
	case atom.Rp:
	case atom.Rt:
		if text := f.inside(n); text.String() != "" {
			f.in.put("(" + text.String() + ")")
		}
	case atom.Wbr:
	default:
		f.children(n)
	}
}

func (l *line) String() string { return strings.Trim(string(l.b), " ") }

// inside renders what an element holds by itself.
func (f *flow) inside(n *html.Node) line {
	outer := f.in
	f.in = line{}
	f.children(n)
	inner := f.in
	f.in = outer
	return inner
}

// join adds what was rendered by itself, with the spaces that it had around it.
func (l *line) join(inner line, markdown string) {
	if inner.lead {
		l.space()
	}
	if markdown != "" {
		l.put(markdown)
	}
	if inner.gap {
		l.space()
	}
}

// mark puts a mark around each line.
func (f *flow) mark(n *html.Node, mark string) {
	if f.r.marks >= maxMarks {
		f.children(n)
		return
	}
	f.r.marks++
	inner := f.inside(n)
	f.r.marks--
	lines := strings.Split(string(inner.b), "\n")
	for i, l := range lines {
		if l = strings.TrimSpace(l); l != "" && !strings.Contains(l, mark) && strings.Trim(l, ".,;:!?") != "" {
			l = mark + l + mark
		}
		lines[i] = l
	}
	text := strings.Join(lines, "\n")
	if !inner.lead && !f.in.gap && strings.HasPrefix(text, mark) && strings.HasSuffix(string(f.in.b), mark) && len(f.in.b) > len(mark) &&
		!strings.HasSuffix(string(f.in.b), " "+mark) && mark == "**" {
		f.in.b = f.in.b[:len(f.in.b)-len(mark)] // two pieces of one mark
		text = text[len(mark):]
	}
	f.in.join(inner, text)
}

// verbatim renders code inside a paragraph.
func (f *flow) verbatim(n *html.Node) {
	var b strings.Builder
	f.raw(n, &b)
	text := clean(b.String())
	inner := line{lead: text != "" && space(text[0]), gap: text != "" && space(text[len(text)-1])}
	if text = collapse(text); text == "" {
		f.in.join(inner, "")
		return
	}
	ticks := strings.Repeat("`", longest(text, '`')+1)
	if text[0] == '`' || text[len(text)-1] == '`' {
		text = " " + text + " "
	}
	f.in.join(inner, ticks+text+ticks)
}

// raised renders a power with a caret and leaves other raised text as it is.
func (f *flow) raised(n *html.Node) {
	inner := f.inside(n)
	text := inner.String()
	power := strings.Trim(text, "+-−0123456789nxk") == "" && text != ""
	if power && len(f.in.b) > 0 && !f.in.gap && word(f.in.b[len(f.in.b)-1]) {
		text = "^" + text
	}
	f.in.join(inner, text)
}

func (f *flow) anchor(n *html.Node) {
	href := f.r.resolve(attr(n, "href"))
	inner := f.inside(n)
	text := inner.String()
	if href == "" {
		if strings.Trim(text, "¶#§🔗") == "" && has(n, "href") { // it points at its heading
			text = ""
		}
		f.in.join(inner, text)
		return
	}
	f.r.room -= len(href)
	f.in.join(inner, link(text, href))
}

// link puts a link around text of one line or more.
func link(text, href string) string {
	text = collapse(text)
	switch {
	case text == "" || text == href:
		return text
	case strings.HasPrefix(text, "[") && strings.HasSuffix(text, ")"): // already one
		return text
	case strings.HasPrefix(text, "!["):
	default:
		text = bracketed(text)
	}
	return "[" + text + "](" + href + ")"
}

// bracketed marks the brackets in the text of a link.
func bracketed(text string) string {
	if !strings.ContainsAny(text, "[]") || strings.Contains(text, "](") {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if (text[i] == '[' || text[i] == ']') && (i == 0 || text[i-1] != '\\') {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// maxHref is the length from which an address is no use to a reader.
const maxHref = 2000

// resolve returns the absolute address of a link, "" for one that leads nowhere: to a part
// of the page, to a script, to data.
func (r *renderer) resolve(href string) string { return resolve(r.base, href) }

func resolve(base *url.URL, href string) string {
	href = strings.TrimSpace(href)
	if href == "" || href[0] == '#' || len(href) > maxHref {
		return ""
	}
	u, err := url.Parse(strings.Map(func(c rune) rune {
		if c == '\n' || c == '\r' || c == '\t' {
			return -1
		}
		return c
	}, href))
	if err != nil {
		return ""
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	switch u.Scheme {
	case "", "http", "https", "mailto", "tel", "ftp", "ftps", "magnet", "news", "geo", "sms", "xmpp", "irc", "ircs":
	default:
		return ""
	}
	text := u.String()
	if len(text) > maxHref {
		return ""
	}
	return inParentheses.Replace(text)
}

// inParentheses writes an address so that it may be put between parentheses.
var inParentheses = strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E")

// image renders an image that a reader sees.
func (f *flow) image(n *html.Node, caption string) {
	r := f.r
	alt := collapse(clean(attr(n, "alt")))
	if alt == "" {
		alt = caption
	}
	if r.picked != nil && (r.passed == 0 && alt == "" || r.passed > 0 && r.passed >= len(r.picked)) {
		return // around the text
	}
	if r.picked != nil && ornament(n) {
		return
	}
	if tiny(attr(n, "width")) || tiny(attr(n, "height")) || attr(n, "role") == "presentation" {
		return
	}
	src := ""
	for _, key := range [...]string{"src", "data-src", "data-original", "data-lazy-src"} {
		if v := strings.TrimSpace(attr(n, key)); v != "" && !strings.HasPrefix(strings.ToLower(v), "data:") {
			src = v
			break
		}
	}
	if src == "" {
		src, _, _ = strings.Cut(strings.TrimSpace(attr(n, "srcset")), " ")
	}
	src = r.resolve(src)
	if alt = strings.NewReplacer("[", "(", "]", ")").Replace(alt); len(alt) > 500 {
		alt = strings.ToValidUTF8(alt[:500], "") + "…"
	}
	switch {
	case src == "" && alt == "":
	case src == "":
		f.in.put("![" + alt + "]()")
		f.in.space()
	default:
		r.room -= len(src)
		f.in.put("![" + alt + "](" + src + ")")
		f.in.space()
	}
}

// ornament reports whether the names of an image say that it tells nothing.
func ornament(n *html.Node) bool {
	src := attr(n, "src")
	name := strings.ToLower(src[strings.LastIndexByte(src, '/')+1:] + " " + attr(n, "class"))
	for _, word := range [...]string{"logo", "avatar", "icon", "spinner", "spacer", "emoji", "sprite"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

func tiny(size string) bool {
	n, err := strconv.Atoi(strings.TrimSuffix(size, "px"))
	return err == nil && n <= 2
}

// math renders a formula by the source that it carries, or else its characters.
func (f *flow) math(n *html.Node) {
	source := attr(n, "alttext")
	for c := range n.Descendants() {
		if c.Data == "annotation" && strings.Contains(attr(c, "encoding"), "tex") && source == "" {
			source = textOf(c)
		}
	}
	if source = collapse(clean(source)); source == "" {
		source = collapse(clean(textOf(n)))
	}
	passed := false
	for c := range n.Descendants() {
		passed = c.Type == html.TextNode && f.r.passes(c) && strings.TrimSpace(c.Data) != "" || passed
	}
	if passed && source != "" {
		f.r.room -= len(source)
		f.in.put("$" + source + "$")
	}
}

// textOf returns the text below a node as it is.
func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}
