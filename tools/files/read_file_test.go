package files_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/internal/tooltest"
)

func TestReadFile(t *testing.T) {
	long := strings.Repeat("0123456789", 300)
	tree := map[string]string{
		"a.txt":             "one\ntwo\nthree\nfour\nfive\n",
		"open.txt":          "one\ntwo",
		"crlf.txt":          "one\r\ntwo\r\n",
		"mixed.txt":         "one\r\ntwo\nthree\n",
		"cr.txt":            "one\rtwo\r",
		"empty":             "",
		"bom.txt":           "\xef\xbb\xbfone\n",
		"u16.txt":           "\xff\xfeo\x00n\x00e\x00\r\x00\n\x00\xe9\x00\n\x00",
		"latin.txt":         "caf\xe9\n",
		"johab.txt":         "\xb5\xa1\x93i\xb7e \x90i\xb3\xa1\x88a \xb9\xbd\xb4a\xac\xe1 \x89\xb7\xb6\xa5\xb5A \x88v\xafs\x93\xa1\x94a. \xb4a\xb7\xa1\x97i\xb7\xa1 \xa0g.\n",
		"long.txt":          "x\n" + long + "\nz\n",
		"bidi.txt":          "a\u202eb\x1b[0m\nok\u200b\n",
		"bad.txt":           "日本語の文章です\xff\n",
		"a.zip":             "PK\x03\x04\x00\x00\x00\x00",
		"a.pdf":             "%PDF-1.4\n%\xe2\xe3",
		"bin":               "\x7fELF\x00\x01\x02abc",
		"dir/b.txt":         "b\n",
		"dir/sub/":          "",
		"link":              "-> a.txt",
		"tabs.go":           "\tx := 1\t// y\n",
		"blank.txt":         "\n\n",
		"tag\u202e":         "x\n",
		"forged: line 9\n!": "x\n",
	}
	r := newCaller(t, "read_file", tree)
	for _, c := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"whole", map[string]any{"path": "a.txt"}, "a.txt: lines 1-5 of 5; utf-8, LF, 24 B, hash …\n1\tone\n2\ttwo\n3\tthree\n4\tfour\n5\tfive"},
		{"middle", map[string]any{"path": "a.txt", "offset": 2, "limit": 2}, "a.txt: lines 2-3 of 5; utf-8, LF, 24 B, hash …; next: offset=4\n2\ttwo\n3\tthree"},
		{"offset 0", map[string]any{"path": "a.txt", "offset": 0, "limit": 1}, "a.txt: line 1 of 5; …; next: offset=2\n1\tone"},
		{"from the end", map[string]any{"path": "a.txt", "offset": -2}, "a.txt: lines 4-5 of 5; …\n4\tfour\n5\tfive"},
		{"from the end, limited", map[string]any{"path": "a.txt", "offset": -2, "limit": 1}, "a.txt: line 4 of 5; …; next: offset=5\n4\tfour"},
		{"before the start", map[string]any{"path": "a.txt", "offset": -99, "limit": 1}, "a.txt: line 1 of 5; …; next: offset=2\n1\tone"},
		{"without numbers", map[string]any{"path": "a.txt", "line_numbers": false, "limit": 2}, "a.txt: lines 1-2 of 5; …\none\ntwo"},
		{"absolute hash", map[string]any{"path": "open.txt"}, "open.txt: lines 1-2 of 2; utf-8, LF, no final newline, 7 B, hash 21066d108d53\n1\tone\n2\ttwo"},
		{"past the end", map[string]any{"path": "a.txt", "offset": 6}, "a.txt: offset=6 is past the end: 5 lines; the last is offset=5"},
		{"past an open end", map[string]any{"path": "open.txt", "offset": 9}, "open.txt: offset=9 is past the end: 2 lines; the last is offset=2"},
		{"CRLF", map[string]any{"path": "crlf.txt"}, "crlf.txt: lines 1-2 of 2; utf-8, CRLF, 10 B, hash …\n1\tone\n2\ttwo"},
		{"mixed", map[string]any{"path": "mixed.txt"}, "mixed.txt: lines 1-3 of 3; utf-8, mixed (1 CRLF, 2 LF), 15 B, hash …\n1\tone\n2\ttwo\n3\tthree"},
		{"lone CR", map[string]any{"path": "cr.txt"}, `cr.txt: line 1 of 1; utf-8, CR, no final newline, 8 B, hash …; shown as escapes: 2 U+000D` + "\n1\t" + `one\u{d}two\u{d}`},
		{"empty", map[string]any{"path": "empty"}, "empty: empty file; hash e3b0c44298fc"},
		{"BOM", map[string]any{"path": "bom.txt"}, "bom.txt: line 1 of 1; utf-8 with BOM, LF, 7 B, hash …\n1\tone"},
		{"UTF-16", map[string]any{"path": "u16.txt"}, "u16.txt: lines 1-2 of 2; utf-16le with BOM, mixed (1 CRLF, 1 LF), 16 B, hash …\n1\tone\n2\té"},
		{"guessed", map[string]any{"path": "latin.txt"}, "latin.txt: line 1 of 1; windows-1252 (guessed, encoding=NAME overrides), LF, 5 B, hash …\n1\tcafé"},
		{"overridden", map[string]any{"path": "latin.txt", "encoding": "cp1251"}, "latin.txt: line 1 of 1; windows-1251, LF, 5 B, hash …\n1\tcafй"},
		{"without a decoder", map[string]any{"path": "johab.txt"}, "error: unsupported: johab.txt is text in johab, which cannot be read or changed here (convert a copy of it: iconv -f JOHAB -t UTF-8 FILE > COPY)"},
		{"bytes without a decoder", map[string]any{"path": "johab.txt", "byte_offset": 0, "byte_limit": 2}, "johab.txt: bytes 0-1 of 51; text/plain; charset=johab, hash …; next: byte_offset=2\n00000000  b5 a1                                            |..|"},
		{"override without a decoder", map[string]any{"path": "latin.txt", "encoding": "EUC-TW"}, "error: unsupported: euc-tw cannot be read or written here (convert a copy of the file: iconv -f EUC-TW -t UTF-8 FILE > COPY)"},
		{"override with a slip", map[string]any{"path": "latin.txt", "encoding": "windows-1521"}, `error: invalid_argument: no encoding is called "windows-1521" (did you mean "windows-125…")`},
		{"long line", map[string]any{"path": "long.txt"}, "long.txt: lines 1-3 of 3; utf-8, LF, 3.0 kB, hash …; 1 line cut at 2000 characters\n1\tx\n2\t" + long[:2000] + "…[+1000 bytes: byte_offset=2002 byte_limit=1000]\n3\tz"},
		{"rest of the long line", map[string]any{"path": "long.txt", "byte_offset": 2002, "byte_limit": 1000}, "long.txt: bytes 2002-3001 of 3005; utf-8, hash …; next: byte_offset=3002\n" + long[2000:]},
		{"invisible", map[string]any{"path": "bidi.txt"}, "bidi.txt: lines 1-2 of 2; utf-8, LF, 16 B, hash …; shown as escapes: 1 U+001B, 1 U+200B, 1 U+202E\n1\ta\\u{202e}b\\u{1b}[0m\n2\tok\\u{200b}"},
		{"bad byte", map[string]any{"path": "bad.txt"}, "bad.txt: line 1 of 1; utf-8, LF, 26 B, hash …; shown as escapes: 1 byte that is not UTF-8\n1\t日本語の文章です\\x{ff}"},
		{"archive", map[string]any{"path": "a.zip"}, "a.zip: binary, not shown; application/zip, 8 B, hash …; next: parse_document for the text of a document or an archive, byte_offset=0 for a hex dump, or file_info"},
		{"pdf", map[string]any{"path": "a.pdf"}, "a.pdf: binary, not shown; application/pdf, 12 B, hash …; next: parse_document for the text of a document or an archive, byte_offset=0 for a hex dump, or file_info"},
		{"binary", map[string]any{"path": "bin"}, "bin: binary, not shown; application/octet-stream, 10 B, hash …; next: byte_offset=0 for a hex dump, or file_info"},
		{"dump", map[string]any{"path": "bin", "byte_offset": 0}, "bin: bytes 0-9 of 10; application/octet-stream, hash …\n00000000  7f 45 4c 46 00 01 02 61 62 63                    |.ELF...abc|"},
		{"dump of the end", map[string]any{"path": "bin", "byte_offset": -3, "byte_limit": 2}, "bin: bytes 7-8 of 10; …; next: byte_offset=9\n00000007  61 62                                            |ab|"},
		{"binary as text", map[string]any{"path": "bin", "encoding": "utf-8"}, "bin: line 1 of 1; utf-8, no final newline, 10 B, hash …; shown as escapes: 1 U+0000, 1 U+0001, 1 U+0002, 1 U+007F\n1\t\\u{7f}ELF\\u{0}\\u{1}\\u{2}abc"},
		{"bytes past the end", map[string]any{"path": "bin", "byte_offset": 10}, "bin: byte_offset=10 is past the end: 10 bytes; the last is byte_offset=9"},
		{"bytes before the start", map[string]any{"path": "a.txt", "byte_offset": -100, "byte_limit": 3}, "a.txt: bytes 0-2 of 24; …; next: byte_offset=3\none"},
		{"bytes show CR", map[string]any{"path": "crlf.txt", "byte_offset": 0}, "crlf.txt: bytes 0-9 of 10; utf-8, hash …; shown as escapes: 2 U+000D\none\\u{d}\ntwo\\u{d}"},
		{"bytes end before a character", map[string]any{"path": "bad.txt", "byte_offset": 0, "byte_limit": 5}, "bad.txt: bytes 0-2 of 26; …; next: byte_offset=3\n日"},
		{"bytes inside a character", map[string]any{"path": "bad.txt", "byte_offset": 1, "byte_limit": 5}, "bad.txt: bytes 1-5 of 26; …; shown as escapes: 2 bytes that are not UTF-8; next: byte_offset=6\n\\x{97}\\x{a5}本"},
		{"one byte of a character", map[string]any{"path": "bad.txt", "byte_offset": 0, "byte_limit": 1}, "bad.txt: bytes 0-0 of 26; …; next: byte_offset=1\n\\x{e6}"},
		{"bytes of UTF-16 start on a unit", map[string]any{"path": "u16.txt", "byte_offset": 3, "byte_limit": 4}, "u16.txt: bytes 2-5 of 16; …; next: byte_offset=6\non"},
		{"directory", map[string]any{"path": "dir"}, "dir: a directory of 2 entries, not a file; next: list_directory with sizes, depth, paging\nb.txt\nsub/"},
		{"missing", map[string]any{"path": "dir/c.txt"}, "error: not_found: …"},
		{"below a file", map[string]any{"path": "a.txt/b"}, "error: …"},
		{"symlink", map[string]any{"path": "link", "limit": 1}, "…: line 1 of 5; …; next: offset=2\n1\tone"},
		{"tabs", map[string]any{"path": "tabs.go"}, "tabs.go: line 1 of 1; …\n1\t\tx := 1\t// y"},
		{"blank lines", map[string]any{"path": "blank.txt"}, "blank.txt: lines 1-2 of 2; …\n1\t\n2\t"},
		{"name that forges a line", map[string]any{"path": "forged: line 9\n!"}, "\"forged: line 9\\u000a!\": line 1 of 1; …\n1\tx"},
		{"name shown", map[string]any{"path": "tag\u202e"}, "\"tag\\u202e\": line 1 of 1; …\n1\tx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := tooltest.Match(c.want, r.try(c.args)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The hash is that of the content, though the file was seen before and has the same
// size and time.
func TestReadFileHashAgain(t *testing.T) {
	r := newCaller(t, "read_file", nil)
	for _, content := range []string{"one\n", "one\n", "two\n", "one\n", "three\n"} {
		r.put("f", []byte(content), longAgo)
		sum := sha256.Sum256([]byte(content))
		for range 2 {
			if text, want := r.call(map[string]any{"path": "f"}), "hash "+hex.EncodeToString(sum[:])[:12]+"\n"; !strings.Contains(text, want) {
				t.Errorf("%q: %s, want %s", content, text, want)
			}
		}
	}
}

// text makes lines of many lengths, a few of them longer than is shown.
func text(lines int, ending string) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for i := range lines {
		n := r.IntN(120)
		if i%97 == 96 {
			n = 2500 + r.IntN(2500)
		}
		fmt.Fprintf(&b, "%d: ", i)
		for range n / 4 {
			b.WriteString([]string{"word", " é日 ", "\t", "🙂"}[r.IntN(4)])
		}
		b.WriteString(ending)
	}
	return b.String()
}

func TestReadFilePages(t *testing.T) {
	tooltest.Unraced(t)
	content := text(3000, "\n")
	r := newCaller(t, "read_file", map[string]string{"t.txt": content})
	for _, start := range []int{1, -3000} {
		for _, limit := range []int{170, 2000, 10000} {
			got, pages := r.follow(map[string]any{"path": "t.txt", "line_numbers": false, "offset": start, "limit": limit}, nextLine, "offset")
			if whole := r.complete("t.txt", got); whole+"\n" != content {
				t.Errorf("offset %d, limit %d: %d pages put together differ from the file", start, limit, pages)
			}
			if pages < 3 {
				t.Errorf("limit %d: %d pages", limit, pages)
			}
		}
	}
	for _, limit := range []int{4097, 50_000} {
		if got, pages := r.follow(map[string]any{"path": "t.txt", "byte_offset": 0, "byte_limit": limit}, nextByte, "byte_offset"); got != content {
			t.Errorf("byte_limit %d: %d pages put together differ from the file", limit, pages)
		}
	}
	const blank = "one\n\n\n\ntwo\n\n"
	r = newCaller(t, "read_file", map[string]string{"b.txt": blank})
	for limit := range 12 {
		if got, _ := r.follow(map[string]any{"path": "b.txt", "byte_offset": 0, "byte_limit": limit + 1}, nextByte, "byte_offset"); got != blank {
			t.Errorf("byte_limit %d: %q", limit+1, got)
		}
		if got, _ := r.follow(map[string]any{"path": "b.txt", "limit": limit + 1, "line_numbers": false}, nextLine, "offset"); got+"\n" != blank {
			t.Errorf("limit %d: %q", limit+1, got)
		}
	}
}

// complete replaces the marks of cut lines by the windows that they name.
func (c caller) complete(path, body string) string {
	lines := strings.Split(body, "\n")
	for i, line := range lines {
		m := cutMark.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		from, err := strconv.Atoi(m[1])
		if err != nil {
			c.Fatal(err)
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			c.Fatal(err)
		}
		_, rest, _ := strings.Cut(c.call(map[string]any{"path": path, "byte_offset": from, "byte_limit": n}), "\n")
		lines[i] = strings.TrimSuffix(line, m[0]) + rest
	}
	return strings.Join(lines, "\n")
}

func TestReadFileLineNumbers(t *testing.T) {
	content := text(2500, "\r\n")
	r := newCaller(t, "read_file", map[string]string{"t.txt": content})
	got, _ := r.follow(map[string]any{"path": "t.txt"}, nextLine, "offset")
	for i, line := range strings.Split(got, "\n") {
		if want := fmt.Sprintf("%d\t%d: ", i+1, i); !strings.HasPrefix(line, want) {
			t.Fatalf("line %d starts with %.30q", i+1, line)
		}
	}
}

func TestReadFileBinaryPages(t *testing.T) {
	content := bytes.Repeat([]byte{0, 1, 2, 0xff, 'a', '\n', 0x80}, 5000)
	r := newCaller(t, "read_file", map[string]string{"b": string(content)})
	args := map[string]any{"path": "b", "byte_offset": 0, "byte_limit": 50000}
	var got []byte
	for {
		status, dump, _ := strings.Cut(r.call(args), "\n")
		for row := range strings.SplitSeq(dump, "\n") {
			for d := range strings.FieldsSeq(row[10:strings.Index(row, "|")]) {
				n, err := strconv.ParseUint(d, 16, 8)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, byte(n))
			}
		}
		m := nextByte.FindStringSubmatch(status)
		if m == nil {
			break
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		args["byte_offset"] = n
	}
	if !bytes.Equal(got, content) {
		t.Errorf("the dumps put together have %d bytes and differ from the file", len(got))
	}
}

func TestReadFileLarge(t *testing.T) {
	const size = 10_000_000_000
	r := newCaller(t, "read_file", nil)
	large(t, r.dir, size)
	for _, c := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"limit": 2}, "big.log: lines 1-2; utf-8, LF, 10 GB, version v:10000000000-…; next: offset=3\n1\thead line\n2\thead line"},
		{map[string]any{"offset": 7000, "limit": 1}, "big.log: line 7000; utf-8, LF, 10 GB, version …; next: offset=7001\n7000\thead line"},
		{map[string]any{"offset": -2}, "big.log: lines -2 to -1; utf-8, CRLF, no final newline, 10 GB, version …\n-2\tlast but one\n-1\tlast"},
		{map[string]any{"offset": -3, "limit": 1}, "big.log: line -3; utf-8, CRLF, 10 GB, version …; next: offset=-2\n-3\tthird last"},
		{map[string]any{"byte_offset": -4}, "big.log: bytes 9999999996-9999999999 of 10000000000; utf-8, version …\nlast"},
	} {
		c.args["path"] = "big.log"
		start := time.Now()
		got := r.call(c.args)
		if took := time.Since(start); took > 500*time.Millisecond {
			t.Errorf("%v took %v", c.args, took)
		}
		if diff := tooltest.Match(c.want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// A line that is longer than memory should be read in constant memory.
func TestReadFileLongLineMemory(t *testing.T) {
	r := newCaller(t, "read_file", nil)
	large(t, r.dir, 200_000_000)
	args := map[string]any{"path": "big.log", "offset": 7001, "limit": 1}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := r.call(args)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
		t.Errorf("reading a line of 200 MB allocates %d bytes", n)
	}
	if diff := tooltest.Match("big.log: line 7001; …; 1 line cut at 2000 characters; shown as escapes: 2000 U+0000; next: offset=7002\n7001\t…", got); diff != "" {
		t.Errorf("%.300s", diff)
	}
}

func BenchmarkReadFile(b *testing.B) {
	for _, size := range []int{1_000, 40_000, 1_000_000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			line := "a line of plain text, as most are it\n"
			r := newCaller(b, "read_file", map[string]string{"t.txt": strings.Repeat(line, size/len(line))})
			args := json.RawMessage(`{"path":"t.txt"}`)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tooltest.Call(b.Context(), r.ws, r.tool, args); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestReadFileNextPage(t *testing.T) {
	nextPages(t, "read_file", map[string]int{
		`{"path": "f", "limit": 2}`:                           3,
		`{"path": "f", "limit": 2, "offset": -5}`:             3,
		`{"path": "f", "byte_offset": 0, "byte_limit": 4}`:    3,
		`{"path": "bin", "byte_offset": 0, "byte_limit": 16}`: 3,
		`{"path": "n.ipynb", "limit": 2}`:                     3,
	})
}
