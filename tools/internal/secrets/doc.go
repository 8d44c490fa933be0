// Package secrets finds the secrets in a command line: arguments that certain programs take
// as a password; values of variables, options, headers or fields whose name is that of a
// secret; passwords in URLs, connection strings and SQL; and a program's input, if that is
// a secret.
//
// It serves records, which must not contain secrets: in doubt it redacts a word. The output
// of programs goes through package redact, which in doubt keeps a word.
//
// It does not find
//
//   - secrets in words that look like any other: operands of programs that programs.go does
//     not list, text that echo prints for readers, the body of a script;
//   - values that the line computes while it runs: joined, from variables, or decoded;
//   - values of names that do not say so, such as X=, and values that SQL or a program in
//     another language computes;
//   - names of files, and of the programs themselves;
//   - input typed in advance into a program that echoes at that moment and asks for a secret
//     later, if neither its name nor the last line that it printed says so.
//
// Start reading at [Command] and [Text]; programs.go lists the programs. Callers with a
// parsed line give its words to Command; [Line] and [Code] are for unparsed text. The
// package imports the standard library and package redact.
package secrets

import (
	"slices"
	"strings"
)

// Mark replaces a secret.
const Mark = "[redacted]"

// Span is a part of a text that is a secret.
type Span struct{ From, To int }

// Without returns a text with marks instead of its secrets.
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
