package lexical

import (
	"slices"
	"strings"
)

// Stem returns what an English word in lower case has in common with its other forms, by
// the algorithm English (Porter2) of the Snowball project. Words with other letters than
// a to z stay as they are.
func Stem(word string) string {
	if len(word) < 3 {
		return word
	}
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	if stem, ok := irregular[word]; ok {
		return stem
	}
	w := stemmer{b: []byte(word)}
	w.markY()
	w.regions()
	w.plural()
	if uninflected[string(w.b)] {
		return string(w.b)
	}
	w.tense()
	if n := len(w.b); n > 2 && (w.b[n-1] == 'y' || w.b[n-1] == 'Y') && !vowel(w.b[n-2]) {
		w.b[n-1] = 'i'
	}
	w.derived()
	w.derivedOnce()
	w.suffix()
	w.last()
	return strings.ToLower(string(w.b))
}

// irregular words have stems of their own.
var irregular = map[string]string{
	"skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie",
	"idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
	"sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas", "cosmos": "cosmos", "bias": "bias", "andes": "andes",
}

// uninflected words look as if they had an ending.
var uninflected = map[string]bool{
	"inning": true, "outing": true, "canning": true, "herring": true, "earring": true,
	"proceed": true, "exceed": true, "succeed": true,
}

// stemmer is a word that loses its endings. A y that is a consonant is Y.
type stemmer struct {
	b      []byte
	r1, r2 int // where the regions begin in which endings may go
}

func vowel(c byte) bool {
	return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' || c == 'y'
}

func (w *stemmer) markY() {
	for i, c := range w.b {
		if c == 'y' && (i == 0 || vowel(w.b[i-1])) {
			w.b[i] = 'Y'
		}
	}
}

func (w *stemmer) regions() {
	w.r1 = w.region(0)
	for _, prefix := range [...]string{"gener", "commun", "arsen"} {
		if strings.HasPrefix(string(w.b), prefix) {
			w.r1 = len(prefix)
		}
	}
	w.r2 = w.region(w.r1)
}

// region returns the place behind the first consonant that follows a vowel.
func (w *stemmer) region(from int) int {
	for i := from + 1; i < len(w.b); i++ {
		if vowel(w.b[i-1]) && !vowel(w.b[i]) {
			return i + 1
		}
	}
	return len(w.b)
}

func (w *stemmer) ends(suffix string) bool {
	from := len(w.b) - len(suffix)
	return from >= 0 && w.b[len(w.b)-1] == suffix[len(suffix)-1] && string(w.b[from:]) == suffix
}

// replace puts an ending in the place of the last n letters.
func (w *stemmer) replace(n int, by string) { w.b = append(w.b[:len(w.b)-n], by...) }

// hasVowel reports whether there is a vowel before the last n letters.
func (w *stemmer) hasVowel(n int) bool {
	return slices.ContainsFunc(w.b[:len(w.b)-n], vowel)
}

// shortEnd reports whether the first n letters end in a short syllable.
func (w *stemmer) shortEnd(n int) bool {
	switch {
	case n == 2:
		return vowel(w.b[0]) && !vowel(w.b[1])
	case n < 3:
		return false
	}
	c := w.b[n-1]
	return !vowel(w.b[n-3]) && vowel(w.b[n-2]) && !vowel(c) && c != 'w' && c != 'x' && c != 'Y'
}

func (w *stemmer) plural() {
	switch {
	case w.ends("sses"):
		w.replace(2, "")
	case w.ends("ied"), w.ends("ies"):
		if len(w.b) > 4 {
			w.replace(2, "")
		} else {
			w.replace(1, "")
		}
	case w.ends("us"), w.ends("ss"):
	case w.ends("s") && w.hasVowel(2):
		w.replace(1, "")
	}
}

func (w *stemmer) tense() {
	for _, suffix := range [...]string{"eedly", "ingly", "edly", "eed", "ing", "ed"} {
		if !w.ends(suffix) {
			continue
		}
		n := len(suffix)
		switch {
		case suffix == "eed" || suffix == "eedly":
			if len(w.b)-n >= w.r1 {
				w.replace(n, "ee")
			}
		case w.hasVowel(n):
			w.replace(n, "")
			w.mend()
		}
		return
	}
}

// mend gives a word without its ending back what the ending took, or takes what it added.
func (w *stemmer) mend() {
	n := len(w.b)
	switch {
	case w.ends("at"), w.ends("bl"), w.ends("iz"):
		w.replace(0, "e")
	case n > 1 && w.b[n-1] == w.b[n-2] && strings.IndexByte("bdfgmnprt", w.b[n-1]) >= 0:
		w.replace(1, "")
	case w.r1 >= n && w.shortEnd(n):
		w.replace(0, "e")
	}
}

// rule says what an ending becomes.
type rule struct{ suffix, by string }

// Longer endings come before those that they end in.
var (
	derivations = []rule{
		{"ization", "ize"}, {"ational", "ate"}, {"fulness", "ful"}, {"ousness", "ous"}, {"iveness", "ive"},
		{"tional", "tion"}, {"biliti", "ble"}, {"lessli", "less"}, {"entli", "ent"}, {"ation", "ate"}, {"alism", "al"}, {"aliti", "al"},
		{"ousli", "ous"}, {"iviti", "ive"}, {"fulli", "ful"}, {"enci", "ence"}, {"anci", "ance"}, {"abli", "able"}, {"izer", "ize"},
		{"ator", "ate"}, {"alli", "al"}, {"bli", "ble"}, {"ogi", "og"}, {"li", ""},
	}
	derivationsOnce = []rule{
		{"ational", "ate"}, {"tional", "tion"}, {"alize", "al"}, {"icate", "ic"}, {"iciti", "ic"}, {"ative", ""}, {"ical", "ic"}, {"ness", ""}, {"ful", ""},
	}
	suffixes = []string{"ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion", "al", "er", "ic"}
)

func (w *stemmer) derived() {
	for _, r := range derivations {
		if !w.ends(r.suffix) {
			continue
		}
		at := len(w.b) - len(r.suffix)
		switch {
		case at < w.r1:
		case r.suffix == "ogi" && w.b[at-1] != 'l':
		case r.suffix == "li" && strings.IndexByte("cdeghkmnrt", w.b[at-1]) < 0:
		default:
			w.replace(len(r.suffix), r.by)
		}
		return
	}
}

func (w *stemmer) derivedOnce() {
	for _, r := range derivationsOnce {
		if !w.ends(r.suffix) {
			continue
		}
		if at := len(w.b) - len(r.suffix); at >= w.r1 && (r.suffix != "ative" || at >= w.r2) {
			w.replace(len(r.suffix), r.by)
		}
		return
	}
}

func (w *stemmer) suffix() {
	for _, s := range suffixes {
		if !w.ends(s) {
			continue
		}
		if at := len(w.b) - len(s); at >= w.r2 && (s != "ion" || w.b[at-1] == 's' || w.b[at-1] == 't') {
			w.replace(len(s), "")
		}
		return
	}
}

func (w *stemmer) last() {
	at := len(w.b) - 1
	switch {
	case at < 1:
	case w.b[at] == 'e' && (at >= w.r2 || at >= w.r1 && !w.shortEnd(at)),
		w.b[at] == 'l' && at >= w.r2 && w.b[at-1] == 'l':
		w.replace(1, "")
	}
}
