package patch_test

import (
	"strings"
	"testing"
	"time"

	"toolcrib/tools/internal/tooltest"
)

func TestParseUnified(t *testing.T) {
	const open = `\ No newline at end of file`
	hunk := lines("@@ -1 +1 @@", "-a", "+b")
	first := lines("update x", "@@ line 1", "-a", "+b")
	for _, c := range []struct{ name, text, want string }{
		{"plain", "--- a/x\n+++ b/x\n" + hunk, first},
		{"without prefixes", "--- x\n+++ x\n" + hunk, first},
		{"a directory called a", "--- a/x\n+++ a/x\n" + hunk, lines("update a/x", "@@ line 1", "-a", "+b")},
		{"times", "--- x\t2024-01-01 10:00:00.000000000 +0000\n+++ x\t2024-01-01 10:00:01.000000000 +0000\n" + hunk, first},
		{"times after spaces", "--- x 2024-01-01 10:00:00\n+++ x 2024-01-01 10:00:01\n" + hunk, first},
		{"two directories", "diff -ru old/x new/x\n--- old/x\t2024-01-01\n+++ new/x\t2024-01-01\n" + hunk, first},
		{"older copy", "--- x.orig\n+++ x\n" + hunk, first},
		{"subversion", "Index: x\n===================================================================\n--- x\t(revision 1)\n+++ x\t(working copy)\n" + hunk, first},
		{"git", "diff --git a/x b/x\nindex 1234567..89abcde 100644\n--- a/x\n+++ b/x\n" + hunk, first},
		{"git without prefixes", "diff --git b/x b/x\nindex 1..2\n--- b/x\n+++ b/x\n" + hunk, lines("update b/x", "@@ line 1", "-a", "+b")},
		{"git with other prefixes", "diff --git i/x w/x\nindex 1..2\n--- i/x\n+++ w/x\n" + hunk, first},
		{"git of two trees", "diff --git 1/x 2/x\n--- 1/x\n+++ 2/x\n" + hunk, first},
		{"name with spaces", "diff --git a/my x b/my x\n--- a/my x\t\n+++ b/my x\t\n" + hunk, lines("update my x", "@@ line 1", "-a", "+b")},
		{"quoted name", `diff --git "a/caf\303\251\t.txt" "b/caf\303\251\t.txt"` + "\n" + `--- "a/caf\303\251\t.txt"` + "\n" + `+++ "b/caf\303\251\t.txt"` + "\n" + hunk, lines("update café\t.txt", "@@ line 1", "-a", "+b")},
		{"name with a quote and a backslash", `--- "a/\"\\"` + "\n" + `+++ "b/\"\\"` + "\n" + hunk, lines(`update "\`, "@@ line 1", "-a", "+b")},
		{"name that begins and ends with a blank", "diff --git a/ x  b/ x \n--- a/ x \t\n+++ b/ x \t\n" + hunk, lines("update  x ", "@@ line 1", "-a", "+b")},
		{"name that ends with a blank, in one line", "diff --git a/x  b/x \nold mode 100644\nnew mode 100755\n", "update x  mode 755\n"},
		{"name that ends with a blank, moved", "diff --git a/x  b/ y \nsimilarity index 100%\nrename from x \nrename to  y \n", "update x  ->  y \n"},
		{"blanks behind a name", "--- a/x \n+++ b/x  \n" + hunk, first + "note: patch lines 1, 2: blanks around the name are dropped; a tab after it keeps them\n"},
		{"other ends", "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\r\n+c\r\n", lines("update x", "@@ line 1", "-a", "+b", "+c", "note: patch line 3: its added lines end otherwise (LF or CRLF) than its old ones; they were written with the file's line endings")},
		{"new", "--- /dev/null\n+++ b/d/x\n@@ -0,0 +1,2 @@\n+a\n+b\n", lines("add d/x", `"a\nb\n"`)},
		{"new in git", "diff --git a/x b/x\nnew file mode 100755\nindex 0000000..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", lines("add x mode 755", `"a\n"`)},
		{"new and open", lines("--- /dev/null", "+++ b/x", "@@ -0,0 +1 @@", "+a", open), lines("add x", `"a"`)},
		{"new with CRLF", "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\r\n+b\r\n", lines("add x", `"a\r\nb\r\n"`)},
		{"new and empty", "diff --git a/x b/x\nnew file mode 100644\nindex 0000000..e69de29\n", lines("add x mode 644", `""`)},
		{"deleted", "--- a/x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n", lines("delete x", "@@ line 1", "-a", "-b")},
		{"deleted in git", "diff --git a/x b/x\ndeleted file mode 100644\nindex 1..0000000\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", lines("delete x", "@@ line 1", "-a")},
		{"deleted and empty", "diff --git a/x b/x\ndeleted file mode 100644\nindex e69de29..0000000\n", "delete x\n"},
		{"renamed", "diff --git a/x b/d/y\nsimilarity index 100%\nrename from x\nrename to d/y\n", "update x -> d/y\n"},
		{"renamed and changed", "diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\nindex 1..2 100644\n--- a/x\n+++ b/y\n" + hunk, lines("update x -> y", "@@ line 1", "-a", "+b")},
		{"renamed with quotes", "diff --git \"a/\\303\\251\" b/y\nrename from \"\\303\\251\"\nrename to y\n", "update é -> y\n"},
		{"copied", "diff --git a/x b/y\nsimilarity index 90%\ncopy from x\ncopy to y\n--- a/x\n+++ b/y\n" + hunk, lines("copy x -> y", "@@ line 1", "-a", "+b")},
		{"made executable", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "update x mode 755\n"},
		{"made executable and changed", "diff --git a/x b/x\nold mode 100755\nnew mode 100644\nindex 1..2\n--- a/x\n+++ b/x\n" + hunk, lines("update x mode 644", "@@ line 1", "-a", "+b")},
		{"several files", "diff --git a/x b/x\n--- a/x\n+++ b/x\n" + hunk + "diff --git a/y b/y\ndeleted file mode 100644\ndiff --git a/z b/z\n--- a/z\n+++ b/z\n" + hunk, first + "delete y\n" + lines("update z", "@@ line 1", "-a", "+b")},
		{"several files, plain", "--- a/x\n+++ b/x\n" + hunk + "--- a/y\n+++ b/y\n" + hunk, first + lines("update y", "@@ line 1", "-a", "+b")},
		{"several files, blank lines between", "--- a/x\n+++ b/x\n" + hunk + "\n\n--- a/y\n+++ b/y\n" + hunk, first + lines("update y", "@@ line 1", "-a", "+b")},
		{"several hunks", "--- a/x\n+++ b/x\n@@ -1 +1 @@ f\n-a\n+b\n@@ -10,2 +10,3 @@ g\n c\n+d\n e\n", first + lines("@@ line 10", " c", "+d", " e")},
		{"hunk without a context", "--- a/x\n+++ b/x\n@@ -3,0 +4 @@\n+d\n", lines("update x", "@@ line 4", "+d")},
		{"into an empty file", "--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+d\n", lines("update x", "@@ line 1", "+d")},
		{"removed comments", "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a comment\n+++ another\n c\n", lines("update x", "@@ line 1", "--- a comment", "+++ another", " c")},
		{"removed comments, then a hunk", "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n c\n--- a\n+++ b\n@@ -9 +8,0 @@\n-d\n", lines("update x", "@@ line 1", " c", "--- a", "+++ b", "@@ line 9", "-d")},
		{"open on both sides", lines("--- a/x", "+++ b/x", "@@ -1,2 +1,2 @@", "-a", "+b", " c", open), lines("update x", "@@ line 1 end open=true", "-a", "+b", " c")},
		{"was open", lines("--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", open, "+a"), lines("update x", "@@ line 1 end open=false", "-a", "+a")},
		{"becomes open", lines("--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+a", open), lines("update x", "@@ line 1 end open=true", "-a", "+a")},
		{"counts too small", "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n c\n-a\n+b\n d\n", lines("update x", "@@ line 1", " c", "-a", "+b", " d", "note: patch line 3: the hunk's header counts 1 and 1 lines, its body has 3 and 3; the body was taken")},
		{"counts too large", "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n c\n-a\n+b\n@@ -20 +20 @@\n-d\n+e\n", lines("update x", "@@ line 1", " c", "-a", "+b", "@@ line 20", "-d", "+e", "note: patch line 3: the hunk's header counts 9 and 9 lines, its body has 2 and 2; the body was taken")},
		{"counts too large before a file", "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a\n+b\n--- a/y\n+++ b/y\n" + hunk, lines("update x", "@@ line 1", "-a", "+b", "update y", "@@ line 1", "-a", "+b", "note: patch line 3: the hunk's header counts 9 and 9 lines, its body has 1 and 1; the body was taken")},
		{"blank lines that lost their space", "--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@\n\n-a\n+b\n\n\n", lines("update x", "@@ line 1", " ", "-a", "+b", " ", " ", "note: patch lines 4, 7, 8: a blank line without its space; read as a context line")},
		{"blank lines at the end", "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-a\n+b\n\n\n", first},
		{"no ranges", "--- a/x\n+++ b/x\n@@ ... @@\n-a\n+b\n", lines("update x", "@@", "-a", "+b")},
		{"anchor", "--- a/x\n+++ b/x\n@@ def f\n-a\n+b\n", lines("update x", `@@ "def f"`, "-a", "+b")},
		{"no head", "--- a/x\n+++ b/x\n-a\n+b\n", lines("update x", "@@", "-a", "+b")},
		{"head that does not end", "--- a/x\n+++ b/x\n@@ -1 +1\n-a\n+b\n", first},
		{"CRLF", crlf("diff --git a/x b/x\n--- a/x\n+++ b/x\n" + hunk), first},
		{"CRLF in the lines alone", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+b\r\n", first},
		{"mailed", "From 123 Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\nSubject: [PATCH] x\n\n---\n x | 2 +-\n 1 file changed\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n" + hunk + "-- \n2.39.5\n\n", first + "note: lines 1-7 of the patch are left out as prose: \"From 123 Mon Sep 17 00:00:00 2001\"\nnote: lines 15-16 of the patch are left out as prose: \"-- \"\n"},
		{"shift in a message", "commit 123\n\n    cout << a\n\n--- a/x\n+++ b/x\n" + hunk, first + "note: lines 1-3 of the patch are left out as prose: \"commit 123\"\n"},
		{"shown by git", "commit 123\nAuthor: A <a@b>\n\n    - a point\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n" + hunk, first + "note: lines 1-4 of the patch are left out as prose: \"commit 123\"\n"},
		{"prose set apart", "--- a/x\n+++ b/x\n" + hunk + "\nThat is all.\n", first + "note: line 7 of the patch is left out as prose: \"That is all.\"\n"},
		{"both formats", "--- a/x\n+++ b/x\n" + hunk + "*** Begin Patch\n*** Delete File: y\n*** End Patch\n", first + "delete y\n"},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, c.text, c.want) })
	}
}

// Work must not grow with the square of what a patch holds.
func TestBombs(t *testing.T) {
	tooltest.Unraced(t)
	for name, unit := range map[string]string{
		"blank lines": "\n", "pairs": "--- a\n+++ b\n", "heads": "@@ -1 +1 @@\n", "fences": "```\n", "heredocs": "<<A\n", "padded ends": " *** End Patch\n",
		"stars": "*** \n", "blank adds": "+\n\n",
	} {
		for _, head := range []string{"", "*** Begin Patch\n*** Update File: x\n-a\n", "*** Begin Patch\n*** Add File: x\n+a\n", "--- a/x\n+++ b/x\n@@ -1,9000 +1,9000 @@\n-a\n"} {
			t.Run(name, func(t *testing.T) {
				start := time.Now()
				dumpOf(head + strings.Repeat(unit, 100_000))
				if took := time.Since(start); took > 10*time.Second {
					t.Errorf("took %v", took)
				}
			})
		}
	}
}
