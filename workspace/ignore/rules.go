package ignore

import (
	"bytes"
	"slices"
	"strings"
)

// Rules is one compiled ignore file. It is immutable. A nil *Rules is an empty file.
type Rules struct {
	negated []bool // by rule: the line began with '!'

	// Rules without a slash look at the name alone. Plain names are found by
	// lookup; each of the others is in one bucket, by its last byte if that is
	// literal (most are like *.o), else by its first, else in rest. Buckets
	// hold the last line first.
	names       map[string]nameRule
	namesFirst  byteSet // the first bytes of names, which spare most lookups
	last, first buckets
	rest        []globRule

	// Rules with a slash look at the path below the directory of the file; the
	// last line first.
	paths []*globRule
}

// nameRule has the last lines that are one plain name: for any entry and for directories
// only; none if there is no such line.
type nameRule struct{ any, dir int }

// globRule is one line that needs more than a lookup.
type globRule struct {
	line    int
	dirOnly bool
	glob    glob
}

// buckets are lists of rules, each under a byte.
type buckets struct {
	at    [256]uint8 // one more than the position in lists, 0 for none
	lists [][]globRule
}

func (b *buckets) get(key byte) []globRule {
	if i := b.at[key]; i > 0 {
		return b.lists[i-1]
	}
	return nil
}

// add appends a rule. There are at most 254 keys: neither a slash nor NUL is one.
func (b *buckets) add(key byte, rule globRule) {
	if b.at[key] == 0 {
		b.lists = append(b.lists, nil)
		b.at[key] = uint8(len(b.lists))
	}
	list := &b.lists[b.at[key]-1]
	*list = append(*list, rule)
}

func (b *buckets) reverse() {
	for _, list := range b.lists {
		slices.Reverse(list)
	}
}

// none is the line of no match.
const none = -1

// utf8BOM may begin the file; git skips it.
const utf8BOM = "\xef\xbb\xbf"

// Parse compiles the text of one ignore file. There are no errors: a line that git
// cannot use matches nothing here either.
func Parse(text []byte) *Rules {
	r := &Rules{names: map[string]nameRule{}}
	for line := range bytes.SplitSeq(bytes.TrimPrefix(text, []byte(utf8BOM)), []byte("\n")) {
		r.add(string(bytes.TrimSuffix(line, []byte("\r"))))
	}
	r.last.reverse()
	r.first.reverse()
	slices.Reverse(r.rest)
	slices.Reverse(r.paths)
	return r
}

// add compiles one line, which comes without its line end.
func (r *Rules) add(line string) {
	if strings.HasPrefix(line, "#") {
		return
	}
	line, _, _ = strings.Cut(line, "\x00") // git's lines are C strings
	pattern, negated := strings.CutPrefix(trimSpaces(line), "!")
	pattern, dirOnly := strings.CutSuffix(pattern, "/")
	if pattern == "" {
		return
	}
	anchored := strings.Contains(pattern, "/")
	pattern = strings.TrimPrefix(pattern, "/")
	if tail, ok := strings.CutPrefix(pattern, "**/"); ok && !strings.Contains(tail, "/") {
		pattern, anchored = tail, false // at any depth: the name alone decides
	}
	if pattern == "" {
		return
	}
	g, ok := compile(pattern)
	if !ok {
		return
	}
	rule := globRule{line: len(r.negated), dirOnly: dirOnly, glob: g}
	r.negated = append(r.negated, negated)
	switch {
	case anchored:
		r.paths = append(r.paths, &rule)
	case g.literal():
		r.addName(g.prefix, rule)
	case g.suffix != "":
		r.last.add(g.suffix[len(g.suffix)-1], rule)
	case g.prefix != "":
		r.first.add(g.prefix[0], rule)
	default:
		r.rest = append(r.rest, rule)
	}
}

func (r *Rules) addName(name string, rule globRule) {
	n, ok := r.names[name]
	if !ok {
		n = nameRule{any: none, dir: none}
	}
	if rule.dirOnly {
		n.dir = rule.line
	} else {
		n.any = rule.line
	}
	r.names[name] = n
	r.namesFirst.add(name[0])
}

// trimSpaces removes the spaces at the end of a line that no backslash quotes. Tabs stay. A
// backslash at the end of the line stays, with the text before it.
func trimSpaces(line string) string {
	end := 0 // after the last byte that stays
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

// matchName returns the last rule without a slash that matches the name, or none.
func (r *Rules) matchName(name string, isDir bool) int {
	best := none
	if r.namesFirst.has(name[0]) {
		if n, ok := r.names[name]; ok {
			best = n.any
			if isDir {
				best = max(best, n.dir)
			}
		}
	}
	best = matchBucket(r.last.get(name[len(name)-1]), name, isDir, best)
	best = matchBucket(r.first.get(name[0]), name, isDir, best)
	return matchBucket(r.rest, name, isDir, best)
}

// matchBucket returns the line of the first rule of the bucket that matches, if it comes
// after best, else best.
func matchBucket(bucket []globRule, name string, isDir bool, best int) int {
	for i := range bucket {
		rule := &bucket[i]
		if rule.line <= best {
			break
		}
		if (isDir || !rule.dirOnly) && rule.glob.match(name) {
			return rule.line
		}
	}
	return best
}
