package search_test

import (
	"maps"
	"strings"
	"testing"

	"toolcrib/tools/internal/tooltest"
)

// A binary file that is named itself is searched, and each match has its byte.
func TestBinaryFile(t *testing.T) {
	large := strings.Repeat("\x00"+strings.Repeat("a", 99), 5000)
	ws, _ := tooltest.Tree(t, map[string]string{
		"a.bin": "\x00\x01\nabc needle\nb needle\x00c needle\n", "b.bin": large + "\n" + large + "xx needle", "c.txt": "needle\n",
	})
	for _, tt := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"path": "a.bin"}, "2 matches; the file is binary\na.bin\nbyte 7\tabc needle\nbyte 16\tb needle\\u{0}c needle\n"},
		{map[string]any{"path": "a.bin", "context": 2, "limit": 1}, "matches 1-1, more follow; the file is binary; 1 file searched; next: offset=1\na.bin\nbyte 7\tabc needle\n… 1 more in this file\n"},
		{map[string]any{"path": "a.bin", "limit": 1, "offset": 1}, "2-2 of 2 matches; the file is binary\na.bin\nbyte 16\tb needle\\u{0}c needle\n"},
		{map[string]any{"path": "a.bin", "multiline": true, "pattern": "needle\nb"}, "2 matches; the file is binary\na.bin\nbyte …\n..."},
		{map[string]any{"path": "b.bin"}, "1 match; the file is binary\nb.bin\nbyte 1000004\t…"},
		{map[string]any{"path": "b.bin", "mode": "files"}, "1 file; the file is binary\nb.bin\n"},
		{map[string]any{"path": "b.bin", "pattern": "absent"}, "0 matches in b.bin, which is binary\n"},
		{map[string]any{"path": "."}, "1 match in 1 of 3 files, 2 binary skipped\nc.txt\n1\tneedle\n"},
	} {
		args := map[string]any{"pattern": "needle"}
		maps.Copy(args, tt.args)
		if diff := tooltest.Match(tt.want, call(t, ws, "grep", args)); diff != "" {
			t.Errorf("%v: %s", tt.args, diff)
		}
	}
}
