package textedit_test

import (
	"slices"
	"strings"
	"testing"

	"toolcrib/tools/internal/text/diff"
	"toolcrib/tools/internal/text/textedit"
)

// A message says that an edit was made before only if the text proves it.
func TestAlreadyThere(t *testing.T) {
	const told = "the new text is already there at line 3"
	for _, c := range []struct {
		in, after string
		told      bool
	}{
		{"a\nb\n}\n", "}", false},
		{"a\nb\nx = 12\n", "x = ", false},
		{"a\nb\nabc\n", "abc", false},
		{"a\nb\nabcd\n", "abcd", true},
		{"a\nb\n  abcd\n", "abcd\n", true},
		{"a\nb\nab\ncd\n", "ab\ncd", true},
		{"a\nb\nlet abcdefghijkl = 1\n", "abcdefghijkl", true},
		{"a\nb\nlet abcdefghijk = 1\n", "abcdefghijk", false},
	} {
		_, err := parse(t, c.in).Apply(edit("not in the file at all", c.after))
		if err == nil || strings.Contains(err.Error(), told) != c.told {
			t.Errorf("%q: %v", c.after, err)
		}
	}
	for _, c := range []struct {
		in, hunk string
		told     bool
	}{{"}\n", "-zzzzzz\n+}", false}, {"new1\n", "-zzzzzz\n+new1", true}} {
		_, err := parse(t, c.in).Patch(chunks(c.hunk))
		if err == nil || strings.Contains(err.Error(), "may have been applied before") != c.told {
			t.Errorf("%q: %v", c.hunk, err)
		}
	}
}

func TestFinalNewlineNoted(t *testing.T) {
	runEdits(t, []editCase{
		{name: "a final newline too much", in: "a\nb", edits: edit("b\n", "c\n"), want: "a\nc", note: "matched line 2 but for the final newline"},
	})
}

// In a large file only the exact text is looked for, and the error says so.
func TestLargeFileExactOnly(t *testing.T) {
	text := parse(t, strings.Repeat("some line of text\n", 16<<20/18+10)+"\tlast line\n")
	if result, err := text.Apply(edit("last line", "x")); err != nil || !strings.HasSuffix(string(result.Data), "\tx\n") {
		t.Errorf("exact: %v", err)
	}
	const want = "file of more than 17 MB"
	if _, err := text.Apply(edit("    last line\n", "    x\n")); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
	if result, err := text.Patch(chunks("-\tlast line\n+x")); err != nil || !strings.HasSuffix(string(result.Data), "\nx\n") {
		t.Errorf("exact: %v", err)
	}
	if _, err := text.Patch(chunks("-    last line\n+    x")); err == nil || !strings.Contains(err.Error(), "only the exact lines are looked for") {
		t.Errorf("%v", err)
	}
}

func TestPatchShownCharacters(t *testing.T) {
	const note = "matched the characters that read_file shows as escapes; the same escapes in added lines"
	for _, c := range []struct {
		editCase
		chunk string
	}{
		{editCase{name: "kept in a line that comes", in: "x\u200by\nz\n", want: "x\u200bY\nz\n", note: note}, "-x\\u{200b}y\n+x\\u{200b}Y\n z"},
		{editCase{name: "of a context line", in: "x\u200by\nz\n", want: "x\u200by\nZ\u200b\n", note: note}, " x\\u{200b}y\n-z\n+Z\\u{200b}"},
		{editCase{name: "a bad byte", in: "a caf\xe9\nplain ascii that is long enough\n\u2192 \u00e9\u00e9\u00e9\u00e9 \u00e9\u00e9\u00e9\u00e9\n", want: "a CAF\xe9\nplain ascii that is long enough\n\u2192 \u00e9\u00e9\u00e9\u00e9 \u00e9\u00e9\u00e9\u00e9\n", note: note}, "-a caf\\x{e9}\n+a CAF\\x{e9}"},
		{editCase{name: "another escape stays as it is", in: "x\u200by\n", want: "x\u200b\\u{202e}\n", note: note}, "-x\\u{200b}y\n+x\\u{200b}\\u{202e}"},
		{editCase{name: "literal letters match as they are", in: "x\\u{200b}y\n", want: "x\\u{200b}Y\n"}, "-x\\u{200b}y\n+x\\u{200b}Y"},
		{editCase{name: "both in a hunk", in: "x\u200b\\u{200b}\n", fails: "its lines are not in the file"}, "-x\\u{200b}\\u{200b}\n+y"},
		{editCase{name: "after an anchor", in: "h\u200b\na\nb\na\n", want: "h\u200b\nx\nb\na\n", note: "the first after its anchor was taken"}, "@@ h\\u{200b}\n-a\n+x"},
		{editCase{name: "line endings", in: "a\r\n", fails: "a patch keeps line endings; to change them use a program such as dos2unix"}, "-a\\u{d}\n+a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			result, err := parse(t, c.in).Patch(chunks(c.chunk))
			check(t, result, err, c.editCase)
		})
	}
}

// A diff as it is shown can be applied, and taken back, where it changes other
// things than the characters that it shows as escapes.
func TestPatchShownDiff(t *testing.T) {
	const a, b = "one\nx\u200by\nz\u202e\nlast\n", "one\nx\u200bY\nz\u202e\nnew\nlast\n"
	there, back := textedit.Chunk{}, textedit.Chunk{}
	for line := range strings.Lines(diff.Unified(a, b, diff.Options{})) {
		if line[0] == '@' {
			continue
		}
		l := textedit.ChunkLine{Op: line[0], Text: strings.TrimSuffix(line[1:], "\n")}
		there.Lines = append(there.Lines, l)
		switch l.Op {
		case '-':
			l.Op = '+'
		case '+':
			l.Op = '-'
		}
		back.Lines = append(back.Lines, l)
	}
	result, err := parse(t, a).Patch([]textedit.Chunk{there})
	if err != nil || string(result.Data) != b {
		t.Fatalf("%q, %v", result.Data, err)
	}
	if result, err = parse(t, b).Patch([]textedit.Chunk{back}); err != nil || string(result.Data) != a {
		t.Fatalf("%q, %v", result.Data, err)
	}
}

// The unit in which lines that come are indented is the file's.
func TestIndentUnit(t *testing.T) {
	runEdits(t, []editCase{
		{name: "two spaces a step", in: "a:\n  b:\n    c\n  d\n", edits: edit("b:\n    c\nd\n", "b:\n    c\n    e:\n        f\nd\n"), want: "a:\n  b:\n    c\n    e:\n      f\n  d\n", note: "indentation"},
		{name: "three spaces a step", in: "a:\n   b:\n      c\n   d\n", edits: edit("b:\n    c\nd\n", "b:\n    c\n    e:\n        f\nd\n"), want: "a:\n   b:\n      c\n      e:\n         f\n   d\n", note: "indentation"},
		{name: "more tabs than spaces", in: "\ta\n\tb\n  c\nd\n", edits: edit("  d\n", "  d {\n    e\n  }\n"), want: "\ta\n\tb\n  c\nd {\n\te\n}\n", note: "indentation"},
		{name: "more spaces than tabs, tabs at the place", in: "    a\n    b\n    c\n\td {\n\t\te\n", edits: edit("    d {\n        e\n", "    d {\n        e {\n            f\n"), want: "    a\n    b\n    c\n\td {\n\t\te {\n\t\t\tf\n", note: "indentation"},
		{name: "the narrowest of several steps", in: "\td\n\t\te\n\t\t\t\tf\n", edits: edit("d\n    e\n            f\n", "d\n    e\n            f\n                g\n"), want: "\td\n\t\te\n\t\t\t\tf\n\t\t\t\t\tg\n", note: "indentation"},
		{name: "one wide step", in: "\t\td\n", edits: edit("        d\n", "        d {\n            e\n        }\n"), want: "\t\td {\n\t\t\te\n\t\t}\n", note: "indentation"},
		{name: "one step that is two levels", in: "\t\td\n", edits: edit("        d\n", "        d {\n                e\n        }\n"), want: "\t\td {\n\t\t\t\te\n\t\t}\n", note: "indentation"},
	})
}

// Hunks of edits that touch the same lines are one, of others they stay apart.
func TestHunksComposed(t *testing.T) {
	for _, c := range []struct {
		name, in string
		edits    []textedit.Edit
		want     []textedit.Hunk
	}{
		{"apart, the later first", "a\nb\nc\nd\n", []textedit.Edit{{Old: "d", New: "D\nE"}, {Old: "a", New: "A\nB"}}, []textedit.Hunk{{1, 1, 1, 2}, {4, 1, 5, 2}}},
		{"the same line twice", "a\nb\nc\n", []textedit.Edit{{Old: "b", New: "x"}, {Old: "x", New: "y"}}, []textedit.Hunk{{2, 1, 2, 1}}},
		{"neighbours", "a\nb\nc\n", []textedit.Edit{{Old: "b", New: "B"}, {Old: "c", New: "C"}}, []textedit.Hunk{{2, 1, 2, 1}, {3, 1, 3, 1}}},
		{"neighbours, the later first", "a\nb\nc\n", []textedit.Edit{{Old: "c", New: "C"}, {Old: "b", New: "B"}}, []textedit.Hunk{{2, 1, 2, 1}, {3, 1, 3, 1}}},
		{"one over two", "a\nb\nc\nd\n", []textedit.Edit{{Old: "a", New: "A"}, {Old: "c", New: "C"}, {Old: "A\nb\nC", New: "x"}}, []textedit.Hunk{{1, 3, 1, 1}}},
		{"in what came", "a\nb\n", []textedit.Edit{{Old: "a\n", New: "a\n1\n2\n3\n"}, {Old: "2\n", New: ""}}, []textedit.Hunk{{2, 0, 2, 2}}},
		{"taken out again", "a\nb\nc\n", []textedit.Edit{{Old: "b\n", New: "b\n1\n"}, {Old: "1\n", New: ""}, {Old: "c", New: "C"}}, []textedit.Hunk{{3, 1, 3, 1}}},
		{"overlapping the end", "a\nb\nc\nd\n", []textedit.Edit{{Old: "b", New: "x\ny"}, {Old: "y\nc", New: "z"}}, []textedit.Hunk{{2, 2, 2, 2}}},
	} {
		result, err := parse(t, c.in).Apply(c.edits)
		if err != nil || !slices.Equal(result.Hunks, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, result.Hunks, err, c.want)
		}
	}
}
