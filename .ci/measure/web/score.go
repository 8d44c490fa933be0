package web

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	images    = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	links     = regexp.MustCompile(`\[((?:[^\[\]\\]|\\.)*)\]\([^)]*\)`)
	lineMarks = regexp.MustCompile(`(?m)^[ >]*(?:(?:#+|-|\d+\.|:|\[[ x]\]) +)+`)
	fences    = regexp.MustCompile("(?m)^ *```+[\\w+#-]*$")
	escaped   = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")
)

// withoutMarks takes images, targets of links and marks off Markdown.
func withoutMarks(text string) string {
	text = images.ReplaceAllString(text, " ")
	text = links.ReplaceAllString(text, "$1")
	text = fences.ReplaceAllString(text, "")
	text = lineMarks.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "<br>", "\n")
	// An escaped mark is a character of the text; the others join what they part.
	text = escaped.ReplaceAllStringFunc(text, func(s string) string { return "\x00" + string(rune(s[1])+0xe000) })
	text = strings.NewReplacer("*", "", "`", "", "~~", "").Replace(text)
	return strings.Map(func(r rune) rune {
		switch {
		case r == 0:
			return -1
		case r > 0xe000 && r < 0xe080:
			return r - 0xe000
		}
		return r
	}, text)
}

// wordsOf parts a text as the open set's measure does, into runs of letters, digits and _; a
// character of a script without spaces is a word.
func wordsOf(text string) []string {
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, string(word))
			word = word[:0]
		}
	}
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			end()
			words = append(words, string(r))
		case unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_':
			word = append(word, r)
		default:
			end()
		}
	}
	end()
	return words
}

// shingle is the length of the runs of words that are compared.
const shingle = 4

func shingles(text string) map[string]int {
	words, out := wordsOf(text), map[string]int{}
	for i := range max(1, len(words)-shingle+1) {
		if run := strings.Join(words[i:min(i+shingle, len(words))], " "); run != "" {
			out[run]++
		}
	}
	return out
}

// match returns precision and recall of the runs of words of a text.
func match(gold, text string) (precision, recall float64) {
	want, have := shingles(gold), shingles(text)
	hit, wanted, found := 0, 0, 0
	for run, n := range want {
		hit += min(n, have[run])
		wanted += n
	}
	for _, n := range have {
		found += n
	}
	if wanted == 0 && found == 0 {
		return 1, 1
	}
	return float64(hit) / float64(max(found, 1)), float64(hit) / float64(max(wanted, 1))
}
