package search_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
)

// TestCalls runs the calls that are written down as files, a tree and the wanted text.
func TestCalls(t *testing.T) {
	names, err := filepath.Glob("../../testdata/calls/search/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d calls, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			var c struct {
				Tool string
				Args json.RawMessage
			}
			want := ""
			for _, f := range archive.Files {
				switch path, inTree := strings.CutPrefix(f.Name, "tree/"); {
				case inTree:
					files[path] = string(f.Data)
				case f.Name == "call":
					if err := json.Unmarshal(f.Data, &c); err != nil {
						t.Fatal(err)
					}
				case f.Name == "want":
					want = string(f.Data)
				}
			}
			ws, _ := tooltest.Tree(t, files)
			result, err := tooltest.Call(t.Context(), ws, tool(t, c.Tool), c.Args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := tooltest.Match(want, tooltest.Text(result)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	ws, _ := tooltest.Tree(t, map[string]string{"a.txt": "x\n", "dir/b.txt": "x\n"})
	for _, tt := range []struct {
		tool, args string
		code       tools.Code
		want, hint string
	}{
		{"grep", `{"pattern":"a(?=b)"}`, tools.InvalidArgument, "pattern: invalid or unsupported Perl syntax: (?= at character 2", "fixed:true"},
		{"grep", `{"pattern":"x","type":["rusty"]}`, tools.InvalidArgument, `type: no type is called "rusty"`, `"rust"`},
		{"grep", `{"pattern":"x","glob":["../*.go"]}`, tools.InvalidArgument, `glob: pattern "../*.go" leads upwards`, "as path"},
		{"grep", `{"pattern":"x","sort":"newest"}`, tools.InvalidArgument, `sort: "newest" orders files, not lines`, "mode"},
		{"grep", `{"pattern":"x","path":"nowhere"}`, tools.NotFound, "nowhere", ""},
		{"glob", `{"pattern":["/tmp/*"]}`, tools.InvalidArgument, `pattern: pattern "/tmp/*" is absolute`, "as path"},
		{"glob", `{"pattern":["[a"]}`, tools.InvalidArgument, "without ]", ""},
		{"glob", `{"pattern":["*"],"path":"a.txt"}`, tools.InvalidArgument, "a.txt", ""},
	} {
		_, err := tooltest.Call(t.Context(), ws, tool(t, tt.tool), json.RawMessage(tt.args))
		e := tools.AsError(err)
		if e == nil || e.Code != tt.code || !strings.Contains(e.Msg, tt.want) || !strings.Contains(e.Hint, tt.hint) {
			t.Errorf("%s %s: %v; want %s: %s, hint with %q", tt.tool, tt.args, err, tt.code, tt.want, tt.hint)
		}
	}
}

func TestNothingAndPastTheEndDiffer(t *testing.T) {
	ws, _ := tooltest.Tree(t, map[string]string{"a.txt": "x\n", "b.txt": "x\n", "c.bin": "x\x00"})
	for _, tt := range []struct{ tool, args, want string }{
		{"grep", `{"pattern":"y"}`, "0 matches in 2 files searched below . (1 binary)\n"},
		{"grep", `{"pattern":"x","glob":["*.go"]}`, "0 matches in 0 files searched below . (3 left out by glob, type or exclude); no file passed the filters, whose patterns are relative to path\n"},
		{"grep", `{"pattern":"x","path":"c.bin"}`, "c.bin is binary: not searched\n"},
		{"grep", `{"pattern":"X","path":"a.txt","case":"sensitive"}`, "0 matches in a.txt; case:insensitive ignores case\n"},
		{"grep", `{"pattern":"x","mode":"files","offset":2}`, "offset=2 is past the end: 2 files in all; the last is offset=1\n"},
		{"glob", `{"pattern":["*.go"]}`, "0 files match among the 3 entries below .; patterns are relative to path, and case counts\n"},
		{"glob", `{"pattern":["*.txt"],"offset":7}`, "offset=7 is past the end: 2 files match; the last is offset=1\n"},
		{"glob", `{"pattern":["*.txt"],"offset":1}`, "1 of 2 files; the last page\nb.txt\n"},
	} {
		result, err := tooltest.Call(t.Context(), ws, tool(t, tt.tool), json.RawMessage(tt.args))
		if err != nil {
			t.Fatal(err)
		}
		if got := tooltest.Text(result); got != tt.want {
			t.Errorf("%s %s:\ngot  %swant %s", tt.tool, tt.args, got, tt.want)
		}
	}
}
