package textfile_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"

	"toolcrib/tools/internal/textfile"
)

const (
	russian  = "Быстрая коричневая лиса прыгает через ленивую собаку. Строка вторая.\n"
	chinese  = "敏捷的棕色狐狸跳过了懒狗。这是第二行文字，用来检测编码。\n"
	japanese = "いろはにほへと ちりぬるを。日本語の文章です。カタカナも含みます。\n"
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
		{name: "a sequence that is none of ISO-2022-JP", head: []byte("\x1b$B\x01\x02"), enc: "utf-8"},
		{name: "a few lines beyond ASCII", head: append([]byte(strings.Repeat("plain text, line after line\n", 3000)), encode(t, "windows-1251", russian)...), enc: "windows-1251", source: textfile.Detected},
		{name: "Latin", head: []byte("// Copyright Andr\xe9\n"), enc: "windows-1252", source: textfile.Assumed},
		{name: "short", head: encode(t, "gb18030", "中文"), enc: "?", source: textfile.Assumed},
		{name: "XML declares", head: append([]byte(`<?xml version="1.0" encoding="ISO-8859-2"?>`), 0xb1), enc: "iso-8859-2", source: textfile.Declared},
		{name: "HTML declares", head: append([]byte(`<html><meta charset="windows-1250">`), 0xb9), enc: "windows-1250", source: textfile.Declared},
		{name: "comment declares", head: []byte("#!/bin/python\n# -*- coding: latin-1 -*-\n# \xe9\n"), enc: "iso-8859-1", source: textfile.Declared},
		{name: "a false declaration", head: []byte("# coding: utf-8\n# \xe9\n"), enc: "windows-1252", source: textfile.Assumed},
		{name: "NUL", head: []byte("text\x00text"), binary: true},
		{name: "NULs at even and odd places", head: []byte("a\x00b\x00c\x00\x00de"), binary: true},
		{name: "PDF", head: []byte("%PDF-1.7\n%text"), binary: true},
		{name: "gzip", head: zipped.Bytes(), binary: true},
		{name: "noise without NUL", head: noise, binary: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := textfile.Sniff(c.head, !c.cut)
			if got.Binary != c.binary {
				t.Fatalf("binary: %v", got.Binary)
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
		{"\xff\xfea\x00", "text/plain; charset=utf-16le"},
		{"II*\x00\x08", "image/tiff"}, {"MM\x00*\x00", "image/tiff"}, {"BM\x00\x00\x00\x00", "image/bmp"},
		{"\x00\x00\x00\x1cftypheic\x00\x00\x00\x00", "image/heic"}, {"\x00\x00\x00\x1cftypavif\x00\x00\x00\x00", "image/avif"},
		{"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom", "video/mp4"},
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
		{"cp932", "shift_jis"}, {"euc_jp", "euc-jp"}, {"utf-16", "utf-16le"}, {"UTF_32BE", "utf-32be"},
		{"iso-8859-9", "iso-8859-9"}, {"iso-8859-11", "windows-874"}, {"hz-gb-2312", ""}, {"nonsense", ""},
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

func BenchmarkSniff(b *testing.B) {
	text := bytes.Repeat([]byte("a line of plain text, as most are\n"), 1200)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		textfile.Sniff(text, true)
	}
}
