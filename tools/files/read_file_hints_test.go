package files_test

import (
	"fmt"
	"strings"
	"testing"

	"toolcrib/tools/internal/text/textfile"
)

// restOf reads a text file from an offset on to its end and returns its lines.
func (c caller) restOf(name string, args map[string]any) []string {
	c.Helper()
	args["path"] = name
	var all []string
	for range 10_000 {
		status, body, _ := strings.Cut(c.call(args), "\n")
		for i, line := range strings.Split(body, "\n") {
			m := numbered.FindStringSubmatch(line)
			if m == nil {
				c.Fatalf("%s: line %d of %v has no number: %.80q", name, i+1, args, line)
			}
			all = append(all, c.uncut(name, m[2]))
		}
		m := hintOffset.FindStringSubmatch(status)
		if m == nil {
			return all
		}
		args["offset"] = number(c, m[1])
	}
	c.Fatalf("%s: the hints do not end", name)
	return nil
}

// uncut puts back what the mark at the end of a line says is left out.
func (c caller) uncut(name, line string) string {
	c.Helper()
	m := hintCut.FindStringSubmatch(line)
	if m == nil {
		return line
	}
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(line, m[0]))
	left, at, limit := number(c, m[1]), number(c, m[2]), number(c, m[3])
	for end := at + left; at < end; {
		status, body, _ := strings.Cut(c.call(map[string]any{"path": name, "byte_offset": at, "byte_limit": limit}), "\n")
		b.WriteString(body)
		next := nextByte.FindStringSubmatch(status)
		if next == nil {
			break
		}
		if n := number(c, next[1]); n > at {
			at = n
		} else {
			c.Fatalf("%s: byte_offset=%d leads to %d", name, at, n)
		}
		limit = min(end-at, 50_000)
	}
	return b.String()
}

// prose is text in the letters of an encoding, with lines of many lengths.
func prose(sample string, long int) string {
	word := strings.ReplaceAll(sample, "\n", "") + " x"
	var b strings.Builder
	for i := range 400 {
		n := i % 50
		if i%130 == 129 {
			n = long
		}
		fmt.Fprintf(&b, "%d ", i)
		for b2 := 0; b2 < n; b2 += len(word) {
			b.WriteString(word)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestHintsOfReadFile(t *testing.T) {
	for name, sample := range map[string]string{
		"utf-8": "a\u00e9\u65e5\U0001f600", "utf-16le": "\u65e5\U0001f600", "utf-16be": "\u65e5\u0a0a", "utf-32le": "\u65e5", "utf-32be": "\u65e5\U0001f600",
		"gb18030": "\u4e2d\u6587\u00e9\U0001f600", "big5": "\u4e2d\u6587", "shift_jis": "\u65e5\u672c\uff76\u8868", "euc-jp": "\u65e5\u672c",
		"iso-2022-jp": "\u65e5\u672ca", "euc-kr": "\ud55c\uad6d", "koi8-r": "\u043f\u0440", "windows-1252": "\u20ac\u00e9",
	} {
		t.Run(name, func(t *testing.T) {
			enc, ok := textfile.Lookup(name)
			if !ok {
				t.Fatal("no such encoding")
			}
			text := prose(sample, 60_000)
			data, err := enc.Encode(text)
			if err != nil {
				t.Fatal(err)
			}
			r := newCaller(t, "read_file", map[string]string{"t.txt": string(data)})
			want := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			for _, args := range []map[string]any{{}, {"limit": 37}, {"offset": -400, "limit": 100}} {
				label := fmt.Sprint(args)
				r.extra = map[string]any{"encoding": name}
				got := r.restOf("t.txt", args)
				if len(got) != len(want) {
					t.Fatalf("%s: %d lines, want %d", label, len(got), len(want))
				}
				for i := range want {
					if got[i] != want[i] {
						t.Fatalf("%s: line %d has %d bytes, want %d: %s", label, i+1, len(got[i]), len(want[i]), apart(got[i], want[i]))
					}
				}
			}
			got, _ := r.follow(map[string]any{"path": "t.txt", "byte_offset": 0, "byte_limit": 50_000}, nextByte, "byte_offset")
			if got != text {
				t.Errorf("the windows of bytes put together differ: %s", apart(got, text))
			}
		})
	}
}
