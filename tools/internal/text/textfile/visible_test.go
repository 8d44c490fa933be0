package textfile_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"toolcrib/tools/internal/text/textfile"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain\ttext\n", "plain\ttext\n"},
		{"żółć 日本 שלום 🙂", "żółć 日本 שלום 🙂"},
		{"a\x1b[31mb", `a\u{1b}[31mb`},
		{"a\rb\x00", `a\u{d}b\u{0}`},
		{"\u202eabc\u2066", `\u{202e}abc\u{2066}`},
		{"zero\u200bwidth\u00adhyphen", `zero\u{200b}width\u{ad}hyphen`},
		{"\ufeffmark", `\u{feff}mark`},
		{"tag\U000e0041 select\U000e0100", `tag\u{e0041} select\u{e0100}`},
		{"line\u2028separator\u0085next", `line\u{2028}separator\u{85}next`},
		{"👩\u200d👧 keeps, a\u200db does not", "👩\u200d👧 keeps, a\\u{200d}b does not"},
		{"می\u200cخواهم", "می\u200cخواهم"},
		{"bad\xe9byte\xff", `bad\x{e9}byte\x{ff}`},
		{"\ufffd is a character", "\ufffd is a character"},
		{"variation ❤\ufe0f stays", "variation ❤\ufe0f stays"},
	} {
		if got := textfile.Visible(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func TestMarks(t *testing.T) {
	var m, other textfile.Marks
	if m.String() != "" {
		t.Errorf("nothing: %q", m.String())
	}
	m.Append(nil, []byte("\u202e\u202e\x1b\xff"))
	other.Append(nil, []byte("\x1b\x1b\xfe"))
	m.Merge(other)
	if got, want := m.String(), "3 U+001B, 2 U+202E, 2 bytes that are not UTF-8"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var many textfile.Marks
	many.Append(nil, []byte("\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c"))
	if got, want := many.String(), "1 U+0001, 1 U+0002, 1 U+0003, 1 U+0004, 1 U+0005, 1 U+0006, 1 U+0007, 1 U+0008, 2 kinds more"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\u202e\xff\x1b")
	f.Add("ü\u200c\u200cü\u200d\u202eü")
	f.Fuzz(func(t *testing.T, text string) {
		got := textfile.Visible(text)
		if !utf8.ValidString(got) {
			t.Errorf("%q: %q is not UTF-8", text, got)
		}
		if again := textfile.Visible(got); again != got {
			t.Errorf("%q: shown again %q becomes %q", text, got, again)
		}
	})
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		line     string
		from, to int
		limit    int
		want     string
	}{
		{"short", 0, 5, 10, "short"},
		{"0123456789", 0, 1, 4, "0123…[+6 bytes]"},
		{"0123456789", 9, 10, 4, "…[+6 bytes]6789"},
		{"0123456789", 5, 6, 4, "…[+4 bytes]4567…[+2 bytes]"},
		{"0123456789", 2, 9, 4, "…[+2 bytes]2345…[+4 bytes]"},
		{"żółćżółćżó", 10, 12, 4, "…[+8 bytes]żółć…[+4 bytes]"},
		{"żółćżółćżó", 11, 12, 4, "…[+8 bytes]żółć…[+4 bytes]"},
		{"0123456789", -3, 99, 4, "0123…[+6 bytes]"},
	} {
		if got := textfile.Cut(c.line, c.from, c.to, c.limit); got != c.want {
			t.Errorf("%s %d-%d limit %d: got %s, want %s", c.line, c.from, c.to, c.limit, got, c.want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 1234: "1.2 kB", 9_949: "9.9 kB", 9_960: "10 kB", 123_456: "123 kB",
		999_499: "999 kB", 999_999: "1.0 MB", 10 << 30: "11 GB", 9223372036854775807: "9.2 EB",
	} {
		if got := textfile.Size(n); got != want {
			t.Errorf("%d: size %s, want %s", n, got, want)
		}
	}
}

func TestEndings(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {"one", ""}, {"a\nb\n", "LF"}, {"a\r\nb\r\n", "CRLF"}, {"a\rb\r", "CR"},
		{"a\r\nb\nc\n", "mixed (1 CRLF, 2 LF)"}, {"a\r\r\nb\n", "mixed (1 CRLF, 1 LF, 1 CR)"},
	} {
		for _, enc := range []string{"utf-8", "utf-16le", "utf-32be"} {
			data, form := file(t, enc, c.text, false)
			if got := form.Encoding.Count(data).String(); got != c.want {
				t.Errorf("%q in %s: got %s, want %s", c.text, enc, got, c.want)
			}
		}
	}
}

// A character is shown or not at any position among others.
func TestVisibleEverywhere(t *testing.T) {
	for c := range 0x80 {
		want := textfile.Visible(string(rune(c)))
		for before := range 20 {
			for after := range 10 {
				pre, post := strings.Repeat("~ !\t}"[:1+before%5], before), strings.Repeat("z", after)
				if got := textfile.Visible(pre + string(rune(c)) + post); got != pre+want+post {
					t.Fatalf("%q after %d: %q, want %q", rune(c), before, got, pre+want+post)
				}
			}
		}
	}
}

func TestPrefix(t *testing.T) {
	for _, c := range []struct {
		enc, text string
		chars     int
	}{
		{"utf-8", "aé日🙂z", 3}, {"utf-16le", "aé日z", 3}, {"utf-32be", "aé日🙂z", 4},
		{"utf-8", "ab", 5}, {"utf-8", "", 5}, {"utf-16le", "ab", 0},
	} {
		data, form := file(t, c.enc, c.text, false)
		text, n := form.Encoding.Prefix(data, c.chars)
		runes := []rune(c.text)
		want := string(runes[:min(c.chars, len(runes))])
		wantBytes, _ := file(t, c.enc, want, false)
		if string(text) != want || n != len(wantBytes) {
			t.Errorf("%s of %q: %q, %d bytes; want %q, %d", c.enc, c.text, text, n, want, len(wantBytes))
		}
	}
	for _, name := range []string{"gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "koi8-r", "iso-2022-jp"} {
		sample := map[string]string{"euc-kr": korean, "koi8-r": russian, "gb18030": chinese + "😀", "big5": "敏捷的棕色狐狸"}[name]
		if sample == "" {
			sample = japanese
		}
		data := encode(t, name, sample)
		enc, _ := textfile.Lookup(name)
		for chars := range []rune(sample) {
			text, n := enc.Prefix(data, chars)
			shift := enc.Shift(data[:n])
			if len(shift) > 0 && !enc.Shifts() {
				t.Errorf("%s has a shift", name)
			}
			rest, took := enc.DecodeWindow(append(shift, data[n:]...), true)
			took -= len(shift)
			if string(text) != string([]rune(sample)[:chars]) || string(text)+string(rest) != sample || n+took != len(data) {
				t.Errorf("%s, %d characters: %q and %q", name, chars, text, rest)
			}
		}
	}
}
