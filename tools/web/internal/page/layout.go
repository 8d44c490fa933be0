package page

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// layout is a page as boxes and the runs of text in them, in the order of the document.
type layout struct {
	ctx   context.Context
	boxes []box
	runs  []run
	root  int // the box of the main text
	scope int // the box that the main text is in
	seen  int // letters of runs that speak for a text
	said  kind
	title string // in lower case
	words *lists

	// The run that is being read.
	text           []byte
	nodes          []*html.Node
	letters, links int
	anchors        int // open links
	box            int
}

// box is an element of block level, or one with a name; it holds runs[from:to].
type box struct {
	node            *html.Node
	parent          int
	from, to        int
	hint, inherited hint // inherited are those of itself and of all around it
	names           []string
	letters, links  int
	good            int // letters of runs that speak for a text
	out             bool
	dropped         bool // for its links
}

// run is inline text between two borders of blocks.
type run struct {
	text           string
	nodes          []*html.Node // of text
	letters, links int          // without spaces; a character of Chinese, Japanese or Korean counts three
	words          int
	box            int
	tag            atom.Atom
	hint           hint // inherited
	punctuated     bool
	out, keep      bool
}

func layOut(ctx context.Context, root *html.Node, said Meta) *layout {
	d := &layout{ctx: ctx, said: said.kind, title: strings.ToLower(said.Title), boxes: []box{{node: root, parent: -1}}, words: words()}
	d.walk(root, 0)
	d.flush()
	d.boxes[0].to = len(d.runs)
	return d
}

func (d *layout) walk(n *html.Node, at int) {
	switch {
	case n.Type == html.TextNode:
		d.read(n)
		return
	case n.Type == html.DocumentNode:
		for c := range n.ChildNodes() {
			d.walk(c, at)
		}
		return
	case n.Type != html.ElementNode || d.ctx.Err() != nil:
		return
	case skipped(n.DataAtom) && !shadow(n) && !opener(n):
		if n.DataAtom != atom.Script && n.DataAtom != atom.Button && n.DataAtom != atom.Input {
			d.flush()
		}
		return
	case n.DataAtom == atom.Br: // one ends a line, two a block
		for len(d.text) > 0 && d.text[len(d.text)-1] == ' ' {
			d.text = d.text[:len(d.text)-1]
		}
		if k := len(d.text); k > 0 && d.text[k-1] != '\n' {
			d.text = append(d.text, '\n')
		} else {
			d.flush()
		}
		return
	}
	h, names := hintsOf(n)
	own := isBlock(n.DataAtom) || h&(hintAround|hintHidden) != 0
	i := at
	if own {
		d.flush()
		i = len(d.boxes)
		d.boxes = append(d.boxes, box{node: n, parent: at, from: len(d.runs), hint: h, inherited: h | d.boxes[at].inherited, names: names})
		d.box = i
	}
	leads := n.DataAtom == atom.A && !selfLink(n)
	if leads {
		d.anchors++
	}
	for c := range n.ChildNodes() {
		d.walk(c, i)
		d.box = i
	}
	if own {
		d.flush()
		d.boxes[i].to = len(d.runs)
		d.box = at
	}
	if leads {
		d.anchors--
	}
}

// selfLink reports whether a link leads to what it stands in: a heading or a term that can be
// linked to.
func selfLink(a *html.Node) bool {
	target, ok := strings.CutPrefix(attr(a, "href"), "#")
	if !ok || target == "" {
		return false
	}
	for n, up := a, 0; n != nil && up < 3; n, up = n.Parent, up+1 {
		if attr(n, "id") == target {
			return true
		}
	}
	return false
}

// shadow reports whether a template is the content of the element that holds it.
func shadow(n *html.Node) bool { return n.DataAtom == atom.Template && has(n, "shadowrootmode") }

// opener reports whether a button is the heading that opens and closes a part of the page.
func opener(n *html.Node) bool {
	if n.DataAtom != atom.Button || n.Parent == nil || !isHeading(n.Parent.DataAtom) && n.Parent.DataAtom != atom.Summary {
		return false
	}
	beside := 0
	for c := range n.Parent.ChildNodes() {
		if beside++; beside > 10 { // no heading that opens a part has so many
			return false
		}
		if c != n && strings.TrimSpace(c.Data) != "" && (c.Type == html.TextNode || strings.TrimSpace(textOf(c)) != "") {
			return false
		}
	}
	return true
}

// read adds a node of text to the run.
func (d *layout) read(n *html.Node) {
	before := len(d.text)
	space := before == 0 || d.text[before-1] == ' ' || d.text[before-1] == '\n'
	for i := range len(n.Data) {
		c := n.Data[i]
		if c == ' ' || c >= '\t' && c <= '\r' && c != '\v' {
			if !space {
				d.text = append(d.text, ' ')
				space = true
			}
			continue
		}
		space = false
		d.text = append(d.text, c)
		if c >= 0x80 && c < 0xc0 {
			continue // inside a character
		}
		weight := 1
		if c >= 0xe3 && c <= 0xed {
			weight = 3
		}
		d.letters += weight
		if d.anchors > 0 {
			d.links += weight
		}
	}
	if len(d.text) > before {
		d.nodes = append(d.nodes, n)
	}
}

// flush ends the run.
func (d *layout) flush() {
	text := strings.TrimSpace(string(d.text))
	r := run{text: text, nodes: d.nodes, letters: d.letters, links: d.links, box: d.box}
	d.text, d.nodes, d.letters, d.links = d.text[:0], nil, 0, 0
	if text == "" {
		return
	}
	b := &d.boxes[d.box]
	r.tag, r.hint = b.node.DataAtom, b.inherited
	in, dense := false, 0
	for _, c := range text {
		switch {
		case c >= 0x3040 && c < 0xa000 || c >= 0xac00 && c < 0xd7a4: // two of these say what a word says
			dense++
			in = false
		case unicode.IsLetter(c) || unicode.IsDigit(c):
			if !in {
				r.words++
			}
			in = true
		case c != '\'' && c != '’':
			in = false
			r.punctuated = r.punctuated || strings.ContainsRune(`.,!?;:。，、！？；．…”"؟،।`, c)
		}
	}
	r.words += (dense + 1) / 2
	d.runs = append(d.runs, r)
}

// titled reports whether a run is a main heading that the title says already.
func (d *layout) titled(r *run) bool {
	return r.tag == atom.H1 && strings.Contains(d.title, strings.ToLower(collapse(strings.TrimRight(clean(r.text), " ¶§#"))))
}

// value says how much a run speaks for the boxes that hold it, or against them.
func (r *run) value() float64 {
	letters, share := float64(r.letters), float64(r.links)/float64(max(1, r.letters))
	switch {
	case share > .5:
		return -letters/2 - 10
	case r.letters >= 65:
		return letters * (1 - share)
	case r.letters >= 20 && r.punctuated:
		return letters * (1 - share) / 2
	case r.tag == atom.H2 || r.tag == atom.H3 || r.tag == atom.H4, r.links == 0 && (r.tag == atom.Li || r.tag == atom.Dt || r.tag == atom.Dd || r.tag == atom.Pre):
		return 0
	}
	return -5
}

// long reports whether articles are made of runs like this one; these end the head of a
// text and begin its tail.
func (r *run) long() bool { return r.letters >= 65 && r.punctuated && r.links*2 < r.letters }

// kept counts the letters that are taken.
func (d *layout) kept() (n int) {
	for i := range d.runs {
		if d.runs[i].keep {
			n += d.runs[i].letters
		}
	}
	return n
}

// within reports whether a box or one around it has a name.
func (d *layout) within(box int, name string) bool {
	for ; box > 0; box = d.boxes[box].parent {
		if slices.Contains(d.boxes[box].names, name) {
			return true
		}
	}
	return false
}
