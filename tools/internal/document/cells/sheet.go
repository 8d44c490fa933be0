package cells

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"toolcrib/tools/internal/document"
)

// Area is a rectangle of cells, from 0, its ends included.
type Area struct{ Top, Left, Bottom, Right int }

// Everything is the area of all cells.
var everything = Area{0, 0, math.MaxInt32, math.MaxInt32}

// ParseArea reads "A1:D20", "A:C", "2:5" or "B7". "" is everything.
func ParseArea(text string) (Area, error) {
	text = strings.ToUpper(strings.ReplaceAll(strings.TrimSpace(text), "$", ""))
	if text == "" {
		return everything, nil
	}
	from, to, isRange := strings.Cut(text, ":")
	if !isRange {
		to = from
	}
	row1, col1, ok1 := address(from)
	row2, col2, ok2 := address(to)
	if !isRange && (row1 < 0 || col1 < 0) {
		ok1 = false // a name, perhaps
	}
	a := Area{max(row1, 0), max(col1, 0), row2, col2}
	if row2 < 0 {
		a.Bottom = math.MaxInt32
	}
	if col2 < 0 {
		a.Right = math.MaxInt32
	}
	switch {
	case strings.Contains(text, "!"):
		return Area{}, document.Errorf(document.Absent, "range takes cells alone; the name of a sheet goes into sheet")
	case ok1 && ok2 && (a.Bottom < a.Top || a.Right < a.Left):
		return Area{}, document.Errorf(document.Absent, "%q is reversed: the upper left cell comes first", text)
	case !ok1 || !ok2:
		return Area{}, document.Errorf(document.Absent, "%q is not a range of cells such as A1:D20, A:C or 2:5; columns end at XFD", text)
	}
	return a, nil
}

// Has reports whether a cell is in the area.
func (a Area) Has(row, col int) bool {
	return row >= a.Top && row <= a.Bottom && col >= a.Left && col <= a.Right
}

func (a Area) String() string {
	return Place(a.Top, a.Left) + ":" + Place(a.Bottom, a.Right)
}

// mostColumns is how many a sheet can have: the last is XFD.
const mostColumns = 16384

// address reads "B7"; a part that is missing is -1.
func address(text string) (row, col int, ok bool) {
	col, rest := 0, text
	for rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' && col < 1<<20 {
		col = col*26 + int(rest[0]-'A') + 1
		rest = rest[1:]
	}
	if rest == "" {
		return -1, col - 1, text != "" && col <= mostColumns
	}
	row, err := strconv.Atoi(rest)
	return row - 1, col - 1, err == nil && row > 0 && row < math.MaxInt32 && col <= mostColumns
}

// Address reads the address of one cell.
func Address(text string) (row, col int, ok bool) {
	row, col, ok = address(text)
	return row, col, ok && row >= 0 && col >= 0
}

// Column is the name of a column, from 0.
func Column(n int) string {
	var name string
	for n++; n > 0; n = (n - 1) / 26 {
		name = string(rune('A'+(n-1)%26)) + name
	}
	return name
}

// Place is the address of a cell, from 0.
func Place(row, col int) string { return Column(col) + strconv.Itoa(row+1) }

// Sheet collects the cells of a sheet, row by row.
type Sheet struct {
	Name   string
	Number int
	Hidden bool
	Area   Area // of the cells that are wanted

	budget *document.Budget
	rows   [][]document.Cell
	places []int // of rows in the sheet
	used   Area
	after  []document.Block
}

// NewSheet returns a sheet without cells.
func NewSheet(name string, number int, hidden bool, area Area, budget *document.Budget) *Sheet {
	return &Sheet{Name: name, Number: number, Hidden: hidden, Area: area, budget: budget, used: Area{math.MaxInt32, math.MaxInt32, -1, -1}}
}

// Put puts a cell. A later row must not be put before an earlier one.
func (s *Sheet) Put(row, col int, cell document.Cell) error {
	if cell.Text == "" && cell.Spans == nil || !s.Area.Has(row, col) || row < 0 || col < 0 {
		return nil
	}
	n := len(s.places)
	if n == 0 || s.places[n-1] < row {
		s.places = append(s.places, row)
		s.rows = append(s.rows, nil)
		n++
	} else if s.places[n-1] > row {
		return nil // out of order: a file that is made like this is broken
	}
	at := col - min(s.Area.Left, col)
	last := &s.rows[n-1]
	if at >= len(*last) {
		grow := at + 1 - len(*last)
		if err := s.budget.TakeCells(grow); err != nil {
			return err
		}
		*last = append(*last, make([]document.Cell, grow)...)
	}
	(*last)[at] = cell
	s.used = Area{min(s.used.Top, row), min(s.used.Left, col), max(s.used.Bottom, row), max(s.used.Right, col)}
	if cell.Spans != nil {
		return s.budget.TakeRepeated(cell.Spans)
	}
	return s.budget.TakeSpan(len(cell.Text))
}

// Link makes a cell a link.
func (s *Sheet) Link(row, col int, target string) error {
	i, found := slices.BinarySearch(s.places, row)
	at := col - s.Area.Left
	if !found || at < 0 || at >= len(s.rows[i]) || target == "" {
		return nil
	}
	cell := &s.rows[i][at]
	if cell.Text == "" {
		return nil
	}
	*cell = document.Cell{Spans: []document.Span{{Text: cell.Text, Link: target}}}
	return s.budget.TakeRepeated(cell.Spans)
}

// Comment adds a comment on a cell.
func (s *Sheet) Comment(at, author, text string) error {
	row, col, ok := Address(at)
	if !ok || !s.Area.Has(row, col) {
		return nil
	}
	b := document.Block{Kind: document.Comment, Label: author, Spans: document.Text(at + ": " + text)}
	s.after = append(s.after, b)
	return s.budget.TakeRepeated(append(b.Spans, document.Span{Text: author}))
}

// Blocks returns the mark of the sheet and its tables. Rows without cells divide tables, and
// so do many columns without any. A table of one cell is a paragraph. If there are several,
// each has its place.
func (s *Sheet) Blocks() []document.Block {
	state := "empty"
	switch {
	case len(s.rows) > 0:
		state = s.used.String()
	case s.Area != everything:
		state = "no cells in the range"
	}
	if s.Hidden {
		state = "hidden, " + state
	}
	blocks := []document.Block{{Kind: document.Mark, Label: "sheet", Number: s.Number, State: state, Spans: document.Text(s.Name)}}
	tables := s.tables(0, len(s.rows), Area{Right: math.MaxInt})
	for _, at := range tables {
		blocks = append(blocks, s.block(at, len(tables) > 1)...)
	}
	return append(blocks, s.after...)
}

// tables divides rows of the sheet, from first to before end, with the columns of an area,
// at rows and columns without cells. What it returns has numbers of rows in s.rows and of
// columns in these rows; so has within.
func (s *Sheet) tables(first, end int, within Area) (all []Area) {
	for i := first; i < end; {
		if s.blank(i, within) {
			i++
			continue
		}
		n := i + 1
		for n < end && s.places[n] == s.places[n-1]+1 && !s.blank(n, within) {
			n++
		}
		groups := s.groups(i, n, within)
		if len(groups) == 1 {
			all = append(all, Area{i, groups[0].Left, n - 1, groups[0].Right})
		} else {
			for _, g := range groups {
				all = append(all, s.tables(i, n, g)...)
			}
		}
		i = n
	}
	return all
}

// blank reports whether a row has no cells in the columns of an area.
func (s *Sheet) blank(row int, within Area) bool {
	r := s.rows[row]
	return !slices.ContainsFunc(r[min(within.Left, len(r)):min(within.Right, len(r)-1)+1], filled)
}

func filled(c document.Cell) bool { return c.Text != "" || c.Spans != nil }

// groups returns the columns that rows use, divided where many have no cells.
func (s *Sheet) groups(first, end int, within Area) (groups []Area) {
	const gap = 5 // columns that divide tables
	var used []bool
	for _, row := range s.rows[first:end] {
		for col := within.Left; col < len(row) && col <= within.Right; col++ {
			if filled(row[col]) {
				if col >= len(used) {
					used = append(used, make([]bool, col+1-len(used))...)
				}
				used[col] = true
			}
		}
	}
	for col, is := range used {
		switch n := len(groups); {
		case !is:
		case n == 0 || col-groups[n-1].Right > gap:
			groups = append(groups, Area{Left: col, Right: col})
		default:
			groups[n-1].Right = col
		}
	}
	return groups
}

// block returns a table, or the paragraph of a cell, with its place in the sheet if wanted.
func (s *Sheet) block(at Area, placed bool) []document.Block {
	rows := make([][]document.Cell, 0, at.Bottom+1-at.Top)
	for _, row := range s.rows[at.Top : at.Bottom+1] {
		rows = append(rows, row[min(at.Left, len(row)):min(at.Right+1, len(row))])
	}
	left := s.Area.Left // where rows begin
	place := Area{s.places[at.Top], left + at.Left, s.places[at.Bottom], left + at.Right}
	if at.Top == at.Bottom && at.Left == at.Right {
		spans := rows[0][0].Spans
		if spans == nil {
			spans = document.Text(rows[0][0].Text)
		}
		if placed {
			spans = append(document.Text(Place(place.Top, place.Left)+": "), spans...)
		}
		return []document.Block{{Spans: spans}}
	}
	table := document.Block{Kind: document.Table, Grid: &document.Grid{Rows: rows}}
	if placed {
		return []document.Block{{Spans: document.Text(place.String() + ":")}, table}
	}
	return []document.Block{table}
}

// Wanted reports whether a sheet is chosen, by its name or number and among the pages.
func Wanted(src document.Source, name string, number int) bool {
	choice := src.Sheet
	return src.Pages.Has(number) && (choice == "" || strings.EqualFold(choice, name) || choice == strconv.Itoa(number))
}

// NoSheet is the error where no sheet is wanted.
func NoSheet(src document.Source, names []string) error {
	quoted := make([]string, 0, min(len(names), 20))
	for _, name := range names[:min(len(names), 20)] {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	if src.Sheet == "" || !src.Pages.All() {
		return document.Errorf(document.Absent, "it has no such sheet; the sheets are %s", strings.Join(quoted, ", "))
	}
	return document.Errorf(document.Absent, "there is no sheet %q; the sheets are %s", src.Sheet, strings.Join(quoted, ", "))
}
