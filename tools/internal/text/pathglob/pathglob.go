// Package pathglob matches slash-separated paths against glob patterns.
//
// A pattern has the syntax of doublestar: * and ? within a component, ** for any number of
// components, [classes] and {alternatives}. As in a .gitignore file, a pattern without a
// slash matches names at any depth, and one that ends with a slash matches a directory and
// everything in it. The package touches no files. Start at [Compile].
package pathglob

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"
)

// Set is a list of patterns. The zero Set matches nothing.
type Set struct{ patterns []pattern }

// Error is a pattern that cannot be used.
type Error struct {
	Pattern string
	Reason  string
	Hint    string
}

func (e *Error) Error() string { return fmt.Sprintf("pattern %q %s", e.Pattern, e.Reason) }

// Compile prepares patterns. The error of an invalid one is an *[Error].
func Compile(patterns []string) (Set, error) {
	var s Set
	for _, text := range patterns {
		glob, directory, err := check(text)
		if err != nil {
			return Set{}, err
		}
		for _, alternative := range alternatives(glob) {
			s.patterns = append(s.patterns, newPattern(alternative, directory))
		}
	}
	return s, nil
}

// check returns the glob of a pattern, and whether it matches directories.
func check(text string) (glob string, directory bool, err error) {
	bad := func(reason, hint string) (string, bool, error) { return "", false, &Error{text, reason, hint} }
	glob = text
	for strings.HasPrefix(glob, "./") {
		glob = strings.TrimLeft(glob[2:], "/")
	}
	directory = strings.HasSuffix(glob, "/")
	switch {
	case strings.HasPrefix(glob, "/"):
		return bad("is absolute", "give the directory as path, and the pattern relative to it")
	case slices.Contains(strings.Split(glob, "/"), ".."):
		return bad("leads upwards", "give the directory to search as path, and the pattern relative to it")
	case extended(glob) == '!':
		return bad("has !(...), which is not supported", `exclude paths with "!pattern"; write \( for a literal (`)
	case extended(glob) != 0:
		return bad("has alternatives in parentheses, which are not supported", "write {a,b}")
	case !doublestar.ValidatePattern(glob):
		return bad(flaw(glob), `put \ before a character that is meant as it is`)
	}
	if glob = strings.TrimRight(glob, "/"); glob == "" || glob == "." {
		return bad("names nothing", `"**" matches everything`)
	}
	return glob, directory, nil
}

// extended returns the sign of an extended shell pattern, such as !(a) or @(a|b), 0 if
// there is none. Names have parentheses too, so signs other than ! count only with
// alternatives.
func extended(glob string) byte {
	for _, found := range extglob().FindAllStringSubmatch(glob, -1) {
		if sign := found[1]; sign == "!" || sign != "" && strings.Contains(found[0], "|") {
			return sign[0]
		}
	}
	return 0
}

// extglob matches a sign with its parentheses, and skips quoted characters and classes.
var extglob = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\\.|\[[!^]?\]?[^\]]*\]|([!@+?*])\((?:\\.|[^)\\])*\)`)
})

// flaw describes the fault of an invalid pattern.
func flaw(glob string) string {
	var open []int
	class := -1
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '\\':
			if i++; i == len(glob) {
				return `ends with \`
			}
		case class >= 0:
			if c == ']' && i > class+1 {
				class = -1
			}
		case c == '[':
			class = i
		case c == '{':
			open = append(open, i)
		case c == '}' && len(open) == 0:
			return fmt.Sprintf("has a } at byte %d without {", i+1)
		case c == '}':
			open = open[:len(open)-1]
		}
	}
	switch {
	case class >= 0:
		return fmt.Sprintf("has a [ at byte %d without ]", class+1)
	case len(open) > 0:
		return fmt.Sprintf("has a { at byte %d without }", open[len(open)-1]+1)
	}
	return "has a class that is not valid"
}

// Negated separates patterns from those that start with "!", which it returns without the
// "!", after the patterns of excluded. A pattern that starts with "!(" is kept for
// [Compile], which refuses it.
func Negated(patterns, excluded []string) (include, exclude []string) {
	exclude = slices.Clip(excluded)
	for _, pattern := range patterns {
		if rest, negated := strings.CutPrefix(pattern, "!"); negated && extended(pattern) != '!' {
			exclude = append(exclude, rest)
		} else {
			include = append(include, pattern)
		}
	}
	return include, exclude
}

// Empty reports whether the set has no patterns.
func (s Set) Empty() bool { return len(s.patterns) == 0 }

// Match reports whether a pattern matches a path. A pattern that ends with a slash also
// matches everything in the directory.
func (s Set) Match(rel string, directory bool) bool {
	for i := range s.patterns { // in place: a pattern is large
		if p := &s.patterns[i]; p.match(rel, directory) || p.directory && p.above(rel) {
			return true
		}
	}
	return false
}

// ByName returns a function with the result of Match by the last component alone, if that
// is enough.
func (s Set) ByName() (match func(name string) bool, ok bool) {
	for i := range s.patterns {
		if p := &s.patterns[i]; p.directory || !p.any && p.name == "" && p.suffix == "" && p.base == "" {
			return nil, false
		}
	}
	return func(name string) bool { return s.Match(name, false) }, true
}

// Suffixes returns texts such that every match ends with one of them, nil if there are
// none.
func (s Set) Suffixes() (suffixes []string) {
	for i := range s.patterns {
		p := &s.patterns[i]
		suffix := cmp.Or(p.name, p.suffix, p.tail)
		if suffix == "" || p.directory {
			return nil
		}
		suffixes = append(suffixes, suffix)
	}
	return suffixes
}

// Names reports whether a pattern matches a path itself, not only a directory above it: the
// question of a walk that skips excluded directories.
func (s Set) Names(rel string, directory bool) bool {
	for i := range s.patterns {
		if s.patterns[i].match(rel, directory) {
			return true
		}
	}
	return false
}

// Below reports whether the set may match a path in the directory.
func (s Set) Below(dir string) bool {
	return slices.ContainsFunc(s.patterns, func(p pattern) bool {
		return p.parts == nil || p.directory && (p.match(dir, true) || p.above(dir)) || p.below(dir)
	})
}

// Hidden reports whether a pattern has a component that starts with a dot.
func (s Set) Hidden() bool {
	return slices.ContainsFunc(s.patterns, func(p pattern) bool {
		return strings.HasPrefix(p.glob, ".") || strings.Contains(p.glob, "/.")
	})
}
