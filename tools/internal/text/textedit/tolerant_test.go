package textedit_test

import (
	"strings"
	"testing"

	"toolcrib/tools/internal/text/textedit"
)

func TestShown(t *testing.T) {
	runEdits(t, []editCase{
		{name: "escape of a direction mark", in: "a\u202eb\n", edits: edit(`a\u{202e}b`, `x\u{202e}y`), want: "x\u202ey\n", note: "matched the characters that read_file shows as escapes"},
		{name: "escape of a byte", in: "caf\xe9 é ü ö ä\n", edits: edit(`caf\x{e9} é`, `CAF\x{e9} É`), want: "CAF\xe9 É ü ö ä\n", note: "escapes"},
		{name: "character removed", in: "a\u200bb\n", edits: edit(`a\u{200b}b`, `ab`), want: "ab\n", note: "escapes"},
		{name: "escape of a carriage return", in: "a\rb\n", edits: edit(`a\u{d}b`, "a b"), want: "a b\n", note: "escapes"},
		{name: "literal escape", in: `a\u{202e}b` + "\n", edits: edit(`a\u{202e}b`, `x\u{202e}y`), want: `x\u{202e}y` + "\n"},
		{name: "literal escape elsewhere", in: `\u{202e}` + "\na\u202eb\n", edits: edit(`a\u{202e}`, "x"), want: `\u{202e}` + "\nxb\n", note: "escapes"},
		{name: "literal and real in one region", in: `\u{202e}` + "\u202e\n", edits: edit(`\u{202e}\u{202e}`, `\u{202e}`), fails: "not in the file"},
		{name: "escape that is new stays as it is", in: "a\u202eb\n", edits: edit(`a\u{202e}b`, `a\u{200b}b`), want: `a\u{200b}b` + "\n", note: "escapes"},
		{name: "escape only in new text", in: "a\n", edits: edit("a", `\u{202e}`), want: `\u{202e}` + "\n"},
		{name: "part of an escape", in: "a\u202e}b\n", edits: edit(`}}b`, `x`), fails: "not in the file"},
		{name: "begins inside of an escape", in: "\u202eb\u200b\n", edits: edit(`2e}b\u{200b}`, "x"), fails: "not in the file"},
		{name: "escape twice", in: "a\u202e\nb\u202e\n", edits: edit(`\u{202e}`, ""), fails: "2 times, at lines 1, 2"},
		{name: "every escape", in: "a\u202e\nb\u202e\n", edits: all(`\u{202e}`, ""), want: "a\nb\n", note: "escapes"},

		{name: "line numbers", in: "a\nb\nc\n", edits: edit("2\tb\n3\tc\n", "2\tx\n3\ty\n"), want: "a\nx\ny\n", note: "carries the line numbers of read_file in old_text and new_text"},
		{name: "line numbers in old text only", in: "a\nb\n", edits: edit("1\ta\n2\tb", "x\ny"), want: "x\ny\n", note: "in old_text; they"},
		{name: "line numbers padded", in: "a\nb\n", edits: edit("     1\ta\n     2\tb", "x"), want: "x\n", note: "line numbers"},
		{name: "line numbers choose", in: "a\nb\na\n", edits: edit("3\ta", "3\tx"), want: "a\nb\nx\n", note: "line numbers"},
		{name: "line numbers and no such line", in: "a\nb\na\n", edits: edit("2\ta", "x"), fails: "2 times, at lines 1, 3"},
		{name: "line numbers and escapes", in: "a\u202eb\n", edits: edit("1\ta\\u{202e}b", "1\tx"), want: "x\n", note: "line numbers"},
		{name: "numbers that are the text", in: "1\ta\n2\tb\n", edits: edit("2\tb", "3\tc"), want: "1\ta\n3\tc\n"},
		{name: "numbers out of order", in: "a\nb\n", edits: edit("1\ta\n5\tb", "x"), fails: "not in the file"},
		{name: "numbers in some lines of new text", in: "a\nb\n", edits: edit("1\ta", "1\ta\nnew"), want: "1\ta\nnew\nb\n", note: "in old_text; they"},
		{name: "numbers and a tab", in: "\ta\n", edits: edit("1\t\ta", "1\t\tb"), want: "\tb\n", note: "line numbers"},
	})
}

func TestTolerant(t *testing.T) {
	const tabs = "func f() {\n\tif x {\n\t\treturn 1\n\t}\n\treturn 2\n}\n"
	runEdits(t, []editCase{
		{name: "trailing space in the file", in: "a  \nb\nc\n", edits: edit("a\nb\n", "a\nx\n"), want: "a  \nx\nc\n", note: "matched lines 1-2 but for trailing whitespace (in the file)"},
		{name: "trailing space in old text", in: "a\nb\n", edits: edit("a \nb", "a \nx"), want: "a\nx\n", note: "trailing whitespace (in old_text)"},
		{name: "trailing space of a changed line stays with its end", in: "foo(a)  \n", edits: edit("foo(a)\n", "foo(b)\n"), want: "foo(b)  \n", note: "trailing"},
		{name: "trailing space of a rewritten line goes", in: "foo  \n", edits: edit("foo\n", "bar\n"), want: "bar\n", note: "trailing"},
		{name: "newline that the last line lacks", in: "a\nb", edits: edit("a\nb\n", "a\nc\n"), want: "a\nc", note: "matched lines 1-2"},
		{name: "blank line with spaces", in: "a\n   \nb\n", edits: edit("a\n\nb\n", "a\n\nc\n"), want: "a\n   \nc\n", note: "whitespace in a blank line"},

		{name: "spaces for tabs", in: tabs, edits: edit("    if x {\n        return 1\n    }\n", "    if x {\n        return 3\n    }\n"),
			want: "func f() {\n\tif x {\n\t\treturn 3\n\t}\n\treturn 2\n}\n", note: "lines 2-4 but for indentation (1 tab in the file, 4 spaces in old_text)"},
		{name: "new lines deeper", in: tabs, edits: edit("        return 1\n", "        if y {\n            return 3\n        }\n        return 1\n"),
			want: "func f() {\n\tif x {\n\t\tif y {\n\t\t\treturn 3\n\t\t}\n\t\treturn 1\n\t}\n\treturn 2\n}\n", note: "indentation"},
		{name: "new lines less deep", in: tabs, edits: edit("        return 1\n    }\n", "        return 1\n    } else {\n        return 4\n    }\n"),
			want: "func f() {\n\tif x {\n\t\treturn 1\n\t} else {\n\t\treturn 4\n\t}\n\treturn 2\n}\n", note: "indentation"},
		{name: "new line less deep than all", in: tabs, edits: edit("        return 1\n", "        return 1\n    x\n"),
			want: "func f() {\n\tif x {\n\t\treturn 1\n\tx\n\t}\n\treturn 2\n}\n", note: "indentation"},
		{name: "two spaces for tabs", in: tabs, edits: edit("  if x {\n    return 1\n  }\n", "  if x {\n    for {\n      return 1\n    }\n  }\n"),
			want: "func f() {\n\tif x {\n\t\tfor {\n\t\t\treturn 1\n\t\t}\n\t}\n\treturn 2\n}\n", note: "indentation"},
		{name: "no indentation given", in: tabs, edits: edit("if x {\n    return 1\n}\n", "if y {\n    return 1\n}\n"),
			want: "func f() {\n\tif y {\n\t\treturn 1\n\t}\n\treturn 2\n}\n", note: "indentation"},
		{name: "tabs for spaces", in: "class A:\n    def f(self):\n        return 1\n", edits: edit("\tdef f(self):\n\t\treturn 1\n", "\tdef f(self):\n\t\tif x:\n\t\t\treturn 2\n\t\treturn 1\n"),
			want: "class A:\n    def f(self):\n        if x:\n            return 2\n        return 1\n", note: "indentation (4 spaces in the file, 1 tab in old_text)"},
		{name: "four spaces for two", in: "a:\n  b:\n    c: 1\n", edits: edit("    b:\n        c: 1\n", "    b:\n        c: 1\n        d:\n            e: 2\n"),
			want: "a:\n  b:\n    c: 1\n    d:\n      e: 2\n", note: "indentation"},
		{name: "shifted block", in: "x:\n        a\n        b\n", edits: edit("    a\n    b\n", "    a\n    c\n"), want: "x:\n        a\n        c\n", note: "indentation"},
		{name: "indentation that does not agree", in: "if a:\n    b\n    c\n", edits: edit("if a:\n  b\nc\n", "x\n"), fails: "old_text is not in the file; lines 1-3 differ only in indentation"},
		{name: "indentation turned over", in: "        a\n    b\n", edits: edit("a\n  b\n", "x\n"), fails: "not in the file"},
		{name: "only indentation is to change", in: "  a\n", edits: edit("\ta\n", "    a\n"), fails: "not in the file"},
		{name: "blank lines between", in: "\ta\n\n\tb\n", edits: edit("  a\n\n  b\n", "  a\n\n  c\n"), want: "\ta\n\n\tc\n", note: "indentation"},
		{name: "delete but for indentation", in: "\ta\n\tb\n", edits: edit("    a\n", ""), want: "\tb\n", note: "indentation"},
		{name: "CRLF and indentation", in: "\ta\r\n\tb\r\nc\n", edits: edit("    a\n    b\n", "    a\n    x\n    y\n"), want: "\ta\r\n\tx\r\n\ty\r\nc\n", note: "indentation"},
		{name: "indented twice", in: "\ta\n\t\ta\n", edits: edit("  a\n", "  x\n"), fails: "but for indentation it is there 2 times, at lines 1, 2", detail: []string{"1\t\ta", "2\t\t\ta   (after 1: a)"}},
		{name: "indented twice, told which", in: "\ta\n\t\ta\n", edits: []textedit.Edit{{Old: "  a\n", New: "  x\n", StartLine: 2}}, want: "\ta\n\t\tx\n", note: "indentation"},

		{name: "non-breaking space in the file", in: "a\u00a0b\nc\n", edits: edit("a b\nc\n", "a b\nd\n"), want: "a\u00a0b\nd\n", note: "lines 1-2 but for non-breaking space (U+00A0 in the file)"},
		{name: "non-breaking space in a changed line", in: "one\u00a0two three\n", edits: edit("one two three", "one two four"), want: "one\u00a0two four\n", note: "non-breaking space"},
		{name: "non-breaking space in old text", in: "a b\n", edits: edit("a\u00a0b", "a\u00a0c"), want: "a c\n", note: "non-breaking space (U+00A0 in old_text)"},
		{name: "curly quotes", in: "say “hi” and ‘bye’\n", edits: edit(`say "hi" and 'bye'`, `say "hi" or 'bye'`), want: "say “hi” or ‘bye’\n", note: "curly quotes"},
		{name: "straight quotes", in: `say "hi"` + "\n", edits: edit("say “hi”", "say “ho”"), want: `say "ho"` + "\n", note: "in old_text"},
		{name: "dashes", in: "1–2 — 3\n", edits: edit("1-2 - 3", "1-2 - 4"), want: "1–2 — 4\n", note: "a dash beyond ASCII"},
		{name: "ellipsis", in: "wait… now\n", edits: edit("wait... now", "wait... then"), want: "wait… then\n", note: "ellipsis"},
		{name: "decomposed in the file", in: "cafe\u0301 au lait\n", edits: edit("café au lait", "café noir"), want: "cafe\u0301 noir\n", note: "Unicode form (NFD in the file, NFC in old_text)"},
		{name: "composed in the file", in: "café\n", edits: edit("cafe\u0301", "the\u0301"), want: "thé\n", note: "NFC in the file"},
		{name: "ideographic space", in: "日本　語\n", edits: edit("日本 語", "日本 人"), want: "日本　人\n", note: "U+3000"},
		{name: "quotes and indentation", in: "\tprint(“a”)\n\tend\n", edits: edit("    print(\"a\")\n    end\n", "    print(\"a\")\n    stop\n"), want: "\tprint(“a”)\n\tstop\n", note: "indentation (1 tab in the file, 4 spaces in old_text) and curly quotes"},
		{name: "lookalikes twice", in: "a\u00a0b\na\u2003b\n", edits: edit("a b", "x"), fails: "but for characters beyond ASCII it is there 2 times, at lines 1, 2"},

		{name: "not within a line", in: "x a\u00a0b y\n", edits: edit("a b", "c"), fails: "line 1 differs only in non-breaking space (U+00A0 in the file)"},
		{name: "not every occurrence", in: "\ta\n", edits: all("  a\n", "b\n"), fails: "no other match is tried"},
		{name: "not with a count of several", in: "\ta\n\ta\n", edits: []textedit.Edit{{Old: "  a\n", New: "b\n", Count: 2}}, fails: "no other match is tried"},
		{name: "count of one", in: "\ta\n", edits: []textedit.Edit{{Old: "  a\n", New: "  b\n", Count: 1}}, want: "\tb\n", note: "indentation"},
		{name: "not blank lines", in: "a\n \nb\n", edits: edit("\n\n\n", "x\n"), fails: "not in the file"},
		{name: "exact comes first", in: "\ta\n    a\n", edits: edit("    a\n", "    b\n"), want: "\ta\n    b\n"},
	})
}

func TestMismatch(t *testing.T) {
	const code = "package a\n\nfunc One() int {\n\treturn 1\n}\n\nfunc Two() int {\n\treturn 2\n}\n"
	runEdits(t, []editCase{
		{name: "empty old text", in: "a\n", edits: edit("", "x"), fails: "old_text is empty"},
		{name: "equal texts", in: "a\n", edits: edit("a", "a"), fails: "changes nothing: old_text and new_text are equal"},
		{name: "equal but for line endings", in: "a\nb\n", edits: edit("a\nb\n", "a\r\nb\r\n"), fails: "keeps the line endings of the file"},
		{name: "nothing into nothing", in: "", edits: edit("", ""), fails: "changes nothing"},
		{name: "empty file", in: "", edits: edit("a", "b"), fails: "old_text is not in the file, which is empty"},
		{name: "ambiguous", in: "x\na\ny\na\n", edits: edit("a", "b"), fails: "old_text is in the file 2 times, at lines 2, 4; give more lines of context, start_line", detail: []string{"2\ta   (after 1: x)", "4\ta   (after 3: y)"}},
		{name: "ambiguous and overlapping", in: "a\na\na\n", edits: edit("a\na\n", "b\n"), fails: "2 times, at lines 1, 2"},
		{name: "ambiguous in one line", in: "a a\n", edits: edit("a", "b"), fails: "at lines 1, 1"},
		{name: "very ambiguous", in: numbered(100), edits: edit("line", "x"), fails: "100 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 and 80 more"},
		{name: "count too low", in: "a a a\n", edits: []textedit.Edit{{Old: "a", New: "b", Count: 2}}, fails: "3 times, at lines 1, 1, 1, not 2 times as expected_count says"},
		{name: "count too high", in: "a\n", edits: []textedit.Edit{{Old: "a", New: "b", All: true, Count: 2}}, fails: "once, at line 1, not 2 times"},
		{name: "wrong line", in: "a\nb\na\nb\n", edits: []textedit.Edit{{Old: "a", New: "x", StartLine: 2}}, fails: "old_text does not begin on line 2; it is in the file at line 1, 3"},
		{name: "no such line", in: "a\n", edits: []textedit.Edit{{Old: "a", New: "x", StartLine: 9}}, fails: "there is no line 9, the file has 1 line"},
		{name: "already made", in: "a\nnew text\n", edits: edit("old text", "new text"), fails: "the new text is already there at line 2, so the edit may have been made before"},
		{name: "case", in: "Hello World\n", edits: edit("hello world", "x"), fails: "line 1 differs only in case", detail: []string{"+   1\tHello World", "-    \thello world"}},
		{name: "spaces inside a word", in: "a b c\n", edits: edit("ab c", "d"), fails: "differs only in spaces inside the line", detail: []string{"a·b c"}},
		{name: "line breaks", in: "foo(a, b)\n", edits: edit("foo(a,\n  b)", "c"), fails: "differs only in line breaks (1 lines in the file, 2 in old_text)"},
		{name: "invisible character", in: "a\u200bb c\n", edits: edit("ab c", "x"), fails: "line 1 differs only in an invisible character (U+200B in the file)", detail: []string{`a\u{200b}b`}},
		{name: "decomposed within a line", in: "le cafe\u0301 noir\n", edits: edit("café", "x"), fails: "Unicode form (NFD in the file, NFC in old_text)", detail: []string{`e\u{301}`}},
		{name: "carriage returns alone", in: "a\rb\rc\r", edits: edit("a\nb", "x"), fails: "a carriage return alone (in the file)"},
		{name: "backslash escapes", in: "a\n\tb\n", edits: edit(`a\n\tb`, "x"), fails: "it is at line 1 if the backslash escapes"},
		{name: "escaped quotes", in: `say "a"` + "\n", edits: edit(`say \"a\"`, "x"), fails: "backslash escapes"},
		{name: "HTML entities", in: "if a < b && c {\n", edits: edit("if a &lt; b &amp;&amp; c {", "x"), fails: "HTML entities"},
		{name: "nothing but a word in common", in: "package main\n\nimport (\n\t\"fmt\"\n)\n", edits: edit("import numpy as np", "x"), fails: "nothing in the file is like it"},
		{name: "other words", in: code, edits: edit("func Two() int {\n\treturn 3\n}", "x"), fails: "old_text is not in the file; closest are lines 7-9", detail: []string{"    7\tfunc Two() int {", "-    \t\treturn 3", "+   8\t\treturn 2"}},
		{name: "a line that is left out", in: code, edits: edit("func Two() int {\n}\n", "x"), fails: "closest are lines 7-9", detail: []string{"+   8\t\treturn 2"}},
		{name: "a line too much", in: code, edits: edit("func Two() int {\n\tx := 1\n\treturn 2\n}\n", "x"), fails: "closest are lines 7-9", detail: []string{"-    \t\tx := 1"}},
		{name: "many lines", in: numbered(1000), edits: edit(strings.ReplaceAll(numbered(1000), "line", "LINE!"), "x"), fails: "closest are lines 1-", detail: []string{"more lines"}},
		{name: "nothing like it", in: code, edits: edit("zzzzzzzz qqqqqqq", "x"), fails: "nothing in the file is like it"},
		{name: "indentation in part of the lines", in: code, edits: edit("func One() int {\n  return 1\n  }\n", "x"), fails: "lines 3-5 differ only in indentation", detail: []string{"-    \t··return 1", "+   4\t→return 1"}},
	})
}
