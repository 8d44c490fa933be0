package patch_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/text/patch"
)

// lines joins lines, each with its line feed.
func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }

// env puts lines into an envelope.
func env(l ...string) string {
	return "*** Begin Patch\n" + lines(l...) + "*** End Patch\n"
}

// crlf ends each line of a text with CRLF.
func crlf(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

// update is what most of the cases come to.
var update = lines("update x", "@@", "-a", "+b")

// dump returns a result as text: the files, the notes, or the error.
func dump(files []patch.File, notes []string, err error) string {
	var b strings.Builder
	if err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
		return b.String()
	}
	for _, f := range files {
		fmt.Fprintf(&b, "%s %s", f.Kind, f.Path)
		if f.To != "" {
			fmt.Fprintf(&b, " -> %s", f.To)
		}
		if f.Mode != 0 {
			fmt.Fprintf(&b, " mode %o", f.Mode)
		}
		b.WriteString("\n")
		if f.Kind == patch.Add {
			fmt.Fprintf(&b, "%q\n", f.Content)
		}
		for _, c := range f.Chunks {
			b.WriteString("@@")
			if c.Line > 0 {
				fmt.Fprintf(&b, " line %d", c.Line)
			}
			for _, a := range c.Anchors {
				fmt.Fprintf(&b, " %q", a)
			}
			if c.AtEnd {
				b.WriteString(" end")
			}
			if c.NoFinalNewline != nil {
				fmt.Fprintf(&b, " open=%v", *c.NoFinalNewline)
			}
			b.WriteString("\n")
			for _, l := range c.Lines {
				fmt.Fprintf(&b, "%c%s\n", l.Op, l.Text)
			}
		}
		for _, d := range f.Doubts {
			fmt.Fprintf(&b, "doubt: %s\n", d)
		}
	}
	for _, n := range notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	return b.String()
}

func TestParse(t *testing.T) {
	const (
		fenced  = "note: taken out of its code fence\n"
		heredoc = "note: taken out of its heredoc\n"
	)
	for _, c := range []struct{ name, text, want string }{
		// Envelopes.
		{"update", env("*** Update File: x", "-a", "+b"), update},
		{"update with a head", env("*** Update File: x", "@@", "-a", "+b"), update},
		{"anchor", env("*** Update File: x", "@@ def f():", "-a", "+b"), lines("update x", `@@ "def f():"`, "-a", "+b")},
		{"anchors", env("*** Update File: x", "@@ class A", "@@   def f", "-a", "+b"), lines("update x", `@@ "class A" "  def f"`, "-a", "+b")},
		{"closed anchor", env("*** Update File: x", "@@ def f @@", "-a", "+b"), lines("update x", `@@ "def f"`, "-a", "+b")},
		{"anchor of dots", env("*** Update File: x", "@@ ... @@", "-a", "+b"), update},
		{"closed empty anchor", env("*** Update File: x", "@@ @@", "-a", "+b"), update},
		{"ranges in an envelope", env("*** Update File: x", "@@ -7,1 +7,1 @@ def f", "-a", "+b"), lines("update x", "@@ line 7", "-a", "+b")},
		{"two chunks", env("*** Update File: x", "@@", "-a", "+b", "@@", " c", "+d"), lines("update x", "@@", "-a", "+b", "@@", " c", "+d")},
		{"end of file", env("*** Update File: x", " a", "+b", "*** End of File"), lines("update x", "@@ end", " a", "+b")},
		{"end of file, then more", env("*** Update File: x", " a", "+b", "*** End of File", "@@", "-c"), lines("update x", "@@ end", " a", "+b", "@@", "-c")},
		{"move", env("*** Update File: x", "*** Move to: d/y", "-a", "+b"), lines("update x -> d/y", "@@", "-a", "+b")},
		{"pure move", env("*** Update File: x", "*** Move to: d/y"), "update x -> d/y\n"},
		{"move onto itself", env("*** Update File: x", "*** Move to: x", "-a", "+b"), update},
		{"add", env("*** Add File: d/x", "+a", "+", "+ b"), lines("add d/x", `"a\n\n b\n"`)},
		{"add an empty file", env("*** Add File: x"), lines("add x", `""`)},
		{"add without final newline", env("*** Add File: x", "+a", `\ No newline at end of file`), lines("add x", `"a"`)},
		{"add what looks like markers", env("*** Add File: x", "+*** End Patch", "+@@", "++a"), lines("add x", `"*** End Patch\n@@\n+a\n"`)},
		{"add with a blank line", env("*** Add File: x", "+a", "", "+b", ""), lines("add x", `"a\n\nb\n"`, "note: patch line 4: a blank line without its +; read as a line of the added file")},
		{"add with a head", env("*** Add File: x", "@@ -0,0 +1 @@", "+a"), lines("add x", `"a\n"`, "note: patch line 3: an added file has no hunks; its header is ignored")},
		{"add with a header", env("*** Add File: x", "--- /dev/null", "+++ b/x", "@@ -0,0 +1 @@", "+a"), lines("add x", `"a\n"`, "note: patch line 3: the header of a unified diff below the marker is ignored", "note: patch line 5: an added file has no hunks; its header is ignored")},
		{"delete", env("*** Delete File: x"), "delete x\n"},
		{"all kinds", env("*** Delete File: x", "*** Add File: y", "+a", "", "*** Update File: z", "-a"), lines("delete x", "add y", `"a\n"`, "update z", "@@", "-a")},
		{"header below the marker", env("*** Update File: x", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b"), lines("update x", "@@ line 1", "-a", "+b", "note: patch line 3: the header of a unified diff below the marker is ignored")},
		{"unified in an envelope", env("--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b"), lines("update x", "@@ line 1", "-a", "+b", "note: patch line 2: a unified diff in an envelope")},
		{"rules and comments", env("*** Update File: x", "--- a", "+++ b", " c"), lines("update x", "@@", "--- a", "+++ b", " c")},
		{"environment", "*** Begin Patch\n*** Environment ID: abc\n*** Update File: x\n-a\n+b\n*** End Patch\n", update + "note: patch line 2: the environment line has no meaning here\n"},
		{"quoted path", env(`*** Update File: "x y"`, "-a", "+b"), lines("update x y", "@@", "-a", "+b")},
		{"path as results print it", env(`*** Update File: "a\u202e\"b"`, "-a", "+b"), lines("update a\u202e\"b", "@@", "-a", "+b")},
		{"path in backticks", env("*** Update File: `x`", "-a", "+b"), update},
		{"path with spaces", env("*** Update File: my file.txt", "-a", "+b"), lines("update my file.txt", "@@", "-a", "+b")},
		{"same file twice", env("*** Update File: x", "-a", "*** Update File: x", "-b"), lines("update x", "@@", "-a", "update x", "@@", "-b")},

		// Markers as models write them.
		{"markers with trailing space", "*** Begin Patch  \n*** Update File: x  \n-a\n+b\n*** End Patch\t\n", update},
		{"markers without a space", "***Begin Patch\n***Update File:x\n-a\n+b\n***End Patch\n", update},
		{"markers in lower case", "*** begin patch\n*** update file: x\n-a\n+b\n*** end patch\n", update},
		{"markers with stars behind", "*** Begin Patch ***\n*** Update File: x ***\n-a\n+b\n*** End Patch ***\n", update},
		{"padded first markers", "  *** Begin Patch\n  *** Update File: x  \n-a\n+b\n  *** End Patch\n", update + "note: patch line 5: an indented marker\n"},
		{"padded markers between", " *** Begin Patch\n *** Update File: x\n-a\n+b\n *** Delete File: y\n *** End Patch\n", lines("update x", "@@", "-a", "+b", "delete y", "note: patch line 5: an indented marker")},
		{"padded end", "*** Begin Patch\n*** Update File: x\n-a\n+b\n *** End Patch\n\n", update},
		{"indented marker is a line", env("*** Update File: x", "-a", " *** Update File: y", "+b"), lines("update x", "@@", "-a", " *** Update File: y", "+b", "doubt: patch line 4 looks like a marker but is indented: it was read as a line of the file")},
		{"begin twice", "*** Begin Patch\n*** Begin Patch\n*** Update File: x\n-a\n+b\n*** End Patch\n", update + "note: patch line 2: *** Begin Patch is repeated; read as one patch\n"},
		{"two patches", env("*** Update File: x", "-a", "+b") + env("*** Delete File: y"), update + "delete y\nnote: patch line 6: *** Begin Patch is repeated; read as one patch\n"},
		{"end twice", env("*** Update File: x", "-a", "+b") + "*** End Patch\n", update},
		{"no end in a fence that ends", "```\n*** Begin Patch\n*** Update File: x\n-a\n+b\n```\n", update + fenced + "note: *** End Patch is missing\n"},
		{"no end in a heredoc that ends", "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: x\n-a\n+b\nEOF\n", update + heredoc + "note: *** End Patch is missing\n"},
		{"no end in JSON", `"*** Begin Patch\n*** Update File: x\n-a\n+b\n"`, update + "note: the patch was JSON in a string; read as the text in it\nnote: *** End Patch is missing\n"},
		{"no begin", "*** Update File: x\n-a\n+b\n*** End Patch\n", update + "note: patch line 1: *** Begin Patch is missing\n"},
		{"file after the end", env("*** Update File: x", "-a", "+b") + "*** Delete File: y\n*** End Patch\n", update + "delete y\nnote: patch line 6: comes after *** End Patch; read as part of the patch\n"},
		{"blank lines all over", "\n\n*** Begin Patch\n\n*** Update File: x\n\n-a\n+b\n\n*** End Patch\n\n\n", update},
		{"blank context", env("*** Update File: x", "-a", "", " c", "", "+b", ""), lines("update x", "@@", "-a", " ", " c", " ", "+b", "note: patch lines 4, 6: a blank line without its space; read as a context line")},
		{"blank line before the end of file", env("*** Update File: x", "-a", "", "*** End of File"), lines("update x", "@@ end", "-a", " ", "note: patch line 4: a blank line without its space; read as a context line")},
		{"tab for a space", env("*** Update File: x", "\tc", "-\ta", "+\tb"), lines("update x", "@@", " \tc", "-\ta", "+\tb", "note: patch line 3: begins with a tab; read as a context line")},
		{"CRLF", crlf(env("*** Update File: x", "@@ f", " c", "-a", "+b", "*** Add File: y", "+a")), lines("update x", `@@ "f"`, " c", "-a", "+b", "add y", `"a\n"`)},
		{"CRLF in the lines alone", env("*** Update File: x", " c\r", "-a\r", "+b\r", "*** Add File: y", "+a\r"), lines("update x", "@@", " c", "-a", "+b", "add y", `"a\r\n"`)},
		{"byte order mark", "\ufeff" + env("*** Update File: x", "-a", "+b"), update},

		// The text around a patch.
		{"fence", "```\n" + env("*** Update File: x", "-a", "+b") + "```\n", update + fenced},
		{"fence with a language", "```diff\n" + env("*** Update File: x", "-a", "+b") + "```", update + fenced},
		{"fence of tildes", "~~~~patch\n" + env("*** Update File: x", "-a", "+b") + "~~~~\n", update + fenced},
		{"fence that does not end", "```diff\n" + env("*** Update File: x", "-a", "+b"), update + "note: the code fence around the patch does not end\n"},
		{"end of a fence alone", env("*** Update File: x", "-a", "+b") + "```\n", update + "note: line 6 of the patch is left out as prose: \"```\"\n"},
		{"end of a fence below a diff", lines("--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b", "```"), lines("update x", "@@ line 1", "-a", "+b", "note: line 6 of the patch is left out as prose: \"```\"")},
		{"fence in the file", "```diff\n" + env("*** Update File: x", " ```", "-a", "+b", " ```") + "```\n", lines("update x", "@@", " ```", "-a", "+b", " ```") + fenced},
		{"prose around a fence", "Here it is:\n\n```diff\n" + env("*** Update File: x", "-a", "+b") + "```\n\nThat is all.\n", update + fenced},
		{"other fence before", "```go\nx := 1\n```\nso:\n```diff\n" + env("*** Update File: x", "-a", "+b") + "```\n", update + fenced},
		{"several fences", "First:\n```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n```\nThen:\n```diff\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n```\n", lines("update x", "@@ line 1", "-a", "+b", "update y", "@@ line 1", "-a", "+b") + fenced},
		{"prose before", "I change x.\n" + env("*** Update File: x", "-a", "+b"), update + "note: line 1 of the patch is left out as prose: \"I change x.\"\n"},
		{"prose after", env("*** Update File: x", "-a", "+b") + "\nThis does it.\nReally.\n", update + "note: lines 7-8 of the patch are left out as prose: \"This does it.\"\n"},
		{"heredoc", "apply_patch <<'EOF'\n" + env("*** Update File: x", "-a", "+b") + "EOF\n", update + heredoc},
		{"heredoc with double quotes", "apply_patch << \"PATCH\"\n" + env("*** Update File: x", "-a", "+b") + "PATCH", update + heredoc},
		{"heredoc bare", "cat <<EOF | git apply\n" + lines("--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b") + "EOF\n", lines("update x", "@@ line 1", "-a", "+b") + heredoc},
		{"heredoc in a command", "bash -lc \"apply_patch <<'EOF'\n" + env("*** Update File: x", "-a", "+b") + "EOF\"\n", update + heredoc},
		{"heredoc after cd", "cd /repo && apply_patch <<-'EOF'\n" + env("*** Update File: x", "-a", "+b") + "EOF\n", strings.Replace(update, "x", "/repo/x", 1) + "note: its files are read as below \"/repo\", the directory of the command before it\n" + heredoc},
		{"cd in a shell", "bash -lc \"cd d && apply_patch <<'EOF'\n" + env("*** Update File: x", "*** Move to: y", "-a", "+b", "*** Add File: /z") + "EOF\"\n", lines("update d/x -> d/y", "@@", "-a", "+b", "add /z", `""`, `note: its files are read as below "d", the directory of the command before it`) + heredoc},
		{"cd twice", "cd 'a b'; cd ../c\napply_patch <<'EOF'\n" + env("*** Delete File: x") + "EOF\n", lines("delete c/x", `note: its files are read as below "a b", the directory of the command before it`, `note: its files are read as below "c", the directory of the command before it`) + heredoc},
		{"cd before an argument", "cd d && apply_patch \"\n" + env("*** Delete File: x") + "\"\n", lines("delete d/x", `note: its files are read as below "d", the directory of the command before it`, `note: line 1 of the patch is left out as prose: "cd d && apply_patch \""`, `note: line 5 of the patch is left out as prose: "\""`)},
		{"cd in a message", "cd build && make\n---\n" + env("*** Delete File: x"), lines("delete x", `note: lines 1-2 of the patch are left out as prose: "cd build && make"`)},
		{"cd in prose", "In abcd foo I change x; the cd of it stays:\n" + env("*** Delete File: x"), lines("delete x", `note: line 1 of the patch is left out as prose: "In abcd foo I change x; the cd of it stays:"`)},
		{"heredoc in a fence", "```bash\napply_patch <<'EOF'\n" + env("*** Update File: x", "-a", "+b") + "EOF\n```\n", update + fenced + heredoc},
		{"word of the heredoc in the file", "apply_patch <<'EOF'\n" + env("*** Update File: x", " EOF", "-a", "+b") + "EOF\n", lines("update x", "@@", " EOF", "-a", "+b") + heredoc},
		{"argument of a command", "apply_patch \"*** Begin Patch\n*** Update File: x\n-a\n+b\n*** End Patch\"\n", update + "note: patch line 2: *** Begin Patch is missing\nnote: line 1 of the patch is left out as prose: \"apply_patch \\\"*** Begin Patch\"\n"},
		{"rest of JSON", env("*** Update File: x", "-a", "+b") + "\"}\n", update + "note: line 6 of the patch is left out as prose: \"\\\"}\"\n"},
		{"JSON string", `"*** Begin Patch\n*** Update File: x\n-a\n+b\n*** End Patch"`, update + "note: the patch was JSON in a string; read as the text in it\n"},
		{"JSON arguments", `{"input":"*** Begin Patch\n*** Update File: x\n-a\n+b\n*** End Patch"}`, update + "note: the patch was JSON in a string; read as the text in it\n"},
		{"JSON command", `["apply_patch","*** Begin Patch\n*** Update File: x\n-a\n+b\n*** End Patch\n"]`, update + "note: the patch was JSON in a string; read as the text in it\n"},
		{"line feeds written out", `*** Begin Patch\n*** Update File: x\n-a\n+\t\"b\"\n*** End Patch\n`, lines("update x", "@@", "-a", "+\t\"b\"") + "note: \\n was written out; read as line feeds\n"},
		{"indented as a whole", "    *** Begin Patch\n    *** Update File: x\n    -a\n    +b\n\n     c\n    *** End Patch\n", lines("update x", "@@", "-a", "+b", " ", " c", "note: the whole patch was indented; read without that", "note: patch line 5: a blank line without its space; read as a context line")},
		{"indented diff", "  --- a/x\n  +++ b/x\n  @@ -1 +1 @@\n  -a\n  +b\n", lines("update x", "@@ line 1", "-a", "+b", "note: the whole patch was indented; read without that")},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, c.text, c.want) })
	}
}

// check compares what a text is read as, and that an error is of the package.
func check(t *testing.T, text, want string) {
	t.Helper()
	files, notes, err := patch.Parse(text)
	if _, ok := errors.AsType[*patch.Error](err); err != nil && !ok {
		t.Errorf("error of type %T", err)
	}
	if diff := cmp.Diff(want, dump(files, notes, err)); diff != "" {
		t.Errorf("%q\n(-want +got)\n%s", text, diff)
	}
}

func TestParseRefuses(t *testing.T) {
	const (
		noEnd = "*** End Patch is missing; the patch ends with its line "
		open  = " ends the patch without a line feed, so it may be cut off"
		diff  = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n"
		lost  = " changes the directory in a way that is not understood here"
	)
	for _, c := range []struct{ name, text, want string }{
		// Cut off.
		{"no end", "*** Begin Patch\n*** Update File: x\n-a\n+b\n", noEnd + `4, "+b"`},
		{"neither begin nor end", "*** Update File: x\n-a\n+b\n\n", noEnd + `3, "+b"`},
		{"end cut", "*** Begin Patch\n*** Update File: x\n-a\n+b\n*** End Pat", `patch line 5: "*** End Pat" is not a marker`},
		{"no end in a fence without one", "```\n*** Begin Patch\n*** Delete File: x\n", noEnd + `3, "*** Delete File: x"`},
		{"diff in a fence without end", "```\n" + diff, `the code fence or heredoc around the patch does not end; the patch ends with its line 8, " d"`},
		{"diff in a heredoc without end", "patch <<E\n" + diff, `the code fence or heredoc around the patch does not end; the patch ends with its line 8, " d"`},
		{"hunk short of context", strings.TrimSuffix(diff, " d\n"), `patch line 3: the hunk's header counts 3 old and 3 new lines, its body has 2 and 2; the patch ends with its line 6, "+c"`},
		{"hunk short of context that may have been blank", strings.TrimSuffix(diff, "+c\n d\n") + "+c", `patch line 3: the hunk's header counts 3 old and 3 new lines, its body has 2 and 2; the patch ends with its line 6, "+c"`},
		{"hunk short of what comes", strings.TrimSuffix(diff, "+c\n d\n"), `patch line 3: the hunk's header counts 3 old and 3 new lines, its body has 2 and 1; the patch ends with its line 5, "-b"`},
		{"in a line that comes", "--- a/x\n+++ b/x\n@@ -1,1 +1,2 @@\n a\n+b", `patch line 5: "+b"` + open},
		{"in a context line that is left blank", strings.TrimSuffix(diff, "d\n"), `patch line 7: " "` + open},
		{"in the line of an open end", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\\ No new", `patch line 6: "\\ No new"` + open},
		{"in the head of a hunk", diff + "@@ -9,3 +", "patch line 8: the hunk has no lines"},
		{"in a header", diff + "diff -", `patch line 8: "diff -" begins a file that does not follow`},
		{"header of a new file alone", "diff --git a/x b/x\nnew file mode 100644\nindex 0000000..1234567\n", `patch line 1: no hunk follows the header of "x", and no index line says that the file is empty; the patch ends with its line 3, "index 0000000..1234567"`},
		{"header of a new file without hunks", "--- /dev/null\n+++ b/x\n", "patch line 1: no hunk follows the header of the file"},
		{"header of a deleted file alone", "diff --git a/x b/x\ndeleted file mode 100644\n", `patch line 1: no hunk follows the header of "x", and no index line says that the file is empty; the patch ends with its line 2, "deleted file mode 100644"`},
		{"header of a changed mode and content", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\nindex 1234567..89abcde\n", `patch line 1: no hunk follows the header of "x", which says that the content changes; the patch ends with its line 4, "index 1234567..89abcde"`},
		{"header of a changed copy", "diff --git a/x b/y\nsimilarity index 90%\ncopy from x\ncopy to y\n", `patch line 1: no hunk follows the header of "x", which says that the content changes; the patch ends with its line 4, "copy to y"`},
		{"in a name", "diff --git a/x b/yz\nsimilarity index 100%\nrename from x\nrename to y", `patch line 4: "rename to y"` + open},

		// Directories.
		{"cd to a variable", "cd $D && apply_patch <<'E'\n" + env("*** Delete File: x") + "E\n", `patch line 1: "cd $D && apply_patch <<'E'"` + lost},
		{"cd back", "cd -; apply_patch <<'E'\n" + env("*** Delete File: x") + "E\n", `patch line 1: "cd -; apply_patch <<'E'"` + lost},
		{"cd home", "cd ~/d && apply_patch <<'E'\n" + env("*** Delete File: x") + "E\n", `patch line 1: "cd ~/d && apply_patch <<'E'"` + lost},
		{"git in another directory", "git -C d apply <<E\n" + diff + "E\n", `patch line 1: "git -C d apply <<E"` + lost},
		{"patch in another directory", "patch -p1 -d d <<E\n" + diff + "E\n", `patch line 1: "patch -p1 -d d <<E"` + lost},

		{"empty", "", "the patch is empty"},
		{"blank", " \n\n", "the patch is empty"},
		{"prose alone", "I would change line 3.\n", "the patch names no file"},
		{"envelope without files", env(), "the patch names no file"},
		{"add without plus", env("*** Add File: x", "package x", "func f() {}"), `patch line 3: "package x": every line of an added file begins with +`},
		{"add, then a line without plus", env("*** Add File: x", "+package x", "func f() {}"), `patch line 4: "func f() {}": every line of an added file begins with +`},
		{"add with a line that stays", env("*** Add File: x", "+a", " b"), `patch line 4: " b": every line of an added file begins with +`},
		{"lines after delete", env("*** Delete File: x", "-a"), `patch line 3: "-a": nothing follows a deleted file but the next marker`},
		{"update without hunks", env("*** Update File: x"), `patch line 2: the patch has no change of "x"`},
		{"update without hunks, then another", env("*** Update File: x", "*** Update File: y", "-a"), `patch line 2: the patch has no change of "x"`},
		{"context alone", env("*** Update File: x", "@@", " a", " b"), "patch line 3: the hunk changes nothing: all of its lines begin with a space"},
		{"same lines", env("*** Update File: x", " c", "-a", "+a"), "patch line 3: the hunk changes nothing: its removed and its added lines are the same"},
		{"line endings", env("*** Update File: x", "-a", "+a\r"), "patch line 4: the hunk changes how a line ends (LF or CRLF), which a patch cannot do here"},
		{"head alone", env("*** Update File: x", "@@ def f"), "patch line 3: the hunk has no lines"},
		{"line without its space", env("*** Update File: x", "def f():", "-a", "+b"), `patch line 3: "def f():" does not begin with a space, - or +`},
		{"line without its space inside", env("*** Update File: x", "@@", "-a", "def f():", "+b"), `patch line 5: "def f():" does not begin with a space, - or +`},
		{"line without its space below the head", env("*** Update File: x", "@@", "def f():", "+b"), `patch line 4: "def f():" does not begin with a space, - or +`},
		{"no path", env("*** Update File:", "-a", "+b"), `patch line 2: "*** Update File:" names no file`},
		{"no path to move to", env("*** Update File: x", "*** Move to: ", "-a"), `patch line 3: "*** Move to: " names no file`},
		{"move late", env("*** Update File: x", "-a", "*** Move to: y"), `patch line 4: "*** Move to: y" is not below an *** Update File line`},
		{"unknown marker", env("*** Rename File: x"), `patch line 2: "*** Rename File: x" is not a marker`},
		{"unknown marker in a hunk", env("*** Update File: x", "-a", "*** Replace", "+b"), `patch line 4: "*** Replace" is not a marker`},
		{"hunk of nothing", "@@ -1 +1 @@\n-a\n+b\n", "patch line 1: the hunk belongs to no file"},
		{"hunk of nothing in an envelope", env("@@", "-a", "+b"), "patch line 2: the hunk belongs to no file"},
		{"lines of nothing", env("-a", "+b"), `patch line 2: "-a" belongs to no file`},
		{"prose in an envelope", env("*** Delete File: x", "", "Now y:", "*** Delete File: y"), `patch line 4: "Now y:": nothing follows a deleted file but the next marker`},
		{"prose below a diff", lines("--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b", "That is all."), `patch line 6: "That is all." does not begin with a space, - or +`},
		{"part after the fence", "```\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n```\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "patch line 8: a part of the patch comes after the code fence that ends at line 7"},
		{"part after the heredoc", "git apply <<EOF\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nEOF\n*** Begin Patch\n", "patch line 8: a part of the patch comes after the heredoc that ends at line 7"},
		{"line feeds written out wrongly", `*** Begin Patch\n*** Update File: x\n-"a"\n`, `patch line 1: the patch is one line with \n written out`},
		{"context diff", "*** x\t2024-01-01\n--- y\t2024-01-01\n***************\n*** 1,2 ****\n", "patch line 1: context diffs are not supported"},
		{"combined diff", "diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,2 @@@\n", "patch line 5: combined diffs of merges are not supported"},
		{"binary", "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 3\n", `patch line 3: "GIT binary patch": binary changes are not supported`},
		{"binary told", "diff --git a/x b/x\nBinary files a/x and b/x differ\n", `patch line 2: "Binary files a/x and b/x differ": binary changes are not supported`},
		{"symlink", "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+y\n\\ No newline at end of file\n", "patch line 2: a patch cannot change a symlink"},
		{"symlink retargeted", "diff --git a/x b/x\nindex 1..2 120000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-y\n+z\n", "patch line 2: a patch cannot change a symlink"},
		{"submodule", "diff --git a/x b/x\nindex 1..2 160000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-y\n+z\n", "patch line 2: a patch cannot change a submodule"},
		{"two names", lines("--- a/x", "+++ b/y", "@@ -1 +1 @@", "-a", "+b"), `patch line 1: the sides name two files, "x" and "y"`},
		{"no hunk", lines("--- a/x", "+++ b/x"), "patch line 1: no hunk follows the header of the file"},
		{"no hunk but prose", lines("--- a/x", "+++ b/x", "some text"), `patch line 3: "some text" does not begin with a space, - or +`},
		{"nothing of a git header", "diff --git a/x b/x\nindex 1..1 100644\n", `patch line 1: the patch has no change of "x"`},
		{"new file with old lines", lines("--- /dev/null", "+++ b/x", "@@ -1 +1 @@", "-a", "+b"), `patch line 1: the file "x" is new in the patch, but a hunk has old lines`},
		{"both sides nowhere", lines("--- /dev/null", "+++ /dev/null", "@@ -1 +1 @@", "-a", "+b"), "patch line 1: both sides are /dev/null"},
		{"half a rename", "diff --git a/x b/y\nrename from x\n", "patch line 1: a rename or copy needs both names"},
		{"odd mode", "diff --git a/x b/x\nold mode abc\n", `patch line 2: "old mode abc" has no mode such as 100644`},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, c.text, "error: "+c.want+"\n") })
	}
}

// An empty patch is answered with one that works.
func TestExampleParses(t *testing.T) {
	_, _, err := patch.Parse("")
	e, _ := errors.AsType[*patch.Error](err)
	if e == nil || !strings.Contains(e.Hint, patch.Example) {
		t.Fatalf("no example in %v", err)
	}
	check(t, patch.Example, lines("update path/of/file", "@@", "-the old line", "+the new line"))
}
