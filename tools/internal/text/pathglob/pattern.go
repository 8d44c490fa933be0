package pathglob

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// pattern is what is known of one before a path is looked at. Only any, name, suffix and
// base, which are set where the last component decides, and head, tail and core spare a
// path the matching of glob.
type pattern struct {
	glob      string // for the whole path
	any       bool   // everything matches
	name      string // the last component
	suffix    string // of the last component
	base      string // a glob for the last component
	directory bool   // ended with a slash: what it names is a directory
	parts     []string

	head, tail, core string // what each path that matches begins with, ends with, has in it
}

// special are the characters that do not always stand for themselves.
const special = `*?[]{}\`

// newPattern prepares a glob that is valid.
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

// alternatives returns the globs that one stands for whose last component has plain
// alternatives in braces, such as *.{c,h}, and the glob itself where it has none such.
func alternatives(glob string) (globs []string) {
	before, rest, _ := strings.Cut(glob, "{")
	list, after, ok := strings.Cut(rest, "}")
	if !ok || !plain(list) || strings.ContainsAny(before, `[\`) || strings.ContainsAny(list+after, special+"/") {
		return []string{glob}
	}
	for one := range strings.SplitSeq(list, ",") {
		if one == "" {
			return []string{glob} // doublestar has it match less than it may
		}
		globs = append(globs, before+one+after)
	}
	return globs
}

// plain reports that a text holds nothing with a meaning.
func plain(s string) bool { return s != "" && !strings.ContainsAny(s, special) }

// split returns the components of a pattern, nil where they do not match by themselves
// what they match in it: a slash stands within braces or a class, or ** beside others.
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
