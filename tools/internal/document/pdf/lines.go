package pdf

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"sync"
)

// line is words on one baseline.
type line struct {
	words    []*word
	y, size  float64
	x0, x1   float64
	segments []segment
}

// segment is a part of a line without a wide gap.
type segment struct {
	x0, x1 float64
	words  []*word
	wide   int // columns of a terminal; 0 = not counted yet
}

func (s *segment) text() string { return joined(s.words) }

func (s *segment) width() int {
	if s.wide == 0 {
		s.wide = width(s.text())
	}
	return s.wide
}

func (l *line) text() string { return joined(l.words) }

// insert returns what lies in the place of a line; nil = it is text.
func (l *line) insert() *insert { return l.words[0].insert }

var (
	listMark      = pattern(`^([•◦▪▫‣●○■□–—\-*·➢✓]|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)]|\(?[ivx]+[.)])$`)
	bulletMark    = pattern(`^[•◦▪▫‣●○■□·➢✓–—\-*]$`)
	sectionNumber = pattern(`^([0-9]+(\.[0-9]+)*\.?|[A-Z](\.[0-9]+)+)$`)
	leaders       = pattern(`(\.\s?){4,}|…{2,}|(·\s?){4,}`)
	lineNumber    = pattern(`^[0-9]{1,5}$`)
)

// pattern compiles a regular expression at its first use.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// lines groups words by their baselines, from the top.
func lines(words []*word) []*line {
	const (
		apart = .3 // em between baselines of one line
		back  = 6  // lines that a word is compared with
	)
	sorted := slices.Clone(words)
	slices.SortStableFunc(sorted, func(a, b *word) int { return cmp.Compare(a.y, b.y) })
	var all []*line
	for _, w := range sorted {
		var best *line
		for i := len(all) - 1; w.insert == nil && i >= max(0, len(all)-back); i-- {
			l := all[i]
			off := math.Abs(l.y - w.y)
			if l.insert() == nil && off <= apart*min(l.size, w.size) && (best == nil || off < math.Abs(best.y-w.y)) {
				best = l
			}
		}
		if best == nil {
			best = &line{y: w.y}
			all = append(all, best)
		}
		best.words = append(best.words, w)
		best.size = max(best.size, w.size)
	}
	for i := range all {
		raise(all, i)
	}
	all = slices.DeleteFunc(all, func(l *line) bool { return len(l.words) == 0 })
	for _, l := range all {
		l.finish()
	}
	return all
}

// raise moves small words of a line, which are superscripts and subscripts, to the line near
// it that they touch.
func raise(all []*line, i int) {
	l := all[i]
	l.words = slices.DeleteFunc(l.words, func(w *word) bool {
		if w.insert != nil {
			return false
		}
		for _, k := range []int{i - 2, i - 1, i + 1, i + 2} {
			if k < 0 || k >= len(all) || len(all[k].words) == 0 {
				continue
			}
			o := all[k]
			if o.insert() != nil || w.size >= .85*o.size || math.Abs(o.y-w.y) >= .6*o.size {
				continue
			}
			for _, v := range o.words {
				if v.size > w.size*1.1 && min(math.Abs(w.x0-v.x1), math.Abs(v.x0-w.x1)) < .35*v.size {
					o.words = append(o.words, w)
					return true
				}
			}
		}
		return false
	})
}

// finish sorts the words of a line and divides it into segments.
func (l *line) finish() {
	slices.SortStableFunc(l.words, func(a, b *word) int { return cmp.Compare(a.x0, b.x0) })
	l.words = slices.CompactFunc(l.words, func(a, b *word) bool { // bold that is printed twice
		return a.text == b.text && math.Abs(a.x0-b.x0) < .2*b.size && a.insert == nil
	})
	l.x0, l.x1 = l.words[0].x0, l.words[0].x1
	total := 0
	for _, w := range l.words {
		l.x1 = max(l.x1, w.x1)
		total += w.chars
	}
	l.size = middleSize(l.words, total)
	l.segments = nil
	for i, w := range l.words {
		if i > 0 {
			if s := &l.segments[len(l.segments)-1]; w.x0-s.x1 < l.wideGap(s, w) {
				s.words = append(s.words, w)
				s.x1 = max(s.x1, w.x1)
				continue
			}
		}
		l.segments = append(l.segments, segment{x0: w.x0, x1: w.x1, words: []*word{w}})
	}
}

// wideGap is how far a word must be from a segment to begin the next one.
func (l *line) wideGap(s *segment, w *word) float64 {
	if first := s.words[0]; len(s.words) == 1 && w.x0-s.x1 < 3*l.size {
		heading := len(l.segments) == 1 && sectionNumber().MatchString(first.text) && first.style.Bold && w.style.Bold
		if heading || listMark().MatchString(first.text) {
			return 3 * l.size
		}
	}
	if w.style.Font.Mono {
		return 1.1 * l.size
	}
	return .9 * max(min(l.size, w.size*1.3), 4)
}

// middleSize is the median size of characters.
func middleSize(words []*word, total int) float64 {
	sorted := slices.Clone(words)
	slices.SortFunc(sorted, func(a, b *word) int { return cmp.Compare(a.size, b.size) })
	seen := 0
	for _, w := range sorted {
		if seen += w.chars; seen*2 > total {
			return w.size
		}
	}
	return sorted[0].size
}

// mono reports whether a line is of a font whose characters have one width.
func (l *line) mono() bool {
	mono, all := 0, 0
	for i, w := range l.words {
		if i == 0 && len(l.words) > 1 && lineNumber().MatchString(w.text) {
			continue // a listing may have numbers of another font
		}
		all += w.chars
		if w.style.Font.Mono {
			mono += w.chars
		}
	}
	return all > 0 && mono*10 >= all*8
}

func (l *line) bold() bool {
	bold, all := 0, 0
	for _, w := range l.words {
		all += w.chars
		if w.style.Bold {
			bold += w.chars
		}
	}
	return all > 0 && bold*10 >= all*9
}

// median returns the middle value; 0 = there is none.
func median(values []float64) float64 { return quantile(values, .5) }

// quantile returns the value that a share of values lies below.
func quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(share*float64(len(sorted)-1)+.5)]
}

// distinct returns values in order, without those that are as near to the one before as near.
func distinct(values []float64, near float64) []float64 {
	slices.Sort(values)
	var all []float64
	for _, v := range values {
		if len(all) == 0 || v-all[len(all)-1] > near {
			all = append(all, v)
		}
	}
	return all
}
