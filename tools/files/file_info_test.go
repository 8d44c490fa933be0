package files_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/files"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

// The text of a link would tell of what the policy keeps away.
func TestFileInfoDeniedTarget(t *testing.T) {
	f := newCaller(t, "file_info", map[string]string{"s/k": "x", "link": "-> s/k", "gone": "-> s/none"})
	f.ws = f.ws.Denying(func(p workspace.Path) string {
		if strings.HasPrefix(p.String(), "s") {
			return "no-s"
		}
		return ""
	})
	got := f.call(map[string]any{"paths": []string{"link", "gone"}})
	if strings.Contains(got, "s/") || strings.Count(got, "(rule no-s)") != 2 {
		t.Errorf("got %s", got)
	}
}

func TestFileInfo(t *testing.T) {
	f := newCaller(t, "file_info", map[string]string{
		"a.txt":     "one\r\ntwo",
		"empty":     "",
		"u16":       "\xff\xfea\x00\n\x00",
		"latin":     "\xe9\n",
		"bin.txt":   "\x89PNG\r\n\x1a\n\x00",
		"dir/one":   "",
		"dir/.two":  "",
		"link":      "-> dir/one",
		"away":      "-> /etc/passwd",
		"b\u202e":   "",
		"run.sh":    "#!/bin/sh\n",
		"readme.md": "# x\n",
	})
	when := time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)
	for name, mode := range map[string]os.FileMode{"a.txt": 0o640, "run.sh": 0o755 | os.ModeSetuid, "dir": 0o777 | os.ModeSticky} {
		if err := os.Chmod(filepath.Join(f.dir, name), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(f.dir, name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ path, want string }{
		{"a.txt", "a.txt: file, 8 B, 0640 -rw-r-----, modified 2026-03-01T12:30:00Z\n  text/plain; charset=utf-8, CRLF, 2 lines, no final newline\n  hash 29a776bb35ef"},
		{"empty", "empty: file, 0 B, …\n  text/plain; charset=utf-8, 0 lines\n  hash e3b0c442…"},
		{"u16", "u16: file, 6 B, …\n  text/plain; charset=utf-16le, BOM, LF, 1 line\n  hash …"},
		{"latin", "latin: file, 2 B, …\n  text/plain; charset=windows-1252 (guessed), LF, 1 line\n  hash …"},
		{"bin.txt", "bin.txt: file, 9 B, …\n  image/png\n  hash …"},
		{"dir", "dir: directory, 2 entries, 1777 drwxrwxrwt, modified 2026-03-01T12:30:00Z"},
		{"link", "link: symlink, …\n  -> dir/one"},
		{"away", "away: symlink, …\n  -> /etc/passwd (leads to nothing inside the workspace)"},
		{"b\u202e", "\"b\\u202e\": file, …\n...\n  hash …"},
		{"run.sh", "run.sh: file, 10 B, 4755 -rwsr-xr-x, …\n...\n  hash …"},
		{"readme.ms", "readme.ms: does not exist; nearest: readme.md"},
		{"../x", "../x: denied: …"},
		{"", "…invalid_argument: …"},
	} {
		got := f.call(map[string]any{"paths": []string{c.path}})
		_, got, _ = strings.Cut(got, "\n")
		if diff := tooltest.Match(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.path, diff)
		}
	}
	got := f.call(map[string]any{"paths": []string{"a.txt", "b.txt", "../x", "dir"}})
	if !strings.HasPrefix(got, "4 paths: 2 found, 1 missing, 1 not described\n") {
		t.Errorf("got %s", got)
	}
}

// In data a path is itself; only the text quotes it.
func TestFileInfoOddNames(t *testing.T) {
	const odd = "a\n\u202eb"
	f := newCaller(t, "file_info", map[string]string{odd: "", "link": "-> " + odd})
	result, err := tooltest.Call(t.Context(), f.ws, f.tool, json.RawMessage(`{"paths":["a\n\u202eb","link","a\n\u202ec"]}`))
	if err != nil {
		t.Fatal(err)
	}
	var out files.FileInfoOut
	if err := json.Unmarshal(result.Structured, &out); err != nil {
		t.Fatal(err)
	}
	if got := []string{out.Files[0].Path, out.Files[1].Target, out.Files[1].Resolved, out.Files[2].Nearest}; !cmp.Equal(got, []string{odd, odd, odd, odd}) {
		t.Errorf("data: %q", got)
	}
	want := "3 paths: 2 found, 1 missing\n" + `"a\u000a\u202eb": file, …` + "\n  …\n  hash …\n" + `link: symlink, …` + "\n" + `  -> "a\u000a\u202eb"` + "\n" +
		`"a\u000a\u202ec": does not exist; nearest: "a\u000a\u202eb"`
	if diff := tooltest.Match(want, tooltest.Text(result)); diff != "" {
		t.Error(diff)
	}
}

func TestFileInfoStructured(t *testing.T) {
	f := newCaller(t, "file_info", map[string]string{"a.txt": "one\n"})
	large(t, f.dir, 10_000_000_000)
	result, err := tooltest.Call(t.Context(), f.ws, f.tool, json.RawMessage(`{"paths":["a.txt","big.log","none"]}`))
	if err != nil {
		t.Fatal(err)
	}
	var out files.FileInfoOut
	if err := json.Unmarshal(result.Structured, &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Files) != 3 {
		t.Fatalf("%d entries", len(out.Files))
	}
	small, big, none := out.Files[0], out.Files[1], out.Files[2]
	if want := "2c8b08da5ce6"; small.Hash != want || *small.Lines != 1 || !*small.FinalNewline {
		t.Errorf("small: %+v", small)
	}
	if !strings.HasPrefix(big.Version, "v:10000000000-") || big.Hash != "" || big.Lines != nil || *big.Size != 10_000_000_000 {
		t.Errorf("big: %+v", big)
	}
	if diff := cmp.Diff(files.FileInfo{Path: "none"}, none, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Nearest" }, cmp.Ignore())); diff != "" {
		t.Errorf("none (-want +got):\n%s", diff)
	}
}

func TestFileInfoTrim(t *testing.T) {
	tree := map[string]string{}
	var paths []string
	for i := range 100 {
		name := fmt.Sprintf("%s/%s/%s%02d", strings.Repeat("d", 200), strings.Repeat("e", 200), strings.Repeat("f", 200), i)
		tree[name] = "x\n"
		paths = append(paths, name)
	}
	f := newCaller(t, "file_info", tree)
	got := f.call(map[string]any{"paths": paths})
	if !strings.Contains(got, "the result is full; ask for these paths in another call") {
		t.Errorf("nothing says what was left out: …%s", got[max(0, len(got)-300):])
	}
}
