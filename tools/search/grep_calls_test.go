package search_test

import (
	"os"
	"path/filepath"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
)

func TestGrepRefusals(t *testing.T) {
	refuses(t, "grep", []refused{
		{`{"pattern":"a(?=b)"}`, tools.InvalidArgument, "pattern: invalid or unsupported Perl syntax: (?= at character 2", "fixed:true"},
		{`{"pattern":"x","type":["rusty"]}`, tools.InvalidArgument, `type: no type is called "rusty"`, `"rust"`},
		{`{"pattern":"x","type":["go,nope"]}`, tools.InvalidArgument, `type: no type is called "nope"`, "use glob"},
		{`{"pattern":"x","glob":["!(a.txt)"]}`, tools.InvalidArgument, `glob: pattern "!(a.txt)" has !(...)`, `"!pattern"`},
		{`{"pattern":"x","glob":["../*.go"]}`, tools.InvalidArgument, `glob: pattern "../*.go" leads upwards`, "as path"},
		{`{"pattern":"x","sort":"newest"}`, tools.InvalidArgument, `sort: "newest" orders files, not lines`, "mode"},
		{`{"pattern":"x","path":"nowhere"}`, tools.NotFound, "nowhere", ""},
	})
}

func TestGrepNothingAndPastTheEnd(t *testing.T) {
	finds(t, "grep", [][2]string{
		{`{"pattern":"y"}`, "0 matches in 2 files searched below .; left out: 1 binary\n"},
		{`{"pattern":"x","glob":["*.go"]}`, "0 matches in 0 files searched below .; left out: 3 by glob, type or exclude; no file passed the filters\n"},
		{`{"pattern":"x","glob":["*.go,*.py"]}`, "0 matches in 0 files searched below .; left out: 3 by glob, type or exclude; no file passed the filters\n"},
		{`{"pattern":"x","glob":["x/*.go"]}`, "0 matches in 0 files searched below .; left out: 3 by glob, type or exclude; no file passed the filters, whose patterns are relative to path\n"},
		{`{"pattern":"y","type":["python, text"]}`, "0 matches in 2 files searched below .; left out: 1 by glob, type or exclude\n"},
		{`{"pattern":"y","path":"c.bin"}`, "0 matches in c.bin, which is binary\n"},
		{`{"pattern":"x","path":"c.bin","offset":1}`, "offset=1 is past the end: 1 match; the last is offset=0\n"},
		{`{"pattern":"x","path":"c.bin","mode":"count"}`, "1 file, 1 match in all; the file is binary\n1\tc.bin\n"},
		{`{"pattern":"X","path":"a.txt","case":"sensitive"}`, "0 matches in a.txt; case:insensitive ignores case\n"},
		{`{"pattern":"y\\|z"}`, "0 matches in 2 files searched below .; left out: 1 binary; \\| is a literal bar here: write | for alternatives\n"},
		{`{"pattern":"\\<y\\>","path":"a.txt"}`, "0 matches in a.txt; \\< is a literal <: pass word:true or write \\b\n"},
		{`{"pattern":"y\\|x","glob":["*.go"]}`, "0 matches in 0 files searched below .; left out: 3 by glob, type or exclude; no file passed the filters\n"},
		{`{"pattern":"x","mode":"files","offset":2}`, "offset=2 is past the end: 2 files; the last is offset=1\n"},
	})
}

// A file that cannot be read was not searched.
func TestGrepUnreadableFile(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("needs: a user whom permissions bind")
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
}

// Each name by which a type may be called is one name of one type.
func TestGrepTypeNames(t *testing.T) {
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

func TestGrepUnreadableDirectory(t *testing.T) {
	unreadable(t, "grep", map[string]any{"pattern": "y"})
}

func TestGrepDenied(t *testing.T) { denied(t, "grep", map[string]any{"pattern": "needle"}) }
