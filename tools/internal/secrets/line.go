package secrets

import (
	"slices"
	"strings"
)

// Line returns an unparsed command line without its secrets, by its words alone. It is for
// shells without a parser, and for lines that cannot be parsed.
func Line(text string) string { return Without(text, Unparsed(text)) }

// Unparsed returns where Line finds secrets.
func Unparsed(text string) []Span { return unparsed(text, false, 0) }

// Code returns a program without its secrets: quoted values of secrets' names, and those of
// command lines, which may be a list of quoted words.
func Code(text string) string {
	return Without(text, append(inText(text, true), unparsed(text, true, 0)...))
}

// mostNested is how deep quoted words are searched.
const mostNested = 4

// token is a word of an unparsed line.
type token struct {
	text     string
	from, to int  // its place in the line
	quoted   bool // in whole
}

// unparsed returns the secrets of a line by its words. The words of a program are its
// quoted texts.
func unparsed(text string, program bool, depth int) (spans []Span) {
	if !program {
		spans = Text(text)
	}
	list := commands(text, program)
	for i, tokens := range list {
		words := make([]string, len(tokens))
		for k, t := range tokens {
			words[k] = t.text
		}
		found := Command(words)
		for k, t := range tokens {
			for _, s := range found.Words[k] {
				if !program || t.quoted {
					spans = append(spans, Span{t.from + s.From, t.from + s.To})
				}
			}
			if depth < mostNested && strings.ContainsAny(t.text, " \t\n") {
				from := 0 // after the quote inside of it
				if !t.quoted {
					from = strings.IndexAny(t.text, "\"'") + 1
				}
				for _, s := range unparsed(t.text[from:], false, depth+1) {
					spans = append(spans, Span{t.from + from + s.From, t.from + from + s.To})
				}
			}
		}
		if !program && writes(words) {
			spans = append(spans, input(text, [][]token{tokens, tokens})...)
		}
		if found.Input && !program {
			spans = append(spans, input(text, list[:i+1])...)
		}
	}
	return spans
}

// writes reports whether the words of a command write to a file of secrets.
func writes(words []string) bool {
	for i, w := range words {
		name := strings.TrimLeft(w, "0123456789&>|")
		if strings.Contains(w[:len(w)-len(name)], ">") && (name != "" && File(name) || name == "" && i+1 < len(words) && File(words[i+1])) {
			return true
		}
	}
	return false
}

// input returns the input of the last of some commands, as secrets: the output of the
// commands before it, as far as their words show it, and the text after a "<<".
func input(text string, list [][]token) (spans []Span) {
	last := list[len(list)-1]
	for _, t := range last {
		if strings.HasPrefix(t.text, "<") {
			from := t.from + len(t.text) - len(strings.TrimLeft(t.text, "<"))
			to := last[len(last)-1].to
			if strings.HasPrefix(t.text, "<<") && !strings.HasPrefix(t.text, "<<<") { // its text follows the line
				from, to = t.to, len(text)
			}
			spans = append(spans, Span{from, to})
		}
	}
	for n, before := range list[:len(list)-1] {
		printed := n == len(list)-2 // all words except the first
		for i, t := range before {
			if printed && (i > 0 || t.quoted) && !empty(t.text) {
				spans = append(spans, Span{t.from, t.to})
			}
			printed = printed || prints().MatchString(t.text)
		}
	}
	return spans
}

// commands splits a text into the words of its commands.
func commands(text string, program bool) (list [][]token) {
	var words []token
	end := func() {
		if len(words) > 0 {
			list = append(list, words)
		}
		words = nil
	}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c == '\n' || c == ';' || c == '|' || c == '&' && !program:
			end()
			i++
		case program && (c == '"' || c == '\'' || c == '`'):
			to := closing(text, i+1, text[i:i+1])
			words = append(words, token{text[i+1 : to], i + 1, to, true})
			i = to + 1
		case program:
			to := i + 1
			for to < len(text) && strings.IndexByte(" \t\r\n;|\"'`", text[to]) < 0 {
				to++
			}
			if strings.Trim(text[i:to], ",+[](){}:") != "" {
				words = append(words, token{text[i:to], i, to, false})
			}
			i = to
		default:
			t := shellToken(text, i)
			if t.text != "" {
				words = append(words, t)
			}
			i = max(t.to, i+1)
			if t.quoted {
				i = min(t.to+1, len(text))
			}
		}
	}
	end()
	return slices.Clip(list)
}

// shellToken returns the word that begins at a position, with the quotes inside it.
func shellToken(text string, from int) token {
	to := from
	for to < len(text) && strings.IndexByte(" \t\r\n;|&", text[to]) < 0 {
		switch text[to] {
		case '"', '\'':
			end := closing(text, to+1, text[to:to+1])
			if to == from && (end+1 >= len(text) || strings.IndexByte(" \t\r\n;|&)", text[end+1]) >= 0) {
				return token{text[from+1 : end], from + 1, end, true}
			}
			to = min(end+1, len(text))
		case '\\':
			to = min(to+2, len(text))
		default:
			to++
		}
	}
	return token{text[from:to], from, to, false}
}
