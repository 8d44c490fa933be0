package ignore_test

import (
	"path"
	"strings"
	"testing"

	"toolcrib/workspace/ignore"
)

// ignored asks about one path below a directory with the .gitignore text. Nobody
// looks at the directories on the way.
func ignored(text, entry string, isDir bool) bool {
	level := ignore.NewLevel(nil).Enter("top", ignore.Files{GitIgnore: ignore.Parse([]byte(text)), Top: true})
	names := strings.Split(entry, "/")
	for _, name := range names[:len(names)-1] {
		level = level.Enter(name, ignore.Files{})
	}
	return level.Ignored(names[len(names)-1], isDir)
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		yes  string // space-separated paths; a slash at the end makes a directory
		no   string
	}{
		{"a", "a a/ b/a", "ab b aa"},
		{"/a", "a a/", "b/a"},
		{"a/", "a/ b/a/", "a b/a"},
		{"/a/", "a/", "a b/a/"},
		{"a/b", "a/b a/b/", "x/a/b b"},
		{"/a/b/", "a/b/", "a/b"},
		{"*.o", "x.o .o d/x.o", "x.oo x.O o"},
		{"a*", "a ab d/abc", "ba"},
		{"a*c", "ac abc abbc", "ab abcd"},
		{"*b*", "b abc d/bb", "ac"},
		{"?", "a d/b", "ab"},
		{"/*", "a b/", "a/b"},
		{"a/*", "a/b a/b/", "a a/b/c"},
		{"a/*/c", "a/b/c", "a/c a/b/b/c"},
		{"**/a", "a b/a b/c/a", "ab"},
		{"**/a/b", "a/b c/a/b", "a b"},
		{"a/**", "a/b a/b/c", "a b/a/c"},
		{"a/**/b", "a/b a/c/b a/c/d/b", "b a/bb c/a/b"},
		{"a/**/**/b", "a/b a/c/b", "ab"},
		{"**", "a a/b", ""},
		{"a**b", "ab acb", "a/b"},
		{"x/a**b", "x/ab x/acb", "x/a/b"},
		{"a**/b", "ab/b a/b a/c/b", "b c"}, // the rest begins with **/, as in git
		{"**a/b", "a/b ca/b", "c/a/b"},
		{`**\/a`, "b/a b/c/a", "a"},
		{"[ab]", "a b", "c ab"},
		{"[!ab]", "c", "a b"},
		{"[^ab]", "c", "a b"},
		{"[a-c]x", "ax bx", "dx -x"},
		{"[c-a]x", "cx", "ax bx"}, // an empty range, but its first byte counts
		{"[]a]", "] a", "b"},
		{"[!]a]", "b", "] a"},
		{"[a-]", "a -", "b"},
		{"[-a]", "a -", "b"},
		{`[\]]`, "]", `\`},
		{`[a\-c]`, "a - c", "b"},
		{`[\a-c]`, "a b c", `\ -`},
		{"[[:digit:]x]", "1 x", "d :"},
		{"[[:upper:][:space:]]", "A", "a"},
		{"[![:alnum:]]", "_", "a 1"},
		{"[[:x]", "[ : x", "a"},
		{"[[:none:]]", "", "n : ]"},
		{"[ab", "", "a [ab"},
		{"a/[b/c", "", "a/b a/c"},
		{"a[!x]b/c", "azb/c", "a/b/c"},
		{`\#a`, "#a", "a"},
		{`\!a`, "!a", "a"},
		{`\*`, "*", "a"},
		{`a\`, "", `a a\`},
		{`\a\.b`, "a.b", "aXb"},
		{"#a", "", "a #a"},
		{"a\r\nb", "a b", "c"},
		{"a\r", "a", "b"},
		{"\ufeffa\nb", "a b", "c"},
		{"a\nb\n!a\n", "b", "a"},
		{"!a\na\n", "a", "b"},
		{"*\n!*.c\n", "a", "a.c"},
		{"a//", "", "a a/"},
		{"//a", "", "a"},
		{"/\n!\n  \n", "", "a"},
		{"a\x00b", "a", "ab"},
		{"é", "é", "e"},
		{"?", "\xc3", "é"}, // bytes, as git has it
	}
	for _, tt := range tests {
		check := func(paths string, want bool) {
			for entry := range strings.FieldsSeq(paths) {
				entry, isDir := strings.CutSuffix(entry, "/")
				if got := ignored(tt.text, entry, isDir); got != want {
					t.Errorf("%q: ignored(%q, %t) = %t, want %t", tt.text, entry, isDir, got, want)
				}
			}
		}
		check(tt.yes, true)
		check(tt.no, false)
	}
}

func TestTrailingSpaces(t *testing.T) {
	t.Parallel()
	for text, name := range map[string]string{
		"a  ": "a", `a\ `: "a ", `a\   `: "a ", `a \ `: "a  ", "a\t": "a\t", "a \r\n": "a", " a": " a",
	} {
		if !ignored(text, name, false) {
			t.Errorf("%q does not match %q", text, name)
		}
		if ignored(text, name+" ", false) {
			t.Errorf("%q matches %q", text, name+" ")
		}
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	parse := func(text string) *ignore.Rules { return ignore.Parse([]byte(text)) }
	outer := ignore.NewLevel(parse("global\n!x")).
		Enter("top", ignore.Files{Top: true, GitIgnore: parse("a\nb\n/in/c\nk"), Exclude: parse("excl\n!global2\nx"), DotIgnore: parse("d\n!k")})
	inner := outer.Enter("in", ignore.Files{GitIgnore: parse("!a\nd2\nk2"), DotIgnore: parse("!d2\n!d")})
	nested := outer.Enter("nested", ignore.Files{Top: true, GitIgnore: parse("n\nd\nk"), Exclude: parse("e")})
	loose := ignore.NewLevel(parse("global")).Enter("top", ignore.Files{GitIgnore: parse("a"), DotIgnore: parse("d")})
	tests := []struct {
		name    string
		level   *ignore.Level
		ignored string
		kept    string
	}{
		{"top", outer, "a b global excl d x", "c k global2"},
		{"below", inner, "b c global excl x k2", "a d d2 k"},
		{"nested repository", nested, "n e d global", "a b c excl k x"},
		{"below a nested repository", nested.Enter("s", ignore.Files{}), "n e d global", "a b c excl k x"},
		{"no repository", loose, "d", "a global"},
		{"nothing", ignore.NewLevel(nil).Enter("top", ignore.Files{}), "", "a"},
	}
	for _, tt := range tests {
		for name := range strings.FieldsSeq(tt.ignored) {
			if !tt.level.Ignored(name, false) {
				t.Errorf("%s: %s is not ignored", tt.name, name)
			}
		}
		for name := range strings.FieldsSeq(tt.kept) {
			if tt.level.Ignored(name, false) {
				t.Errorf("%s: %s is ignored", tt.name, name)
			}
		}
	}
}

// TestManyStars would not end with a matcher that tries every way.
func TestManyStars(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("a", 255)
	for _, pattern := range []string{strings.Repeat("a*", 60) + "b", strings.Repeat("*a", 60) + "[b]", strings.Repeat("**/*a*", 30) + "[b]"} {
		if ignored(pattern, path.Join(name, name, name, name), false) {
			t.Errorf("%q matches", pattern)
		}
	}
}

func TestExcludesFile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		config string
		want   string
		ok     bool
	}{
		{"", "", false},
		{"[core]\n\texcludesFile = ~/x\n", "~/x", true},
		{"[CORE]\r\n\tEXCLUDESFILE=/a b  ; comment\r\n", "/a b", true},
		{"\ufeff# c\n[core] excludesfile = \"/a # b \" # c\n", "/a # b ", true},
		{"[core]\nexcludesfile = C:\\\\a\\\\b\\tc\n", "C:\\a\\b\tc", true},
		{"[core]\nexcludesfile = /a\\\n/b\n", "/a/b", true},
		{"[core]\nexcludesfile = /a\n[core]\nexcludesfile = /b", "/b", true},
		{"[core]\nexcludesfile\n", "", true},
		{"[core]\nexcludesfile =\n", "", true},
		{"[core \"x\"]\nexcludesfile = /a\n", "", false},
		{"[user \"a]\\\"\"]\nname = x\n[core]\nexcludesfile = /a\n", "/a", true},
		{"[user]\nexcludesfile = /a\n[core]\neditor = vi # excludesfile = /b\n;excludesfile = /c\n", "", false},
		{"[core\nexcludesfile = /a", "/a", true},
		{"[core", "", false},
	}
	for _, tt := range tests {
		if got, ok := ignore.ExcludesFile([]byte(tt.config)); got != tt.want || ok != tt.ok {
			t.Errorf("ExcludesFile(%q) = %q, %t, want %q, %t", tt.config, got, ok, tt.want, tt.ok)
		}
	}
}
