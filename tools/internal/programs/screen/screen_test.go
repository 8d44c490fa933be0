package screen_test

import (
	"strings"
	"testing"

	"toolcrib/tools/internal/programs/screen"
)

func TestScreen(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"lines", "a\r\nb\r\n", "a\nb\n"},
		{"a line feed alone keeps the column", "a\nb", "a\n b\n"},
		{"scrolls", "1\r\n2\r\n3\r\n4\r\n5\r\n6", "3\n4\n5\n6\n"},
		{"wraps", "abcdefghijkl", "abcdefghij\nkl\n"},
		{"does not wrap before there is more", "abcdefghij\r\nx", "abcdefghij\nx\n"},
		{"does not wrap", "\x1b[?7labcdefghijkl", "abcdefghil\n"},
		{"goes", "\x1b[2;3Hx\x1b[Ay\x1b[3Gz", "  zy\n  x\n"},
		{"erases", "abc\r\ndef\x1b[H\x1b[K\x1b[2;2H\x1b[1K", "\n  f\n"},
		{"clears", "abc\x1b[2J\x1b[Hx", "x\n"},
		{"inserts and deletes lines", "1\r\n2\r\n3\x1b[2;1H\x1b[Lx\x1b[1;1H\x1b[M", "x\n2\n3\n"},
		{"inserts and deletes characters", "abcd\x1b[2G\x1b[2@xy\x1b[1G\x1b[P", "xybcd\n"},
		{"a region", "a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[3;1H\nx", "a\nc\nx\nd\n"},
		{"reverse feed", "a\r\nb\x1b[H\x1bMz", "z\na\nb\n"},
		{"another screen", "shell\x1b[?1049hvim\x1b[?1049l!", "shell!\n"},
		{"in the other screen", "shell\x1b[?1049h\x1b[Hvim", "vim\n"},
		{"lines as DEC draws them", "\x1b(0lqk\x1b(Blqk", "┌─┐lqk\n"},
		{"wide", "日本\x1b[2Gx", " x本\n"},
		{"marks", "e\u0301", "e\u0301\n"},
		{"title", "\x1b]0;t\x07x", "x\n"},
		{"repeats", "a\x1b[3b", "aaaa\n"},
		{"tabs", "a\tb\x1b[Zc", "a       c\n"},
		{"nothing", "\x1b[5n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole, parts := screen.New(4, 10), screen.New(4, 10)
			_, _ = whole.Write([]byte(c.raw))
			for i := range len(c.raw) { // however it comes
				_, _ = parts.Write([]byte(c.raw[i : i+1]))
			}
			if got := whole.String(); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if got := parts.String(); got != c.want {
				t.Errorf("byte by byte: got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestReplies(t *testing.T) {
	s := screen.New(24, 80)
	_, _ = s.Write([]byte("ab\x1b[6n\x1b[c"))
	if got, want := string(s.Replies()), "\x1b[1;3R\x1b[?62;c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := s.Replies(); got != nil {
		t.Errorf("a second time: %q", got)
	}
}

func TestKeys(t *testing.T) {
	s := screen.New(24, 80)
	_, _ = s.Write([]byte("\x1b[?1h"))
	for _, c := range []struct {
		s          *screen.Screen
		name, want string
	}{
		{nil, "up", "\x1b[A"}, {s, "up", "\x1bOA"}, {s, "F1", "\x1bOP"}, {nil, "Ctrl+C", "\x03"}, {nil, "C-d", "\x04"},
		{nil, "enter", "\r"}, {nil, "alt-x", "\x1bx"}, {nil, "q", "q"}, {nil, "ctrl-[", "\x1b"}, {nil, "ä", "ä"},
	} {
		if got, ok := c.s.Key(c.name); !ok || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, ok, c.want)
		}
	}
	for _, name := range []string{"", "nokey", "ctrl-enter-x", "f13"} {
		if got, ok := s.Key(name); ok {
			t.Errorf("%q sends %q", name, got)
		}
	}
}

func FuzzScreen(f *testing.F) {
	f.Add([]byte("\x1b[2;3r\x1b[?1049h\x1b[99999;99999H\x1b[9L\x1b(0x\x1b[3b日\x1b[4h本\x1b]x"), uint8(4), uint8(10))
	f.Fuzz(func(t *testing.T, raw []byte, rows, columns uint8) {
		s := screen.New(int(rows), int(columns))
		_, _ = s.Write(raw)
		if lines := strings.Count(s.String(), "\n"); lines > max(int(rows), 1) {
			t.Errorf("%d lines on %d", lines, rows)
		}
		row, column := s.Cursor()
		if h, w := s.Size(); row < 1 || row > h || column < 1 || column > w {
			t.Errorf("the cursor is at %d, %d of %d, %d", row, column, h, w)
		}
	})
}

// Only what draws on a whole screen counts as drawing.
func TestDrawn(t *testing.T) {
	for _, c := range []struct {
		name, raw string
		want      int
	}{
		{"text", "a\nb\n", -1},
		{"colours and a bar", "\x1b[31mred\x1b[0m\n10%\r\x1b[K20%\x1b[1A\x1b[2K", -1},
		{"a cleared screen", "\x1b[H\x1b[2J\x1b[3Jtext", -1},
		{"one row again and again", "\x1b[5;1Ha\x1b[5;1Hb\x1b[5;9Hc", -1},
		{"the second screen", "ab\x1b[?1049h", 2},
		{"several modes", "ab\x1b[?2004h\x1b[?25l", -1},
		{"rows", "Vim\n\x1b[24;1Hx\x1b[2;1H~\x1b[3;1H~", 4},
		{"cut off", "Vim\n\x1b[24;1Hx\x1b[2;1H~\x1b[3;", -1},
	} {
		if got := screen.Drawn([]byte(c.raw)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
