package html

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"toolcrib/tools/internal/document"
)

func (c *converter) list(n *html.Node) {
	c.flush()
	number := 1
	if start, err := strconv.Atoi(attr(n, "start")); err == nil {
		number = start
	}
	c.level++
	inItem, item := c.inItem, c.item
	if item != nil { // a list that begins an item is its content
		c.item = nil
	}
	for child := n.FirstChild; child != nil && c.err == nil; child = child.NextSibling {
		if child.DataAtom != atom.Li {
			c.node(child)
			continue
		}
		if hidden(child) {
			continue
		}
		label := ""
		if n.DataAtom == atom.Ol {
			if value, err := strconv.Atoi(attr(child, "value")); err == nil {
				number = value
			}
			label = ordinal(number, attr(n, "type"))
			number++
		}
		c.listItem(child, &label)
	}
	c.flush()
	c.level--
	c.inItem = inItem
}

func ordinal(n int, kind string) string {
	if n >= 1 && n <= 26 {
		switch kind {
		case "a":
			return string(rune('a'+n-1)) + "."
		case "A":
			return string(rune('A'+n-1)) + "."
		}
	}
	return strconv.Itoa(n) + "."
}

func (c *converter) listItem(n *html.Node, label *string) {
	c.flush()
	inItem := c.inItem
	c.item, c.inItem = label, true
	c.children(n)
	c.flush()
	c.item, c.inItem = nil, inItem
}

// table reads a table. One that only lays out a page is taken apart.
func (c *converter) table(n *html.Node) {
	c.flush()
	var rows []*html.Node
	nested := false
	var find func(n *html.Node)
	find = func(n *html.Node) {
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			switch child.DataAtom {
			case atom.Tr:
				if !hidden(child) {
					rows = append(rows, child)
				}
			case atom.Thead, atom.Tbody, atom.Tfoot, atom.Form:
				find(child)
			case atom.Caption:
				c.children(child)
				c.flush()
			}
		}
	}
	find(n)
	cells := 0
	for _, row := range rows {
		for child := row.FirstChild; child != nil; child = child.NextSibling {
			if child.DataAtom == atom.Td || child.DataAtom == atom.Th {
				cells++
				nested = nested || layout(child)
			}
		}
	}
	if cells <= 1 || nested || attr(n, "role") == "presentation" {
		for _, row := range rows {
			for child := row.FirstChild; child != nil; child = child.NextSibling {
				c.children(child)
				c.flush()
			}
		}
		return
	}
	if grid := c.grid(rows); len(grid.Rows) > 0 && c.err == nil {
		c.blocks = append(c.blocks, document.Block{Kind: document.Table, Grid: grid})
	}
}

// layout reports whether a cell has what no cell of data has.
func layout(n *html.Node) bool {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		switch child.DataAtom {
		case atom.Table, atom.H1, atom.H2, atom.H3, atom.Pre, atom.Article, atom.Section:
			return true
		}
		if layout(child) {
			return true
		}
	}
	return false
}

// grid lays out the cells of rows.
func (c *converter) grid(rows []*html.Node) *document.Grid {
	var grid document.Grid
	var down []int // how many more rows the cell above covers, by column
	for _, tr := range rows {
		if c.err != nil {
			break
		}
		var row []document.Cell
		empty := true
		cover := func() {
			before := len(row)
			for len(row) < len(down) && down[len(row)] > 0 {
				down[len(row)]--
				row = append(row, document.Cell{})
			}
			if c.err == nil {
				c.err = c.budget.TakeCells(len(row) - before)
			}
		}
		for td := tr.FirstChild; td != nil && c.err == nil; td = td.NextSibling {
			if td.DataAtom != atom.Td && td.DataAtom != atom.Th || hidden(td) {
				continue
			}
			cover()
			across, below := span(td, "colspan", 1000), span(td, "rowspan", 65534)
			if c.err = c.budget.TakeCells(across); c.err != nil {
				break
			}
			cell := c.cell(td)
			empty = empty && cell.Text == "" && cell.Spans == nil
			for i := range across {
				for len(down) <= len(row) {
					down = append(down, 0)
				}
				down[len(row)] = below - 1
				if i > 0 {
					cell = document.Cell{}
				}
				row = append(row, cell)
			}
		}
		cover()
		if !empty {
			grid.Rows = append(grid.Rows, row)
		}
	}
	return &grid
}

func span(n *html.Node, key string, most int) int {
	count, err := strconv.Atoi(strings.TrimSpace(attr(n, key)))
	if err != nil {
		return 1
	}
	return min(max(count, 1), most)
}

func (c *converter) cell(n *html.Node) document.Cell {
	inner := &converter{budget: c.budget, link: c.link, level: -1}
	inner.children(n)
	inner.flush()
	c.err = inner.err
	return document.CellOf(document.Flatten(inner.blocks))
}
