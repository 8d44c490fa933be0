package match

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Error is a pattern that cannot be searched for. It reads like the error of a
// tool: lower case, with a hint on what to do.
type Error struct {
	Reason   string
	Part     string // the piece at fault; "" = the pattern as a whole
	Position int    // of Part in characters from 1; 0 where Part is ""
	Hint     string
}

func (e *Error) Error() string {
	if e.Part == "" {
		return e.Reason
	}
	return fmt.Sprintf("%s: %s at character %d", e.Reason, e.Part, e.Position)
}

// diagnose words an error of regexp/syntax for whoever wrote the pattern.
func diagnose(text string, err error) error {
	cause, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return &Error{Reason: err.Error(), Hint: "pass fixed:true to search for the text as it is"}
	}
	e := &Error{Reason: string(cause.Code), Hint: hint(cause)}
	switch {
	case lookBehind(cause.Expr): // taken for the name of a group, so Expr is the rest of the pattern
		e.Reason, e.Part, e.Position = string(syntax.ErrInvalidPerlOp), cause.Expr[:4], position(text, cause)
	case cause.Expr != text:
		e.Part, e.Position = cause.Expr, position(text, cause)
	}
	return e
}

// position finds where the piece of a syntax error stands: it ends where the
// shortest beginning of the pattern with that error ends.
func position(text string, cause *syntax.Error) int {
	for end := range len(text) + 1 {
		_, err := syntax.Parse(text[:end], syntax.Perl)
		if e, ok := errors.AsType[*syntax.Error](err); ok && *e == *cause && strings.HasSuffix(text[:end], e.Expr) {
			return utf8.RuneCountInString(text[:end-len(e.Expr)]) + 1
		}
	}
	return utf8.RuneCountInString(text[:max(0, strings.Index(text, cause.Expr))]) + 1
}

func lookBehind(part string) bool {
	return strings.HasPrefix(part, "(?<=") || strings.HasPrefix(part, "(?<!")
}

func hint(cause *syntax.Error) string {
	look := func(part string) bool { return strings.HasPrefix(cause.Expr, part) }
	switch {
	case look("(?=") || look("(?!") || lookBehind(cause.Expr):
		return "RE2 has no look-around: search for what must be there and sort out the rest, or pass fixed:true if it is plain text"
	case look("(?>") || cause.Code == syntax.ErrInvalidRepeatOp:
		return "RE2 has no atomic groups and no possessive repeats; it never backtracks, so leave them out"
	case cause.Code == syntax.ErrInvalidEscape && len(cause.Expr) == 2 && cause.Expr[1] >= '1' && cause.Expr[1] <= '9':
		return "RE2 has no back-references: write the repeated part out"
	case cause.Code == syntax.ErrInvalidRepeatSize || cause.Code == syntax.ErrLarge || cause.Code == syntax.ErrNestingDepth:
		return "the largest repeat is 1000: search for a part of it"
	}
	return `put \ before a character that is meant as it is, or pass fixed:true to search for the whole text as it is`
}
