package files_test

import (
	"net/url"
	"strings"
	"testing"

	"toolcrib/tools/files"
)

func TestURI(t *testing.T) {
	for _, tt := range []struct {
		path, uri string
		windows   bool
	}{
		{"/a/b.txt", "file:///a/b.txt", false},
		{"/", "file:///", false},
		{"/with space/ü", "file:///with%20space/%C3%BC", false},
		{"/a#b?c%d%41", "file:///a%23b%3Fc%25d%2541", false},
		{"/a:b;c&d=e+f@g", "file:///a:b;c&d=e+f@g", false},
		{"/C:/x", "file:///C:/x", false},
		{"/a\nb", "file:///a%0Ab", false},
		{"C:/x y/z", "file:///C:/x%20y/z", true},
		{"c:", "file:///c:", true},
		{"//server/share/x", "file://server/share/x", true},
	} {
		if got := files.URIOf(tt.path); got != tt.uri {
			t.Errorf("URI of %q: %q, want %q", tt.path, got, tt.uri)
		}
		if got, ok := files.PathOf(tt.uri, tt.windows); !ok || got != tt.path {
			t.Errorf("path of %q: %q %t, want %q", tt.uri, got, ok, tt.path)
		}
	}
}

func TestPathOf(t *testing.T) {
	for _, tt := range []struct {
		uri, want string // "" = none
		windows   bool
	}{
		{"file:/a", "/a", false},
		{"FILE:///a", "/a", false},
		{"file://localhost/a", "/a", false},
		{"file://LOCALHOST/a", "/a", false},
		{"file:///a b", "/a b", false},
		{"file:///ü", "/ü", false},
		{"file:///a#b", "/a#b", false},
		{"file:///a?b", "/a?b", false},
		{"file:///100%", "/100%", false},
		{"file:///a%4", "/a%4", false},
		{"file:///a%zz%41", "/a%zzA", false},
		{"file:///%2e%2E/x", "/../x", false},
		{"file:///a%2Fb", "/a/b", false},
		{"file:///a%00b", "/a\x00b", false},
		{"file://", "/", false},
		{"file:///c:/x", "c:/x", true},
		{"file:///c:", "c:", true},
		{"file:///cd:/x", "/cd:/x", true},
		{"file:///c%3A/x", "c:/x", true},

		{"file:a", "", false},
		{"file:", "", false},
		{"file", "", false},
		{"", "", false},
		{"file://server/share/x", "", false},
		{"files:///a", "", false},
		{"http://x/a", "", false},
		{"/a", "", false},
	} {
		if got, ok := files.PathOf(tt.uri, tt.windows); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%q: %q %t, want %q", tt.uri, got, ok, tt.want)
		}
	}
}

// A value of {+path} survives the expansion of the template, and so does what is
// typed of one.
func FuzzVariable(f *testing.F) {
	for _, path := range []string{"/a", "/a%41", "/%25", "/%2541%", "/%", "/%%41", "/ü ?#", "/%252525"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		value := files.Variable(path)
		if got := files.VariablePath(value); got != path {
			t.Errorf("%q became %q became %q", path, value, got)
		}
		if got, ok := files.PathOf("file://"+expand(value), false); strings.HasPrefix(path, "/") && (!ok || got != path) {
			t.Errorf("%q became %q, expanded %q, read %q", path, value, expand(value), got)
		}
	})
}

// expand is what RFC 6570 (3.2.3) makes of the value of {+path}: reserved
// characters and escapes stay, all others but letters, digits and -._~ are
// escaped.
func expand(value string) string {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		c := value[i]
		_, err := url.PathUnescape(value[i:min(i+3, len(value))])
		switch {
		case c == '%' && err == nil && i+3 <= len(value):
			b.WriteString(value[i : i+3])
			i += 2
		case strings.IndexByte("-._~:/?#[]@!$&'()*+,;=", c) >= 0,
			c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z':
			b.WriteByte(c)
		default:
			b.WriteString("%" + strings.ToUpper(string("0123456789abcdef"[c>>4])+string("0123456789abcdef"[c&15])))
		}
	}
	return b.String()
}
