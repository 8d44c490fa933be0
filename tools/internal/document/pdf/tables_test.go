package pdf_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/document/pdf/pdftest"
)

var fruits = [][]string{
	{"Fruit", "Weight", "Price"},
	{"Apple", "150 g", "0.40"},
	{"Sour cherry", "8 g", "0.05"},
	{"Pear", "170 g", "0.55"},
}

// drawTable draws rows, with ruling lines around all cells or without any.
func drawTable(p *pdftest.Page, x, y float64, ruled bool, rows [][]string) {
	const wide, high = 110, 18
	right := x + wide*float64(len(rows[0]))
	bottom := y + high*float64(len(rows))
	for r, row := range rows {
		for c, cell := range row {
			p.Text(x+4+wide*float64(c), y+13+high*float64(r), 10, pdftest.Plain, cell)
		}
	}
	if !ruled {
		return
	}
	for r := range len(rows) + 1 {
		p.Rule(x, y+high*float64(r), right, y+high*float64(r))
	}
	for c := range len(rows[0]) + 1 {
		p.Rule(x+wide*float64(c), y, x+wide*float64(c), bottom)
	}
}

const fruitTable = `| Fruit | Weight | Price |
| --- | --- | --- |
| Apple | 150 g | 0.40 |
| Sour cherry | 8 g | 0.05 |
| Pear | 170 g | 0.55 |
`

func TestTables(t *testing.T) {
	for _, test := range []struct {
		name string
		draw func(p *pdftest.Page)
		want string
	}{
		{"with ruling lines", func(p *pdftest.Page) { drawTable(p, 72, 100, true, fruits) }, fruitTable},
		{"of gaps", func(p *pdftest.Page) { drawTable(p, 72, 100, false, fruits) }, fruitTable},
		{"between texts", func(p *pdftest.Page) {
			p.Lines(72, 80, 11, pdftest.Plain, prose...)
			drawTable(p, 72, 180, false, fruits)
			p.Lines(72, 290, 11, pdftest.Plain, prose...)
		}, strings.Join(prose, " ") + "\n\n" + fruitTable + "\n" + strings.Join(prose, " ") + "\n"},
		{"between rules", func(p *pdftest.Page) {
			p.Lines(72, 60, 11, pdftest.Plain, prose[:2]...)
			drawTable(p, 72, 100, false, fruits)
			for _, y := range []float64{100, 117, 172} {
				p.Rule(72, y, 402, y)
			}
		}, strings.Join(prose[:2], " ") + "\n\n" + fruitTable},
		{"with cells of two lines and borders", func(p *pdftest.Page) {
			for _, y := range []float64{100, 120, 150, 170} {
				p.Rule(72, y, 300, y)
			}
			for _, x := range []float64{72, 150, 300} {
				p.Rule(x, 100, x, 170)
			}
			p.Text(76, 114, 10, pdftest.Plain, "Part")
			p.Text(154, 114, 10, pdftest.Plain, "What it does")
			p.Text(76, 134, 10, pdftest.Plain, "Wheel")
			p.Text(154, 132, 10, pdftest.Plain, "turns the shaft when water")
			p.Text(154, 144, 10, pdftest.Plain, "falls on it")
			p.Text(76, 164, 10, pdftest.Plain, "Stone")
			p.Text(154, 164, 10, pdftest.Plain, "grinds")
		}, "| Part | What it does |\n| --- | --- |\n| Wheel | turns the shaft when water falls on it |\n| Stone | grinds |\n"},
		{"none in a form", func(p *pdftest.Page) {
			for i, label := range []string{"Name:", "Street:", "Town:", "Country:"} {
				p.Text(72, 100+20*float64(i), 10, pdftest.Plain, label)
				p.Text(300, 100+20*float64(i), 10, pdftest.Plain, "Date:")
			}
		}, ""},
		{"none in contents", func(p *pdftest.Page) {
			p.Text(72, 80, 14, pdftest.Bold, "Contents")
			for i, entry := range []string{"The river ........ 1", "The wheel ........ 7", "The stones ........ 12"} {
				p.Text(72, 110+14*float64(i), 10, pdftest.Plain, entry)
			}
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &pdftest.File{}
			test.draw(f.Page())
			got := strings.TrimPrefix(markdown(t, f), "[page 1]\n\n")
			if test.want == "" {
				if strings.Contains(got, "---") {
					t.Errorf("a table:\n%s", got)
				}
			} else if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
