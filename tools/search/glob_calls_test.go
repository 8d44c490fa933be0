package search_test

import (
	"testing"

	"toolcrib/tools"
)

func TestGlobRefusals(t *testing.T) {
	refuses(t, "glob", []refused{
		{`{"pattern":["@(c|d).txt"]}`, tools.InvalidArgument, `pattern: pattern "@(c|d).txt" has alternatives`, "{a,b}"},
		{`{"pattern":["/tmp/*"]}`, tools.InvalidArgument, `pattern: pattern "/tmp/*" is absolute`, "as path"},
		{`{"pattern":["[a"]}`, tools.InvalidArgument, "without ]", ""},
		{`{"pattern":["*"],"path":"a.txt"}`, tools.InvalidArgument, "a.txt", ""},
	})
}

func TestGlobNothingAndPastTheEnd(t *testing.T) {
	finds(t, "glob", [][2]string{
		{`{"pattern":["*.go,*.py"]}`, "0 files match among the 3 entries below .\n"},
		{`{"pattern":["*.TXT"]}`, "0 files match among the 3 entries below .; case counts: a.txt is there\n"},
		{`{"pattern":["*.go"]}`, "0 files match among the 3 entries below .\n"},
		{`{"pattern":["*.txt"],"offset":7}`, "offset=7 is past the end: 2 files; the last is offset=1\n"},
		{`{"pattern":["*.txt"],"offset":1}`, "1 of 2 files; the last page\nb.txt\n"},
	})
}

func TestGlobUnreadableDirectory(t *testing.T) {
	unreadable(t, "glob", map[string]any{"pattern": []string{"*.go"}})
}

func TestGlobDenied(t *testing.T) { denied(t, "glob", map[string]any{"pattern": []string{"**"}}) }
