// Package lexical finds texts by their words: it makes tokens of text in any script, and
// ranks a small set of texts by BM25.
//
// The sections of a page, the parts of a document and the notes of a memory are found by the
// same tokens, also those that an index on disk stores. It imports nothing of toolcrib.
// Start at [Tokens], then [New].
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
func Tokens(text string) []string {
	stop := stopWords()
	var tokens []string
	var word []byte
	var last rune                // of the word; 0 = it is empty
	dense := false               // the run is of a script without spaces
	known := map[string]string{} // the tokens of the words before, "" = none: most words come again
	end := func() {
		switch {
		case last == 0:
		case dense:
			letters := []rune(string(word))
			n := runOf(letters[0])
			for i := range max(len(letters)-n+1, 1) {
				tokens = append(tokens, string(letters[i:min(i+n, len(letters))]))
			}
		default:
			token, ok := known[string(word)]
			if !ok {
				w := string(word)
				if !stop[w] {
					token = light(Stem(w))
				}
				known[w] = token
			}
			if token != "" {
				tokens = append(tokens, token)
			}
		}
		word, last = word[:0], 0
	}
	for _, r := range norm.NFKC.String(text) {
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
			word = word[:len(word)-utf8.RuneLen(last)]
			r++ // the vowel am, which NFKC divides
		}
		last = unicode.ToLower(r)
		word = utf8.AppendRune(word, last)
	}
	end()
	return tokens
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
