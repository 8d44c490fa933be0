package pdf

import (
	"cmp"
	"slices"

	"toolcrib/tools/internal/document"
)

// grid is a table.
type grid struct {
	area area
	rows [][][]document.Span
}

func (g *grid) cells() int {
	if len(g.rows) == 0 {
		return 0
	}
	return len(g.rows) * len(g.rows[0])
}

func (g *grid) model() *document.Grid {
	m := &document.Grid{}
	for _, row := range g.rows {
		cells := make([]document.Cell, len(row))
		for i, c := range row {
			cells[i] = document.CellOf(c)
		}
		m.Rows = append(m.Rows, cells)
	}
	return m
}

// cellSpans joins the words of a cell over its lines.
func cellSpans(words []*word) []document.Span {
	if len(words) == 0 {
		return nil
	}
	return document.Trim(together(lines(words)))
}

// merged joins ruling lines that continue each other.
func merged(rules []rule) []rule {
	const (
		apart = 1.6 // points across
		gap   = 3   // points along
	)
	slices.SortFunc(rules, func(a, b rule) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.from, b.from)) })
	var all []rule
	for _, r := range rules {
		done := false
		for i := len(all) - 1; i >= 0 && r.at-all[i].at <= apart; i-- {
			if o := &all[i]; r.from <= o.to+gap && r.to >= o.from-gap {
				o.from, o.to = min(o.from, r.from), max(o.to, r.to)
				o.edge = o.edge && r.edge
				done = true
				break
			}
		}
		if !done {
			all = append(all, r)
		}
	}
	return all
}

func ruled(level, upright []rule, words []*word) []*insert { return nil }
func (p *page) region(ls []*line, depth int)               { p.blocks = append(p.blocks, block{lines: ls}) }
