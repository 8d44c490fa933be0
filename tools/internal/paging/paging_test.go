package paging_test

import (
	"strings"
	"testing"

	"toolcrib/tools/internal/paging"
)

func TestWording(t *testing.T) {
	many := make([]string, 7)
	for i := range many {
		many[i] = strings.Repeat("x", 150*i)
	}
	for _, c := range []struct{ got, want string }{
		{paging.PastEnd("offset", 7, "2 files", 1), "offset=7 is past the end: 2 files; the last is offset=1"},
		{paging.LeftOut(paging.Left{N: 1, Why: "hidden"}, paging.Left{N: 0, Why: "binary"}, paging.Left{N: 2, Why: "ignored"}), "; left out: 1 hidden, 2 ignored"},
		{paging.LeftOut(paging.Left{}), ""},
		{paging.Named(paging.Unreadable, nil), ""},
		{paging.Named(paging.Unreadable, []string{"a\nb"}), "1 path could not be read: \"a\\u000ab\"\n"},
		{paging.Named(paging.Unreadable, []string{"a", "b", "c", "d", "e", "f"}), "6 paths could not be read: a b c d e …\n"},
		{paging.Named(paging.Unreadable, []string{strings.Repeat("ä", 1000) + "end"}), "1 path could not be read: " + strings.Repeat("ä", 50) + "…[+1853 bytes]…" + strings.Repeat("ä", 23) + "end\n"},
		{paging.NotRead(nil), ""},
		{paging.NotRead([]paging.Unread{{"a", "no"}, {"b", ""}, {"c", "no"}}), "2 paths could not be read (no): a c\n1 path could not be read: b\n"},
		{paging.NotRead([]paging.Unread{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}, {"e", "5"}, {"f", "3"}}), "1 path could not be read (1): a\n1 path could not be read (2): b\n2 paths could not be read (3): c f\n2 paths could not be read: d e\n"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if got := paging.Named(paging.Unreadable, many); len(got) > paging.MaxNamed || !strings.HasSuffix(got, " …\n") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	var reasons []paging.Unread
	for i := range 30 {
		reasons = append(reasons, paging.Unread{Path: strings.Repeat("x", 294+i%5), Why: strings.Repeat("y", 40) + string(rune('a'+i%5))})
	}
	if got := paging.NotRead(reasons); len(got) > paging.MaxNamed+200 || strings.Count(got, "\n") != 4 {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}
