package pdf

import (
	"math"
	"strconv"
	"strings"

	"toolcrib/tools/internal/document"
)

var (
	blankCell = pattern(`^[_.\-…\s]+$`)
	dotCell   = pattern(`(\.\s){2,}|^\.$`)
)

// figures is what is counted in a table of gaps.
type figures struct {
	filled, full       int   // cells; rows with several of them
	chars, used        []int // by column
	labels, unanswered int   // cells that end in a colon, and those with nothing behind
	dots               int   // cells that are leaders
	numbered           int   // rows whose number follows that of the row before
}

func figuresOf(g *grid) figures {
	columns := len(g.rows[0])
	f := figures{chars: make([]int, columns), used: make([]int, columns)}
	last := -9
	for _, row := range g.rows {
		texts := make([]string, columns)
		n := 0
		for k, cell := range row {
			texts[k] = document.PlainText(cell)
			if texts[k] == "" {
				continue
			}
			n++
			f.chars[k] += width(texts[k])
			f.used[k]++
			if dotCell().MatchString(texts[k]) {
				f.dots++
			}
		}
		for k, text := range texts {
			if strings.HasSuffix(text, ":") {
				f.labels++
				if k+1 == columns || texts[k+1] == "" || strings.HasSuffix(texts[k+1], ":") {
					f.unanswered++
				}
			}
		}
		if number, err := strconv.Atoi(texts[0]); err == nil {
			if number == last+1 {
				f.numbered++
			}
			last = number
		}
		f.filled += n
		if n >= 2 {
			f.full++
		}
	}
	return f
}

// accept returns the table if it has enough rows and cells and its columns are aligned, and
// if it is no prose, form, index or listing; otherwise nil: lines in their order are better
// than a table that is none.
func (c *candidate) accept() *grid {
	const longest = 34 // characters that a cell has on average in a column that is not prose
	g := c.model()
	f := figuresOf(g)
	rows, columns := len(c.rows), len(c.corridors)+1
	least := 3
	if c.between || columns >= 3 {
		least = 2
	}
	switch {
	case f.dots*10 >= f.filled*2,
		columns == 2 && f.numbered == rows-1,
		f.full < least || f.full*10 < 6*rows || f.filled*100 < 45*rows*columns,
		f.labels*10 >= f.filled*3 && f.unanswered*10 >= f.labels*4:
		return nil
	}
	long := 0
	for k, used := range f.used {
		if used == 0 || !c.between && rows > 3 && used*5 < rows {
			return nil
		}
		if f.chars[k] > longest*used {
			long++
		}
	}
	if !c.between && !c.spaced && (long >= 2 || columns == 2 && long >= 1) {
		return nil
	}
	aligned, exact := c.aligned()
	if aligned < max(columns-columns/4, 2) || rows < 3 && !c.between && exact < columns {
		return nil
	}
	return g
}

// aligned counts the columns where most cells share their left side, right side or middle, and
// those where all do.
func (c *candidate) aligned() (most, all int) {
	const near = .35 // em
	for k := range len(c.corridors) + 1 {
		var sides [3][]float64
		for _, r := range c.rows {
			if len(r.cells[k]) == 0 {
				continue
			}
			x0, x1 := math.Inf(1), math.Inf(-1)
			for _, w := range r.cells[k] {
				x0, x1 = min(x0, w.x0), max(x1, w.x1)
			}
			for i, x := range []float64{x0, x1, (x0 + x1) / 2} {
				sides[i] = append(sides[i], x)
			}
		}
		best, n := 0, len(sides[0])
		for _, xs := range sides {
			middle, same := median(xs), 0
			for _, x := range xs {
				if math.Abs(x-middle) <= near*c.em {
					same++
				}
			}
			best = max(best, same)
		}
		if n > 0 && best*10 >= n*6 {
			most++
		}
		if n >= 2 && best == n {
			all++
		}
	}
	return most, all
}
