package workspace

import (
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Pattern names paths of a workspace: those that it matches and all paths below them, so
// that "sub" and "sub/**" mean the same. A relative pattern applies below each root given at
// the start, an absolute one to host paths. "*" matches within one component, "**" any number
// of components, "{a,b}" either text. Case matters if it matters to the system.
type Pattern struct {
	match, below string // for doublestar, folded: the thing, and what lies below it
	start        string // of all that it covers: what stands before the first wildcard
	rank         int
}

// ParsePattern parses a pattern. The error says what to write instead.
func ParsePattern(text string) (Pattern, error) {
	clean := filepath.ToSlash(text)
	switch {
	case clean == "":
		return Pattern{}, fmt.Errorf(`the pattern is empty; "**" means every path`)
	case clean == ".":
		return Pattern{}, fmt.Errorf(`%q is no pattern; "**" means every path`, text)
	case strings.HasPrefix(clean, "!"):
		return Pattern{}, fmt.Errorf("%q: a pattern cannot be negated; write a rule of its own with another verdict", text)
	case strings.HasPrefix(clean, "~"):
		return Pattern{}, fmt.Errorf("%q: ~ is not the home directory here; write the absolute path", text)
	case strings.Trim(clean, "/") == "":
		return Pattern{}, fmt.Errorf(`%q means the whole machine; "**" means every path of the workspace`, text)
	case strings.ContainsRune(clean, 0):
		return Pattern{}, fmt.Errorf("%q holds a NUL character, which no path has", text)
	case !doublestar.ValidatePattern(clean):
		return Pattern{}, fmt.Errorf("%q is not a valid pattern; look at its brackets and braces", text)
	}
	for part := range strings.SplitSeq(clean, "/") {
		if part == "." || part == ".." {
			return Pattern{}, fmt.Errorf("%q: a pattern holds no %q; write the path as results print it", text, part)
		}
	}
	clean = strings.TrimSuffix(path.Clean(clean), "/**")
	match := foldPlace(clean)
	x := Pattern{match: match, below: match + "/**", start: match, rank: rankOf(clean)}
	if i := strings.IndexAny(match, wildcards); i >= 0 {
		x.start = match[:i]
	}
	return x, nil
}

// Rank returns how precise the pattern is, a number above 0. A longer text before the first
// wildcard ranks higher, then the number of characters that are no wildcards.
func (x Pattern) Rank() int { return x.rank }

// wildcards are the characters with a meaning in patterns.
const wildcards = `*?[]{},\`

func rankOf(clean string) int {
	before, plain := -1, 0
	for i, r := range clean {
		if !strings.ContainsRune(wildcards, r) {
			plain++
		} else if before < 0 {
			before = i
		}
	}
	if before < 0 {
		before = len(clean) + 1 // no wildcard at all
	}
	return 1 + before*(MaxPath+1) + min(plain, MaxPath)
}

// Matches reports whether the text of p matches the pattern or lies below a match. It does
// not follow links, see [Path.Landing].
func (x Pattern) Matches(p Path) bool {
	if p.root == nil {
		return false
	}
	if !path.IsAbs(x.match) && filepath.VolumeName(x.match) == "" {
		return x.matches(p.origin())
	}
	for _, name := range p.root.names {
		if x.matches(path.Join(name, p.rel)) {
			return true
		}
	}
	return false
}

func (x Pattern) matches(name string) bool {
	if name == "." { // the root is no entry that a wildcard stands for
		return x.match == "**"
	}
	// Both errors are those of a pattern, which ParsePattern has seen. That "s*/**"
	// matches "s" too is not said of every pattern.
	name = foldPlace(name)
	rest, ok := strings.CutPrefix(name, x.start)
	if !ok || x.start == x.match {
		return ok && (rest == "" || rest[0] == '/')
	}
	if ok, err := doublestar.Match(x.match, name); ok || err != nil {
		return ok
	}
	ok, err := doublestar.Match(x.below, name)
	return ok && err == nil
}

// origin returns p relative to the root that was given at the start.
func (p Path) origin() string {
	if p.root.prefix == "." {
		return p.rel
	}
	return path.Join(p.root.prefix, p.rel)
}

// foldPlace returns the same text for all names that the system treats as one.
func foldPlace(name string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return norm.NFC.String(cases.Fold().String(norm.NFC.String(name)))
	}
	return name
}
