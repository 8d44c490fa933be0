package lexical

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// light returns what a Russian or Arabic word in lower case has in common with most of its
// other forms: it loses an ending, and an Arabic one its article. The parts of what is left of a
// Russian one, and of a whole Arabic one, follow. Other words stay as they are.
func light(word string) []string {
	var whole string
	switch r, _ := utf8.DecodeRuneInString(word); {
	case r >= 'а' && r <= 'ё':
		word = lightRussian(word)
		whole = word
	case r >= 'ء' && r <= 'ي' || r == 'ٱ':
		whole = arabicLetters().Replace(word)
		word = lightArabic(whole)
	default:
		return []string{word}
	}
	if word == "" {
		return nil
	}
	return append([]string{word}, parts(whole)...)
}

// parts returns the runs of three letters of a long word.
func parts(word string) (all []string) {
	const length, long = 3, 4
	letters := []rune(word)
	if len(letters) < long {
		return nil
	}
	for i := range len(letters) - length + 1 {
		all = append(all, partMark+string(letters[i:i+length]))
	}
	return all
}

// partMark begins the tokens that are parts of words.
const partMark = "~"

// Weight returns how much a token counts. One below 1 is of a part of a word, which tells words
// of one root, compounds and spellings from unrelated words: it ranks the texts that have a word
// of a query, but finds none.
func Weight(token string) float64 {
	if strings.HasPrefix(token, partMark) {
		return 0.2
	}
	return 1
}

// Whole reports whether a token is a word, and neither a part of one nor a run of a script without
// spaces.
func Whole(token string) bool {
	r, _ := utf8.DecodeRuneInString(token)
	return Weight(token) == 1 && !spaceless(r)
}

// endings of words, the longest first.
type endings []string

func newEndings(text string) endings {
	e := endings(strings.Fields(text))
	slices.SortFunc(e, func(a, b string) int { return len(b) - len(a) })
	return e
}

// off takes the longest ending off that leaves at least so many letters.
func (e endings) off(word string, least int) string {
	letters := len([]rune(word))
	for _, end := range e {
		if strings.HasSuffix(word, end) && letters-len([]rune(end)) >= least {
			return strings.TrimSuffix(word, end)
		}
	}
	return word
}

var russian = sync.OnceValue(func() endings {
	return newEndings(`а е и й о у ы ь ю я
		ам ами ас ах ая ев ей ем еми ею ёв её ёт ев ее ей ет ете ешь ешься ёшь ие ии ий им ими ит ите их ию ия иям иями иях иями ишь
		ов ого ое ой ом ому ою ую ыв ые ый ым ыми ых ью ья ям ями ях яя
		ала али ало ать аться ает аем аете ают ающий ающая ающие ающих ающего ал ан ана ано аны анный анная анные анных анного
		ил ила или ило ить иться ишь ят ящий ящие ящих ен ена ено ены енный енная енное енные енных енного енной енному енным
		ует уют уем уете овать ывать ывает ывают ивать ивает ивают
		ния нию нием нии ний ние ниями ниях ния
		ость ости остью остей остям остями остях
		ся сь`)
})

// lightRussian leaves the first letters of long words, so that a verb and the noun that is made
// of it are one. With Snowball's stemmer in its place fewer questions find their paragraph.
func lightRussian(word string) string {
	const least, most = 3, 6
	word = strings.ReplaceAll(word, "ё", "е")
	for _, self := range [...]string{"ся", "сь"} {
		if short := strings.TrimSuffix(word, self); short != word && len([]rune(short)) > least {
			word = short
		}
	}
	word = strings.TrimSuffix(russian().off(word, least), "ь")
	if letters := []rune(word); len(letters) > most {
		return string(letters[:most])
	}
	return word
}

var (
	arabicLetters = sync.OnceValue(func() *strings.Replacer {
		pairs := []string{"أ", "ا", "إ", "ا", "آ", "ا", "ٱ", "ا", "ى", "ي", "ة", "ه", "ـ", ""}
		for mark := 'ً'; mark <= 'ْ'; mark++ {
			pairs = append(pairs, string(mark), "")
		}
		return strings.NewReplacer(pairs...)
	})
	arabicArticles = []string{"وال", "بال", "كال", "فال", "ال", "لل", "و"}
	arabicEndings  = sync.OnceValue(func() endings { return newEndings("ها ان ات ون ين يه ه ي") })
)

// lightArabic is after the stemmer light10 of Larkey, Ballesteros and Connell (2007). The word has
// one letter for each group that is written alike.
func lightArabic(word string) string {
	for _, article := range arabicArticles {
		least := 2
		if article == "و" {
			least = 3
		}
		if short := strings.TrimPrefix(word, article); short != word && len([]rune(short)) >= least {
			word = short
			break
		}
	}
	for {
		short := arabicEndings().off(word, 2)
		if short == word {
			return word
		}
		word = short
	}
}
