package match

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Error says why a pattern is not valid. It reads like the error of a tool: lower case, with a
// hint on what to do.
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

// diagnose returns an error of regexp/syntax in terms of the pattern as written.
func diagnose(text string, err error) error {
	cause, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return &Error{Reason: err.Error(), Hint: "pass fixed:true to search for the text as it is"}
	}
	e := &Error{Reason: string(cause.Code), Hint: hint(text, cause)}
	switch {
	case unknownClass(cause):
		e.Reason, e.Part, e.Position = "unknown class", cause.Expr, position(text, cause)
	case lookBehind(cause.Expr): // taken for the name of a group, so Expr is the rest of the pattern
		e.Reason, e.Part, e.Position = string(syntax.ErrInvalidPerlOp), cause.Expr[:4], position(text, cause)
	case cause.Expr != text:
		e.Part, e.Position = cause.Expr, position(text, cause)
	}
	return e
}

// position finds the position of a syntax error: the faulty piece ends where the shortest
// prefix of the pattern with that error ends.
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

// unknownClass distinguishes a class with an unknown name from an invalid range.
func unknownClass(cause *syntax.Error) bool {
	return cause.Code == syntax.ErrInvalidCharRange && (property(cause.Expr) || strings.HasPrefix(cause.Expr, "[:"))
}

func property(part string) bool {
	return strings.HasPrefix(part, `\p`) || strings.HasPrefix(part, `\P`)
}

func hint(text string, cause *syntax.Error) string {
	look := func(part string) bool { return strings.HasPrefix(cause.Expr, part) }
	switch {
	case look("(?=") || look("(?!") || lookBehind(cause.Expr):
		return "RE2 has no look-around: search for what must be there and sort out the rest, or pass fixed:true if it is plain text"
	case look("(?>") || cause.Code == syntax.ErrInvalidRepeatOp:
		return "RE2 has no atomic groups and no possessive repeats; it never backtracks, so leave them out"
	case cause.Code == syntax.ErrInvalidEscape && len(cause.Expr) == 2:
		if instead := escape(text, cause); instead != "" {
			return instead
		}
	case cause.Code == syntax.ErrInvalidRepeatSize && nested(cause.Expr):
		return "the counts of repeats inside of each other multiply: the product may be 1000"
	case cause.Code == syntax.ErrInvalidRepeatSize:
		return "the largest repeat is 1000: search for a part of it"
	case cause.Code == syntax.ErrLarge:
		return "search for a part of it, or repeat less often"
	case cause.Code == syntax.ErrNestingDepth:
		return "at most 1000 parentheses and repeats inside of each other: leave out those that are not needed"
	case unknownClass(cause) && look("[:<") || unknownClass(cause) && look("[:>"):
		return `write \b for the edge of a word`
	case unknownClass(cause) && property(cause.Expr):
		return `a category or script of Unicode is wanted, such as \pL, \p{Lu} or \p{Greek}`
	case unknownClass(cause):
		return "known are alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit"
	}
	return `put \ before a character that is meant as it is, or pass fixed:true to search for the whole text as it is`
}

// nested reports whether a repeat is refused although none of its counts is too large.
func nested(repeat string) bool {
	least, most, ok := strings.Cut(strings.Trim(repeat, "{}?"), ",")
	if !ok || most == "" {
		most = least
	}
	from, err := strconv.Atoi(least)
	to, err2 := strconv.Atoi(most)
	return err == nil && err2 == nil && from <= to && to <= 1000
}

// escape returns what to write instead of an escape of another dialect, "" if that is not
// known.
func escape(text string, cause *syntax.Error) string {
	switch c := cause.Expr[1]; c {
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return "RE2 has no back-references: write the repeated part out"
	case 'u', 'U':
		at := position(text, cause) + 1
		if number := codePoint().FindString(string([]rune(text)[at:])); number != "" {
			return fmt.Sprintf(`write \x{%s}`, strings.Trim(number, "{}"))
		}
		return `write \x{...} with the number of the character in hexadecimal`
	case 'Z':
		return `write \z for the end of the text, or $`
	case 'h':
		return `write [ \t]`
	case 'H':
		return `write [^ \t]`
	case 'R':
		return `write \r?\n, with multiline:true`
	case 'N':
		return "write . for any character of a line"
	case 'e':
		return `write \x1b`
	case 'K':
		return "RE2 has no \\K: leave it out, whole lines are shown anyway"
	}
	return ""
}

// codePoint is the number that follows a \u.
var codePoint = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\{[0-9A-Fa-f]+\}|0[0-9A-Fa-f]{7}|[0-9A-Fa-f]{4})`)
})
