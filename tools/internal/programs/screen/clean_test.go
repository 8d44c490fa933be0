package screen_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"toolcrib/tools/internal/programs/screen"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"plain", "a\tb\nc\n", "a\tb\nc\n"},
		{"colours", "\x1b[1;31merror\x1b[0m: x\n", "error: x\n"},
		{"progress", "10%\r 50%\r100%\ndone\n", "100%\ndone\n"},
		{"progress, shorter at the end", "downloading 50%\r\x1b[Kok\n", "ok\n"},
		{"CR LF", "a\r\nb\r\n", "a\nb\n"},
		{"backspaces", "abc\b\bX\n", "aXc\n"},
		{"title", "\x1b]0;title\x07text\x1b]8;;http://x\x1b\\link\n", "textlink\n"},
		{"title without an end", "a\x1b]0;title\nnext\n", "a\nnext\n"},
		{"charset", "\x1b(Bline\x1b(0qq\n", "lineqq\n"},
		{"NUL and bell", "a\x00b\x07c\n", "abc\n"},
		{"not UTF-8", "a\xff\xfe\xfdb\xc3\n", "a\uFFFDb\uFFFD\n"},
		{"binary", "\x7fELF\x02\x01\x00\x00\xf0\xf1", "ELF\uFFFD"},
		{"umlauts written over", "äöü\rx", "xöü"},
		{"columns", "a\x1b[5Gb\x1b[2Dc\n", "a  cb\n"},
		{"a far column", "a\x1b[99999Gb\n", "a" + strings.Repeat(" ", 256) + "b\n"},
		{"direction marks", "a\u202eb\n", "a\\u{202e}b\n"},
		{"broken off", "a\x1b[12", "a"},
		{"broken off by a line", "a\x1b[12\nb", "a\nb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := screen.Clean([]byte(c.raw)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzClean(f *testing.F) {
	f.Add([]byte("a\x1b[5Gb\r\x1b]0;x\x07\xff\b\x1b[K\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := screen.Clean(raw)
		if !utf8.ValidString(got) {
			t.Errorf("%q: not UTF-8: %q", raw, got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }); i >= 0 {
			t.Errorf("%q: a control stays: %q", raw, got[i:])
		}
		if lines := strings.Count(string(raw), "\n"); strings.Count(got, "\n") > lines {
			t.Errorf("%q: lines came from nowhere: %q", raw, got)
		}
	})
}
