package match

import (
	"regexp"
	"strings"
	"sync"
)

// Reading is a possible intention behind a pattern.
type Reading struct {
	Pattern
	Why string
	// Doubtful says that the pattern as written may be intended.
	Doubtful bool
}

// Readings returns the possible intentions behind a pattern that matches nothing.
func (p Pattern) Readings() (all []Reading) {
	if p.Fixed {
		return nil
	}
	if found := slashed().FindStringSubmatch(p.Text); found != nil {
		q := p
		if q.Text = found[1]; strings.Contains(found[2], "i") {
			q.Case = Insensitive
		}
		if found[2] == "" {
			all = append(all, Reading{q, "/ is no delimiter here: without them it is " + q.Text, true})
		} else {
			all = append(all, Reading{q, "slashes and flags are no part of a pattern", false})
		}
	}
	if why := p.Dialect(); why != "" {
		bars, basic := p, p
		bars.Text, basic.Text = p.translated(true), p.translated(false)
		if bars.Text != p.Text {
			all = append(all, Reading{bars, why, false})
		}
		all = append(all, Reading{basic, why, false})
	}
	return all
}

// slashed matches a literal of JavaScript: the pattern, and the flags.
var slashed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/(.+)/([dgimsuvy]*)$`) })

// translated returns the pattern with the syntax of other dialects, or only their bars,
// rewritten for this one.
func (p Pattern) translated(bars bool) string {
	var b strings.Builder
	for rest := p.Text; rest != ""; {
		piece := token().FindString(rest)
		rest = rest[len(piece):]
		switch {
		case piece == `\|`:
			piece = piece[1:]
		case bars:
		case piece == `\(` || piece == `\)`:
			piece = piece[1:]
		case piece == `\<` || piece == `\>` || strings.HasPrefix(piece, `\b{`):
			piece = `\b`
		case strings.HasPrefix(piece, `\{`) && len(piece) > 2:
			piece = strings.ReplaceAll(piece, `\`, "")
		case strings.HasPrefix(piece, "{,"):
			piece = "{0" + piece[1:]
		}
		b.WriteString(piece)
	}
	return b.String()
}
