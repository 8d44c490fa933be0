package page

import (
	"slices"
	"strings"

	"golang.org/x/net/html/atom"
)

// trimLines takes single lines away: labels, pointers elsewhere with the links that follow,
// dates and bylines before the first long run, headings and short remains after the last. A
// text with code is one of short parts that all count.
func (d *layout) trimLines(from, to int) {
	first, last, technical := -1, -1, false
	for i := from; i < to; i++ {
		r := &d.runs[i]
		if r.keep && r.long() && !d.away(r) {
			if first < 0 {
				first = i
			}
			last = i
		}
		technical = technical || r.keep && r.tag == atom.Pre
	}
	whole := technical || d.thread(first, last)
	for i := from; i < to; i++ {
		r := &d.runs[i]
		if !r.keep {
			continue
		}
		line := strings.ToLower(strings.Trim(r.text, " :.…»>|-–—\u00a0"))
		pointer := len(line) <= 60 && begins(line, d.words.pointer)
		r.keep = !pointer && !d.words.label[line] && !d.titled(r) && !d.leads(r, last >= 0 && i > last) &&
			(whole || (i >= first || d.opens(i, first, last) || !headLine(r, line)) && (last < 0 || i <= last || isHeading(r.tag) || !tailLine(r)))
		if pointer {
			d.dropLinked(i+1, to)
		}
	}
	if last >= 0 && !whole {
		d.dropHeadings(last+1, to)
	}
}

// dropHeadings takes headings away that no text follows which is kept.
func (d *layout) dropHeadings(from, to int) {
	text := false
	for i := to - 1; i >= from; i-- {
		if r := &d.runs[i]; r.keep {
			r.keep = text || !isHeading(r.tag)
			text = !isHeading(r.tag)
		}
	}
}

// thread reports whether the runs between the first and the last long one are posts: lines
// with a date part them, on a page that does not say that it is an article.
func (d *layout) thread(first, last int) bool {
	dates := 0
	for i := first + 1; i < last; i++ {
		if r := &d.runs[i]; r.keep && r.words <= 12 && !ends(r.text) && !isHeading(r.tag) && dated(r.text) {
			dates++
		}
	}
	return dates >= 2 && d.said != kindArticle
}

// leads reports whether a line leads away from the text; in the tail longer ones do.
func (d *layout) leads(r *run, tail bool) bool {
	return d.away(r) && (r.words <= 20 && (r.links*5 >= r.letters*2 || !ends(r.text)) || tail && r.words <= 45)
}

// headLine reports whether a line before the text belongs to its head: a title, a date, an
// author.
func headLine(r *run, line string) bool {
	if isHeading(r.tag) && r.words >= 8 {
		return true
	}
	by := !isHeading(r.tag) && !cell(r.tag) && strings.HasPrefix(line, "by ")
	return !ends(r.text) && (r.words < 4 || r.words <= 16 && (dated(r.text) || by))
}

// opens reports whether a run is the heading of the text that begins with the first long run, and
// one of several of its kind: that of a section, not of the page.
func (d *layout) opens(i, first, last int) bool {
	r := &d.runs[i]
	return i == first-1 && isHeading(r.tag) &&
		slices.ContainsFunc(d.runs[first:last], func(later run) bool { return later.keep && later.tag == r.tag })
}

// tailLine reports whether a line after the text is a remain.
func tailLine(r *run) bool {
	return !ends(r.text) && !cell(r.tag) &&
		(r.words <= 16 && dated(r.text) && r.hint&hintQuote == 0 || r.words < 4 && r.tag != atom.Dd)
}

func cell(tag atom.Atom) bool { return tag == atom.Td || tag == atom.Th || tag == atom.Li }

// dropLinked takes the links away that follow a pointer.
func (d *layout) dropLinked(from, to int) {
	for i := from; i < to; i++ {
		r := &d.runs[i]
		if r.long() && r.links*4 < r.letters || isHeading(r.tag) && r.links == 0 {
			return
		}
		if r.links*2 >= r.letters || r.links > 0 && r.tag == atom.Li {
			r.keep = false
		}
	}
}

// trimTail takes addresses and invitations off the end.
func (d *layout) trimTail(from, to int) {
	const looked = 4 // runs that stay before the end of the search
	for i, stay := to-1, 0; i >= from && stay < looked; i-- {
		r := &d.runs[i]
		if !r.keep {
			continue
		}
		if r.hint&hintQuote != 0 || r.tag == atom.Td {
			return
		}
		if r.words <= 45 && (d.away(r) || strings.Contains(r.text, "@") || r.links*5 >= r.letters*3) {
			r.keep = false
		} else {
			stay++
		}
	}
}

func (d *layout) away(r *run) bool {
	head := r.text[:min(len(r.text), 100)]
	return begins(strings.TrimLeft(strings.ToLower(head), " ([*•>»→-–—"), d.words.away)
}

func begins(line string, list []string) bool {
	for _, prefix := range list {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

// ends reports whether a line ends as a sentence does.
func ends(line string) bool {
	line = strings.TrimRight(line, " \"'”’»)]")
	for _, mark := range [...]string{".", "!", "?", ":", "…", "。", "！", "？", "।", "؟"} {
		if strings.HasSuffix(line, mark) {
			return true
		}
	}
	return false
}

// dated reports whether a line names a year from 1900 to 2099, a time of day or an age.
func dated(line string) bool {
	digit := func(i int) bool { return i >= 0 && i < len(line) && line[i] >= '0' && line[i] <= '9' }
	for i := range len(line) - 3 {
		if line[i] == ':' && digit(i-1) && digit(i+1) && digit(i+2) {
			return true
		}
		if (line[i:i+2] == "20" || line[i:i+2] == "19") && digit(i+2) && digit(i+3) && !digit(i-1) && !digit(i+4) {
			return true
		}
	}
	return strings.HasSuffix(line, " ago")
}
