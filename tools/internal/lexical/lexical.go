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
// characters, with the vowels and marks around them. Long Russian and Arabic words have their
// parts as well, see [Weight]. Forms that Unicode holds compatible are one.
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
	known  map[string][]int // by a word as it is written: the places of its tokens
	places map[string]int   // of tokens
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
			for _, at := range t.word(run, false) {
				f(at)
			}
			return
		}
		for first := letter(run); ; {
			second := letter(run[first:])
			f(t.word(run[:first+second], true)[0])
			if run = run[first:]; len(run) == second {
				return
			}
			first = second
		}
	})
}

// letter returns how many bytes the first letter of a run has, with the vowels and marks around
// it in Thai, Lao, Khmer and Myanmar.
func letter(run []byte) int {
	r, size := utf8.DecodeRune(run)
	if r < 0xe00 || r > 0x109f && !unicode.Is(unicode.Khmer, r) {
		return size
	}
	for joined := joins(r); size < len(run); {
		r, n := utf8.DecodeRune(run[size:])
		if !joined && !follows(r) {
			break
		}
		joined = joins(r)
		size += n
	}
	return size
}

// joins reports whether a character is a vowel that is written before its consonant, or a sign
// that binds the next one.
func joins(r rune) bool {
	const coeng, virama = '\u17d2', '\u1039'
	return r >= 'เ' && r <= 'ไ' || r >= 'ເ' && r <= 'ໄ' || r == coeng || r == virama
}

// follows reports whether a character is a mark, or a vowel that is written behind its consonant.
func follows(r rune) bool {
	return unicode.IsMark(r) || strings.ContainsRune("ะาำๅๆະາຳຽໆ", r)
}

// word returns the places of the tokens of a word, or of a run that is a token.
func (t *Tokenizer) word(word []byte, is bool) []int {
	if at, ok := t.known[string(word)]; ok {
		return at
	}
	if t.known == nil {
		t.known, t.places = map[string][]int{}, map[string]int{}
	}
	w := string(word)
	tokens := []string{w}
	switch {
	case is:
	case stopWords()[w]:
		tokens = nil
	default:
		tokens = light(Stem(w))
	}
	at := make([]int, len(tokens))
	for i, token := range tokens {
		place, ok := t.places[token]
		if !ok {
			place = len(t.tokens)
			t.places[token] = place
			t.tokens, t.times = append(t.tokens, token), append(t.times, 0)
		}
		at[i] = place
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

// Written returns the first word of a text that has a token, as it is there, or the token.
func Written(text, token string) string {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.M) }) {
		if slices.Contains(Tokens(word), token) {
			return word
		}
	}
	return token
}

// Letters returns the two letters of a token that is a run of a script without spaces. A run of one
// letter has no second, and another token has neither.
func Letters(token string) (first, second string) {
	if r, _ := utf8.DecodeRuneInString(token); !spaceless(r) {
		return "", ""
	}
	n := letter([]byte(token))
	return token[:n], token[n:]
}

// Compounds returns the tokens of the words that each two words in a row of a query would be if they
// were written as one. Parts of words and scripts without spaces make none.
func Compounds(tokens []string) (all []string) {
	const least = 6 // bytes: a shorter one is another word by chance
	last := ""
	for _, token := range tokens {
		switch {
		case Weight(token) < 1:
			continue
		case !Whole(token):
			last = ""
			continue
		case last != "" && len(last)+len(token) >= least:
			all = append(all, Stem(last+token))
		}
		last = token
	}
	return all
}

// Spread returns the tokens of a query with all those of a vocabulary that have it in the
// place of a single letter of a script without spaces.
func Spread(tokens []string, vocabulary func(yield func(token string) bool)) []string {
	var spread, short []string
	for _, token := range tokens {
		if r, _ := utf8.DecodeRuneInString(token); spaceless(r) && letter([]byte(token)) == len(token) {
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
