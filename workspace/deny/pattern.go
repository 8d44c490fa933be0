package deny

import (
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"toolcrib/workspace"
	"toolcrib/workspace/internal/fsys"
)

// Pattern names paths of a workspace: those that it matches and all paths below them, so
// that "sub" and "sub/**" mean the same. A relative pattern applies below each root given at
// the start, an absolute one to host paths. "*" matches within one component, "**" any number
// of components, "{a,b}" either text. Case matters if it matters to the system.
type Pattern struct {
	match, below string // for doublestar, folded: of the path, and of all paths below it
	start        string // the part of match before the first wildcard
	rank         int
}

// Parse parses a pattern. The error says what to write instead.
func Parse(text string) (Pattern, error) {
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
	match := fold(clean)
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
	return 1 + before*(workspace.MaxPath+1) + min(plain, workspace.MaxPath)
}

// Matches reports whether the text of p matches the pattern or lies below a match. It does
// not follow links, see [workspace.Path.Landing].
func (x Pattern) Matches(p workspace.Path) bool {
	if p == (workspace.Path{}) {
		return false
	}
	at := p.Anchor()
	if !x.absolute() {
		return x.matches(at.Origin())
	}
	for _, name := range at.RootNames() {
		if x.matches(path.Join(name, at.Rel())) {
			return true
		}
	}
	return false
}

// absolute reports whether the pattern applies to host paths.
func (x Pattern) absolute() bool { return path.IsAbs(x.match) || filepath.VolumeName(x.match) != "" }

func (x Pattern) matches(name string) bool {
	if name == "." { // no wildcard matches the root
		return x.match == "**"
	}
	// Match returns errors for invalid patterns only, and Parse refuses these. Not every
	// pattern that ends in "/**" matches the directory itself.
	name = fold(name)
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

// wild reports whether the pattern has a wildcard.
func (x Pattern) wild() bool { return x.start != x.match }

// under returns the path below a root that a pattern without a wildcard names, "" if it
// names none.
func (x Pattern) under(root workspace.Anchor) string {
	above := []string{root.Origin()}
	if x.absolute() {
		above = root.RootNames()
	}
	for _, name := range above {
		if name == "." {
			return x.match
		}
		if rel, ok := fsys.Below(fold(name), x.match); ok && rel != "." {
			return rel
		}
	}
	return ""
}

// mayHold reports whether the pattern may match a path below a directory without matching
// the directory itself.
func (x Pattern) mayHold(dir workspace.Anchor) bool {
	if x.absolute() {
		return slices.ContainsFunc(dir.RootNames(), func(name string) bool { return x.holds(path.Join(name, dir.Rel())) })
	}
	name := dir.Origin()
	return name == "." || x.holds(name)
}

func (x Pattern) holds(name string) bool {
	name = fold(name) + "/"
	if !x.wild() {
		return strings.HasPrefix(x.match, name)
	}
	fixed := x.start[:strings.LastIndexByte(x.start, '/')+1]
	if !strings.HasPrefix(name, fixed) && !strings.HasPrefix(fixed, name) {
		return false
	}
	return strings.ContainsAny(x.match, "{[\\") || strings.Contains(x.match, "**") || strings.Count(name, "/") <= strings.Count(x.match, "/")
}

// fold returns one text for all names that the system treats as one.
func fold(name string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return norm.NFC.String(cases.Fold().String(norm.NFC.String(name)))
	}
	return name
}
