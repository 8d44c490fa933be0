package match

import (
	"regexp"
	"strings"
	"sync"
)

// Dialect names the part of a valid pattern that has a meaning in another dialect of regular
// expressions and is literal in this one; "" if there is none. It explains why a pattern was
// not found; it is no error of a pattern that was.
func (p Pattern) Dialect() string {
	if p.Fixed {
		return ""
	}
	var group bool // a \( with something behind it is open
	for rest := p.Text; rest != ""; {
		piece := token().FindString(rest)
		rest = rest[len(piece):]
		switch {
		case piece == `\|`:
			return `\| is a literal bar here: write | for alternatives`
		case piece == `\<` || piece == `\>`:
			return piece + " is a literal " + piece[1:] + `: pass word:true or write \b`
		case strings.HasPrefix(piece, `\{`) && len(piece) > 2:
			return `\{ is a literal brace here: write ` + strings.ReplaceAll(piece, `\`, "") + " to repeat"
		case strings.HasPrefix(piece, `\b{`):
			return piece[2:] + ` is literal text here: \b alone is the edge of a word`
		case strings.HasPrefix(piece, "{,"):
			return piece + " is literal text here: write {0" + piece[1:]
		case piece == `\(`:
			group = !strings.HasPrefix(rest, `\)`)
		case piece == `\)` && group:
			return `\( is a literal parenthesis here: write ( and ) for a group`
		}
	}
	return ""
}

// token is the next piece of a pattern: text between \Q and \E and a class are one.
var token = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^(?:\\Q.*?(?:\\E|$)|\\b\{(?:start|end)(?:-half)?\}|\\\{[0-9]+(?:,[0-9]*)?\\\}|\\.|\{,[0-9]+\}|\[\^?\]?(?:\[:\^?[a-z]+:\]|\\.|[^\]\\])*\]|.)`)
})
