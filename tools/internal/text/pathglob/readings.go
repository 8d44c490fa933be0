package pathglob

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"toolcrib/tools/internal/text/textfile"
)

// Reading is another meaning that patterns may have had.
type Reading struct {
	Patterns []string
	Why      string // the difference
}

// Note returns the line, for the top of a result, that says how patterns were read.
func (r Reading) Note(written []string) string {
	return fmt.Sprintf("note: nothing matches %s; read as %s: %s\n", quoted(written), quoted(r.Patterns), r.Why)
}

func quoted(patterns []string) string {
	list := make([]string, len(patterns))
	for i, p := range patterns {
		list[i] = `"` + textfile.Visible(p) + `"`
	}
	return strings.Join(list, ", ")
}

// Readings returns possible meanings of patterns that match nothing or are invalid, the
// likeliest first. Each differs from the given patterns.
func Readings(patterns []string) []Reading {
	var all []Reading
	add := func(r Reading) bool {
		same := func(other Reading) bool { return slices.Equal(other.Patterns, r.Patterns) }
		if slices.Equal(r.Patterns, patterns) || slices.ContainsFunc(all, same) {
			return false
		}
		all = append(all, r)
		return true
	}
	plain := Reading{Patterns: patterns}
	for _, way := range []way{{unquoted, "quotes and blanks around it are part of it"}, {expanded, "variables are not expanded"}} {
		if r := way.of(plain); add(r) {
			plain = r
		}
	}
	whole := []Reading{plain} // without those that split a pattern
	if r := (way{slashes, `\ is no separator`}).of(plain); add(r) {
		whole = append(whole, r)
	}
	bases := slices.Clone(whole)
	for _, base := range whole {
		if r := (way{either, "alternatives are written {a,b}"}).of(base); add(r) {
			bases = append(bases, r)
		}
	}
	for _, way := range []way{{literal(`[]`), "[...] is a class of characters"}, {literal(`[]{}`), "[...] and {...} have a meaning"}} {
		for _, base := range whole {
			add(way.of(base))
		}
	}
	for _, base := range bases {
		add(way{inside, "it names a directory"}.of(base))
	}
	return all
}

// AnyCase returns the patterns for matching in any case.
func AnyCase(patterns []string) []string {
	folded := make([]string, len(patterns))
	for i, pattern := range patterns {
		folded[i] = anyCase(pattern)
	}
	return folded
}

// way is another reading of a pattern: as several, or as the same one if there is no other.
type way struct {
	read func(pattern string) []string
	why  string
}

// of reads the patterns of a reading. An exclusion stays one.
func (w way) of(base Reading) Reading {
	r := Reading{Why: w.why}
	if base.Why != "" {
		r.Why = base.Why + ", " + w.why
	}
	for _, pattern := range base.Patterns {
		rest, out := strings.CutPrefix(pattern, "!")
		if out && !strings.HasPrefix(rest, "(") {
			for _, p := range w.read(rest) {
				r.Patterns = append(r.Patterns, "!"+p)
			}
			continue
		}
		r.Patterns = append(r.Patterns, w.read(pattern)...)
	}
	return r
}

// unquoted removes quotes and blanks of a shell or a text around a pattern.
func unquoted(pattern string) []string {
	bare := strings.TrimSpace(pattern)
	for _, quote := range []string{`"`, "'", "`"} {
		if inner, ok := strings.CutPrefix(bare, quote); ok && strings.Index(inner, quote) == len(inner)-1 && len(inner) > 1 {
			bare = strings.TrimSuffix(inner, quote)
		}
	}
	if bare == "" {
		return []string{pattern}
	}
	return []string{bare}
}

// expanded removes the variable for a shell's working directory.
func expanded(pattern string) []string {
	for _, here := range []string{"$PWD/", "${PWD}/", "$(pwd)/", "`pwd`/"} {
		if rest, ok := strings.CutPrefix(pattern, here); ok && rest != "" {
			return []string{rest}
		}
	}
	return []string{pattern}
}

// slashes replaces backslashes by slashes.
func slashes(pattern string) []string { return []string{strings.ReplaceAll(pattern, `\`, "/")} }

// either splits alternatives written in other forms than {a,b}: (a|b), a|b, or a list.
func either(pattern string) []string {
	pattern = group().ReplaceAllStringFunc(pattern, func(found string) string {
		inner := found[strings.IndexByte(found, '(')+1 : len(found)-1]
		if found[0] == '?' {
			inner += "|"
		}
		return "{" + strings.ReplaceAll(inner, "|", ",") + "}"
	})
	var parts []string
	for _, signs := range []string{"|", ",;"} {
		if parts = parted(pattern, signs); len(parts) > 1 {
			return parts
		}
	}
	parts = parted(pattern, " \t\n")
	if len(parts) < 2 || slices.ContainsFunc(parts, plain) { // names have blanks too
		return []string{pattern}
	}
	return parts
}

// group matches alternatives in parentheses.
var group = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[@+?]?\([^()|/]*(?:\|[^()|/]*)+\)`) })

// parted splits a pattern at any of the signs outside of braces and brackets.
func parted(pattern, signs string) (parts []string) {
	depth, start := 0, 0
	take := func(end int) {
		if part := strings.TrimSpace(pattern[start:end]); part != "" {
			parts = append(parts, unquoted(part)...)
		}
	}
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case depth == 0 && strings.IndexByte(signs, c) >= 0:
			take(i)
			start = i + 1
		}
	}
	take(len(pattern))
	return parts
}

// literal makes the signs literal.
func literal(signs string) func(string) []string {
	return func(pattern string) []string {
		var b strings.Builder
		for i := range len(pattern) {
			if strings.IndexByte(signs, pattern[i]) >= 0 && (i == 0 || pattern[i-1] != '\\') {
				b.WriteByte('\\')
			}
			b.WriteByte(pattern[i])
		}
		return []string{b.String()}
	}
}

// inside matches the contents of a directory with the name.
func inside(pattern string) []string {
	if strings.HasSuffix(pattern, "/") || !plain(pattern) {
		return []string{pattern}
	}
	return []string{pattern + "/"}
}

// anyCase replaces each letter outside of a class by a class of both cases.
func anyCase(pattern string) string {
	var b strings.Builder
	class, quoted := false, false
	for _, r := range pattern {
		upper, lower := unicode.ToUpper(r), unicode.ToLower(r)
		switch {
		case class || upper == lower:
			b.WriteRune(r)
		default:
			if quoted { // a backslash before a letter has no effect
				text := strings.TrimSuffix(b.String(), `\`)
				b.Reset()
				b.WriteString(text)
			}
			b.WriteString("[" + string(lower) + string(upper) + "]")
		}
		if !quoted {
			class = r == '[' || class && r != ']'
		}
		quoted = r == '\\' && !quoted
	}
	return b.String()
}
