package textedit_test

import (
	"strings"
	"testing"

	"toolcrib/tools/internal/text/textedit"
)

func TestExact(t *testing.T) {
	runEdits(t, []editCase{
		{name: "one line", in: "a\nb\nc\n", edits: edit("b", "x"), want: "a\nx\nc\n"},
		{name: "part of a line", in: "hello world\n", edits: edit("o w", "0_W"), want: "hell0_World\n"},
		{name: "several lines", in: "a\nb\nc\nd\n", edits: edit("b\nc\n", "x\n"), want: "a\nx\nd\n"},
		{name: "more lines", in: "a\nb\n", edits: edit("a\n", "a\n1\n2\n"), want: "a\n1\n2\nb\n"},
		{name: "across line ends", in: "foo(\n\ta,\n\tb)\n", edits: edit("a,\n\tb", "c"), want: "foo(\n\tc)\n"},
		{name: "join lines", in: "a\nb\nc\n", edits: edit("a\nb", "ab"), want: "ab\nc\n"},
		{name: "delete a line", in: "a\nb\nc\n", edits: edit("b\n", ""), want: "a\nc\n"},
		{name: "delete within a line", in: "a, b, c\n", edits: edit(", b", ""), want: "a, c\n"},
		{name: "delete everything", in: "a\n", edits: edit("a\n", ""), want: ""},
		{name: "empty a line", in: "a\nb\n", edits: edit("a", ""), want: "\nb\n"},
		{name: "empty file", in: "", edits: edit("", "new\n"), want: "new\n"},
		{name: "empty file, no final newline", in: "", edits: edit("", "new"), want: "new"},
		{name: "empty file with BOM", in: "\ufeff", edits: edit("", "new\n"), want: "\ufeffnew\n"},
		{name: "first line after a BOM", in: "\ufeffa\nb\n", edits: edit("a\n", "x\n"), want: "\ufeffx\nb\n"},
		{name: "tabs", in: "\tif x {\n\t\ty()\n\t}\n", edits: edit("\t\ty()", "\t\tz()"), want: "\tif x {\n\t\tz()\n\t}\n"},
		{name: "trailing spaces kept", in: "a  \nb  \n", edits: edit("a", "x"), want: "x  \nb  \n"},
		{name: "non-breaking space as given", in: "a\u00a0b\n", edits: edit("a\u00a0b", "c"), want: "c\n"},
		{name: "emoji", in: "x 😀 y\n", edits: edit("😀", "🎉"), want: "x 🎉 y\n"},
		{name: "combined emoji", in: "👩‍👩‍👧\n", edits: edit("👧", "👦"), want: "👩‍👩‍👦\n"},
		{name: "blank lines", in: "a\n\n\n\nb\n", edits: edit("a\n\n\n", "a\n"), want: "a\n\nb\n"},

		{name: "no final newline kept", in: "a\nb", edits: edit("a", "x"), want: "x\nb"},
		{name: "last line without newline", in: "a\nb", edits: edit("b", "c"), want: "a\nc"},
		{name: "final newline added by text", in: "a\nb", edits: edit("b", "b\n"), want: "a\nb\n"},
		{name: "final newline removed by text", in: "a\nb\n", edits: edit("b\n", "b"), want: "a\nb"},
		{name: "append after a last line without newline", in: "a\nb", edits: edit("b", "b\nc"), want: "a\nb\nc"},

		{name: "CRLF matched by LF", in: "a\r\nb\r\nc\r\n", edits: edit("a\nb\n", "a\nx\n"), want: "a\r\nx\r\nc\r\n"},
		{name: "CRLF matched by CRLF", in: "a\r\nb\r\n", edits: edit("a\r\nb", "a\r\nx"), want: "a\r\nx\r\n"},
		{name: "new lines in a CRLF file", in: "a\r\nb\r\n", edits: edit("a", "1\n2\n3"), want: "1\r\n2\r\n3\r\nb\r\n"},
		{name: "CRLF into an LF file", in: "a\nb\n", edits: edit("a", "1\r\n2"), want: "1\n2\nb\n", note: "has CRLF in new_text"},
		{name: "CRLF old text in an LF file", in: "a\nb\nc\n", edits: edit("a\r\nb", "x"), want: "x\nc\n"},
		{name: "CRLF into a file of one line", in: "a", edits: edit("a", "1\r\n2"), want: "1\r\n2"},
		{name: "CRLF into an empty file", in: "", edits: edit("", "1\r\n2\r\n"), want: "1\r\n2\r\n"},
		{name: "mixed endings stay", in: "a\r\nb\nc\r\nd\n", edits: edit("c", "x"), want: "a\r\nb\nx\r\nd\n"},
		{name: "mixed endings inside of the region", in: "a\r\nb\nc\r\nd\n", edits: edit("a\nb\nc\nd\n", "a\nB\nc\nD\n"), want: "a\r\nB\nc\r\nD\n"},
		{name: "mixed endings, every line changed", in: "a\r\nb\n", edits: edit("a\nb\n", "x\ny\n"), want: "x\r\ny\n"},
		{name: "mixed endings, inserted lines", in: "a\r\nb\nc\n", edits: edit("a\nb", "a\n1\n2\nb"), want: "a\r\n1\r\n2\r\nb\nc\n"},
		{name: "mixed endings, more lines than before", in: "a\r\nb\r\nc\nd\n", edits: edit("a\nb\nc", "1\n2\n3\n4"), want: "1\r\n2\r\n3\r\n4\r\nd\n"},
		{name: "mixed endings, the rest of the last line", in: "a\nb\nc rest\r\n", edits: edit("a\nb\nc", "x\ny"), want: "x\ny rest\r\n"},
		{name: "last line of a CRLF file", in: "a\r\nb", edits: edit("b", "b\nc"), want: "a\r\nb\r\nc"},
		{name: "carriage return alone is a character", in: "a\rb\nc\n", edits: edit("a\rb", "x"), want: "x\nc\n"},
		{name: "carriage return alone stays", in: "a\rb\nc\n", edits: edit("c", "x"), want: "a\rb\nx\n"},
		{name: "two carriage returns", in: "a\r\r\nb\r\n", edits: edit("b", "x"), want: "a\r\r\nx\r\n"},

		{name: "dollar one", in: "price\n", edits: edit("price", "$1"), want: "$1\n"},
		{name: "dollar ampersand", in: "price\n", edits: edit("price", "a$&b"), want: "a$&b\n"},
		{name: "dollar backtick and quote", in: "x price y\n", edits: edit("price", "$`$'"), want: "x $`$' y\n"},
		{name: "dollar name", in: "x\n", edits: edit("x", "${1}${name}$$"), want: "${1}${name}$$\n"},
		{name: "backslash one", in: "x\n", edits: edit("x", `\1\0\g<0>`), want: `\1\0\g<0>` + "\n"},
		{name: "percent", in: "x\n", edits: edit("x", "%s %d %[1]v %%"), want: "%s %d %[1]v %%\n"},
		{name: "regular expression in old text", in: "a.*b [c] (d)\naxxb\n", edits: edit("a.*b [c]", "x"), want: "x (d)\naxxb\n"},
		{name: "dollars in old text", in: "$HOME/$1\n", edits: edit("$HOME/$1", "$0"), want: "$0\n"},
		{name: "backslashes", in: `C:\new\table` + "\n", edits: edit(`C:\new`, `D:\old`), want: `D:\old\table` + "\n"},

		{name: "every occurrence", in: "a b a\na\n", edits: all("a", "x"), want: "x b x\nx\n"},
		{name: "every occurrence, longer", in: "a\na\na\n", edits: all("a\n", "b\nc\n"), want: "b\nc\nb\nc\nb\nc\n"},
		{name: "every occurrence, one", in: "a b\n", edits: all("a", "x"), want: "x b\n"},
		{name: "every occurrence of a line end", in: "a\r\nb\nc", edits: all("\n", ";"), want: "a;b;c"},
		{name: "every occurrence, repeated", in: "aaaa\n", edits: all("aa", "b"), want: "bb\n"},
		{name: "every occurrence, counted", in: "a a a\n", edits: []textedit.Edit{{Old: "a", New: "b", All: true, Count: 3}}, want: "b b b\n"},
		{name: "counted", in: "a a\n", edits: []textedit.Edit{{Old: "a", New: "b", Count: 2}}, want: "b b\n"},
		{name: "counted once", in: "a b\n", edits: []textedit.Edit{{Old: "a", New: "c", Count: 1}}, want: "c b\n"},
		{name: "deleted lines", in: "x\na\nx\nb\nx\n", edits: all("x\n", ""), want: "a\nb\n"},

		{name: "second of two by its line", in: "a\nb\na\n", edits: []textedit.Edit{{Old: "a", New: "x", StartLine: 3}}, want: "a\nb\nx\n"},
		{name: "one of several by a range", in: "a\na\nb\na\n", edits: []textedit.Edit{{Old: "a", New: "x", StartLine: 3, EndLine: 4}}, want: "a\na\nb\nx\n"},
		{name: "every occurrence of a range", in: "a\na\na\na\n", edits: []textedit.Edit{{Old: "a", New: "x", All: true, StartLine: 2, EndLine: 3}}, want: "a\nx\nx\na\n"},

		{name: "ten thousand lines", in: numbered(10_000), edits: edit("line 5000\n", "changed\n"), want: strings.Replace(numbered(10_000), "line 5000\n", "changed\n", 1)},
		{name: "ten thousand occurrences", in: numbered(10_000), edits: all("line", "row"), want: strings.ReplaceAll(numbered(10_000), "line", "row")},
		{name: "a line of a megabyte", in: strings.Repeat("x", 1<<20) + "needle" + strings.Repeat("y", 1<<20), edits: edit("needle", "pin"),
			want: strings.Repeat("x", 1<<20) + "pin" + strings.Repeat("y", 1<<20)},
		{name: "bytes that are not UTF-8 stay", in: "caf\xe9 é ü ö\nb\n", edits: edit("b", "x"), want: "caf\xe9 é ü ö\nx\n"},
		{name: "bytes that are not UTF-8 in the line", in: "a \xff é ü ö b\n", edits: edit("b", "x"), want: "a \xff é ü ö x\n"},
		{name: "line separator is a character", in: "a\u2028b\nc\n", edits: edit("c", "x"), want: "a\u2028b\nx\n"},
		{name: "form feed", in: "a\f\nb\n", edits: edit("b", "x"), want: "a\f\nx\n"},
	})
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("line ")
		for d := 10_000; d > 0; d /= 10 {
			b.WriteByte(byte('0' + i/d%10))
		}
		b.WriteByte('\n')
	}
	return strings.ReplaceAll(b.String(), "line 0", "line ")
}

func TestSeveral(t *testing.T) {
	several := func(edits ...textedit.Edit) []textedit.Edit { return edits }
	runEdits(t, []editCase{
		{name: "in order", in: "a\nb\n", edits: several(textedit.Edit{Old: "a", New: "b1"}, textedit.Edit{Old: "b1", New: "c"}), want: "c\nb\n"},
		{name: "the first makes the second unique", in: "a\na\n", edits: several(textedit.Edit{Old: "a\na", New: "x\na"}, textedit.Edit{Old: "a", New: "y"}), want: "x\ny\n"},
		{name: "the first makes the second ambiguous", in: "a\nb\n", edits: several(textedit.Edit{Old: "a", New: "b"}, textedit.Edit{Old: "b", New: "c"}), fails: "edit 2: old_text is in the file 2 times, at lines 1, 2"},
		{name: "the second fails", in: "a\nb\n", edits: several(textedit.Edit{Old: "a", New: "x"}, textedit.Edit{Old: "zzz", New: "y"}), fails: "edit 2: old_text is not in the file"},
		{name: "text and then line", in: "a\nb\nc\n", edits: several(textedit.Edit{Old: "a\n", New: "1\n2\n3\n"}, textedit.Edit{StartLine: 3, EndLine: 3, New: "C"}), want: "1\n2\n3\nb\nC\n"},
		{name: "line numbers are the original ones", in: "a\nb\nc\nd\n", edits: several(textedit.Edit{StartLine: 1, EndLine: 1, New: "1\n2\n3"}, textedit.Edit{StartLine: 3, EndLine: 3, New: "C"},
			textedit.Edit{StartLine: 4, EndLine: 4}), want: "1\n2\n3\nb\nC\n"},
		{name: "lines bottom up", in: "a\nb\nc\n", edits: several(textedit.Edit{StartLine: 3, EndLine: 3, New: "x\ny"}, textedit.Edit{StartLine: 1, EndLine: 1}), want: "b\nx\ny\n"},
		{name: "line changed before", in: "a\nb\nc\n", edits: several(textedit.Edit{Old: "b", New: "x"}, textedit.Edit{StartLine: 2, EndLine: 2, New: "y"}), fails: "edit 2: lines 2-2 cannot be named any more: line 2 was changed"},
		{name: "inserted inside of a range before", in: "a\nb\nc\n", edits: several(textedit.Edit{Old: "a\nb", New: "a\nx\nb"}, textedit.Edit{StartLine: 1, EndLine: 2, New: "y"}), fails: "edit 2: lines 1-2 cannot be named"},
		{name: "overlap", in: "a\nb\nc\n", edits: several(textedit.Edit{StartLine: 1, EndLine: 2, New: "x"}, textedit.Edit{StartLine: 2, EndLine: 3, New: "y"}), fails: "edit 2: its lines 2-3 are also lines of edit 1 (1-2)"},
		{name: "insertion inside of a range", in: "a\nb\nc\n", edits: several(textedit.Edit{StartLine: 1, EndLine: 3, New: "x"}, textedit.Edit{StartLine: 2, EndLine: 1, New: "y"}), fails: "also lines of edit 1"},
		{name: "insertions at the same line", in: "a\nb\n", edits: several(textedit.Edit{StartLine: 2, EndLine: 1, New: "1"}, textedit.Edit{StartLine: 2, EndLine: 1, New: "2"}), want: "a\n1\n2\nb\n"},
		{name: "insertion before and after a range", in: "a\nb\nc\n", edits: several(textedit.Edit{StartLine: 2, EndLine: 2, New: "B"}, textedit.Edit{StartLine: 2, EndLine: 1, New: "1"}, textedit.Edit{StartLine: 3, EndLine: 2, New: "2"}), want: "a\n1\nB\n2\nc\n"},
		{name: "second by its line after lines moved", in: "a\nb\na\n", edits: several(textedit.Edit{Old: "b", New: "1\n2\n3"}, textedit.Edit{Old: "a", New: "x", StartLine: 3}), want: "a\n1\n2\n3\nx\n"},
		{name: "notes name the edit", in: "a  \nb\n", edits: several(textedit.Edit{Old: "b", New: "B"}, textedit.Edit{Old: "a\nB", New: "x\nB"}), want: "x\nB\n", note: "edit 2 matched lines 1-2 but for trailing whitespace"},
		{name: "there and back", in: "a\nb\n", edits: several(textedit.Edit{Old: "a", New: "x"}, textedit.Edit{Old: "b", New: "c"}, textedit.Edit{Old: "x", New: "a"}), want: "a\nc\n"},
	})
}

func TestLines(t *testing.T) {
	runEdits(t, []editCase{
		{name: "replace", in: "a\nb\nc\n", edits: lines(2, 2, "x\n"), want: "a\nx\nc\n"},
		{name: "newline added", in: "a\nb\nc\n", edits: lines(2, 2, "x"), want: "a\nx\nc\n"},
		{name: "delete lines", in: "a\nb\nc\n", edits: lines(1, 2, ""), want: "c\n"},
		{name: "delete all lines", in: "a\nb\n", edits: lines(1, 2, ""), want: ""},
		{name: "insert before the first", in: "a\n", edits: lines(1, 0, "x"), want: "x\na\n"},
		{name: "insert between", in: "a\nb\n", edits: lines(2, 1, "x\ny"), want: "a\nx\ny\nb\n"},
		{name: "append", in: "a\nb\n", edits: lines(3, 2, "c"), want: "a\nb\nc\n"},
		{name: "append without final newline", in: "a\nb", edits: lines(3, 2, "c"), want: "a\nb\nc"},
		{name: "append with final newline", in: "a\nb", edits: lines(3, 2, "c\n"), want: "a\nb\nc\n"},
		{name: "append to CRLF", in: "a\r\nb", edits: lines(3, 2, "c"), want: "a\r\nb\r\nc"},
		{name: "last line keeps the final newline", in: "a\nb\n", edits: lines(2, 2, "x"), want: "a\nx\n"},
		{name: "last line keeps its absence", in: "a\nb", edits: lines(2, 2, "x"), want: "a\nx"},
		{name: "last line gets one", in: "a\nb", edits: lines(2, 2, "x\n"), want: "a\nx\n"},
		{name: "delete the last line", in: "a\nb", edits: lines(2, 2, ""), want: "a\n"},
		{name: "empty file insert", in: "", edits: lines(1, 0, "a"), want: "a\n"},
		{name: "blank line", in: "a\nb\n", edits: lines(2, 1, "\n"), want: "a\n\nb\n"},
		{name: "two blank lines", in: "a\nb\n", edits: lines(2, 1, "\n\n"), want: "a\n\n\nb\n"},
		{name: "CRLF lines", in: "a\r\nb\r\nc\n", edits: lines(2, 2, "x\ny"), want: "a\r\nx\r\ny\r\nc\n"},
		{name: "equal lines inside keep their endings", in: "a\r\nb\nc\r\n", edits: lines(1, 3, "a\nb\nx"), want: "a\r\nb\nx\r\n"},
		{name: "BOM", in: "\ufeffa\nb\n", edits: lines(1, 1, "x"), want: "\ufeffx\nb\n"},
		{name: "behind the end", in: "a\nb\n", edits: lines(4, 4, "x"), fails: "there is no line 4, the file has 2 lines; to append give start_line 3 and end_line 2"},
		{name: "range past the end", in: "a\nb\n", edits: lines(2, 5, "x"), fails: "there are no lines 2-5"},
		{name: "end before start", in: "a\nb\nc\nd\n", edits: lines(4, 1, "x"), fails: "end_line 1 is before start_line 4"},
		{name: "nothing inserted", in: "a\n", edits: lines(1, 0, ""), fails: "changes nothing"},
		{name: "same line", in: "a\nb\n", edits: lines(2, 2, "b"), fails: "changes nothing: lines 2-2"},
	})
}
