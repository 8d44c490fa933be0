package page

import (
	"golang.org/x/net/html/atom"
)

// listing takes all that a page says which is no article: posts of a forum, a product, a
// recipe, results, a table, a list of links. It takes the smallest box that holds nearly
// all of the text in sight, without boxes around it and, unless they are most of the page,
// menus. The boxes are judged as the last attempt at an article left them.
func (d *layout) listing() {
	dropHidden := d.inSight() > waiting
	menus, total := d.menus(dropHidden)
	letters := make([]int, len(d.runs)+1)
	inMenus := 0
	for i := range d.runs {
		if menus[i] {
			inMenus += d.runs[i].letters
		}
	}
	dropMenus := inMenus*2 < total
	for i := range d.runs {
		r := &d.runs[i]
		r.keep = !r.out && (!dropHidden || r.hint&hintHidden == 0) && (!dropMenus || !menus[i]) && !d.titled(r) && (isHeading(r.tag) || !d.words.label[lower(r.text)])
		letters[i+1] = letters[i]
		if r.keep {
			letters[i+1] += r.letters
		}
	}
	all := letters[len(d.runs)]
	nearly := all * 9
	if d.scope > 0 { // nothing around the text is in it
		nearly = all * 10
	}
	d.root = 0
	for i := range d.boxes {
		b := &d.boxes[i]
		n := letters[b.to] - letters[b.from]
		b.dropped = false
		if n*10 >= nearly || n*10 >= all*4 && b.hint&(hintThing|hintMain) != 0 {
			d.root = i // the boxes are in the order of the document: the innermost is the last
		}
	}
	root := d.boxes[d.root]
	for i := range d.runs {
		d.runs[i].keep = d.runs[i].keep && i >= root.from && i < root.to
	}
}

// menus marks the runs of lists and boxes that are nothing but short links, and returns how
// many letters the page has outside of what is out.
func (d *layout) menus(dropHidden bool) (menus []bool, total int) {
	menus = make([]bool, len(d.runs))
	for i := range d.runs {
		if r := &d.runs[i]; !r.out && (!dropHidden || r.hint&hintHidden == 0) {
			total += r.letters
		}
	}
	for i := range d.boxes {
		b := &d.boxes[i]
		n := b.to - b.from
		switch b.node.DataAtom {
		case atom.Ul, atom.Ol, atom.Div, atom.Dl, atom.P, atom.Header, atom.Section:
			if b.hint&hintAround == 0 && (d.scope > 0 || d.headed(b)) {
				continue
			}
			if n > 0 && b.links*10 >= b.letters*9 && b.letters <= 25*n {
				for k := b.from; k < b.to; k++ {
					menus[k] = true
				}
			}
		}
	}
	return menus, total
}

// headed reports whether a heading introduces a list.
func (d *layout) headed(b *box) bool {
	if b.from == 0 || b.node.DataAtom != atom.Ul && b.node.DataAtom != atom.Ol && b.node.DataAtom != atom.Dl {
		return false
	}
	r := &d.runs[b.from-1]
	return isHeading(r.tag) && r.links == 0 && !r.out
}

// inSight counts the letters in the scope that are not hidden.
func (d *layout) inSight() (n int) {
	for i := range d.runs {
		if d.runs[i].hint&hintHidden == 0 && d.inScope(i) {
			n += d.runs[i].letters
		}
	}
	return n
}

// teasers reports whether the text that was taken for an article is what stands below links
// to other pages: results of a search, the front page of a newspaper.
func (d *layout) teasers() bool {
	root := d.boxes[d.root]
	texts, linked := 0, 0
	for i := root.from; i < root.to; i++ {
		r := &d.runs[i]
		if !r.keep || r.letters < 25 {
			continue
		}
		texts++
		if i > 0 && d.runs[i-1].links*5 >= d.runs[i-1].letters*4 && !d.runs[i-1].keep || i > 1 && isHeading(d.runs[i-2].tag) && d.runs[i-2].links*5 >= d.runs[i-2].letters*4 {
			linked++
		}
	}
	return linked >= 3 && linked*3 >= texts*2
}

// choice says how the text of a page was chosen.
type choice string

const (
	chosenArticle choice = "article"
	chosenListing choice = "listing"
	chosenVisible choice = "all that is in sight"
)

// pick takes the main text of a page.
func (d *layout) pick() choice {
	d.scope = d.scoped()
	d.article()
	root, article, anchored := d.root, d.kept(), d.anchored(anchors)
	keep := make([]bool, len(d.runs))
	longest := 0
	for i := range d.runs {
		keep[i] = d.runs[i].keep
		if keep[i] && d.runs[i].long() {
			longest += d.runs[i].letters
		}
	}
	item := d.anchored(hintItem | hintBody)
	teasers := d.teasers()
	d.listing()
	listed, linked := 0, 0
	for i := range d.runs {
		if r := &d.runs[i]; r.keep && !keep[i] {
			linked += r.links
		}
		if r := &d.runs[i]; r.keep {
			listed += r.letters
		}
	}
	visible := d.inSight()
	var isArticle bool
	switch {
	case article == 0:
	case d.said == kindArticle && article >= enough, item && article >= enough && d.said != kindThing:
		isArticle = true
	case d.said == kindThing:
		isArticle = item && article*2 >= listed
	case d.scope > 0 && d.said != kindArticle && !item && (article < 2*enough || (listed-article-linked)*8 > article):
	case teasers:
	case article < 5*enough && (listed-article-linked)*3 > article: // the page says more than its paragraphs do
	case article*2 >= listed:
		isArticle = true
	default: // an article among many links, or with others that are as long
		isArticle = longest >= 1000 && linked*2 > listed-article ||
			article >= 2*enough && longest*2 >= article && listed < 4*article && linked*3 > 2*(listed-article) || anchored && article >= 3*enough && longest*2 >= article
	}
	if isArticle {
		d.root = root
		for i := range d.runs {
			d.runs[i].keep = keep[i]
		}
		if anchored || (article >= enough || visible <= 2*article) && article*15 >= visible {
			return chosenArticle
		}
	} else if listed > 0 && listed*15 >= visible {
		return chosenListing
	}
	d.root = 0
	for i := range d.boxes {
		d.boxes[i].dropped = false
		d.boxes[i].out = false
	}
	for i := range d.runs {
		d.runs[i].keep = d.runs[i].hint&hintHidden == 0
	}
	return chosenVisible
}
