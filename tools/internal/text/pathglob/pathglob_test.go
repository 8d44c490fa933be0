package pathglob_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"toolcrib/tools/internal/text/pathglob"
)

func compile(t testing.TB, patterns ...string) pathglob.Set {
	t.Helper()
	set, err := pathglob.Compile(patterns)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		want          bool
	}{
		{"*.go", "a.go", true}, {"*.go", "x/y/a.go", true}, {"*.go", "a.gox", false}, {"*.go", ".go", true},
		{"Makefile", "x/Makefile", true}, {"Makefile", "x/Makefile.am", false}, {"Makefile", "Makefile/x", false},
		{"cmd/*.go", "cmd/a.go", true}, {"cmd/*.go", "x/cmd/a.go", false}, {"cmd/*.go", "cmd/x/a.go", false},
		{"./cmd/*.go", "cmd/a.go", true}, {"**/*.go", "a.go", true}, {"cmd/**", "cmd/x/y", true}, {"**", "a/b", true},
		{"*.{c,h}", "x/a.h", true}, {"{a,b/c}/*.go", "b/c/x.go", true}, {"[a-c]*", "x/bz", true}, {"[!a]*", "x/a", false}, {`\*`, "x/*", true}, {`\*`, "x/y", false},
		{"*.{c,h}", "x/a.hh", false}, {"x/*.{c,h}", "x/a.h", true}, {"x/*.{c,h}", "y/a.h", false}, {"a{,b}", "x/a", true}, {"a{,b}", "ab", true}, {"*irq*", "x/an_irq.c", true}, {"*irq*", "irq/c", false}, {"x/**/a*.c", "x/abc.c", true}, {"x/**/a*.c", "xx/abc.c", false}, {"docs/", "docs/a", true}, {"docs/", "x/docs/y/a", true}, {"docs/", "docs", false}, {"x/docs/", "y/x/docs/a", false}, {"?.go", "ab.go", false}, {"ü*", "x/übung", true},
	} {
		if got := compile(t, tt.pattern).Match(tt.path, false); got != tt.want {
			t.Errorf("%q matches %q = %v", tt.pattern, tt.path, got)
		}
	}
	if !compile(t, "docs/").Match("x/docs", true) || compile(t, "docs/").Names("docs/a", false) {
		t.Error("docs/ does not name the directory alone")
	}
}

func TestBelow(t *testing.T) {
	for _, tt := range []struct {
		pattern, dir string
		want         bool
	}{
		{"cmd/*.go", "cmd", true}, {"cmd/*.go", "x", false}, {"cmd/*.go", "cmd/x", false}, {"c*/x/*.go", "cmd/x", true}, {"c*/x/*.go", "cmd/y", false},
		{"*.go", "x", true}, {"cmd/**/a", "cmd/x/y", true}, {"cmd/**/a", "x", false}, {"{a,b/c}/*.go", "b/c", true}, {"docs/", "x/docs/y", true}, {"x/docs/", "x/docs/y", true}, {"x/docs/", "y", false},
	} {
		if got := compile(t, tt.pattern).Below(tt.dir); got != tt.want {
			t.Errorf("%q below %q = %v", tt.pattern, tt.dir, got)
		}
	}
}

func TestErrors(t *testing.T) {
	for pattern, want := range map[string]string{
		"/etc/*":     `pattern "/etc/*" is absolute`,
		"../x":       `pattern "../x" leads upwards`,
		"a/../../b":  `pattern "a/../../b" leads upwards`,
		"":           `pattern "" names nothing`,
		"./":         `pattern "./" names nothing`,
		"src/[a":     `pattern "src/[a" has a [ at byte 5 without ]`,
		"{a,b":       `pattern "{a,b" has a { at byte 1 without }`,
		"a}":         `pattern "a}" has a } at byte 2 without {`,
		`a\`:         `pattern "a\\" ends with \`,
		"x[b-a]{c}y": "",
		"!(a)":       `pattern "!(a)" has !(...), which is not supported`,
		"b/!(a|c)/*": `pattern "b/!(a|c)/*" has !(...), which is not supported`,
		"@(a|b).go":  `pattern "@(a|b).go" has alternatives in parentheses, which are not supported`,
		"+(a|b)":     `pattern "+(a|b)" has alternatives in parentheses, which are not supported`,
		"*(a|b)":     `pattern "*(a|b)" has alternatives in parentheses, which are not supported`,
	} {
		_, err := pathglob.Compile([]string{pattern})
		switch {
		case want == "":
		case err == nil || err.Error() != want:
			t.Errorf("%q: %v, want %s", pattern, err, want)
		}
	}
}

// Names have parentheses too.
func TestParentheses(t *testing.T) {
	for pattern, path := range map[string]string{
		"+page@(app).svelte": "x/+page@(app).svelte", "*(1).txt": "a(1).txt", "(a|b)": "(a|b)",
		`!\(a)`: "!(a)", "[!(a)]": "b", `@\(a|b)`: "@(a|b)", "(auth)/*": "(auth)/x",
	} {
		if !compile(t, pattern).Match(path, false) {
			t.Errorf("%q does not match %q", pattern, path)
		}
	}
	for _, tt := range []struct {
		pattern          string
		include, exclude int
	}{{"!(a)", 1, 0}, {`!\(a)`, 0, 1}, {"!a", 0, 1}, {"a", 1, 0}} {
		if include, exclude := pathglob.Negated([]string{tt.pattern}, nil); len(include) != tt.include || len(exclude) != tt.exclude {
			t.Errorf("%q: includes %q, excludes %q", tt.pattern, include, exclude)
		}
	}
}

func TestReadings(t *testing.T) {
	for _, tt := range []struct {
		patterns []string
		want     string // the readings, patterns apart by spaces
	}{
		{[]string{"*.go"}, ""},
		{[]string{"src/**"}, ""},
		{[]string{"src"}, "src/"},
		{[]string{"src/"}, ""},
		{[]string{`"*.py"`}, "*.py"},
		{[]string{" 'a' "}, "a; a/"},
		{[]string{`""`}, `""/`},
		{[]string{"$PWD/a*"}, "a*"},
		{[]string{"${PWD}/a/b"}, "a/b; a/b/"},
		{[]string{`src\*.py`}, "src/*.py"},
		{[]string{`"src\*.py"`}, `src\*.py; src/*.py`},
		{[]string{"*.py|*.ts"}, "*.py *.ts"},
		{[]string{"*.py, *.ts"}, "*.py *.ts"},
		{[]string{`"*.py", "*.ts"`}, "*.py *.ts"},
		{[]string{"*.{c,h};*.py"}, "*.{c,h} *.py; *.\\{c,h\\};*.py"},
		{[]string{"*.c *.h"}, "*.c *.h"},
		{[]string{"my file.txt"}, "my file.txt/"},
		{[]string{"*.@(ts|tsx)"}, "*.{ts,tsx}"},
		{[]string{"a?(b|c)*"}, "a{b,c,}*"}, {[]string{"it's", "'s'"}, "it's s; it's/ s/"},
		{[]string{"*.(c|h)", "x"}, "*.{c,h} x; *.(c|h) x/; *.{c,h} x/"},
		{[]string{"!*.py|*.ts"}, "!*.py !*.ts"},
		{[]string{"src/[id]/page.tsx"}, "src/\\[id\\]/page.tsx"},
		{[]string{`src\[id]\*`}, "src/[id]/*; src\\[id\\]\\*; src/\\[id\\]/*"},
		{[]string{"{{name}}"}, "\\{\\{name\\}\\}"},
	} {
		var got []string
		for _, r := range pathglob.Readings(tt.patterns) {
			if got = append(got, strings.Join(r.Patterns, " ")); r.Why == "" {
				t.Errorf("%q: %q has no reason", tt.patterns, r.Patterns)
			}
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.patterns, got, tt.want)
		}
	}
}

func TestAnyCase(t *testing.T) {
	for pattern, want := range map[string]string{
		"*.md": "*.[mM][dD]", `\*a`: `\*[aA]`, `\a1`: "[aA]1", "[a-c]{x,1}": "[a-c]{[xX],1}", "ü": "[üÜ]", `[\]a]b`: `[\]a][bB]`,
	} {
		if got := pathglob.AnyCase([]string{pattern}); !slices.Equal(got, []string{want}) {
			t.Errorf("%q: %q, want %q", pattern, got, want)
		}
	}
}

// FuzzGlob holds the shortcuts, and what they promise of directories, against
// doublestar.
func FuzzGlob(f *testing.F) {
	for _, pattern := range []string{"*.go", "a", "a/*.go", "**/a", "a/**", "{a,b}/c", "[a-c]?", `\*`, "a/", "**", "{a/b,c}/*", "*", "a*", "./a"} {
		f.Add(pattern, "a/b.go")
		f.Add(pattern, "a")
	}
	f.Add("a***/*", "a/b")
	for _, pattern := range []string{"*.{c,h}", "x/*.{c,h,}", "{,a}", "a{,b}", "a/**/{b,}c", "*irq*", "te?t_*.{go,b[a]}", "a/**", "a/**/b*.c", `\*x`, "[a-c]x", "**/a*/b", "{a,b}/{c,d}"} {
		for _, path := range []string{"a/b", "x/y.c", "a", "a/x/bc", "irq", "test_.go", "a/c"} {
			f.Add(pattern, path)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if !utf8.ValidString(pattern) || strings.ContainsRune(pattern, utf8.RuneError) {
			return // arguments are valid UTF-8
		}
		clean := path != "" && !strings.HasPrefix(path, "/") && !strings.HasSuffix(path, "/") && !strings.Contains(path, "//")
		if !clean || len(pattern) > 40 || len(path) > 60 {
			return
		}
		set, err := pathglob.Compile([]string{pattern})
		if err != nil || strings.HasPrefix(pattern, "./") || strings.HasSuffix(pattern, "/") {
			return
		}
		full := pattern
		if !strings.Contains(pattern, "/") {
			full = "**/" + pattern
		}
		want := doublestar.MatchUnvalidated(full, path)
		if got := set.Match(path, false); got != want {
			t.Errorf("%q matches %q = %v, doublestar says %v", pattern, path, got, want)
		}
		if match, ok := set.ByName(); ok && match(path[strings.LastIndexByte(path, '/')+1:]) != want {
			t.Errorf("%q by name matches %q = %v, doublestar says %v", pattern, path, !want, want)
		}
		if all := set.Suffixes(); want && all != nil && !slices.ContainsFunc(all, func(s string) bool { return strings.HasSuffix(path, s) }) {
			t.Errorf("%q matches %q, which ends with none of %q", pattern, path, all)
		}
		for i := range path {
			if want && path[i] == '/' && !set.Below(path[:i]) {
				t.Errorf("%q matches %q, but nothing below %q", pattern, path, path[:i])
			}
		}
	})
}
