package files_test

import (
	"maps"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/files"
	"toolcrib/tools/internal/tooltest"
)

func newPatcher(t testing.TB, d files.Deps, tree map[string]string) caller {
	t.Helper()
	ws, dir := tooltest.Tree(t, tree)
	return caller{TB: t, tool: files.ApplyPatchTool(d), ws: ws, dir: dir}
}

// envelope puts lines between the markers of a patch.
func envelope(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"
}

// unified puts lines below the header of a file.
func unified(path string, lines ...string) string {
	return "--- a/" + path + "\n+++ b/" + path + "\n" + strings.Join(lines, "\n") + "\n"
}

func TestApplyPatch(t *testing.T) {
	code := "package a\n\nfunc f() {\n\treturn 1\n}\n\nfunc g() {\n\treturn 1\n}\n"
	tree := map[string]string{
		"a.txt":     "one\ntwo\nthree\n",
		"b.txt":     "b1\nb2\n",
		"code.go":   code,
		"open.txt":  "one\ntwo",
		"crlf.txt":  "one\r\ntwo\r\nthree\r\n",
		"mixed.txt": "one\r\ntwo\nthree\r\n",
		"bom.txt":   "\xef\xbb\xbfone\ntwo\n",
		"u16.txt":   "\xff\xfe" + utf16("one\r\ntwo\r\n"),
		"latin.txt": "caf\xe9\none\n",
		"bin":       "\x00\x01\x02\n",
		"empty":     "",
		"dir/c.txt": "c\n",
		"link":      "-> a.txt",
		"dangling":  "-> nothing",
		"my x.txt":  "one\n",
		"tabs.py":   "def f():\n\treturn 1\n",
		"many.txt":  strings.Repeat("same\n", 9),
	}
	for _, c := range []struct {
		name, patch string
		after       map[string]string // of the files that differ afterwards, "<none>" = gone
		want        string
	}{
		{"update", envelope("*** Update File: a.txt", " one", "-two", "+2"), map[string]string{"a.txt": "one\n2\nthree\n"},
			"patched 1 file: +1 -1; undo: restore_file undo=true\nM a.txt: hunk at line 1; hash " + short("one\n2\nthree\n")},
		{"unified", unified("a.txt", "@@ -2 +2 @@", "-two", "+2"), map[string]string{"a.txt": "one\n2\nthree\n"},
			"patched 1 file: +1 -1; undo: …\nM a.txt: hunk at line 2; hash …"},
		{"offset", unified("a.txt", "@@ -7 +7 @@", "-two", "+2"), map[string]string{"a.txt": "one\n2\nthree\n"},
			"patched 1 file: …\nM a.txt: hunk at line 2 (-5 from patch); hash …"},
		{"several hunks", unified("code.go", "@@ -3,2 +3,3 @@", " func f() {", "-\treturn 1", "+\tx := 2", "+\treturn x", "@@ -7,2 +8,2 @@", " func g() {", "-\treturn 1", "+\treturn 3"),
			map[string]string{"code.go": "package a\n\nfunc f() {\n\tx := 2\n\treturn x\n}\n\nfunc g() {\n\treturn 3\n}\n"},
			"patched 1 file: +3 -2; …\nM code.go: hunks at lines 3, 8; hash …"},
		{"anchor", envelope("*** Update File: code.go", "@@ func g() {", "-\treturn 1", "+\treturn 2"), map[string]string{"code.go": "package a\n\nfunc f() {\n\treturn 1\n}\n\nfunc g() {\n\treturn 2\n}\n"},
			"patched 1 file: +1 -1; …\nM code.go: hunk at line 8; hash …"},
		{"ambiguous", envelope("*** Update File: code.go", "-\treturn 1", "+\treturn 2"), nil,
			"error: invalid_argument: code.go: its lines are in the file 2 times, at lines 4, 8…(patch line 3); nothing is changed\n..."},
		{"end of file", envelope("*** Update File: many.txt", "-same", "+last", "*** End of File"), map[string]string{"many.txt": strings.Repeat("same\n", 8) + "last\n"},
			"patched 1 file: +1 -1; …\nM many.txt: hunk at line 9; hash …"},
		{"three kinds", envelope("*** Update File: a.txt", "-two", "*** Add File: new/d/e.txt", "+x", "+y", "*** Delete File: b.txt"),
			map[string]string{"a.txt": "one\nthree\n", "new/d/e.txt": "x\ny\n", "b.txt": "<none>"},
			"patched 3 files: +2 -3; …\nM a.txt: hunk at line 2; hash …\nA new/d/e.txt: 2 lines; hash " + short("x\ny\n") + "\nD b.txt: 2 lines"},
		{"move", envelope("*** Update File: a.txt", "*** Move to: new/z.txt"), map[string]string{"a.txt": "<none>", "new/z.txt": "one\ntwo\nthree\n"},
			"patched 1 file: +0 -0; …\nR a.txt -> new/z.txt"},
		{"move and change", envelope("*** Update File: a.txt", "*** Move to: z.txt", "-two", "+2"), map[string]string{"a.txt": "<none>", "z.txt": "one\n2\nthree\n"},
			"patched 1 file: +1 -1; …\nR a.txt -> z.txt: hunk at line 2; hash " + short("one\n2\nthree\n")},
		{"copy", "diff --git a/a.txt b/z.txt\nsimilarity index 100%\ncopy from a.txt\ncopy to z.txt\n", map[string]string{"z.txt": "one\ntwo\nthree\n"},
			"patched 1 file: …\nC a.txt -> z.txt: hash …"},
		{"copy and change", "diff --git a/a.txt b/z.txt\ncopy from a.txt\ncopy to z.txt\n" + "--- a/a.txt\n+++ b/z.txt\n@@ -2 +2 @@\n-two\n+2\n", map[string]string{"z.txt": "one\n2\nthree\n"},
			"patched 1 file: +1 -1; …\nC a.txt -> z.txt: hunk at line 2; hash …"},
		{"copy of a file that changes", "diff --git a/a.txt b/z.txt\ncopy from a.txt\ncopy to z.txt\n--- a/a.txt\n+++ b/z.txt\n@@ -2 +2 @@\n-two\n+2\n" + "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -2 +2 @@\n-two\n+zwei\n",
			map[string]string{"a.txt": "one\nzwei\nthree\n", "z.txt": "one\n2\nthree\n"}, "patched 2 files: +2 -2; …\nC a.txt -> z.txt: hunk at line 2; hash …\nM a.txt: hunk at line 2; hash …"},
		{"BOM in the diff", unified("bom.txt", "@@ -1,2 +1,2 @@", "-\ufeffone", "+\ufeff1", " two"), map[string]string{"bom.txt": "\xef\xbb\xbf1\ntwo\n"},
			"patched 1 file: +1 -1; …\nM bom.txt: hunk at line 1; hash …"},
		{"below a directory", "cd dir && apply_patch <<'E'\n" + envelope("*** Update File: c.txt", "-c", "+d") + "E\n", map[string]string{"dir/c.txt": "d\n"},
			"patched 1 file: +1 -1; …\nM dir/c.txt: hunk at line 1; hash …\nnote: its files are read as below \"dir\", the directory of the command before it\nnote: taken out of its heredoc"},
		{"name that ends with a blank", "diff --git a/n  b/n \nnew file mode 100644\n--- /dev/null\n+++ b/n \t\n@@ -0,0 +1 @@\n+x\n", map[string]string{"n ": "x\n"},
			"patched 1 file: +1 -0; …\nA \"n \": 1 line; hash …"},
		{"other line endings", unified("crlf.txt", "@@ -1,3 +1,2 @@", "-one\r", "-two\r", "-three\r", "+1", "+2"), map[string]string{"crlf.txt": "1\r\n2\r\n"},
			"patched 1 file: +2 -3; …\nM crlf.txt: hunk at line 1; hash …\nnote: patch line 3: its added lines end otherwise (LF or CRLF) than its old ones; they were written with the file's line endings"},
		{"CRLF", unified("crlf.txt", "@@ -1,2 +1,3 @@", " one", "-two", "+2", "+2.5"), map[string]string{"crlf.txt": "one\r\n2\r\n2.5\r\nthree\r\n"},
			"patched 1 file: +2 -1; …\nM crlf.txt: …"},
		{"CRLF in the patch", strings.ReplaceAll(unified("crlf.txt", "@@ -1,2 +1,2 @@", " one", "-two", "+2"), "\n", "\r\n"), map[string]string{"crlf.txt": "one\r\n2\r\nthree\r\n"},
			"patched 1 file: …\nM crlf.txt: hunk at line 1; hash …"},
		{"CRLF in the patch alone", strings.ReplaceAll(unified("a.txt", "@@ -1,2 +1,2 @@", " one", "-two", "+2"), "\n", "\r\n"), map[string]string{"a.txt": "one\n2\nthree\n"},
			"patched 1 file: …\nM a.txt: …"},
		{"mixed line endings", envelope("*** Update File: mixed.txt", " one", "-two", "+2"), map[string]string{"mixed.txt": "one\r\n2\nthree\r\n"},
			"patched 1 file: …\nM mixed.txt: …"},
		{"BOM", envelope("*** Update File: bom.txt", "-one", "+1"), map[string]string{"bom.txt": "\xef\xbb\xbf1\ntwo\n"},
			"patched 1 file: …\nM bom.txt: hunk at line 1; hash …"},
		{"UTF-16", envelope("*** Update File: u16.txt", "-two", "+2"), map[string]string{"u16.txt": "\xff\xfe" + utf16("one\r\n2\r\n")},
			"patched 1 file: …\nM u16.txt: hunk at line 2; hash …"},
		{"guessed encoding", envelope("*** Update File: latin.txt", "-one", "+1"), map[string]string{"latin.txt": "caf\xe9\n1\n"},
			"patched 1 file: …\nM latin.txt: hunk at line 2; hash …"},
		{"new character in a guessed encoding", envelope("*** Update File: latin.txt", "-one", "+ñ"), nil,
			"error: invalid_argument: latin.txt: ñ is new to it, and its encoding could only be guessed (find out which it is and name it: encoding=NAME; or write ASCII and characters that are there already)"},
		{"no final newline stays", envelope("*** Update File: open.txt", "-two", "+2"), map[string]string{"open.txt": "one\n2"},
			"patched 1 file: …\nM open.txt: …"},
		{"final newline comes", unified("open.txt", "@@ -2 +2 @@", "-two", `\ No newline at end of file`, "+two"), map[string]string{"open.txt": "one\ntwo\n"},
			"patched 1 file: …\nM open.txt: hunk at line 2; hash …"},
		{"final newline goes", unified("a.txt", "@@ -3 +3 @@", "-three", "+3", `\ No newline at end of file`), map[string]string{"a.txt": "one\ntwo\n3"},
			"patched 1 file: …\nM a.txt: hunk at line 3; hash …"},
		{"added without a final newline", envelope("*** Add File: n", "+x", `\ No newline at end of file`), map[string]string{"n": "x"},
			"patched 1 file: +1 -0; …\nA n: 1 line; hash …"},
		{"added and empty", envelope("*** Add File: n"), map[string]string{"n": ""}, "patched 1 file: +0 -0; …\nA n: 0 lines; hash …"},
		{"into an empty file", unified("empty", "@@ -0,0 +1 @@", "+x"), map[string]string{"empty": "x\n"}, "patched 1 file: +1 -0; …\nM empty: hunk at line 1; hash …"},
		{"to an empty file", unified("a.txt", "@@ -1,3 +0,0 @@", "-one", "-two", "-three"), map[string]string{"a.txt": ""}, "patched 1 file: +0 -3; …\nM a.txt: hunk at line 1; hash …"},
		{"deleted by a diff", "--- a/b.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-b1\n-b2\n", map[string]string{"b.txt": "<none>"}, "patched 1 file: +0 -2; …\nD b.txt: 2 lines"},
		{"deleted by a diff of other lines", "--- a/b.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-b1\n-b3\n", nil, "error: invalid_argument: b.txt: its lines are not in the file;…(patch line 3); nothing is changed\n..."},
		{"deleted by a diff of fewer lines", "--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b1\n", nil, "error: conflict: b.txt has more lines than the patch deletes (read it; *** Delete File: PATH deletes it with any content)"},
		{"binary deleted", envelope("*** Delete File: bin"), map[string]string{"bin": "<none>"}, "patched 1 file: +0 -0; …\nD bin: 4 B"},
		{"link deleted", envelope("*** Delete File: dangling"), map[string]string{"dangling": "<none>"}, "patched 1 file: +0 -0; …\nD dangling…"},
		{"directory deleted", envelope("*** Delete File: dir"), nil, "error: invalid_argument: dir is a directory; a patch deletes files (delete_path deletes directories)"},
		{"through a link", envelope("*** Update File: link", "-two", "+2"), map[string]string{"a.txt": "one\n2\nthree\n"}, "patched 1 file: …\nM link: hunk at line 2; hash …"},
		{"name with a space", unified("my x.txt", "@@ -1 +1 @@", "-one", "+1"), map[string]string{"my x.txt": "1\n"}, "patched 1 file: …\nM my x.txt: …"},
		{"made executable", "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n", map[string]string{}, "patched 1 file: +0 -0; …\nM a.txt: mode 0755; hash …"},
		{"executable already not", "diff --git a/a.txt b/a.txt\nold mode 100755\nnew mode 100644\n", nil, "patched 1 file: +0 -0\nM a.txt: unchanged; hash …"},
		{"updated twice", envelope("*** Update File: a.txt", " two", "-three", "+3", "*** Update File: a.txt", "-one", "+1", "+1.5"), map[string]string{"a.txt": "1\n1.5\ntwo\n3\n"},
			"patched 1 file: +3 -2; …\nM a.txt: hunks at lines 3, 1; hash …"},
		{"what the first update made", envelope("*** Update File: a.txt", "-two", "+2", "*** Update File: a.txt", "-2", "+zwei"), map[string]string{"a.txt": "one\nzwei\nthree\n"},
			"patched 1 file: +1 -1; …\nM a.txt: hunks at lines 2, 2; hash …"},
		{"tolerated", envelope("*** Update File: tabs.py", " def f():   ", "-    return 1", "+    return 2"), map[string]string{"tabs.py": "def f():\n\treturn 2\n"},
			"patched 1 file: +1 -1; …\nM tabs.py: hunk at line 1; hash …\nnote: tabs.py: matched lines 1-2 but for …"},
		{"notes of the parser", "```\n" + envelope("*** Update File: a.txt", "-two", "+2") + "```\n", map[string]string{"a.txt": "one\n2\nthree\n"},
			"patched 1 file: …\nM a.txt: hunk at line 2; hash …\nnote: taken out of its code fence"},
		{"absolute path", envelope("*** Update File: $WS/a.txt", "-two", "+2"), map[string]string{"a.txt": "one\n2\nthree\n"}, "patched 1 file: …\nM a.txt: …"},

		// Refused as a whole.
		{"one of several places", unified("many.txt", "@@ -12 +12 @@", "-same", "+other"), nil,
			"error: invalid_argument: many.txt: its lines are in the file 9 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, and line 12, where the patch has it, does not decide; …(patch line 3); nothing is changed\n..."},
		{"later hunk in one of several places", envelope("*** Update File: code.go", "-package a", "+package b", "@@", "-\treturn 1", "+\treturn 2"), nil,
			"error: invalid_argument: code.go: hunk 2: its lines are in the file 2 times, at lines 4, 8; …(patch line 5); nothing is changed\n..."},
		{"cut off", "*** Begin Patch\n*** Update File: a.txt\n-two\n+2\n*** Delete File: b.txt\n", nil,
			"error: invalid_argument: *** End Patch is missing; the patch ends with its line 5, \"*** Delete File: b.txt\"; nothing is changed\n..."},
		{"hunk cut off", unified("a.txt", "@@ -1,3 +1,3 @@", " one", "-two"), nil,
			"error: invalid_argument: patch line 3: the hunk's header counts 3 old and 3 new lines, its body has 2 and 1; the patch ends with its line 5, \"-two\"; nothing is changed\n..."},
		{"file that becomes a directory", envelope("*** Delete File: a.txt", "*** Add File: a.txt/b", "+x"), nil, "error: invalid_argument: a.txt is a file, not a directory (a file has no entries, so a.txt/b cannot exist)"},
		{"no patch", "change it", nil, "error: invalid_argument: the patch names no file; nothing is changed\na patch looks like this, or is a unified diff:\n*** Begin Patch\n..."},
		{"line of the patch", envelope("*** Add File: n", "x"), nil, `error: invalid_argument: patch line 3: "x": every line of an added file begins with +; nothing is changed`},
		{"added over a file", envelope("*** Update File: b.txt", "-b1", "*** Add File: a.txt", "+x"), nil, "error: already_exists: a.txt exists already…"},
		{"added over an equal file", envelope("*** Add File: b.txt", "+b1", "+b2"), nil, "error: already_exists: b.txt exists already…"},
		{"added over a directory", envelope("*** Add File: dir", "+x"), nil, "error: …dir …"},
		{"added as a directory", envelope("*** Add File: n/", "+x"), nil, "error: invalid_argument: n/ names a directory, not a file (leave the slash out)"},
		{"moved onto a file", envelope("*** Update File: a.txt", "*** Move to: b.txt", "-two"), nil, "error: already_exists: b.txt …"},
		{"moved onto a file unchanged", envelope("*** Update File: a.txt", "*** Move to: b.txt"), nil, "error: already_exists: b.txt …"},
		{"copied onto a file", "diff --git a/a.txt b/b.txt\ncopy from a.txt\ncopy to b.txt\n", nil, "error: already_exists: b.txt …"},
		{"directory moved", envelope("*** Update File: dir", "*** Move to: d2"), nil, "error: invalid_argument: dir is a directory, not a file…"},
		{"missing", envelope("*** Update File: dir/cc.txt", "-c"), nil, "error: not_found: dir/cc.txt does not exist (nearest existing path: dir/c.txt; *** Add File: makes files)"},
		{"missing to delete", envelope("*** Delete File: aa.txt"), nil, "error: not_found: aa.txt does not exist (nearest existing path: a.txt)"},
		{"binary", envelope("*** Update File: bin", "-x", "+y"), nil, "error: invalid_argument: bin is binary (application/octet-stream) (if it is text, name its encoding: encoding=NAME)"},
		{"outside", envelope("*** Update File: a.txt", "-two", "*** Add File: ../n", "+x"), nil, "error: denied: ../n is outside the workspace …"},
		{"protected", envelope("*** Add File: .git/hooks/pre-commit", "+x"), nil, "error: denied: …"},
		{"applied already", envelope("*** Update File: a.txt", " one", "-zwei", "+two"), nil, "error: invalid_argument: a.txt: …already there at line 1… (patch line 3); nothing is changed\n..."},
		{"several problems", envelope("*** Update File: a.txt", "-zwei", "+2", "*** Update File: no.txt", "-x", "*** Add File: b.txt", "*** Delete File: b/c", "*** Update File: my x.txt", "-one", "+1"), nil,
			"error: not_found: 4 problems; nothing is changed\nnot_found: no.txt does not exist …\nnot_found: b/c does not exist …\ninvalid_argument: a.txt: its lines are not in the file;…(patch line 3); nothing is changed\nalready_exists: b.txt exists already"},
		{"named twice", envelope("*** Update File: a.txt", "-two", "*** Delete File: ./a.txt"), nil, "error: invalid_argument: a.txt is named twice, at patch lines 2 and 4 (…)"},
		{"named twice by a move", envelope("*** Update File: a.txt", "*** Move to: z", "*** Add File: z", "+x"), nil, "error: invalid_argument: z is named twice, at patch lines 2 and 4 (…)"},
		{"updated after a move", envelope("*** Update File: a.txt", "*** Move to: z", "*** Update File: a.txt", "-two"), nil, "error: invalid_argument: a.txt is named twice, at patch lines 2 and 4 (…)"},
		{"named twice through a link", envelope("*** Update File: a.txt", "-two", "*** Update File: link", "-one"), nil, "error: invalid_argument: link is named twice in one change, also as a.txt …"},
		{"doubt", envelope("*** Update File: a.txt", "-two", " *** Update File: b.txt", "-b1"), nil, "error: invalid_argument: a.txt: …\n...\npatch line 4 looks like a marker but is indented: it was read as a line of the file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newPatcher(t, files.Deps{}, tree)
			before := tooltest.Contents(t, r.dir)
			text := r.try(map[string]any{"patch": strings.ReplaceAll(c.patch, "$WS", r.dir)})
			if diff := tooltest.Match(c.want, text); diff != "" {
				t.Error(diff)
			}
			want := maps.Clone(before)
			for name, content := range c.after {
				if want[name] = content; content == "<none>" {
					delete(want, name)
				}
			}
			if diff := tooltest.Differ(want, tooltest.Contents(t, r.dir)); diff != "" {
				t.Errorf("the tree afterwards:\n%s", diff)
			}
			if len(text) > tools.MaxErrorText {
				t.Errorf("%d bytes", len(text))
			}
		})
	}
}
