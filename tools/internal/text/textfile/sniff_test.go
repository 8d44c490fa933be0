package textfile_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"

	"toolcrib/tools/internal/text/textfile"
)

const (
	russian  = "Быстрая коричневая лиса прыгает через ленивую собаку. Строка вторая.\n"
	croatian = "Pošalji mi još jedno pismo čim stigneš kući; želim znati kako je prošao put i što su ti rekli.\n"
	turkish  = "Şehir dışında küçük bir bağ evi aldık, yazın çocuklarla orada kalacağız. Işıklar geç söndü.\n"
	chinese  = "敏捷的棕色狐狸跳过了懒狗。这是第二行文字，用来检测编码。\n"
	japanese = "いろはにほへと ちりぬるを。日本語の文章です。カタカナも含みます。\n"
	johab    = "\xb5\xa1\x93i\xb7e \x90i\xb3\xa1\x88a \xb9\xbd\xb4a\xac\xe1 \x89\xb7\xb6\xa5\xb5A \x88v\xafs\x93\xa1\x94a. \xb4a\xb7\xa1\x97i\xb7\xa1 \xa0g\xb7\xa1 \xb7\xb6\xb4\xf6\xafs\x93\xa1\x94a.\n"
	eucTW    = "\xc4\xf4\xc5\xb2\xce\xfb\xc5\xb2\xd6\xb4\xd0\xfe\xc7\xef\xa1\xa2\xca\xbc\xd4\xaf\xc4\xa1\xd8\xc4\xcc\xaf\xc4\xfc\xe3\xd0\xc6\xaa\xdf\xd7\xca\xe3\xa1\xa2\xd2\xe0\xcc\xaf\xd0\xfe\xc7\xe9\xc4\xd1\xce\xa5\xc5\xae\xc7\xe3\xce\xf2\xa1\xa4\n"
	korean   = "다람쥐 헌 쳇바퀴에 타고파. 한국어 문장입니다. 두 번째 줄.\n"
)

func encode(t *testing.T, charset, text string) []byte {
	t.Helper()
	enc, err := htmlindex.Get(charset)
	if err != nil {
		t.Fatal(err)
	}
	data, err := enc.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// ibm is encode for what the web does not know.
func ibm(t *testing.T, name, text string) []byte {
	t.Helper()
	enc, ok := textfile.Lookup(name)
	if !ok {
		t.Fatalf("%s: not found", name)
	}
	data, err := enc.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSniff(t *testing.T) {
	noise := make([]byte, 0, 4096)
	for sum := sha256.Sum256(nil); len(noise) < 4096; sum = sha256.Sum256(sum[:]) {
		noise = append(noise, bytes.ReplaceAll(sum[:], []byte{0}, []byte{1})...)
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(noise); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		head   []byte
		cut    bool // the head is not the whole file
		enc    string
		source textfile.Source
		bom    int
		binary bool
		named  string // without a decoder
	}{
		{name: "empty", enc: "utf-8"},
		{name: "ASCII", head: []byte("plain\n"), enc: "utf-8"},
		{name: "UTF-8", head: []byte(russian), enc: "utf-8"},
		{name: "UTF-8 with BOM", head: []byte("\xef\xbb\xbfa\n"), enc: "utf-8", bom: 3},
		{name: "UTF-8 cut in a character", head: []byte("aé")[:2], cut: true, enc: "utf-8"},
		{name: "UTF-8 with one bad byte", head: []byte(russian + "\xff\n"), enc: "utf-8"},
		{name: "escape sequences", head: []byte("\x1b[31mred\x1b[0m\n"), enc: "utf-8"},
		{name: "UTF-16LE with BOM", head: []byte("\xff\xfea\x00"), enc: "utf-16le", bom: 2},
		{name: "UTF-16BE with BOM", head: []byte("\xfe\xff\x00a"), enc: "utf-16be", bom: 2},
		{name: "UTF-32LE with BOM", head: []byte("\xff\xfe\x00\x00a\x00\x00\x00"), enc: "utf-32le", bom: 4},
		{name: "UTF-32BE with BOM", head: []byte("\x00\x00\xfe\xff\x00\x00\x00a"), enc: "utf-32be", bom: 4},
		{name: "UTF-16LE without BOM", head: encode(t, "utf-16le", "hello, world\n"), enc: "utf-16le", source: textfile.Detected},
		{name: "UTF-16BE without BOM", head: encode(t, "utf-16be", "hello, world\n"), enc: "utf-16be", source: textfile.Detected},
		{name: "windows-1251", head: encode(t, "windows-1251", russian), enc: "windows-1251", source: textfile.Detected},
		{name: "KOI8-R", head: encode(t, "koi8-r", russian), enc: "koi8-r", source: textfile.Detected},
		{name: "GB18030", head: encode(t, "gb18030", chinese), enc: "gb18030", source: textfile.Detected},
		{name: "Big5", head: encode(t, "big5", "敏捷的棕色狐狸跳過了懶狗。這是第二行文字，用來檢測編碼。\n"), enc: "big5", source: textfile.Detected},
		{name: "Shift-JIS", head: encode(t, "shift_jis", japanese), enc: "shift_jis", source: textfile.Detected},
		{name: "EUC-JP", head: encode(t, "euc-jp", japanese), enc: "euc-jp", source: textfile.Detected},
		{name: "EUC-KR", head: encode(t, "euc-kr", korean), enc: "euc-kr", source: textfile.Detected},
		{name: "ISO-2022-JP", head: encode(t, "iso-2022-jp", japanese), enc: "iso-2022-jp", source: textfile.Detected},
		{name: "HZ", head: []byte("~{=qLlLlFx:\\:C#,NRCGR;FpH%9+T0I\"2=!#~}\n"), enc: "hz-gb-2312", source: textfile.Detected},
		{name: "HZ after much ASCII", head: []byte(strings.Repeat("plain text, line after line\n", 300) + "~{=qLlLlFx:\\:C#,NRCGR;FpH%9+T0I\"2=!#~}\n"), enc: "hz-gb-2312", source: textfile.Detected},
		{name: "tildes of Lisp", head: []byte("(format t \"~{~a~^, ~}~%~{ab~}\" list)\n"), enc: "utf-8"},
		{name: "UTF-16LE without BOM, Russian", head: encode(t, "utf-16le", russian), enc: "utf-16le", source: textfile.Detected},
		{name: "UTF-16BE without BOM, Chinese", head: encode(t, "utf-16be", chinese), enc: "utf-16be", source: textfile.Detected},
		{name: "UTF-32LE without BOM", head: []byte("h\x00\x00\x00i\x00\x00\x00!\x00\x00\x00"), enc: "utf-32le", source: textfile.Detected},
		{name: "IBM855", head: ibm(t, "ibm855", russian), enc: "ibm855", source: textfile.Detected},
		{name: "MacCyrillic", head: ibm(t, "x-mac-cyrillic", russian), enc: "x-mac-cyrillic", source: textfile.Detected},
		{name: "Croatian", head: encode(t, "iso-8859-2", croatian), enc: "iso-8859-2", source: textfile.Detected},
		{name: "Turkish", head: encode(t, "windows-1254", turkish), enc: "windows-1254", source: textfile.Detected},
		{name: "Johab", head: []byte(johab), binary: true, named: "johab"},
		{name: "damaged Johab", head: []byte(strings.Repeat(johab+"\x85\x20\xfe\xff", 20)), enc: "?", source: textfile.Guessed},
		{name: "EUC-TW", head: []byte(eucTW), binary: true, named: "euc-tw"},
		{name: "ISO-2022-KR", head: []byte("\x1b$)C\x0e?@4C@:\x0f \x0e3/>>0!\x0f\n"), binary: true, named: "iso-2022-kr"},
		{name: "ISO-2022-CN", head: []byte("\x1b$)A\x0e=qLlLlFx\x0f\n"), binary: true, named: "iso-2022-cn"},
		{name: "a capital within words", head: encode(t, "iso-8859-2", strings.ReplaceAll(croatian, "š", "Š")), enc: "iso-8859-2", source: textfile.Guessed},
		{name: "a sequence that is none of ISO-2022-JP", head: []byte("\x1b$B\x01\x02"), enc: "utf-8"},
		{name: "a few lines beyond ASCII", head: append([]byte(strings.Repeat("plain text, line after line\n", 3000)), encode(t, "windows-1251", russian)...), enc: "windows-1251", source: textfile.Detected},
		{name: "Latin", head: []byte("// Copyright Andr\xe9\n"), enc: "windows-1252", source: textfile.Guessed},
		{name: "short", head: encode(t, "gb18030", "中文"), enc: "?", source: textfile.Guessed},
		{name: "XML declares", head: append([]byte(`<?xml version="1.0" encoding="ISO-8859-2"?>`), 0xb1), enc: "iso-8859-2", source: textfile.Declared},
		{name: "HTML declares", head: append([]byte(`<html><meta charset="windows-1250">`), 0xb9), enc: "windows-1250", source: textfile.Declared},
		{name: "comment declares", head: []byte("#!/bin/python\n# -*- coding: latin-1 -*-\n# \xe9\n"), enc: "iso-8859-1", source: textfile.Declared},
		{name: "a false declaration", head: []byte("# coding: utf-8\n# \xe9\n"), enc: "windows-1252", source: textfile.Guessed},
		{name: "NUL", head: []byte("text\x00text"), binary: true},
		{name: "NULs at even and odd places", head: []byte("a\x00b\x00c\x00\x00de"), binary: true},
		{name: "PDF", head: []byte("%PDF-1.7\n%text"), binary: true},
		{name: "gzip", head: zipped.Bytes(), binary: true},
		{name: "noise without NUL", head: noise, binary: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := textfile.Sniff(c.head, !c.cut)
			if got.Binary != c.binary || got.Undecodable != c.named {
				t.Fatalf("binary: %v, %q", got.Binary, got.Undecodable)
			}
			if c.binary {
				return
			}
			if name := got.Encoding.Name(); name != c.enc && c.enc != "?" || got.Source != c.source || got.BOM != c.bom {
				t.Errorf("got %s %q BOM %d, want %s %q BOM %d", name, got.Source, got.BOM, c.enc, c.source, c.bom)
			}
		})
	}
}

func TestMIME(t *testing.T) {
	for _, c := range []struct{ head, want string }{
		{"\x89PNG\r\n\x1a\n\x00", "image/png"},
		{"\x00\x01\x02", "application/octet-stream"},
		{"hello", "text/plain; charset=utf-8"},
		{"BM is no bitmap", "text/plain; charset=utf-8"},
		{"<!DOCTYPE html><p>", "text/html; charset=utf-8"},
		{"\xff\xfea\x00", "text/plain; charset=utf-16le"}, {johab, "text/plain; charset=johab"},
		{"II*\x00\x08", "image/tiff"}, {"MM\x00*\x00", "image/tiff"}, {"BM\x00\x00\x00\x00", "image/bmp"},
		{"\x00\x00\x00\x1cftypheic\x00\x00\x00\x00", "image/heic"}, {"\x00\x00\x00\x1cftypavif\x00\x00\x00\x00", "image/avif"},
		{"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom", "video/mp4"},
		{"\x00\x00\x00\x20ftypmp42\x00\x00\x00\x00isomM4A mp42\x00\x00\x00\x00", "audio/mp4"},
		{"\x00\x00\x00\x14ftypisom\x00\x00\x00\x00isom....hdlr\x00\x00\x00\x00\x00\x00\x00\x00soun", "audio/mp4"},
		{"\x00\x00\x00\x14ftypisom\x00\x00\x00\x00mp41....hdlr\x00\x00\x00\x00\x00\x00\x00\x00soun....hdlr\x00\x00\x00\x00\x00\x00\x00\x00vide", "video/mp4"},
		{"\x00\x00\x00\xffftypmp42\x00\x00\x00\x00hdlr", "application/octet-stream"}, {"\x00\x00\x00\x00ftypmp42", "application/octet-stream"},
		{"RIFF\x00\x00\x00\x00WAVEfmt ", "audio/wav"}, {"\xff\xfb\x90\x00" + strings.Repeat("\x00", 500), "application/octet-stream"},
	} {
		head := []byte(c.head)
		if got := textfile.MIME(head, textfile.Sniff(head, true)); got != c.want {
			t.Errorf("%q: got %s, want %s", c.head, got, c.want)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"UTF-8", "utf-8"}, {"ascii", "utf-8"}, {"GBK", "gb18030"}, {"latin1", "iso-8859-1"},
		{"Latin-1", "iso-8859-1"}, {"cp1251", "windows-1251"}, {"SJIS", "shift_jis"}, {"shift-jis", "shift_jis"},
		{"cp932", "shift_jis"}, {"cp855", "ibm855"}, {"850", "ibm850"}, {"mac-cyrillic", "x-mac-cyrillic"}, {"MacRoman", "macintosh"}, {"hz", "hz-gb-2312"}, {"euc_jp", "euc-jp"}, {"utf-16", "utf-16le"}, {"UTF_32BE", "utf-32be"},
		{"iso-8859-9", "iso-8859-9"}, {"iso-8859-11", "windows-874"}, {"hz-gb-2312", "hz-gb-2312"}, {"nonsense", ""},
	} {
		enc, ok := textfile.Lookup(c.name)
		if ok != (c.want != "") || ok && enc.Name() != c.want {
			t.Errorf("%s: got %q, %v", c.name, enc.Name(), ok)
		}
	}
	for _, name := range textfile.Names() {
		if enc, ok := textfile.Lookup(name); !ok || enc.Name() != name {
			t.Errorf("%s does not find itself: %q", name, enc.Name())
		}
		if enc, ok := textfile.Lookup(strings.ToUpper(name)); !ok || enc.Name() != name {
			t.Errorf("%s in capitals: %q", name, enc.Name())
		}
	}
}

func BenchmarkDetect(b *testing.B) {
	enc, _ := textfile.Lookup("windows-1251")
	text, err := enc.Encode(strings.Repeat(russian, 100))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		textfile.Sniff(text, true)
	}
}

func BenchmarkSniff(b *testing.B) {
	text := bytes.Repeat([]byte("a line of plain text, as most are\n"), 1200)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		textfile.Sniff(text, true)
	}
}
