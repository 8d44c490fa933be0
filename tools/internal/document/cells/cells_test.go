package cells_test

import (
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
	for _, wrong := range []string{"x1y", "D4:B2", "1:a:2", "A0", ":"} {
		if _, err := cells.ParseArea(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
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
	s.Link(3, 1, "https://e.com/")
	d := document.Document{Blocks: s.Blocks()}
	const want = `[sheet 1: S; hidden, A1:XFD10]

title

| a | b |
| --- | --- |
| [1](https://e.com/) | |

far
`
	if diff := cmp.Diff(want, d.Markdown()); diff != "" {
		t.Error(diff)
	}
}
