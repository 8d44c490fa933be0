package files_test

import (
	"net/url"
	"strings"
	"testing"

	"toolcrib/tools/files"
	"toolcrib/workspace/fileuri"
)

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
		if got, ok := fileuri.Parse("file://" + expand(value)); strings.HasPrefix(path, "/") && (!ok || got != path) {
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
