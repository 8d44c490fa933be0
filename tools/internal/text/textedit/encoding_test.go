package textedit_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"toolcrib/tools/internal/text/textedit"
	"toolcrib/tools/internal/text/textfile"
)

// alphabet is characters of which each encoding has some.
const alphabet = "éüñßøłőğžşαβγπδпривеєґשלוםسلامกขค한국어日本語ｱｲ中文測試ąčęėāīțșẁ€“”—…\u00a0Đ"

func lookup(t testing.TB, name string) textfile.Encoding {
	t.Helper()
	enc, ok := textfile.Lookup(name)
	if !ok {
		t.Fatalf("no encoding is called %s", name)
	}
	return enc
}

// written returns the characters that an encoding can express.
func written(t testing.TB, enc textfile.Encoding) string {
	t.Helper()
	var some strings.Builder
	for _, r := range alphabet {
		if _, err := enc.Encode(string(r)); err == nil {
			some.WriteRune(r)
		}
	}
	if some.Len() == 0 {
		t.Fatalf("%s has none of the characters", enc.Name())
	}
	return some.String()
}

func encode(t testing.TB, enc textfile.Encoding, text string) []byte {
	t.Helper()
	data, err := enc.Encode(text)
	if err != nil {
		t.Fatalf("%s: %v", enc.Name(), err)
	}
	return data
}

func boms(enc textfile.Encoding) []string {
	switch enc.Name() {
	case "utf-8":
		return []string{"", "\xef\xbb\xbf"}
	case "utf-16le":
		return []string{"", "\xff\xfe"}
	case "utf-16be":
		return []string{"", "\xfe\xff"}
	case "utf-32le":
		return []string{"", "\xff\xfe\x00\x00"}
	case "utf-32be":
		return []string{"", "\x00\x00\xfe\xff"}
	}
	return []string{""}
}

// Edits and patches write every encoding, with every mark and line ending, as if the
// new text had been encoded whole.
func TestEncodings(t *testing.T) {
	for _, name := range textfile.Names() {
		enc := lookup(t, name)
		letters := written(t, enc)
		for _, bom := range boms(enc) {
			for _, end := range []string{"\n", "\r\n"} {
				file := func(middle string) []byte {
					return append([]byte(bom), encode(t, enc, strings.Join([]string{"first " + letters, middle, "last " + letters}, end))...)
				}
				text, err := textedit.Parse(file(letters+" old "+letters), textfile.Form{Encoding: enc, BOM: len(bom)})
				if err != nil {
					t.Fatal(err)
				}
				want := file(letters + " new" + end + letters + " " + letters)
				got, err := text.Apply([]textedit.Edit{{Old: "old " + letters + "\nlast", New: "new\n" + letters + " " + letters + "\nlast"}})
				if err != nil || !bytes.Equal(got.Data, want) {
					t.Errorf("%s %q %q: edit: %q, want %q (%v)", name, bom, end, got.Data, want, err)
				}
				got, err = text.Patch([]textedit.Chunk{{Lines: []textedit.ChunkLine{{Op: '-', Text: letters + " old " + letters}, {Op: '+', Text: letters + " new"}, {Op: '+', Text: letters + " " + letters}}}})
				if err != nil || !bytes.Equal(got.Data, want) {
					t.Errorf("%s %q %q: patch: %q, want %q (%v)", name, bom, end, got.Data, want, err)
				}
			}
		}
	}
}

// Bytes that do not decode, or that would be encoded differently, stay as they are,
// also in the line that changes.
func TestUntouchedBytes(t *testing.T) {
	for _, c := range []struct{ name, enc, in, old, new, want string }{
		{"lone surrogate", "utf-16le", "\x00\xd8a\x00b\x00\n\x00c\x00", "b", "x", "\x00\xd8a\x00x\x00\n\x00c\x00"},
		{"odd byte at the end", "utf-16be", "\x00a\x00\n\x00b\x00", "a", "x", "\x00x\x00\n\x00b\x00"},
		{"line feed across units", "utf-16le", "\x0a\x0a\x0a\x00a\x00", "a", "b", "\x0a\x0a\x0a\x00b\x00"},
		{"bad byte in the line", "gb18030", "a\xff b\xd6\xd0\n", "b", "x", "a\xff x\xd6\xd0\n"},
		{"half a character at the end of a line", "shift_jis", "a\x83\nb\n", "b", "x", "a\x83\nx\n"},
		{"half a character at the end", "euc-jp", "a b\xa4", "a", "x", "x b\xa4"},
		{"two ways to write a character", "shift_jis", "\xfa\x54 a\n", "a", "b", "\xfa\x54 b\n"},
		{"undefined byte", "windows-1252", "\x81 a\n", "a", "\u20ac", "\x81 \x80\n"},
		{"redundant shifts", "iso-2022-jp", "\x1b(B\x1b(Ja\nb\n", "b", "x", "\x1b(B\x1b(Ja\nx\n"},
		{"inside of a shift", "iso-2022-jp", "\x1b$BF|K\\\x1b(B\n", "本", "a", "\x1b$BF|\x1b(Ba\n"},
		{"line that does not shift back", "iso-2022-jp", "\x1b$BF|K\\\nb\n", "b", "日", "\x1b$BF|K\\\n\x1b$BF|\x1b(B\n"},
		{"two characters of one code", "big5", "\x88\x62 a\n", "a", "b", "\x88\x62 b\n"},
		{"bad UTF-8", "utf-8", "\xff\xfe a\n", "a", "b", "\xff\xfe b\n"},
	} {
		text, err := textedit.Parse([]byte(c.in), textfile.Form{Encoding: lookup(t, c.enc)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := text.Apply(edit(c.old, c.new))
		if err != nil || string(got.Data) != c.want {
			t.Errorf("%s: %q, want %q (%v)", c.name, got.Data, c.want, err)
		}
	}
}

func TestInexpressible(t *testing.T) {
	data := "caf\xe9\nb\n"
	text, err := textedit.Parse([]byte(data), textfile.Form{Encoding: lookup(t, "windows-1252")})
	if err != nil {
		t.Fatal(err)
	}
	_, err = text.Apply(edit("b", "one\ntwo \U0001f600"))
	m, ok := errors.AsType[*textedit.Mismatch](err)
	if !ok || !strings.Contains(m.Msg, "windows-1252 cannot express 😀 (U+1F600)") || !strings.Contains(m.Msg, "line 2, character 5 of new_text") || !strings.Contains(m.Msg, "encoding=utf-8") {
		t.Errorf("%v", err)
	}
	_, err = text.Patch(chunks("-b\n+日"))
	if m, ok := errors.AsType[*textedit.Mismatch](err); !ok || !strings.Contains(m.Msg, "cannot express 日") {
		t.Errorf("%v", err)
	}
}

func TestBinary(t *testing.T) {
	if _, err := textedit.Parse([]byte("a\x00b"), textfile.Form{Binary: true}); err == nil {
		t.Error("a binary file was read")
	}
}

// A Text stays as it is, so that the same edits give the same again.
func TestAgain(t *testing.T) {
	text := parse(t, "a\nb\n")
	for range 2 {
		got, err := text.Apply([]textedit.Edit{{Old: "a", New: "x"}, {Old: "b\n", New: ""}})
		if err != nil || string(got.Data) != "x\n" {
			t.Errorf("%q %v", got.Data, err)
		}
		if _, err := text.Apply([]textedit.Edit{{Old: "a", New: "x"}, {Old: "a", New: "y"}}); err == nil {
			t.Error("the second edit found what the first replaced")
		}
	}
}
