// Package secrets knows which words of a command line are secrets: what certain programs
// take as a password, what is given to a variable, an option, a header or a field of a
// secret's name, the passwords of URLs, connection strings and SQL, and what a program
// reads from its input as one.
//
// It is for records, which nobody should find a secret in: it would rather take out a
// word too many. What tools show of other programs goes by package redact, which keeps a
// word where it is in doubt.
//
// Not covered are
//
//   - secrets in words that nothing tells apart: operands of programs that programs.go does
//     not have, what echo prints for others to see, the body of a script;
//   - what is put together as the line runs, of parts, by variables, or decoded;
//   - values of names that do not say what they are, such as X=, and what SQL or a program
//     in another language computes;
//   - names of files, and of the programs themselves;
//   - what is typed ahead into a program that echoes at that moment and asks for a secret
//     later, where neither its name nor the line that it printed tells.
//
// Start reading at [Command] and [Text]; programs.go has the programs. Who can parse a
// line gives its words to Command; [Line] and [Code] are for text that nobody has parsed.
// The package imports the standard library and package redact.
package secrets

import (
	"slices"
	"strings"
)

// Mark stands in the place of a secret.
const Mark = "[redacted]"

// Span is a part of a text that is a secret.
type Span struct{ From, To int }

// Without returns a text with marks in the place of its secrets.
func Without(text string, spans []Span) string {
	slices.SortFunc(spans, func(a, b Span) int { return a.From - b.From })
	var b strings.Builder
	at, marked := 0, false
	for _, s := range spans {
		if s.To <= at || s.From >= s.To {
			continue
		}
		if s.From > at || !marked {
			b.WriteString(text[at:max(s.From, at)])
			b.WriteString(Mark)
		}
		at, marked = s.To, true
	}
	b.WriteString(text[at:])
	return b.String()
}
