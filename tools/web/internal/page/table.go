package page

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxColumns is the number of columns that a table is shown with.
const maxColumns = 100

// tableCell is a cell with what it holds.
type tableCell struct {
	blocks  []string
	heading bool
}

// table renders rows and columns as a table, and a table that only places things as what it
// places.
func (f *flow) table(n *html.Node) {
	var rows [][]tableCell
	spans := map[int]int{} // by column: rows that a cell above still covers
	var caption string
	head := false // the first row is the head
	nests := false
	for tr := range rowsOf(n) {
		if tr.DataAtom == atom.Caption {
			if !f.r.skips(tr) {
				caption = oneLine(f.below(tr))
			}
			continue
		}
		if f.r.skips(tr) || f.r.skips(tr.Parent) {
			continue
		}
		var row []tableCell
		fill := func() {
			for spans[len(row)] > 0 {
				spans[len(row)]--
				row = append(row, tableCell{})
			}
		}
		for c := range tr.ChildNodes() {
			if c.DataAtom != atom.Td && c.DataAtom != atom.Th || f.r.skips(c) || len(row) >= maxColumns {
				continue
			}
			fill()
			cell := tableCell{f.below(c), c.DataAtom == atom.Th}
			nests = nests || len(cell.blocks) > 0 && complexCell(c)
			down := span(c, "rowspan", 1000)
			for i := range span(c, "colspan", maxColumns) {
				if down > 1 && len(row) < maxColumns {
					spans[len(row)] = down - 1
				}
				if i > 0 {
					cell = tableCell{heading: cell.heading}
				}
				row = append(row, cell)
			}
		}
		fill()
		if len(rows) == 0 {
			head = tr.Parent.DataAtom == atom.Thead || allHeadings(row)
		}
		f.r.room -= 10 * len(row)
		if f.r.done() {
			break
		}
		rows = append(rows, row)
	}
	rows = withoutEmpty(rows)
	if caption != "" {
		f.add("**" + strings.Trim(caption, "*") + "**")
	}
	if placing(n, rows, nests) {
		for _, row := range rows {
			for _, cell := range row {
				f.out = append(f.out, cell.blocks...)
			}
		}
		return
	}
	f.add(pipes(rows, head))
}

// rowsOf goes through the caption and the rows of a table, not of those inside.
func rowsOf(table *html.Node) func(yield func(*html.Node) bool) {
	return func(yield func(*html.Node) bool) {
		for c := range table.ChildNodes() {
			switch c.DataAtom {
			case atom.Caption, atom.Tr:
				if !yield(c) {
					return
				}
			case atom.Thead, atom.Tbody, atom.Tfoot:
				for tr := range c.ChildNodes() {
					if tr.DataAtom == atom.Tr && !yield(tr) {
						return
					}
				}
			}
		}
	}
}

func span(n *html.Node, key string, most int) int {
	k, err := strconv.Atoi(strings.TrimSpace(attr(n, key)))
	if err != nil {
		return 1
	}
	return min(max(k, 1), most)
}

// complexCell reports whether a cell holds what no line of a table can.
func complexCell(cell *html.Node) bool {
	for c := range cell.Descendants() {
		switch c.DataAtom {
		case atom.Table, atom.Pre, atom.H1, atom.H2, atom.Blockquote, atom.Article, atom.Section, atom.Form:
			return true
		}
	}
	return false
}

func allHeadings(row []tableCell) bool {
	for _, c := range row {
		if !c.heading {
			return false
		}
	}
	return len(row) > 0
}

// withoutEmpty drops rows and columns that show nothing.
func withoutEmpty(rows [][]tableCell) [][]tableCell {
	filled := make([]bool, maxColumns*2)
	var out [][]tableCell
	for _, row := range rows {
		any := false
		for i, c := range row {
			if len(c.blocks) > 0 && i < len(filled) {
				any, filled[i] = true, true
			}
		}
		if any {
			out = append(out, row)
		}
	}
	for r, row := range out {
		var kept []tableCell
		for i, c := range row {
			if i < len(filled) && filled[i] {
				kept = append(kept, c)
			}
		}
		out[r] = kept
	}
	return out
}

// placing reports whether a table only places what it holds on the page.
func placing(n *html.Node, rows [][]tableCell, nests bool) bool {
	columns, headings, cells, long := 0, 0, 0, 0
	for _, row := range rows {
		columns = max(columns, len(row))
		for _, c := range row {
			if c.heading {
				headings++
			}
			if len(c.blocks) > 0 {
				cells++
			}
			if n := size(c.blocks); n > 300 || n > 80 && len(rows) < 3 || len(c.blocks) > 3 {
				long++
			}
		}
	}
	role := attr(n, "role")
	return nests || columns < 2 || role == "presentation" || role == "none" || headings == 0 && (len(rows) < 2 || long > 0 && len(rows) < 3 || long*2 > cells)
}

func size(blocks []string) (n int) {
	for _, b := range blocks {
		n += len(b)
	}
	return n
}

// pipes writes a table with a line for each row. GitHub's tables have a head: one without
// any, whose rows begin with headings, has an empty one.
func pipes(rows [][]tableCell, head bool) string {
	if len(rows) == 0 {
		return ""
	}
	columns := 0
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	var b strings.Builder
	write := func(row []tableCell) {
		for i := range columns {
			b.WriteString("| ")
			if i < len(row) {
				text := strings.Join(row[i].blocks, "\n")
				text = strings.ReplaceAll(strings.ReplaceAll(text, "  \n", "\n"), "\n", "<br>")
				b.WriteString(strings.ReplaceAll(text, "|", `\|`))
				b.WriteByte(' ')
			}
		}
		b.WriteString("|\n")
	}
	if keyed := !head && len(rows[0]) > 0 && rows[0][0].heading; keyed {
		write(nil)
	} else {
		write(rows[0])
		rows = rows[1:]
	}
	b.WriteString(strings.Repeat("| --- ", columns) + "|\n")
	for _, row := range rows {
		write(row)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
