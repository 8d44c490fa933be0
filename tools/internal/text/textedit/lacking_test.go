package textedit_test

import "testing"

// Which lines of the old and the new text lack the indentation that the file has.
func TestLackingIndentation(t *testing.T) {
	const (
		file  = "def f(a):\n    x = 8\n    return a\n"
		want  = "def f(a):\n    x = 9\n    return b\n"
		right = "    x = 8\n    return a"
		first = "x = 8\n    return a"
		all   = "x = 8\nreturn a"
		once  = "it was written once"
	)
	runEdits(t, []editCase{
		{name: "none, none", in: file, edits: edit(right, "    x = 9\n    return b"), want: want},
		{name: "none, first: as it is given", in: file, edits: edit(right, "x = 9\n    return b"), want: "def f(a):\nx = 9\n    return b\n"},
		{name: "none, all: as it is given", in: file, edits: edit(right, "x = 9\nreturn b"), want: "def f(a):\nx = 9\nreturn b\n"},
		{name: "first, none", in: file, edits: edit(first, "    x = 9\n    return b"), want: want, note: once},
		{name: "first, first", in: file, edits: edit(first, "x = 9\n    return b"), want: want},
		{name: "first, all: as it is given", in: file, edits: edit(first, "x = 9\nreturn b"), want: "def f(a):\n    x = 9\nreturn b\n"},
		{name: "all, none", in: file, edits: edit(all, "    x = 9\n    return b"), want: want, note: "but for indentation"},
		{name: "all, first", in: file, edits: edit(all, "x = 9\n    return b"), want: want, note: "but for indentation"},
		{name: "all, all", in: file, edits: edit(all, "x = 9\nreturn b"), want: want, note: "but for indentation"},

		{name: "all, first, one line unchanged", in: file, edits: edit(all, "x = 9\n    return a"), want: "def f(a):\n    x = 9\n    return a\n", note: "but for indentation"},
		{name: "all, first, more lines", in: file, edits: edit(all, "x = 9\n    y = 1\n\n    return b"), want: "def f(a):\n    x = 9\n    y = 1\n\n    return b\n", note: "but for indentation"},
		{name: "all, first, a block", in: file, edits: edit(all, "if a:\n        x = 9\n    return b"), want: "def f(a):\n    if a:\n        x = 9\n    return b\n", note: "but for indentation"},
		{name: "all, all, a block", in: file, edits: edit(all, "if a:\n    x = 9\nreturn b"), want: "def f(a):\n    if a:\n        x = 9\n    return b\n", note: "but for indentation"},
		{name: "all, all, a block to the end", in: file, edits: edit(all, "if a:\n    return b"), want: "def f(a):\n    if a:\n        return b\n", note: "but for indentation"},
		{name: "all, all, a call that goes on", in: file, edits: edit(all, "return a\n    .b()"), want: "def f(a):\n    return a\n        .b()\n", note: "but for indentation"},
		{name: "first, other spaces", in: file, edits: edit("x  =  8\n    return a", "x  =  9\n    return b"), want: want, note: "spaces inside the line"},
		{name: "first and all given, other spaces", in: file, edits: edit("x  =  8\n    return a", "    x  =  9\n    return b"), want: want, note: "spaces inside the line"},
		{name: "first, space at an end", in: "if a:\n    x = 8  \n    return a\n", edits: edit("x = 8\n    return a\n", "x = 9\n    return b\n"), want: "if a:\n    x = 9\n    return b\n", note: "matched lines 2-3"},
		{name: "one line, in the new text only", in: file, edits: edit("x = 8", "    x = 9"), want: "def f(a):\n    x = 9\n    return a\n", note: once},
		{name: "one line, which is to be deeper", in: file, edits: edit("x = 8", "    x = 8"), want: "def f(a):\n        x = 8\n    return a\n"},
		{name: "one line, a block", in: file, edits: edit("x = 8", "    if a:\n        x = 8"), want: "def f(a):\n    if a:\n        x = 8\n    return a\n", note: once},
		{name: "one line, a block without its own", in: file, edits: edit("x = 8", "if a:\n        x = 8"), want: "def f(a):\n    if a:\n        x = 8\n    return a\n"},
		{name: "within a line", in: "    a = b\n", edits: edit("b", "    c"), want: "    a =     c\n"},
		{name: "less than the file has", in: file, edits: edit("x = 8", "  x = 9"), want: "def f(a):\n      x = 9\n    return a\n"},
		{name: "tabs", in: "func f() {\n\tx := 8\n\treturn\n}\n", edits: edit("x := 8\nreturn", "x := 9\n\treturn x"), want: "func f() {\n\tx := 9\n\treturn x\n}\n", note: "but for indentation"},
	})
}

func TestSpacesInsideAndAround(t *testing.T) {
	runEdits(t, []editCase{
		{name: "after a comma", in: "f(a, b)\n", edits: edit("f(a,b)", "g(a,b)"), want: "g(a, b)\n", note: "matched line 1 but for spaces inside the line"},
		{name: "around a sign", in: "a = b\n", edits: edit("a=b", "a=c"), want: "a = c\n", note: "spaces inside the line"},
		{name: "several", in: "a = 1\n", edits: edit("a  =  1", "a  =  2"), want: "a = 2\n", note: "spaces inside the line"},
		{name: "in parentheses", in: "f( a, b )\n", edits: edit("f(a,b)", "f(a, b, c)"), want: "f( a, b, c )\n", note: "spaces inside the line"},
		{name: "alignment stays", in: "a    int // one\nbcde int // two\n", edits: edit("a int // one\nbcde int // two", "a int // one\nbcde int // three"), want: "a    int // one\nbcde int // three\n", note: "spaces inside the line"},
		{name: "and indentation", in: "\tf(a, b)\n\tg(a, b)\n", edits: edit("    f(a,b)\n    g(a,b)\n", "    f(a,b)\n    h(a,b)\n"), want: "\tf(a, b)\n\th(a, b)\n", note: "indentation (1 tab in the file, 4 spaces in old_text) and spaces inside the line"},
		{name: "between words", in: "int x\n", edits: edit("intx", "y"), fails: "differs only in spaces inside the line"},
		{name: "in two places", in: "f(a, b)\nf(a,  b)\n", edits: edit("f(a,b)", "g"), fails: "but for spaces inside the line it is there 2 times, at lines 1, 2"},
		{name: "exact comes first", in: "f(a, b)\nf(a,b)\n", edits: edit("f(a,b)", "g"), want: "f(a, b)\ng\n"},
		{name: "only spaces are to change", in: "f(a, b)\n", edits: edit("f(a,b)", "f( a, b )"), fails: "not in the file"},

		{name: "blank lines before", in: "a\nb\n", edits: edit("\n\nb", "\n\nc"), want: "a\nc\n", note: "has blank lines around it in old_text that the file lacks; they were dropped"},
		{name: "blank lines after", in: "a\nb\n", edits: edit("a\n\n\n", "c\n\n\n"), want: "c\nb\n", note: "blank lines around it"},
		{name: "blank lines in old text only", in: "a\nb\n", edits: edit("\nb\n\n", "c"), want: "a\nc\n", note: "blank lines around it"},
		{name: "fewer blank lines in the file", in: "a\n\nb\n", edits: edit("\n\n\nb", "\n\n\nc"), want: "a\n\nc\n", note: "blank lines around it"},
		{name: "blank lines that come", in: "a\nb\n", edits: edit("\na\n", "\n\nc\n"), want: "\nc\nb\n", note: "blank lines around it"},
		{name: "blank lines and indentation", in: "\ta\n\tb\n", edits: edit("\n    a\n    b\n\n", "\n    a\n    c\n\n"), want: "\ta\n\tc\n", note: "matched lines 1-2 but for indentation"},
		{name: "blank lines around what goes", in: "a\nb\nc\n", edits: edit("b\n\n", ""), want: "a\nc\n", note: "blank lines around it"},
		{name: "blank lines around two places", in: "a\na\n", edits: edit("\na\n\n", "b"), fails: "but for blank lines around it it is there 2 times, at lines 1, 2"},
		{name: "blank lines around the same", in: "a\n", edits: edit("a\n\n", "a"), fails: "not in the file"},
		{name: "blank lines alone", in: "a\n", edits: edit("\n\n", "b"), fails: "not in the file"},
	})
}
