// Package lexical finds texts by their words: it makes tokens of text in any script, and
// ranks a small set of texts by BM25.
//
// The sections of a page, the parts of a document and the notes of a memory are found by the
// same tokens, also those that an index on disk stores. It imports nothing of toolcrib.
// Start at [Tokens], then [Tokenizer] and [New].
package lexical

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Tokens returns what a text can be found by, in its order: the stems of its words in lower
// case, without English words that say nothing, and of scripts without spaces each run of two
// characters, of those whose characters are letters each run of three. Forms that Unicode holds
// compatible are one.
func Tokens(text string) (tokens []string) {
	var t Tokenizer
	t.each(text, func(at int) { tokens = append(tokens, t.tokens[at]) })
	return tokens
}

// Count is how often a text has a token.
type Count struct {
	Token string
	N     int
}

// Tokenizer counts the tokens of texts. It remembers the words of those before, since most
// words come again. The zero value is ready; it is not safe for concurrent use.
type Tokenizer struct {
	known  map[string]int // by a word as it is written: the place of its token, -1 = it has none
	places map[string]int // of tokens
	tokens []string
	times  []int // by the place of a token: how often the texts at hand have it
	seen   []int // places of the tokens that they have
}

// mostKnown is how many words are remembered.
const mostKnown = 1 << 15

// Count counts the tokens of texts, which are those of [Tokens], in the order in which they
// come first.
func (t *Tokenizer) Count(texts ...string) []Count {
	if len(t.known) > mostKnown {
		*t = Tokenizer{}
	}
	for _, text := range texts {
		t.each(text, func(at int) {
			if t.times[at]++; t.times[at] == 1 {
				t.seen = append(t.seen, at)
			}
		})
	}
	counts := make([]Count, len(t.seen))
	for i, at := range t.seen {
		counts[i] = Count{t.tokens[at], t.times[at]}
		t.times[at] = 0
	}
	t.seen = t.seen[:0]
	return counts
}

// each calls f with the place of each token of a text.
func (t *Tokenizer) each(text string, f func(at int)) {
	runs(norm.NFKC.String(text), func(run []byte, dense bool) {
		if !dense {
			if at := t.place(run, false); at >= 0 {
				f(at)
			}
			return
		}
		letter, _ := utf8.DecodeRune(run)
		n := runOf(letter)
		for end, letters := 0, 0; end < len(run); {
			_, size := utf8.DecodeRune(run[end:])
			end += size
			if letters++; letters > n {
				_, size := utf8.DecodeRune(run)
				run, end, letters = run[size:], end-size, n
			}
			if letters == n || end == len(run) {
				f(t.place(run[:end], true))
			}
		}
	})
}

// place returns the place of the token of a word, or of a run that is a token; -1 if it has none.
func (t *Tokenizer) place(word []byte, is bool) int {
	if at, ok := t.known[string(word)]; ok {
		return at
	}
	if t.known == nil {
		t.known, t.places = map[string]int{}, map[string]int{}
	}
	w := string(word)
	token := w
	switch {
	case is:
	case stopWords()[w]:
		token = ""
	default:
		token = light(Stem(w))
	}
	at, ok := t.places[token]
	switch {
	case token == "":
		at = -1
	case !ok:
		at = len(t.tokens)
		t.places[token] = at
		t.tokens, t.times = append(t.tokens, token), append(t.times, 0)
	}
	t.known[w] = at
	return at
}

// runs calls f with each run of letters, digits and marks in lower case; dense is one of a
// script without spaces.
func runs(text string, f func(run []byte, dense bool)) {
	var run []byte
	var last rune // of the run; 0 = it is empty
	dense := false
	end := func() {
		if last != 0 {
			f(run, dense)
			run, last = run[:0], 0
		}
	}
	for i := 0; i < len(text); {
		if b := text[i]; b < utf8.RuneSelf {
			i++
			if b = lowered(b); b == 0 {
				end()
				continue
			}
			if dense {
				end()
				dense = false
			}
			run, last = append(run, b), rune(b)
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch mark := r >= firstMark && unicode.IsMark(r); {
		case mark && last != 0:
		case unicode.IsLetter(r) || unicode.IsNumber(r) || mark:
			if d := spaceless(r); d != dense {
				end()
				dense = d
			}
		default:
			end()
			continue
		}
		if last == 'ํ' && r == 'า' || last == 'ໍ' && r == 'າ' {
			run = run[:len(run)-utf8.RuneLen(last)]
			r++ // the vowel am, which NFKC divides
		}
		last = unicode.ToLower(r)
		run = utf8.AppendRune(run, last)
	}
	end()
}

// lowered returns an ASCII letter in lower case or a digit, and 0 for others.
func lowered(b byte) byte {
	switch {
	case b >= 'a' && b <= 'z', b >= '0' && b <= '9':
		return b
	case b >= 'A' && b <= 'Z':
		return b | 0x20
	}
	return 0
}

// firstMark is the least character that is put on the one before.
const firstMark = '\u0300'

// spaceless reports whether a character is of a script that puts no spaces between words,
// or of Hangul, whose words carry endings.
func spaceless(r rune) bool {
	return r >= 0xe00 && (r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// runOf returns how many characters of a script without spaces a token has: three of Thai, Lao,
// Khmer and Myanmar, whose words have many letters.
func runOf(r rune) int {
	if r < 0x1100 || unicode.Is(unicode.Khmer, r) {
		return 3
	}
	return 2
}

// Written returns the first word of a text that has a token, as it is there, or the token.
func Written(text, token string) string {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.M) }) {
		if slices.Contains(Tokens(word), token) {
			return word
		}
	}
	return token
}

// Spread returns the tokens of a query with all those of a vocabulary that have it in the
// place of one of a script without spaces that is shorter than those of longer texts.
func Spread(tokens []string, vocabulary func(yield func(token string) bool)) []string {
	var spread, short []string
	for _, token := range tokens {
		if r, _ := utf8.DecodeRuneInString(token); spaceless(r) && utf8.RuneCountInString(token) < runOf(r) {
			short = append(short, token)
		} else {
			spread = append(spread, token)
		}
	}
	if short == nil {
		return tokens
	}
	for token := range vocabulary {
		if slices.ContainsFunc(short, func(s string) bool { return strings.Contains(token, s) }) {
			spread = append(spread, token)
		}
	}
	return spread
}

// stopWords are in every English text, or are the remains of words with an apostrophe.
var stopWords = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(`a about above after again all also am an and any are as at be because been before being below
		between both but by can cannot could did do does doing down during each few for from further had has have having he her here hers
		him his how i if in into is it its itself just me more most my no nor not of off on once only or other our ours out over own same
		she should so some such than that the their theirs them then there these they this those through to too under until up us very was
		we were what when where which while who whom why will with would you your yours
		d don doesn didn isn ll m re s t ve wasn won`) {
		set[w] = true
	}
	return set
})
