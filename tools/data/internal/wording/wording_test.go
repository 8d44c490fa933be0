package wording_test

import (
	"testing"

	"toolcrib/tools/data/internal/wording"
)

func TestCount(t *testing.T) {
	for text, want := range map[string]wording.Counts{
		"":                     {},
		"a b\n":                {4, 2, 4, 2, 1, 1, 4},
		"e\u0301👨‍👩‍👧":         {2, 2, 7, 1, 1, 1, 21},
		"中文 and ไทย":           {10, 8, 10, 6, 1, 1, 20},
		"a\n\n\nb\nc":          {7, 3, 7, 3, 5, 2, 7},
		"don't 3.5 1,000 a,b.": {20, 17, 20, 5, 1, 1, 20},
	} {
		if got := wording.Count(text); got != want {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
}

// What is encoded is decoded to what it was.
func TestCodecs(t *testing.T) {
	all := wording.Operations()
	for _, codec := range []string{"base64", "url", "hex", "html"} {
		for _, text := range []string{"", "a b+c&<é>\"'/?%", "\x00\n中👍"} {
			encoded, err := all[codec+"_encode"](text, wording.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := all[codec+"_decode"](encoded, wording.Options{}); err != nil || got != text {
				t.Errorf("%s: %q became %q, then %q, %v", codec, text, encoded, got, err)
			}
		}
	}
	for codec, text := range map[string]string{"base64_decode": "a!", "url_decode": "%zz", "hex_decode": "0"} {
		if got, err := all[codec](text, wording.Options{}); err == nil {
			t.Errorf("%s of %q: got %q", codec, text, got)
		}
	}
}
