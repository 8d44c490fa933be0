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

// Reading is what patterns were perhaps meant to say.
type Reading struct {
	Patterns []string
	Why      string // in which way they are written otherwise
}

// Note is the line that tells, first of all, that patterns were read so.
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

// Readings returns what patterns that match nothing, or are not valid, were perhaps meant
// to say, the likeliest first. Each is another list of patterns than the one given.
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
	whole := []Reading{plain} // without those in which a pattern is several
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

// AnyCase returns patterns for which the case of letters does not count.
func AnyCase(patterns []string) []string {
	folded := make([]string, len(patterns))
	for i, pattern := range patterns {
		folded[i] = anyCase(pattern)
	}
	return folded
}

// way is a way to read a pattern: as several, or as the same one, which says that there is
// nothing to read otherwise.
type way struct {
	read func(pattern string) []string
	why  string
}

// of reads the patterns of a reading. One that leaves out keeps its sign.
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

// unquoted takes away what a shell or a text has put around a pattern.
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

// expanded takes away the variable for the directory in which a shell would be.
func expanded(pattern string) []string {
	for _, here := range []string{"$PWD/", "${PWD}/", "$(pwd)/", "`pwd`/"} {
		if rest, ok := strings.CutPrefix(pattern, here); ok && rest != "" {
			return []string{rest}
		}
	}
	return []string{pattern}
}

// slashes has slashes for backslashes.
func slashes(pattern string) []string { return []string{strings.ReplaceAll(pattern, `\`, "/")} }

// either parts alternatives that are written with other signs than {a,b}: as (a|b), a|b,
// or as a list.
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

// parted parts a pattern at any of the signs that stand outside of braces and brackets.
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

// literal has the signs stand for themselves.
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

// inside stands for what is in a directory of the name.
func inside(pattern string) []string {
	if strings.HasSuffix(pattern, "/") || !plain(pattern) {
		return []string{pattern}
	}
	return []string{pattern + "/"}
}

// anyCase has a class of both cases for each letter that is in no class yet.
func anyCase(pattern string) string {
	var b strings.Builder
	class, quoted := false, false
	for _, r := range pattern {
		upper, lower := unicode.ToUpper(r), unicode.ToLower(r)
		switch {
		case class || upper == lower:
			b.WriteRune(r)
		default:
			if quoted { // a backslash before a letter says nothing
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
