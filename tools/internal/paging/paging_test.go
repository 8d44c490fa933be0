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
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if got := paging.Named(paging.Unreadable, many); len(got) > paging.MaxNamed || !strings.HasSuffix(got, " …\n") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}
