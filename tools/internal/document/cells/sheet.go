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
	a := Area{max(row1, 0), max(col1, 0), row2, col2}
	if row2 < 0 {
		a.Bottom = math.MaxInt32
	}
	if col2 < 0 {
		a.Right = math.MaxInt32
	}
	if !ok1 || !ok2 || a.Bottom < a.Top || a.Right < a.Left {
		return Area{}, document.Errorf(document.Absent, "%q is not a range of cells such as A1:D20", text)
	}
	return a, nil
}

// Has reports whether a cell is in the area.
func (a Area) Has(row, col int) bool {
	return row >= a.Top && row <= a.Bottom && col >= a.Left && col <= a.Right
}

func (a Area) String() string {
	return Column(a.Left) + strconv.Itoa(a.Top+1) + ":" + Column(a.Right) + strconv.Itoa(a.Bottom+1)
}

// address reads "B7"; a part that is missing is -1.
func address(text string) (row, col int, ok bool) {
	col, rest := 0, text
	for rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' && col < 1<<20 {
		col = col*26 + int(rest[0]-'A') + 1
		rest = rest[1:]
	}
	if rest == "" {
		return -1, col - 1, text != ""
	}
	row, err := strconv.Atoi(rest)
	return row - 1, col - 1, err == nil && row > 0 && row < math.MaxInt32
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
func (s *Sheet) Link(row, col int, target string) {
	i, found := slices.BinarySearch(s.places, row)
	at := col - s.Area.Left
	if !found || at < 0 || at >= len(s.rows[i]) || target == "" {
		return
	}
	if cell := &s.rows[i][at]; cell.Text != "" {
		*cell = document.Cell{Spans: []document.Span{{Text: cell.Text, Link: target}}}
	}
}

// Comment adds a comment on a cell.
func (s *Sheet) Comment(at, author, text string) {
	if row, col, ok := Address(at); ok && s.Area.Has(row, col) {
		s.after = append(s.after, document.Block{Kind: document.Comment, Label: author, Spans: document.Text(at + ": " + text)})
	}
}

// Blocks returns the mark of the sheet and its tables. Rows without cells divide tables;
// columns without any are left out. A table of one cell is a paragraph.
func (s *Sheet) Blocks() []document.Block {
	state := "empty"
	if len(s.rows) > 0 {
		state = s.used.String()
	}
	if s.Hidden {
		state = "hidden, " + state
	}
	blocks := []document.Block{{Kind: document.Mark, Label: "sheet", Number: s.Number, State: state, Spans: document.Text(s.Name)}}
	for i := 0; i < len(s.rows); {
		n := i + 1
		for n < len(s.rows) && s.places[n] == s.places[n-1]+1 {
			n++
		}
		blocks = append(blocks, s.table(s.rows[i:n]))
		i = n
	}
	return append(blocks, s.after...)
}

func (s *Sheet) table(rows [][]document.Cell) document.Block {
	var used []bool
	for _, row := range rows {
		for col, cell := range row {
			if cell.Text != "" || cell.Spans != nil {
				if col >= len(used) {
					used = append(used, make([]bool, col+1-len(used))...)
				}
				used[col] = true
			}
		}
	}
	columns := 0
	for _, is := range used {
		if is {
			columns++
		}
	}
	if columns < len(used) {
		for i, row := range rows {
			kept := row[:0]
			for col, cell := range row {
				if used[col] {
					kept = append(kept, cell)
				}
			}
			rows[i] = kept
		}
	}
	if len(rows) == 1 && columns == 1 {
		cell := rows[0][0]
		if cell.Spans == nil {
			cell.Spans = document.Text(cell.Text)
		}
		return document.Block{Spans: cell.Spans}
	}
	return document.Block{Kind: document.Table, Grid: &document.Grid{Rows: rows}}
}

// Wanted reports whether a sheet is chosen by its name or number; "" chooses all.
func Wanted(choice, name string, number int) bool {
	return choice == "" || strings.EqualFold(choice, name) || choice == strconv.Itoa(number)
}

// NoSheet is the error of a sheet that does not exist.
func NoSheet(choice string, names []string) error {
	quoted := make([]string, 0, min(len(names), 20))
	for _, name := range names[:min(len(names), 20)] {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	return document.Errorf(document.Absent, "there is no sheet %q; the sheets are %s", choice, strings.Join(quoted, ", "))
}
