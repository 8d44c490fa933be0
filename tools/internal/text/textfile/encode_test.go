package textfile_test

import (
	"bytes"
	"errors"
	"testing"

	"toolcrib/tools/internal/text/textfile"
)

// samples are texts in the letters that an encoding is for.
var samples = map[string]string{
	"utf-8": "a\u00e9\u65e5\U0001f600", "utf-16le": "a\u65e5\U0001f600\n", "utf-16be": "a\u65e5\U0001f600\n", "utf-32le": "a\u65e5\U0001f600\n", "utf-32be": "a\u65e5\U0001f600\n",
	"gb18030": "\u4e2d\u6587\u00e9\U0001f600\u20ac\n", "big5": "\u4e2d\u6587\n", "shift_jis": "\u65e5\u672c\uff76\uff85\\~\n", "euc-jp": "\u65e5\u672c\u30c6\n",
	"iso-2022-jp": "a\u65e5\u672c\nb\u30c6", "euc-kr": "\ud55c\uad6d\uc5b4\n",
	"koi8-r": "\u043f\u0440\u0438\u0432\u0435\u0442\n", "koi8-u": "\u0457\u0491\n", "ibm866": "\u043f\u0440\u0438\u0432\u0435\u0442\n", "macintosh": "\u00e9\u03c0\n", "x-mac-cyrillic": "\u043f\u0440\n",
	"ibm437": "\u00e9\u2593\n", "ibm850": "\u00e9\u00d0\n", "ibm852": "\u0142\u017c\n", "ibm855": "\u043f\u0458\n", "ibm858": "\u20ac\n", "ibm860": "\u00e3\n", "ibm862": "\u05e9\n",
	"ibm863": "\u00c0\u00ca\n", "ibm865": "\u00f8\n", "hz-gb-2312": "a~{\u4e2d\u6587\nb~}\u4e2d",
	"iso-8859-1": "\u00e9\u00ff\n", "iso-8859-2": "\u0142\u017c\n", "iso-8859-3": "\u0127\n", "iso-8859-4": "\u0137\n", "iso-8859-5": "\u043f\n", "iso-8859-6": "\u0645\n",
	"iso-8859-7": "\u03c0\u20ac\n", "iso-8859-8": "\u05e9\n", "iso-8859-9": "\u011f\n", "iso-8859-10": "\u014b\n", "iso-8859-13": "\u0105\n", "iso-8859-14": "\u1e81\n",
	"iso-8859-15": "\u20ac\u0153\n", "iso-8859-16": "\u021b\n",
	"windows-1250": "\u0142\n", "windows-1251": "\u043f\n", "windows-1252": "\u20ac\u201c\n", "windows-1253": "\u03c0\n", "windows-1254": "\u011f\n", "windows-1255": "\u05e9\n",
	"windows-1256": "\u0645\n", "windows-1257": "\u0105\n", "windows-1258": "\u0111\n", "windows-874": "\u0e01\n",
}

func TestEncode(t *testing.T) {
	for _, name := range textfile.Names() {
		enc, ok := textfile.Lookup(name)
		if !ok || enc.Name() != name {
			t.Fatalf("%s: not found by its name", name)
		}
		text, ok := samples[name]
		if !ok {
			t.Errorf("%s: no sample", name)
		}
		data, err := enc.Encode(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := string(enc.Decode(data)); got != text {
			t.Errorf("%s: %q comes back as %q", name, text, got)
		}
		if enc.Unit() == 1 && !enc.UTF8() && bytes.Equal(data, []byte(text)) {
			t.Errorf("%s: encodes nothing", name)
		}
		_, err = enc.Encode("plain \U0001f600")
		all := enc.UTF8() || enc.Unit() > 1 || name == "gb18030"
		if e, isEncode := errors.AsType[*textfile.EncodeError](err); all != (err == nil) ||
			!all && (!isEncode || e.Rune != 0x1f600 || e.Offset != 6 || e.Encoding != name) {
			t.Errorf("%s: an emoji: %v", name, err)
		}
	}
}

// No encoder may put another character in place of one, nor take a damaged text.
func TestEncodeSimilar(t *testing.T) {
	for _, name := range textfile.Names() {
		enc, _ := textfile.Lookup(name)
		if enc.UTF8() {
			continue
		}
		for _, text := range []string{"\u00a5", "\u203e", "\u301c", "\uff5e", "\u2212", "\uff0d", "\u2014", "\ufffd", "a\xffb", "\x1a", "\u00b7", "\u20a9"} {
			data, err := enc.Encode(text)
			if err == nil && string(enc.Decode(data)) != text {
				t.Errorf("%s: %q is written as %q, which is %q", name, text, data, enc.Decode(data))
			}
			if text == "a\xffb" && err == nil {
				t.Errorf("%s: takes %q", name, text)
			}
		}
	}
}
