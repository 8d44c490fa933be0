package cells_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/cells"
)

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		code  string
		value float64
		want  string
	}{
		{"General", 0.1 + 0.2, "0.3"},
		{"General", 12345678901234567, "12345678901234600"},
		{"General", 1e-12, "1e-12"},
		{"0.00", 1.005, "1.00"},
		{"#,##0", 1234567.5, "1,234,568"},
		{"#,##0.0#", 1234.5, "1,234.5"},
		{"0%", 0.256, "26%"},
		{"0.00E+00", 12345, "1.23E+04"},
		{`"$"#,##0.00_);[Red]\("$"#,##0.00\)`, -5, `($5.00)`},
		{`[$€-407] 0.0`, 2, "€ 2.0"},
		{`0;-0;"none"`, 0, "none"},
		{"000", 7, "007"},
		{"0.0,", 12345, "12.3"},
		{"yyyy-mm-dd", 45292, "2024-01-01"},
		{"yyyy\\-mm\\-dd hh:mm:ss", 45292.5, "2024-01-01 12:00:00"},
		{"d mmmm yy", 45351, "29 February 24"},
		{"h:mm AM/PM", 0.75, "6:00 PM"},
		{"[h]:mm:ss", 1.5, "36:00:00"},
		{"mm:ss.0", 0.5 / 1440, "00:30.0"},
		{"ddd", 45292, "Mon"},
		{"yyyy-mm-dd", 1, "1900-01-01"},
		{"@", 5, "5"},
		{"# ?/?", 0.5, "0.5"},
		{"yyyy", 1e12, "1000000000000"},
	} {
		if got := cells.ParseFormat(c.code).Show(c.value, false); got != c.want {
			t.Errorf("%s of %v: %q, want %q", c.code, c.value, got, c.want)
		}
	}
	if got := cells.Builtin(14).Show(0, true); got != "1904-01-01" {
		t.Errorf("the first day of 1904 is %s", got)
	}
}

// Tables keep their empty columns, and have their places if there are several.
func TestBlocks(t *testing.T) {
	for _, c := range []struct{ name, cells, area, want string }{
		{"an empty column", "A1 C1 A2 C2", "", "[sheet 1: S; A1:C2]\n\n| A1 | | C1 |\n| --- | --- | --- |\n| A2 | | C2 |\n"},
		{"not from A", "C3 D3 C4", "", "[sheet 1: S; C3:D4]\n\n| C3 | D3 |\n| --- | --- |\n| C4 | |\n"},
		{"a title and far cells", "A1 A3 B3 A4 B4 XFD4 A1048576", "", "[sheet 1: S; A1:XFD1048576]\n\nA1: A1\n\nA3:B4:\n\n| A3 | B3 |\n| --- | --- |\n| A4 | B4 |\n\nXFD4: XFD4\n\nA1048576: A1048576\n"},
		{"beside each other", "A1 B1 I1 A2 B2 I3 A3", "", "[sheet 1: S; A1:I3]\n\nA1:B3:\n\n| A1 | B1 |\n| --- | --- |\n| A2 | B2 |\n| A3 | |\n\nI1: I1\n\nI3: I3\n"},
		{"in a range", "A1 C3 D3 C4", "B2:D9", "[sheet 1: S; C3:D4]\n\n| C3 | D3 |\n| --- | --- |\n| C4 | |\n"},
		{"several in a range", "C3 C5 D5", "B2:D9", "[sheet 1: S; C3:D5]\n\nC3: C3\n\nC5:D5:\n\n| C5 | D5 |\n| --- | --- |\n"},
		{"outside of the range", "A1", "B2:D9", "[sheet 1: S; no cells in the range]\n"},
		{"nothing", "", "", "[sheet 1: S; empty]\n"},
	} {
		area, err := cells.ParseArea(c.area)
		if err != nil {
			t.Fatal(err)
		}
		sheet := cells.NewSheet("S", 1, false, area, document.NewBudget(t.Context(), document.Standard()))
		for at := range strings.FieldsSeq(c.cells) {
			row, col, ok := cells.Address(at)
			if !ok {
				t.Fatal(at)
			}
			if err := sheet.Put(row, col, document.Cell{Text: at}); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(c.want, (&document.Document{Blocks: sheet.Blocks()}).Markdown()); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

func TestAreas(t *testing.T) {
	for text, want := range map[string]string{"b2:$D$4": "B2:D4", "AA10": "AA10:AA10"} {
		area, err := cells.ParseArea(text)
		if err != nil || area.String() != want {
			t.Errorf("%s: %s, %v", text, area, err)
		}
	}
	area, err := cells.ParseArea("B:C")
	if err != nil || !area.Has(1_000_000, 2) || area.Has(0, 0) || area.Has(0, 3) {
		t.Errorf("B:C: %v, %v", area, err)
	}
	for wrong, want := range map[string]string{
		"x1y": "is not a range", "1:a:2": "is not a range", "A0": "is not a range", ":": "is not a range", "foo": "is not a range",
		"ZZZZ9": "is not a range", "A1:ZZZZ9": "is not a range", "B": "is not a range", "7": "is not a range",
		"D4:B2": "is reversed", "A4:B2": "is reversed", "Orders!A1:B2": "the name of a sheet goes into sheet",
	} {
		if _, err := cells.ParseArea(wrong); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", wrong, err, want)
		}
	}
}

func TestSheet(t *testing.T) {
	area, err := cells.ParseArea("")
	if err != nil {
		t.Fatal(err)
	}
	s := cells.NewSheet("S", 1, true, area, document.NewBudget(t.Context(), document.Standard()))
	for _, c := range []struct {
		row, col int
		text     string
	}{{0, 0, "title"}, {2, 1, "a"}, {2, 3, "b"}, {3, 1, "1"}, {9, 16383, "far"}, {5, 0, "out of order"}} {
		if err := s.Put(c.row, c.col, document.Cell{Text: c.text}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Link(3, 1, "https://e.com/"); err != nil {
		t.Fatal(err)
	}
	d := document.Document{Blocks: s.Blocks()}
	const want = `[sheet 1: S; hidden, A1:XFD10]

A1: title

B3:D4:

| a | | b |
| --- | --- | --- |
| [1](https://e.com/) | | |

XFD10: far
`
	if diff := cmp.Diff(want, d.Markdown()); diff != "" {
		t.Error(diff)
	}
}

// A link and a comment are shown at each of their cells, and take room there.
func TestRepeated(t *testing.T) {
	limits := document.Standard()
	limits.Text = 10_000
	area, err := cells.ParseArea("")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 1000)
	for name, add := range map[string]func(s *cells.Sheet, row int) error{
		"links":    func(s *cells.Sheet, row int) error { return s.Link(row, 0, "https://e.com/"+long) },
		"comments": func(s *cells.Sheet, row int) error { return s.Comment(cells.Place(row, 0), "Ada", long) },
		"authors":  func(s *cells.Sheet, row int) error { return s.Comment(cells.Place(row, 0), long, "") },
	} {
		s := cells.NewSheet("S", 1, false, area, document.NewBudget(t.Context(), limits))
		var err error
		for row := 0; row < 20 && err == nil; row++ {
			if err = s.Put(row, 0, document.Cell{Text: "a"}); err == nil {
				err = add(s, row)
			}
		}
		if !document.Is(err, document.TooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
