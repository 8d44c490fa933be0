package fileuri

import "testing"

func TestFormat(t *testing.T) {
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
		if got := Format(tt.path); got != tt.uri {
			t.Errorf("URI of %q: %q, want %q", tt.path, got, tt.uri)
		}
		if got, ok := parse(tt.uri, tt.windows); !ok || got != tt.path {
			t.Errorf("path of %q: %q %t, want %q", tt.uri, got, ok, tt.path)
		}
	}
}

func TestParse(t *testing.T) {
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
		{"file:///a%+4%_4", "/a%+4%_4", false},
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
		if got, ok := parse(tt.uri, tt.windows); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%q: %q %t, want %q", tt.uri, got, ok, tt.want)
		}
	}
}
