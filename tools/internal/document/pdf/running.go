package pdf

import "math"

var (
	numbers    = pattern(`[0-9]+|\b[ivxlc]+\b`)
	pageNumber = pattern(`(?i)^[-–—\s|]*(page|seite|p\.)?\s*([0-9]{1,4}|[ivxlc]{1,7})(\s*(of|/|von)\s*[0-9]+)?[-–—\s|]*$`)
)

// edge is a line at the top or bottom of pages: its text without numbers, and its height.
type edge struct {
	text   string
	height int
}

func edgeOf(l *line) edge {
	return edge{numbers().ReplaceAllString(l.text(), "#"), int(math.Round(l.y / 3))}
}

// dropRunning removes headers and footers that repeat, and page numbers. The first of each
// header stays, so that no text is lost.
func dropRunning(pages []*page) {
	if len(pages) < 2 {
		return
	}
	count := map[edge]int{}
	numbered := 0
	for _, p := range pages {
		seen := map[edge]bool{}
		for _, l := range p.edges() {
			e := edgeOf(l)
			for off := -1; off <= 1; off++ {
				if near := (edge{e.text, e.height + off}); !seen[near] {
					seen[near] = true
					count[near]++
				}
			}
			if pageNumber().MatchString(l.text()) {
				numbered++
			}
		}
	}
	said := map[string]bool{}
	for _, p := range pages {
		gone := map[*word]bool{}
		for _, l := range p.edges() {
			e := edgeOf(l)
			number := numbered >= 2 && pageNumber().MatchString(l.text())
			if !number && count[e] < min(3, len(pages)) {
				continue
			}
			if number || said[e.text] {
				for _, w := range l.words {
					gone[w] = true
				}
			}
			said[e.text] = true
		}
		p.drop(gone)
	}
}

// edges returns the lines at the top and the bottom of a page.
func (p *page) edges() []*line {
	const (
		most  = 3   // lines on each side
		share = .14 // of the height
	)
	var all []*line
	band := share * (p.bottom - p.top)
	for i, l := range p.lines {
		if i < most && l.y < p.top+band || i >= len(p.lines)-most && l.y > p.bottom-band {
			all = append(all, l)
		}
	}
	return all
}

func (p *page) drop(gone map[*word]bool) {
	if len(gone) == 0 {
		return
	}
	var words []*word
	for _, w := range p.words {
		if !gone[w] {
			words = append(words, w)
		}
	}
	p.words, p.lines = words, lines(words)
}
