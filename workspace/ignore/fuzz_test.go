package ignore_test

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// FuzzMatch compares the compiled rules with a matcher that tries every way.
func FuzzMatch(f *testing.F) {
	f.Add("a/**/*b", "a/c/b", false)
	f.Add("a**/[!b-d]?/", "a/x/ey", true)
	f.Add(`*\*[[:alpha:]\]-]`, "a*]", false)
	f.Fuzz(func(t *testing.T, pattern, entry string, isDir bool) {
		compare(t, pattern, entry, isDir)
	})
}

// TestMatchRandom does the same with patterns that have a good chance to match.
func TestMatchRandom(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(*seed, 0))}
	const tries = 30_000
	matched := 0
	for range tries {
		names := []string{g.name()}
		for range g.IntN(4) {
			names = append(names, g.name())
		}
		entry := strings.Join(names, "/")
		if compare(t, g.line([]string{entry}), entry, g.IntN(2) == 0) {
			matched++
		}
	}
	if matched < tries/20 || matched > tries*19/20 {
		t.Errorf("%d of %d match: the patterns prove nothing", matched, tries)
	}
}

func compare(t *testing.T, pattern, entry string, isDir bool) bool {
	t.Helper()
	if len(pattern) > 40 || len(entry) > 40 || strings.Count(pattern, "*") > 10 {
		return false // too much for the slow one
	}
	if pattern == "" || strings.ContainsAny(pattern, "\n\r\x00 ") || pattern[0] == '#' || pattern[0] == '!' || strings.HasPrefix(pattern, "\ufeff") {
		return false // these mean something in a file
	}
	for name := range strings.SplitSeq(entry, "/") {
		if name == "" || name == "." || name == ".." || strings.Contains(name, "\x00") {
			return false
		}
	}
	got, want := ignored(pattern, entry, isDir), slowRule(pattern, entry, isDir)
	if got != want {
		t.Errorf("%q matches %q (directory %t): %t, want %t", pattern, entry, isDir, got, want)
	}
	return want
}

func slowRule(pattern, entry string, isDir bool) bool {
	pattern, dirOnly := strings.CutSuffix(pattern, "/")
	if dirOnly && !isDir {
		return false
	}
	if !strings.Contains(pattern, "/") {
		entry = entry[strings.LastIndexByte(entry, '/')+1:]
	}
	pattern = strings.TrimPrefix(pattern, "/")
	literal := pattern
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		literal = pattern[:i]
	}
	rest, ok := strings.CutPrefix(entry, literal)
	return ok && slowMatch(pattern[len(literal):], rest, true)
}

// slowMatch matches a pattern. start says that it begins a component.
func slowMatch(p, text string, start bool) bool {
	if p == "" {
		return text == ""
	}
	if p[0] == '*' {
		rest := strings.TrimLeft(p, "*")
		tree := len(p)-len(rest) > 1 && start && (rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`))
		if tree && rest != "" && rest[0] == '/' && slowMatch(rest[1:], text, true) {
			return true
		}
		for i := range len(text) + 1 {
			if slowMatch(rest, text[i:], false) {
				return true
			}
			if i < len(text) && text[i] == '/' && !tree {
				return false
			}
		}
		return false
	}
	if text == "" {
		return false
	}
	c, text := text[0], text[1:]
	switch p[0] {
	case '?':
		return c != '/' && slowMatch(p[1:], text, false)
	case '[':
		in, rest, ok := slowClass(p[1:], c)
		return ok && in && c != '/' && slowMatch(rest, text, false)
	case '\\':
		return len(p) > 1 && p[1] == c && slowMatch(p[2:], text, c == '/')
	}
	return p[0] == c && slowMatch(p[1:], text, c == '/')
}

// slowClass tells whether c is in the bracket expression after whose bracket p
// begins, and what follows it.
func slowClass(p string, c byte) (in bool, rest string, ok bool) {
	negated := false
	if p != "" && (p[0] == '!' || p[0] == '^') {
		negated, p = true, p[1:]
	}
	type item struct{ lo, hi byte }
	var items []item
	open := false // the last item may become a range
	for n := 0; p != "" && (p[0] != ']' || n == 0); n++ {
		if end := strings.IndexByte(p, ']'); strings.HasPrefix(p, "[:") && end > 2 && p[end-1] == ':' {
			members, known := map[string]string{
				"alnum": "azAZ09", "alpha": "azAZ", "blank": "\t\t  ", "cntrl": "\x01\x1f\x7f\x7f", "digit": "09", "graph": "!~",
				"lower": "az", "print": " ~", "punct": "!/:@[`{~", "space": "\t\n\r\r  ", "upper": "AZ", "xdigit": "09afAF",
			}[p[2:end-1]]
			if !known || end < 3 {
				return false, "", false
			}
			for ; members != ""; members = members[2:] {
				items = append(items, item{members[0], members[1]})
			}
			p, open = p[end+1:], false
			continue
		}
		ranged := open && p[0] == '-' && len(p) > 1 && p[1] != ']'
		if ranged {
			p = p[1:]
		}
		if p[0] == '\\' {
			if p = p[1:]; p == "" {
				return false, "", false
			}
		}
		if ranged {
			items[len(items)-1].hi = p[0]
			// The first byte was an item of its own, also where the range is empty.
			items = append(items, item{items[len(items)-1].lo, items[len(items)-1].lo})
		} else {
			items = append(items, item{p[0], p[0]})
		}
		p, open = p[1:], !ranged
	}
	if p == "" {
		return false, "", false
	}
	for _, i := range items {
		in = in || i.lo <= c && c <= i.hi
	}
	return in != negated, p[1:], true
}
