package textedit_test

import (
	"slices"
	"strings"
	"testing"

	"toolcrib/tools/internal/text/textedit"
)

// chunk reads the lines of a chunk: "@@ text" is an anchor, the rest as in a patch.
func chunk(text string) textedit.Chunk {
	var c textedit.Chunk
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if anchor, ok := strings.CutPrefix(line, "@@ "); ok {
			c.Anchors = append(c.Anchors, anchor)
			continue
		}
		if line == "" {
			line = " "
		}
		c.Lines = append(c.Lines, textedit.ChunkLine{Op: line[0], Text: line[1:]})
	}
	return c
}

func chunks(texts ...string) []textedit.Chunk {
	var all []textedit.Chunk
	for _, text := range texts {
		all = append(all, chunk(text))
	}
	return all
}

func with(text string, set func(*textedit.Chunk)) []textedit.Chunk {
	c := chunk(text)
	set(&c)
	return []textedit.Chunk{c}
}

func TestPatch(t *testing.T) {
	const classes = "class A:\n    def run(self):\n        return 1\n\nclass B:\n    def run(self):\n        return 1\n"
	yes, no := true, false
	for _, c := range []struct {
		editCase
		chunks []textedit.Chunk
		starts []int
	}{
		{editCase{name: "one line", in: "a\nb\nc\n", want: "a\nx\nc\n"}, chunks(" a\n-b\n+x\n c"), []int{1}},
		{editCase{name: "two blocks in a chunk", in: "a\nb\nc\nd\n", want: "A\nb\nc\nD\n"}, chunks("-a\n+A\n b\n c\n-d\n+D"), []int{1}},
		{editCase{name: "only removed", in: "a\nb\nc\n", want: "a\nc\n"}, chunks(" a\n-b\n c"), nil},
		{editCase{name: "only added", in: "a\nc\n", want: "a\nb\nc\n"}, chunks(" a\n+b\n c"), nil},
		{editCase{name: "everything removed", in: "a\nb\n", want: ""}, chunks("-a\n-b"), nil},
		{editCase{name: "two chunks", in: "a\nb\nc\nd\ne\n", want: "A\nb\nc\nd\nE\n"}, chunks("-a\n+A\n b", " d\n-e\n+E"), []int{1, 4}},
		{editCase{name: "starts are of the old file", in: "a\nb\nc\nd\ne\n", want: "1\n2\n3\nb\nc\nd\nE\n"}, chunks("-a\n+1\n+2\n+3\n b", " d\n-e\n+E"), []int{1, 4}},
		{editCase{name: "into an empty file", in: "", want: "a\nb\n"}, chunks("+a\n+b"), nil},
		{editCase{name: "into an empty file, no final newline", in: "", want: "a\nb"}, with("+a\n+b", func(c *textedit.Chunk) { c.NoFinalNewline = &yes }), nil},
		{editCase{name: "added lines alone", in: "a\n", want: "a\nb\n", note: "put at the end"}, chunks("+b"), nil},
		{editCase{name: "added lines alone before a line", in: "a\nb\n", want: "a\nx\nb\n"}, with("+x", func(c *textedit.Chunk) { c.Line = 2 }), nil},
		{editCase{name: "added lines alone at the end", in: "a\nb", want: "a\nb\nx"}, with("+x", func(c *textedit.Chunk) { c.AtEnd = true }), nil},
		{editCase{name: "added lines after an anchor", in: classes, want: strings.Replace(classes, "class B:\n", "class B:\n    x = 1\n", 1)}, chunks("@@ class B:\n+    x = 1"), nil},

		{editCase{name: "anchor", in: classes, want: classes[:len(classes)-2] + "2\n"}, chunks("@@ class B:\n     def run(self):\n-        return 1\n+        return 2"), []int{6}},
		{editCase{name: "two anchors", in: classes, want: classes[:len(classes)-2] + "2\n"}, chunks("@@ class B:\n@@ def run(self):\n-        return 1\n+        return 2"), []int{7}},
		{editCase{name: "anchor repeated as context", in: classes, want: strings.Replace(classes, "class B:", "class C:", 1)}, chunks("@@ class B:\n-class B:\n+class C:"), nil},
		{editCase{name: "first after a unique anchor", in: classes, want: strings.Replace(classes, "1", "2", 1), note: "matches at lines 3, 7; the first after its anchor was taken"}, chunks("@@ class A:\n-        return 1\n+        return 2"), nil},
		{editCase{name: "anchor in several places", in: classes, fails: "2 times, at lines 3, 7"}, chunks("@@ def run(self):\n-        return 1\n+        return 2"), nil},
		{editCase{name: "anchor that is part of a line", in: classes, want: classes[:len(classes)-2] + "2\n"}, chunks("@@ class B\n-        return 1\n+        return 2"), nil},
		{editCase{name: "no such anchor", in: classes, fails: `the anchor "class Z:" is not in the file`}, chunks("@@ class Z:\n-        return 1\n+        return 2"), nil},
		{editCase{name: "lines before the anchor", in: classes, fails: "are not after its anchor but at line 1"}, chunks("@@ class B:\n-class A:\n+class C:"), nil},
		{editCase{name: "anchor with curly quotes", in: "# “x”\na\n", want: "# “x”\nb\n", note: `matched the anchor "# \"x\"" at line 1`}, chunks("@@ # \"x\"\n-a\n+b"), nil},

		{editCase{name: "ambiguous", in: classes, fails: "its lines are in the file 2 times, at lines 3, 7; give more lines of context or an anchor"}, chunks("-        return 1\n+        return 2"), nil},
		{editCase{name: "at its line", in: classes, want: classes[:len(classes)-2] + "2\n"}, with("-        return 1\n+        return 2", func(c *textedit.Chunk) { c.Line = 7 }), []int{7}},
		{editCase{name: "near its line", in: classes, fails: "2 times, at lines 3, 7, and line 6, where the patch has it, does not decide"}, with("-        return 1\n+        return 2", func(c *textedit.Chunk) { c.Line = 6 }), nil},
		{editCase{name: "far from its line", in: "a\nb\nc\n", want: "a\nb\nx\n"}, with("-c\n+x", func(c *textedit.Chunk) { c.Line = 900 }), []int{3}},
		{editCase{name: "line in the old file", in: "a\nx\nb\nx\nc\nx\n", want: "1\n2\n3\n4\nx\nb\ny\nc\nx\n"}, []textedit.Chunk{{Line: 1, Lines: chunk("-a\n+1\n+2\n+3\n+4").Lines}, {Line: 4, Lines: chunk("-x\n+y").Lines}}, []int{1, 4}},
		{editCase{name: "next after the chunk before", in: "x\na\nx\nx\n", fails: "hunk 2: its lines are in the file 2 times, at lines 3, 4; give more"}, chunks("-a\n+b", "-x\n+y"), nil},
		{editCase{name: "out of order", in: "a\nb\nc\n", want: "A\nb\nC\n"}, chunks("-c\n+C", "-a\n+A"), []int{3, 1}},
		{editCase{name: "not in what came", in: "a\n", fails: "hunk 2: its lines are not in the file"}, chunks("-a\n+b", "-b\n+c"), nil},

		{editCase{name: "trailing whitespace", in: "a  \nb\n", want: "a  \nx\n", note: "matched lines 1-2 but for trailing whitespace"}, chunks(" a\n-b\n+x"), nil},
		{editCase{name: "indentation", in: "\ta\n\tb\n", want: "\ta\n\tx\n\t\ty\n", note: "indentation (1 tab in the file, 4 spaces in the patch)"}, chunks("     a\n-    b\n+    x\n+        y"), nil},
		{editCase{name: "curly quotes in context", in: "“a”\nb\n", want: "“a”\nx\n", note: "curly quotes"}, chunks(" \"a\"\n-b\n+x"), nil},
		{editCase{name: "context kept where it differs in case", in: "A\nb\n", fails: "its lines are not in the file; lines 1-2 differ only in case"}, chunks(" a\n-b\n+x"), nil},
		{editCase{name: "padded with blank context", in: "a\nb\n", want: "a\nx\n", note: "blank lines around it that the file lacks"}, chunks("\n a\n-b\n+x\n\n"), nil},
		{editCase{name: "CRLF file", in: "a\r\nb\r\nc\r\n", want: "a\r\nx\r\ny\r\nc\r\n"}, chunks(" a\n-b\n+x\n+y\n c"), nil},
		{editCase{name: "mixed endings", in: "a\r\nb\nc\r\n", want: "a\r\nx\nc\r\n"}, chunks(" a\n-b\n+x\n c"), nil},
		{editCase{name: "BOM", in: "\ufeffa\nb\n", want: "\ufeffx\nb\n"}, chunks("-a\n+x\n b"), nil},

		{editCase{name: "last line without newline", in: "a\nb", want: "a\nx"}, chunks(" a\n-b\n+x"), nil},
		{editCase{name: "appended to one without newline", in: "a\nb", want: "a\nb\nc"}, chunks(" b\n+c"), nil},
		{editCase{name: "newline taken away", in: "a\nb\n", want: "a\nx"}, with(" a\n-b\n+x", func(c *textedit.Chunk) { c.NoFinalNewline = &yes }), nil},
		{editCase{name: "newline given", in: "a\nb", want: "a\nx\n"}, with(" a\n-b\n+x", func(c *textedit.Chunk) { c.NoFinalNewline = &no }), nil},
		{editCase{name: "newline of the same line given", in: "a\nb", want: "a\nb\n"}, with(" a\n-b\n+b", func(c *textedit.Chunk) { c.NoFinalNewline = &no }), nil},
		{editCase{name: "newline of a context line taken away", in: "a\nb\n", want: "x\nb"}, with("-a\n+x\n b", func(c *textedit.Chunk) { c.NoFinalNewline = &yes }), nil},
		{editCase{name: "newline of the line before taken away", in: "a\nb\n", want: "a"}, with(" a\n-b", func(c *textedit.Chunk) { c.NoFinalNewline = &yes }), nil},
		{editCase{name: "newline told away from the end", in: "a\nb\nc\n", want: "x\nb\nc\n"}, with("-a\n+x\n b", func(c *textedit.Chunk) { c.NoFinalNewline = &yes }), nil},

		{editCase{name: "at the end", in: "x\na\nx\n", want: "x\na\ny\n"}, with("-x\n+y", func(c *textedit.Chunk) { c.AtEnd = true }), []int{3}},
		{editCase{name: "at the end but for a space", in: "a\nx\na \n", want: "a\nx\nc\n", note: "trailing whitespace"}, with("-a\n+c", func(c *textedit.Chunk) { c.AtEnd = true }), []int{3}},
		{editCase{name: "not at the end", in: "a\nb\nc\n", want: "a\nx\nc\n", note: "does not end with the file; it was applied at line 2"}, with("-b\n+x", func(c *textedit.Chunk) { c.AtEnd = true }), nil},
		{editCase{name: "context alone", in: "a\n", fails: "changes nothing: it has no '-' and no '+' lines"}, chunks(" a"), nil},
		{editCase{name: "the same lines", in: "a\n", fails: "changes nothing: its result is already at line 1"}, chunks("-a\n+a"), nil},
		{editCase{name: "applied already", in: "a\nnew\nc\n", fails: "its result is already there at line 1"}, chunks(" a\n-old\n+new\n c"), nil},
		{editCase{name: "empty file", in: "", fails: "not in the file, which is empty"}, chunks("-a\n+b"), nil},
		{editCase{name: "closest", in: "func a() {\n\treturn 1\n}\n", fails: "closest are lines 1-3", detail: []string{"-    \t\treturn 2", "+   2\t\treturn 1", "and the patch (-)"}}, chunks(" func a() {\n-\treturn 2\n+\treturn 3\n }"), nil},
		{editCase{name: "the second chunk fails", in: "a\nb\n", fails: "hunk 2: its lines are not in the file"}, chunks("-a\n+A", "-zzz\n+b"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			result, err := parse(t, c.in).Patch(c.chunks)
			check(t, result, err, c.editCase)
			if c.starts != nil && !slices.Equal(result.Starts, c.starts) {
				t.Errorf("starts %v, want %v", result.Starts, c.starts)
			}
		})
	}
}
