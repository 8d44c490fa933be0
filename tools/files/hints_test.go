package files_test

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"toolcrib/tools/internal/text/textfile"
)

// A client that follows the hints of results mechanically gets all of a file or list:
// these tests know only the form of the hints of a tool.

var (
	hintOffset = regexp.MustCompile(`; next: offset=(-?\d+)$`)
	hintByte   = regexp.MustCompile(`; next: byte_offset=(\d+)$`)
	hintFile   = regexp.MustCompile(`; next: read_file offset=(\d+)$`)
	hintCut    = regexp.MustCompile(`…\[\+(\d+) bytes: byte_offset=(\d+) byte_limit=(\d+)\]$`)
	hintDir    = regexp.MustCompile(`^ *… (\d+) more: path=(".*") depth=1 offset=(\d+)$`)
	numbered   = regexp.MustCompile(`^(-?\d+)\t(.*)$`)
)

func number(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// lines reads a text file from an offset on to its end and returns its lines.
func (c caller) lines(name string, args map[string]any) []string {
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
		next := hintByte.FindStringSubmatch(status)
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
				got := r.lines("t.txt", args)
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

// apart shows where two texts part.
func apart(got, want string) string {
	n := 0
	for n < min(len(got), len(want)) && got[n] == want[n] {
		n++
	}
	return fmt.Sprintf("at byte %d got %.60q, want %.60q", n, got[n:], want[n:])
}

func TestHintsOfReadFiles(t *testing.T) {
	tree := map[string]string{}
	for i := range 120 {
		size := 30
		switch {
		case i%10 == 3:
			size = 3000
		case i%40 == 7:
			size = 200_000
		}
		var b strings.Builder
		for n := 0; b.Len() < size; n++ {
			fmt.Fprintf(&b, "%d of %d, %s\n", n, i, strings.Repeat("text ", n%40))
		}
		tree[fmt.Sprintf("src/%03d.txt", i)] = b.String()
	}
	tree["src/long.txt"] = strings.Repeat("long ", 30_000) + "\nend\n"
	tree["src/empty.txt"] = ""
	tree["src/bin.dat"] = "\x00\x01"
	many := newCaller(t, "read_files", tree)
	one := caller{TB: t, tool: tool(t, "read_file"), ws: many.ws, dir: many.dir}
	got := map[string][]string{}
	args := map[string]any{"paths": []string{"src/*"}}
	for range 100 {
		text := many.call(args)
		status, rest, _ := strings.Cut(text, "\n")
		for part := range strings.SplitSeq(rest, "\n\n") {
			head, body, _ := strings.Cut(part, "\n")
			name, _, _ := strings.Cut(head, ":")
			lines := []string{}
			for line := range strings.SplitSeq(body, "\n") {
				if m := numbered.FindStringSubmatch(line); m != nil {
					lines = append(lines, one.uncut(name, m[2]))
				}
			}
			if m := hintFile.FindStringSubmatch(head); m != nil {
				lines = append(lines, one.lines(name, map[string]any{"offset": number(t, m[1])})...)
			}
			if got[name] != nil {
				t.Errorf("%s comes twice", name)
			}
			got[name] = lines
		}
		m := regexp.MustCompile(`; next: offset=(\d+)$`).FindStringSubmatch(status)
		if m == nil {
			break
		}
		args["offset"] = number(t, m[1])
	}
	for name, content := range tree {
		want := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
		if content == "" || strings.HasPrefix(content, "\x00") {
			want = []string{}
		}
		lines, ok := got[name]
		if !ok {
			t.Errorf("%s is not read", name)
			continue
		}
		if all := strings.Join(lines, "\n"); all != strings.Join(want, "\n") {
			t.Errorf("%s: %s", name, apart(all, strings.Join(want, "\n")))
		}
	}
}

func TestHintsOfListDirectory(t *testing.T) {
	tree := map[string]string{}
	for i := range 250 {
		tree[fmt.Sprintf("a/wide/%03d-%s", i, strings.Repeat("n", 150))] = ""
		tree[fmt.Sprintf("b%03d/f", i)] = ""
	}
	l := newCaller(t, "list_directory", tree)
	found := map[string]bool{}
	l.listing(found, ".", map[string]any{"depth": 3, "limit": 90})
	for name := range tree {
		if !found[name] {
			t.Errorf("%s is not listed", name)
		}
	}
}

// listing follows the hints of a listing and of each directory that is cut in it.
func (c caller) listing(found map[string]bool, dir string, args map[string]any) {
	c.Helper()
	args["path"] = dir
	for range 1000 {
		status, body, _ := strings.Cut(c.call(args), "\n")
		var above []string
		for line := range strings.SplitSeq(body, "\n") {
			if m := hintDir.FindStringSubmatch(line); m != nil {
				sub, err := strconv.Unquote(m[2])
				if err != nil {
					c.Fatal(err)
				}
				c.listing(found, sub, map[string]any{"depth": 1, "offset": number(c, m[3])})
				continue
			}
			name := strings.TrimLeft(line, " ")
			depth := (len(line) - len(name)) / 2
			name, _, _ = strings.Cut(name, " ")
			above = append(above[:depth], strings.TrimSuffix(name, "/"))
			found[path.Join(append([]string{dir}, above...)...)] = true
		}
		m := hintOffset.FindStringSubmatch(status)
		if m == nil {
			return
		}
		args["offset"] = number(c, m[1])
	}
	c.Fatalf("%s: the hints do not end", dir)
}
