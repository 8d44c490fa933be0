package secrets

import "strings"

// Found is the secrets of a command.
type Found struct {
	Words [][]Span // of each of its words
	Input bool     // its input is one
}

// mostTimes is how many words of a command are tried as its program.
const mostTimes = 3

// Command returns the secrets among the words of a command, as a shell passes them, in
// addition to those that Text finds in each word. Any word may be the program: others run
// it, as sudo and docker exec do.
func Command(words []string) Found {
	f := Found{Words: make([][]Span, len(words))}
	seen := map[string]int{}
	for i, word := range words {
		f.Words[i] = append(f.Words[i], assigned(word)...)
		if option(word) && i+1 < len(words) && !strings.HasPrefix(words[i+1], "--") && !strings.ContainsAny(words[i+1][:min(1, len(words[i+1]))], "<>|") {
			f.all(words, i+1)
		}
		rules := rulesOf(word)
		if len(rules) > 0 {
			seen[word]++
		}
		if seen[word] > mostTimes {
			continue
		}
		for _, r := range rules {
			if at, ok := r.begins(words[i+1:]); ok {
				f.apply(&r, words, i+1, i+1+at)
			}
		}
	}
	return f
}

// assigned returns the secret of an assignment: everything after its sign.
func assigned(word string) []Span {
	name, _, ok := strings.Cut(word, "=")
	name = strings.TrimRight(name, "+")
	is := Name
	if strings.HasPrefix(name, "-") {
		is = option
	}
	if value := strings.IndexByte(word, '=') + 1; ok && !strings.ContainsAny(name, " \t\n/:?&{") && is(name) && !empty(word[value:]) {
		return []Span{{value, len(word)}}
	}
	return nil
}

// Value returns the secret part of a value: all of it, unless it refers to another value.
func Value(text string) (Span, bool) { return Span{0, len(text)}, !empty(text) }

// all marks a whole word as a secret.
func (f *Found) all(words []string, i int) { f.behind(words, i, 0) }

// behind marks the rest of a word, from a position on, as a secret.
func (f *Found) behind(words []string, i, from int) {
	if i < len(words) && from < len(words[i]) && !empty(words[i][from:]) {
		f.Words[i] = append(f.Words[i], Span{from, len(words[i])})
	}
}

// part marks the part of a word after a position and a sign as a secret.
func (f *Found) part(words []string, i, from int, sign byte) {
	if i >= len(words) || from > len(words[i]) {
		return
	}
	if sign != 0 {
		at := strings.IndexByte(words[i][from:], sign)
		if at < 0 {
			return
		}
		if sign == ':' && from+at+1 == len(words[i]) { // a token as the user
			if !empty(words[i][from : from+at]) {
				f.Words[i] = append(f.Words[i], Span{from, from + at})
			}
			return
		}
		from += at + 1
	}
	f.behind(words, i, from)
}

// apply finds the secrets of a rule: options after the program, from a word on, and words
// after those of the rule.
func (f *Found) apply(r *rule, words []string, from, operands int) {
	var plain []int
	for i := from; i < len(words); i++ {
		word := words[i]
		for _, o := range r.options {
			f.option(o, words, i)
		}
		for _, name := range r.input {
			f.Input = f.Input || name == "" || word == name || len(name) == 2 && len(word) > 2 && word[0] == '-' && word[1] != '-' && strings.IndexByte(word, name[1]) > 0
		}
		if r.file && File(strings.TrimPrefix(word, "of=")) {
			f.Input = true
		}
		if r.names && Name(word) {
			f.all(words, i+1)
		}
		if i >= operands && !strings.HasPrefix(word, "-") {
			plain = append(plain, i)
			if r.pairs {
				f.part(words, i, 0, '=')
			}
		}
	}
	if len(r.input) > 0 && r.input[0] == "" {
		f.Input = true
	}
	for _, w := range r.words {
		switch {
		case w.at == 0:
			for _, i := range plain {
				f.all(words, i)
			}
		case w.at < 0 && len(plain) > 0:
			f.all(words, plain[len(plain)-1])
		case w.at > 0 && w.at <= len(plain):
			f.part(words, plain[w.at-1], 0, w.sign)
		}
	}
}

// option checks whether a word is an option, and finds its value.
func (f *Found) option(o optionRule, words []string, i int) {
	word := words[i]
	if o.apart {
		if word == o.name {
			f.all(words, i+1)
		}
		return
	}
	long := strings.HasPrefix(o.name, "--") || len(o.name) > 2 && !o.attached
	switch {
	case word == o.name && !o.attached:
		f.part(words, i+1, 0, o.sign)
	case long && strings.HasPrefix(word, o.name+"="):
		f.part(words, i, len(o.name)+1, o.sign)
	case long && strings.HasPrefix(o.name, "/") && strings.HasPrefix(word, o.name):
		f.part(words, i, len(o.name), o.sign)
	case !long && strings.HasPrefix(word, o.name) && len(word) > len(o.name):
		f.part(words, i, len(o.name), o.sign)
	case !long && !o.attached && bundle(word, o.name): // letters in a row, one of them the option
		at := strings.IndexByte(word, o.name[1])
		if at == len(word)-1 {
			f.part(words, i+1, 0, o.sign)
			return
		}
		f.part(words, i, at+1, o.sign)
	}
}

// bundle reports whether a word is a row of option letters that includes the option's.
func bundle(word, option string) bool {
	return len(option) == 2 && len(word) > 2 && word[0] == '-' && word[1] != '-' && strings.IndexByte(word, option[1]) > 1
}
