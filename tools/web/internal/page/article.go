package page

import (
	"slices"
	"strings"

	"golang.org/x/net/html/atom"
)

// anchors are the hints of a box that says that it is the text.
const anchors = hintItem | hintBody | hintArticle

// anchored reports whether the box of the text or one around it has a hint.
func (d *layout) anchored(h hint) bool { return d.boxes[d.root].inherited&h != 0 }

// enough is the letters from which a text is taken as the whole of an article.
const enough = 200

// waiting is the most letters that a page has in sight whose text is hidden until a script
// runs. On any other page what is hidden is left out.
const waiting = 30

// article takes the text of an article: the runs of one box, without the boxes whose names
// say that they are something else. A name that would take most of the page's text is not
// believed; later attempts believe fewer names.
func (d *layout) article() {
	total := 0
	for i := range d.runs {
		if r := &d.runs[i]; r.value() > 0 {
			total += r.letters
			if r.hint&hintHidden == 0 {
				d.seen += r.letters
			}
		}
	}
	dropHidden := d.inSight() > waiting
	if dropHidden {
		total = d.seen
	}
	d.seen = total
	byName := d.measure(dropHidden)
	var best []bool
	var bestRoot int
	most := -1
	for try := range 3 {
		d.attempt(func(name string) bool { return disbelieved(try, name, byName[name], total) }, dropHidden, try < 2)
		n := d.kept()
		if n >= enough && (n*10 >= total || d.anchored(anchors)) {
			return
		}
		if n > most*2 {
			most, best, bestRoot = n, best[:0], d.root
			for i := range d.runs {
				best = append(best, d.runs[i].keep)
			}
		}
	}
	d.root = bestRoot
	for i := range d.runs {
		d.runs[i].keep = best[i]
	}
}

// disbelieved reports whether an attempt ignores a name, whose outermost boxes hold so many
// of all letters that speak for a text.
func disbelieved(try int, name string, letters, total int) bool {
	rest := total - letters
	reader := strings.HasPrefix(name, "comment") || name == "disqus" || name == "respond" || name == "replies"
	switch {
	case try == 0 && reader:
		return rest < 150
	case try == 0:
		return letters*2 > total && rest < 400 || letters*100 > total*85 && rest < 1000
	case try == 1:
		return letters*2 > total
	}
	return true
}

// measure sets the letters of each box, and returns those that speak for a text in the
// outermost boxes of each name.
func (d *layout) measure(dropHidden bool) map[string]int {
	sum := make([][3]int, len(d.runs)+1)
	for i := range d.runs {
		r := &d.runs[i]
		s := sum[i]
		s[0], s[1] = s[0]+r.letters, s[1]+r.links
		if r.value() > 0 && (!dropHidden || r.hint&hintHidden == 0) {
			s[2] += r.letters
		}
		sum[i+1] = s
	}
	byName := map[string]int{}
	for i := range d.boxes {
		b := &d.boxes[i]
		to, from := sum[b.to], sum[b.from]
		b.letters, b.links, b.good = to[0]-from[0], to[1]-from[1], to[2]-from[2]
		for _, name := range b.names {
			if !d.within(b.parent, name) {
				byName[name] += b.good
			}
		}
	}
	return byName
}

// attempt chooses the root and its runs, without the names that ignore passes. Roles around
// the text are believed or not, but what no reader sees stays out.
func (d *layout) attempt(ignore func(string) bool, dropHidden, roles bool) {
	for i := 1; i < len(d.boxes); i++ {
		b := &d.boxes[i]
		b.dropped = false
		b.out = d.boxes[b.parent].out || dropHidden && b.hint&hintHidden != 0 && (roles || unseen(b.node))
		if !b.out && b.hint&hintAround != 0 && b.hint&hintItem == 0 {
			b.out = slices.ContainsFunc(b.names, func(name string) bool { return !ignore(name) })
		}
	}
	for i := range d.runs {
		r := &d.runs[i]
		r.out, r.keep = d.boxes[r.box].out || !d.inScope(i), false
	}
	d.root = d.choose()
	root := d.boxes[d.root]
	for i := root.from; i < root.to; i++ {
		d.runs[i].keep = !d.runs[i].out
	}
	for i := d.root + 1; i < len(d.boxes) && d.boxes[i].from < root.to; i++ { // lists and boxes of links
		if b := &d.boxes[i]; b.links*2 > b.letters && (b.node.DataAtom != atom.P || b.links == b.letters) {
			b.dropped = true
			for k := b.from; k < b.to; k++ {
				d.runs[k].keep = false
			}
		}
	}
	d.trimLines(root.from, root.to)
	d.trimTail(root.from, root.to)
}

// choose finds the box with the greatest sum of values, the innermost of equals.
func (d *layout) choose() int {
	home, alone := d.home()
	sum, letters := make([]float64, len(d.runs)+1), make([]int, len(d.runs)+1)
	for i := range d.runs {
		sum[i+1], letters[i+1] = sum[i], letters[i]
		if r := &d.runs[i]; !r.out {
			sum[i+1] += r.value()
			letters[i+1] += r.letters
		}
	}
	best, most := 0, 0.0
	for i := range d.boxes {
		b := &d.boxes[i]
		s, n, factor := sum[b.to]-sum[b.from], letters[b.to]-letters[b.from], 1.0
		switch {
		case b.hint&hintItem != 0 && n >= 100:
			s, factor = max(s, float64(n)*.8), 2
		case b.hint&hintItem != 0:
			factor = 1.25
		case b.hint&hintBody != 0:
			factor = 1.4
		case i == home && alone && n >= 250:
			factor = 4
		case b.hint&hintArticle != 0:
			factor = 1.25
		case b.hint&hintMain != 0:
			factor = 1.1
		}
		if s > 0 && s*factor >= most {
			best, most = i, s*factor
		}
	}
	return best
}

// home returns the article that holds the last main heading. alone says that the heading is
// the only one of the page, and the article one of several.
func (d *layout) home() (box int, alone bool) {
	home, headings, articles := -1, 0, 0
	for i := range d.boxes {
		b := &d.boxes[i]
		if b.from == b.to {
			continue
		}
		if b.hint&hintArticle != 0 {
			articles++
		}
		if b.node.DataAtom == atom.H1 && !b.out {
			headings++
			for p := b.parent; p > 0; p = d.boxes[p].parent {
				if d.boxes[p].hint&hintArticle != 0 {
					home = p
					break
				}
			}
		}
	}
	return home, headings == 1 && articles >= 3
}
