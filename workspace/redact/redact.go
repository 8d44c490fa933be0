// Package redact removes secrets from audit records, logs, metrics and traces, and from the
// command lines of other programs that tools show.
//
// It finds secrets in two ways. Known values, those of the configuration, are found
// anywhere, plain or in one of the encodings that [Encodings] names, but not in those of
// [NotCovered]. Unknown ones are found by their look: tokens with a prefix of their own,
// private keys, JSON Web Tokens, passwords in URLs, headers and assignments. It is made for
// texts that people read: it would rather keep a hash or a picture than lose it, and a text
// that neither is known nor looks like a secret stays.
//
// The package imports the standard library only and opens nothing. Start at
// [Redactor.String].
package redact

import (
	"slices"
	"strings"
)

// Encodings returns the encodings in which a known value is found. Escapes may be nested
// with each other and with the others, up to five layers, also in a part of the value.
func Encodings() []string {
	return []string{
		"as it is, and each line of one of several lines", "JSON escapes", "quoted as Go does", "query and path of URLs, in hex digits of either case, and + for a blank",
		"HTML entities: decimal, hexadecimal, and the names of & < > and quotes", "Unicode escapes, surrogates too", "backslashes of a shell, and '\\'' inside its quotes",
		"hex in lower case", "hex in upper case", "base64, standard, at any alignment", "base64 of URLs, at any alignment", "base32, from its own beginning",
	}
}

// NotCovered returns the encodings in which a known value is not found.
func NotCovered() []string {
	return []string{
		"reversed, rotated (rot13) or in other ciphers", "compressed (gzip, zlib)", "an encoding of an encoding that is no escape, such as base64 of base64 or of hex",
		"base64 that is broken into lines", "hex in mixed case, with blanks or with colons", "base32 in lower case, of hex digits, or behind other bytes", "base58, base85, quoted-printable, punycode, uuencode",
		"octal and control escapes (\\101, \\cA), names of HTML entities other than these", "UTF-16, UTF-32 and EBCDIC", "a part of the value, or the value in parts", "values of fewer than 8 bytes",
	}
}

// MinKnown is the fewest bytes of a known value: a shorter one would be found in the middle
// of ordinary words.
const MinKnown = 8

// mark begins the text that replaces a secret: "[redacted]" for a known value,
// "[redacted:KIND]" for one found by its look.
const mark = "[redacted"

// maxRounds limits how often a text is searched again after a secret was found; the second
// round is the last except for texts made to defeat it.
const maxRounds = 8

// Redactor replaces secrets. It does not change, and several goroutines may call its
// methods. A nil Redactor has no known values and finds secrets by their look alone.
type Redactor struct {
	known   *needles // nil: none
	ignored int
}

// New returns a Redactor with these known values. It leaves out those with fewer than
// [MinKnown] bytes, see [Redactor.Ignored].
func New(known []string) *Redactor {
	r := &Redactor{}
	var values []string
	for _, v := range known {
		switch v = strings.TrimSpace(v); {
		case v == "":
		case len(v) < MinKnown || isMark(v):
			r.ignored++
		default:
			values = append(values, v)
		}
	}
	if len(values) > 0 {
		r.known = newNeedles(values)
	}
	return r
}

// Ignored returns how many values New left out. The user who configured them should know:
// they are found only if they look like secrets.
func (r *Redactor) Ignored() int {
	if r == nil {
		return 0
	}
	return r.ignored
}

// String returns the text without its secrets. Doing it twice changes nothing
// more, and a text that was valid UTF-8 stays so.
func (r *Redactor) String(text string) string {
	for range maxRounds {
		spans := r.find(text)
		if len(spans) == 0 {
			break
		}
		text = replace(text, spans)
	}
	return text
}

// Secret returns the kind of the first secret of a text, "" = a known value, and whether
// there is one.
func (r *Redactor) Secret(text string) (kind string, found bool) {
	if spans := r.find(text); len(spans) > 0 {
		return spans[0].kind, true
	}
	return "", false
}

// span is a part of a text that is a secret; kind is "" for a known value.
type span struct {
	from, to int
	kind     string
}

// find returns the secrets of a text in its order, none touching another. It
// looks at the text as it is, and below each layer of escapes.
func (r *Redactor) find(text string) []span {
	var found []span
	for v := (view{text: text}); ; {
		here := looks().find(v.text)
		if r != nil && r.known != nil {
			here = r.known.find(v.text, here)
		}
		for _, s := range here {
			s.from, s.to = v.source(s.from), v.source(s.to)
			found = append(found, s)
		}
		if !v.unescape() {
			break
		}
	}
	return merged(text, found)
}

// merged sorts spans and joins those that touch. It drops one with nothing but marks.
func merged(text string, spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	out := spans[:0]
	for _, s := range spans {
		if isMark(text[s.from:s.to]) {
			continue
		}
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			last := &out[n-1]
			last.to = max(last.to, s.to)
			if s.kind == "" {
				last.kind = ""
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// isMark reports whether a text is a mark, or a part of one.
func isMark(text string) bool {
	return slices.ContainsFunc(marks(), func(m string) bool { return strings.Contains(m, text) })
}

func replace(text string, spans []span) string {
	var b strings.Builder
	b.Grow(len(text))
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.from])
		b.WriteString(markOf(s.kind))
		at = s.to
	}
	b.WriteString(text[at:])
	return b.String()
}

func markOf(kind string) string {
	if kind == "" {
		return mark + "]"
	}
	return mark + ":" + kind + "]"
}
