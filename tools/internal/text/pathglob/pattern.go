package pathglob

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// pattern is a prepared pattern. any, name, suffix and base are set if the last component
// decides; they, head, tail and core avoid the slower match of glob.
type pattern struct {
	glob      string // for the whole path
	any       bool   // everything matches
	name      string // the last component
	suffix    string // of the last component
	base      string // a glob for the last component
	directory bool   // it ended with a slash: it matches only directories
	parts     []string

	head, tail, core string // every matching path begins with, ends with and contains them
}

// special are the characters that are not always literal.
const special = `*?[]{}\`

// newPattern prepares a valid glob.
func newPattern(glob string, directory bool) pattern {
	p := pattern{directory: directory}
	name := strings.TrimPrefix(glob, "**/")
	if !strings.Contains(name, "/") {
		switch rest := strings.TrimPrefix(name, "*"); {
		case name == "**":
			p.any = true
		case plain(name):
			p.name = name
		case plain(rest):
			p.suffix = rest
		case !strings.Contains(name, "**"):
			p.base = name
		}
		glob = "**/" + name
	}
	p.glob, p.parts = glob, split(glob)
	p.head = glob[:strings.IndexAny(glob+"*", special)]
	p.head = p.head[:max(0, strings.LastIndexByte(p.head, '/'))] // a/** matches a
	p.tail = glob[strings.LastIndexAny(glob, special+"/")+1:]
	if !strings.ContainsAny(name, `[]{}\`) {
		last := name[strings.LastIndexByte(name, '/')+1:]
		for literal := range strings.FieldsFuncSeq(last, func(r rune) bool { return r == '*' || r == '?' }) {
			if len(literal) > len(p.core) {
				p.core = literal
			}
		}
	}
	return p
}

// alternatives returns the globs of a glob whose last component has plain alternatives in
// braces, such as *.{c,h}, and other globs unchanged.
func alternatives(glob string) (globs []string) {
	before, rest, _ := strings.Cut(glob, "{")
	list, after, ok := strings.Cut(rest, "}")
	if !ok || !plain(list) || strings.ContainsAny(before, `[\`) || strings.ContainsAny(list+after, special+"/") {
		return []string{glob}
	}
	for one := range strings.SplitSeq(list, ",") {
		if one == "" {
			return []string{glob} // doublestar matches fewer paths than allowed
		}
		globs = append(globs, before+one+after)
	}
	return globs
}

// plain reports whether a text has no special characters.
func plain(s string) bool { return s != "" && !strings.ContainsAny(s, special) }

// split returns the components of a pattern, nil if they cannot be matched one by one: a
// slash is inside braces or a class, or ** is only a part of a component.
func split(glob string) []string {
	parts := strings.Split(glob, "/")
	if slices.ContainsFunc(parts, func(part string) bool {
		return !doublestar.ValidatePattern(part) || strings.Contains(part, "**") && part != "**"
	}) {
		return nil
	}
	return parts
}

func (p *pattern) match(rel string, directory bool) bool {
	switch {
	case p.directory && !directory:
		return false
	case p.any:
		return true
	case p.name != "":
		above := len(rel) - len(p.name)
		return (above == 0 || above > 0 && rel[above-1] == '/') && rel[above:] == p.name
	case p.suffix != "":
		return strings.HasSuffix(rel, p.suffix)
	case !strings.HasSuffix(rel, p.tail) || !strings.HasPrefix(rel, p.head) || !strings.Contains(rel, p.core):
		return false
	case p.base != "":
		return doublestar.MatchUnvalidated(p.base, rel[strings.LastIndexByte(rel, '/')+1:])
	}
	return doublestar.MatchUnvalidated(p.glob, rel)
}

// above reports whether the pattern matches a directory above rel.
func (p *pattern) above(rel string) bool {
	for i := strings.LastIndexByte(rel, '/'); i > 0; i = strings.LastIndexByte(rel[:i], '/') {
		if p.match(rel[:i], true) {
			return true
		}
	}
	return false
}

func (p *pattern) below(dir string) bool {
	parts := p.parts
	for name := range strings.SplitSeq(dir, "/") {
		switch {
		case parts[0] == "**":
			return true
		case len(parts) == 1 || !doublestar.MatchUnvalidated(parts[0], name):
			return false
		}
		parts = parts[1:]
	}
	return true
}
