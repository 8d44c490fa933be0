package edits

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// realText is a file that is on this machine for another reason, or such a file in
// another encoding.
type realText struct {
	from      string
	converted bool
	encoding  textEncoding
	ending    string // one of textEndings
	open      bool   // without a final newline
	data      []byte
	line      string // one that it has once
	start     int    // where its bytes are
	end       int
}

// textEncoding is an encoding of the figure. Bytes of utf-8 may have any name.
type textEncoding struct {
	name    string
	guessed bool // nothing in the file says it
	bom     []byte
	charset encoding.Encoding // nil = UTF-8
}

func textEncodings() []textEncoding {
	all := []textEncoding{
		{name: "utf-8"}, {name: "utf-8 with BOM", bom: []byte("\xef\xbb\xbf")}, {name: "ascii"},
		{name: "utf-16le with BOM", bom: []byte("\xff\xfe"), charset: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
		{name: "utf-16be with BOM", bom: []byte("\xfe\xff"), charset: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
		{name: "utf-32le with BOM", bom: []byte("\xff\xfe\x00\x00"), charset: utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
		{name: "utf-32be with BOM", bom: []byte("\x00\x00\xfe\xff"), charset: utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
		{name: "utf-16le", guessed: true, charset: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
		{name: "utf-16be", guessed: true, charset: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
		{name: "utf-32le", guessed: true, charset: utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
		{name: "utf-32be", guessed: true, charset: utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
	}
	for _, name := range []string{
		"gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "koi8-r", "koi8-u",
		"windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1255", "windows-1256", "windows-1257", "windows-1258",
		"iso-8859-1", "iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-5", "iso-8859-6", "iso-8859-7", "iso-8859-8", "iso-8859-10", "iso-8859-13", "iso-8859-14", "iso-8859-15", "iso-8859-16",
	} {
		charset, err := htmlindex.Get(name)
		if err != nil {
			panic(err) // a name above is wrong
		}
		if name == "iso-8859-1" { // which the web takes for windows-1252
			charset = charmap.ISO8859_1
		}
		all = append(all, textEncoding{name: name, guessed: true, charset: charset})
	}
	return all
}

func (e textEncoding) encode(text string) ([]byte, error) {
	if e.charset == nil {
		return []byte(text), nil
	}
	return e.charset.NewEncoder().Bytes([]byte(text))
}

// decode returns the text of a file, if it is in this encoding byte for byte.
func (e textEncoding) decode(data []byte) (string, bool) {
	data, ok := bytes.CutPrefix(data, e.bom)
	if !ok {
		return "", false
	}
	if e.charset == nil {
		return string(data), utf8.Valid(data)
	}
	text, err := e.charset.NewDecoder().Bytes(data)
	if err != nil || bytes.ContainsRune(text, utf8.RuneError) {
		return "", false
	}
	again, err := e.encode(string(text))
	return string(text), err == nil && bytes.Equal(again, data)
}

// namedCharset finds the encoding that the name of a test file tells.
var namedCharset = regexp.MustCompile(`(?i)(gb18030|gbk|gb2312|big5|shift[-_]jis|euc[-_]jp|euc[-_]kr|koi8[-_]r|windows-125\d|cp125\d|iso-?8859-\d+|utf-(?:16|32)(?:le|be))\.\w+$`)

// collectTexts looks for texts where systems and tool chains keep theirs.
func collectTexts(ctx context.Context) ([]realText, error) {
	var roots []string
	for _, variable := range []string{"GOROOT", "GOMODCACHE"} {
		out, err := exec.CommandContext(ctx, "go", "env", variable).Output()
		if err != nil {
			return nil, err
		}
		roots = append(roots, strings.TrimSpace(string(out)))
	}
	roots[1] = filepath.Join(roots[1], "golang.org", "x")
	roots = append(roots, "/usr/share", "/usr/lib/python3", "/usr/include")
	for _, pattern := range []string{"/usr/lib/python3*", "/usr/local/lib/python3*/test", "/usr/lib/node_modules", filepath.Join(os.Getenv("HOME"), ".pyenv/versions/*/lib/python3*/test")} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		roots = append(roots, more...)
	}
	var texts []realText
	encodings := textEncodings()
	for _, root := range roots {
		taken := 0
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil { // a root that this machine does not have, or may not read
				return nil
			}
			if taken > 3000 {
				return fs.SkipAll
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			info, err := d.Info()
			if err != nil || !info.Mode().IsRegular() || info.Size() < 200 || info.Size() > 100_000 {
				return nil
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return nil
			}
			if t, ok := recognise(path, data, encodings); ok {
				texts = append(texts, t)
				taken++
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// recognise tells a text by its byte order mark, by being UTF-8, or by its name.
func recognise(path string, data []byte, encodings []textEncoding) (realText, bool) {
	named := ""
	if m := namedCharset.FindStringSubmatch(path); m != nil {
		named = strings.NewReplacer("gbk", "gb18030", "gb2312", "gb18030", "shift-jis", "shift_jis", "euc_", "euc-", "koi8_", "koi8-", "cp125", "windows-125").Replace(strings.ToLower(m[1]))
	}
	for _, e := range encodings {
		bare := e.bom == nil
		if e.guessed && e.name != named || e.name == "ascii" || bare && !e.guessed && bytes.IndexByte(data, 0) >= 0 {
			continue
		}
		text, ok := e.decode(data)
		if !ok || bare && strings.HasPrefix(text, "\ufeff") {
			continue
		}
		if e.name == "utf-8" && isASCII(text) {
			e.name = "ascii"
		}
		return newText(path, text, e, false)
	}
	return realText{}, false
}

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// newText describes a text and chooses the line that is to be edited: one with
// letters beyond ASCII, where there is one.
func newText(from, text string, e textEncoding, converted bool) (realText, bool) {
	t := realText{from: from, encoding: e, converted: converted, open: !strings.HasSuffix(text, "\n") && !strings.HasSuffix(text, "\r")}
	crlf := strings.Count(text, "\r\n")
	lf, cr := strings.Count(text, "\n")-crlf, strings.Count(text, "\r")-crlf
	switch {
	case lf > 0 && crlf == 0 && cr == 0:
		t.ending = "LF"
	case crlf > 0 && lf == 0 && cr == 0:
		t.ending = "CRLF"
	case cr > 0 && lf == 0 && crlf == 0:
		t.ending = "CR"
	case lf+cr+crlf > 0:
		t.ending = "mixed"
	default:
		return t, false
	}
	at := -1
	for begin := 0; begin < len(text); {
		end := begin + strings.IndexAny(text[begin:], "\r\n")
		if end < begin {
			end = len(text)
		}
		line := text[begin:end]
		better := t.line == "" || isASCII(t.line) && !isASCII(line)
		if better && begin > 0 && len(strings.TrimSpace(line)) > 8 && len(line) < 1000 && !strings.ContainsAny(line, "\\\f\x1b\v\x00") &&
			!strings.Contains(line, "...") && strings.Count(text, line) == 1 {
			t.line, at = line, begin
		}
		begin = end + 1
	}
	if at < 0 {
		return t, false
	}
	before, err1 := e.encode(text[:at])
	line, err2 := e.encode(t.line)
	all, err3 := e.encode(text)
	if errors.Join(err1, err2, err3) != nil {
		return t, false
	}
	t.data = slices.Concat(e.bom, all)
	t.start = len(e.bom) + len(before)
	t.end = t.start + len(line)
	return t, bytes.Equal(t.data[t.start:t.end], line)
}
