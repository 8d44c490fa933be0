package search_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
)

func TestRefusals(t *testing.T) {
	ws, _ := tooltest.Tree(t, map[string]string{"a.txt": "x\n", "dir/b.txt": "x\n"})
	for _, tt := range []struct {
		tool, args string
		code       tools.Code
		want, hint string
	}{
		{"grep", `{"pattern":"a(?=b)"}`, tools.InvalidArgument, "pattern: invalid or unsupported Perl syntax: (?= at character 2", "fixed:true"},
		{"grep", `{"pattern":"x","type":["rusty"]}`, tools.InvalidArgument, `type: no type is called "rusty"`, `"rust"`},
		{"grep", `{"pattern":"x","type":["go,nope"]}`, tools.InvalidArgument, `type: no type is called "nope"`, "use glob"},
		{"grep", `{"pattern":"x","glob":["!(a.txt)"]}`, tools.InvalidArgument, `glob: pattern "!(a.txt)" has !(...)`, `"!pattern"`},
		{"glob", `{"pattern":["@(c|d).txt"]}`, tools.InvalidArgument, `pattern: pattern "@(c|d).txt" has alternatives`, "{a,b}"},
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
		{"grep", `{"pattern":"y"}`, "0 matches in 2 files searched below .; left out: 1 binary\n"},
		{"grep", `{"pattern":"x","glob":["*.go"]}`, "0 matches in 0 files searched below .; left out: 3 by glob, type or exclude; no file passed the filters\n"},
		{"grep", `{"pattern":"x","glob":["*.go,*.py"]}`, "0 matches in 0 files searched below .; left out: 3 by glob, type or exclude; no file passed the filters\n"},
		{"grep", `{"pattern":"x","glob":["x/*.go"]}`, "0 matches in 0 files searched below .; left out: 3 by glob, type or exclude; no file passed the filters, whose patterns are relative to path\n"},
		{"grep", `{"pattern":"y","type":["python, text"]}`, "0 matches in 2 files searched below .; left out: 1 by glob, type or exclude\n"},
		{"glob", `{"pattern":["*.go,*.py"]}`, "0 files match among the 3 entries below .\n"},
		{"glob", `{"pattern":["*.TXT"]}`, "0 files match among the 3 entries below .; case counts: a.txt is there\n"},
		{"grep", `{"pattern":"y","path":"c.bin"}`, "0 matches in c.bin, which is binary\n"},
		{"grep", `{"pattern":"x","path":"c.bin","offset":1}`, "offset=1 is past the end: 1 match; the last is offset=0\n"},
		{"grep", `{"pattern":"x","path":"c.bin","mode":"count"}`, "1 file, 1 match in all; the file is binary\n1\tc.bin\n"},
		{"grep", `{"pattern":"X","path":"a.txt","case":"sensitive"}`, "0 matches in a.txt; case:insensitive ignores case\n"},
		{"grep", `{"pattern":"y\\|z"}`, "0 matches in 2 files searched below .; left out: 1 binary; \\| is a literal bar here: write | for alternatives\n"},
		{"grep", `{"pattern":"\\<y\\>","path":"a.txt"}`, "0 matches in a.txt; \\< is a literal <: pass word:true or write \\b\n"},
		{"grep", `{"pattern":"y\\|x","glob":["*.go"]}`, "0 matches in 0 files searched below .; left out: 3 by glob, type or exclude; no file passed the filters\n"},
		{"grep", `{"pattern":"x","mode":"files","offset":2}`, "offset=2 is past the end: 2 files; the last is offset=1\n"},
		{"glob", `{"pattern":["*.go"]}`, "0 files match among the 3 entries below .\n"},
		{"glob", `{"pattern":["*.txt"],"offset":7}`, "offset=7 is past the end: 2 files; the last is offset=1\n"},
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

// A file that cannot be read was not searched.
func TestUnreadableIsNotSearched(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("needs: to be an ordinary user")
	}
	ws, dir := tooltest.Tree(t, map[string]string{"a.txt": "x\n", "b.txt": "x\n"})
	if err := os.Chmod(filepath.Join(dir, "a.txt"), 0); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{
		"y": "0 matches in 1 file searched below .\n1 path could not be read (permission denied): a.txt\n",
		"x": "1 match in 1 of 1 file\nb.txt\n1\tx\n1 path could not be read (permission denied): a.txt\n",
	} {
		if got := call(t, ws, "grep", map[string]any{"pattern": pattern}); got != want {
			t.Errorf("%s:\ngot  %swant %s", pattern, got, want)
		}
	}
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o700) })
	for tool, args := range map[string]map[string]any{
		"grep": {"pattern": "y"},
		"glob": {"pattern": []string{"*.go"}},
	} {
		if got := call(t, ws, tool, args); !strings.Contains(got, "could not be read (permission denied): ") || !strings.Contains(got, " closed\n") || strings.Count(got, "could not") != 1 {
			t.Errorf("%s: %s", tool, got)
		}
	}
}

// Each name by which a type may be called is one name of one type.
func TestTypeNames(t *testing.T) {
	ws, _ := tooltest.Tree(t, map[string]string{"a.go": "x\n", "b.py": "x\n", "c.js": "x\n", "d.ts": "x\n", "e.rs": "x\n", "f.cpp": "x\n", "g.cs": "x\n", "h.sh": "x\n", "i.yml": "x\n", "j.md": "x\n"})
	for name, want := range map[string]string{
		"golang": "a.go", "python": "b.py", "javascript": "c.js", "typescript": "d.ts", "rust": "e.rs", "c++": "f.cpp",
		"csharp": "g.cs", "shell": "h.sh", "yml": "i.yml", "markdown": "j.md", "go": "a.go",
	} {
		got := call(t, ws, "grep", map[string]any{"pattern": "x", "mode": "files", "type": []string{name}})
		if want := "1 of 1 file\n" + want + "\n"; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
