package prose

import (
	_ "embed"
	"slices"
	"sync"
	"unicode"
)

//go:embed models.bin
var data string

// Model is how a language is written.
type Model struct {
	typical float64 // what a letter costs in the mean, in bits
	letters []rune  // lower case, in order
	// costs are of an alphabet the bits of each pair of classes, two a byte; else the
	// eighths of a bit of each band of characters, and then the band of each letter.
	costs   string
	classes int  // of an alphabet, 0 where characters have no pairs
	latin   bool // its letters are ASCII too
}

// bands is how many costs a model of characters has, the last one for all others.
const bands = 7

// Classes of an alphabet beside its letters, which are 1 to len(letters).
const (
	between   = 0 // what is no letter
	ownLetter = 1
)

// models are read at the first use.
var models = sync.OnceValue(func() map[string]*Model {
	all := map[string]*Model{}
	for rest := data; rest != ""; {
		var language, letters, costs string
		language, rest = part(rest)
		letters, rest = part(rest)
		typical := float64(rest[0]) / 16
		costs, rest = part(rest[1:])
		m := &Model{typical: typical, letters: []rune(letters), costs: costs}
		if n := len(m.letters) + 3; len(costs) == (n*n+1)/2 {
			m.classes = n
			_, m.latin = slices.BinarySearch(m.letters, 'a')
		}
		all[language] = m
	}
	return all
})

// part takes a string after its length from the start of p.
func part(p string) (text, rest string) {
	n := 2 + int(p[0]) + int(p[1])<<8
	return p[2:n], p[n:]
}

// Of returns the model of a language, nil if there is none.
func Of(language string) *Model { return models()[language] }

// All returns the models of all languages, in no order.
func All() map[string]*Model { return models() }

// symbol is what a character is to a model.
type symbol struct {
	class uint8
	extra uint8 // bits beside those of the pair, or all of them in eighths
	upper bool
	lower bool
	ascii bool // in a model of characters
	place position
	odd   bool // nobody writes it
}

// position is where a sign stands.
type position uint8

const (
	anywhere position = iota
	joins             // between letters
	opens             // before the first letter of a word, or after its last one
	alone             // not before a letter
)

// symbol returns what a character is to the model.
func (m *Model) symbol(r rune) symbol {
	if m.classes == 0 {
		return m.character(r)
	}
	low := unicode.ToLower(r)
	s := symbol{upper: low != r, lower: low == r && unicode.IsLower(r)}
	i, ok := slices.BinarySearch(m.letters, low)
	if !ok {
		i, ok = slices.BinarySearch(m.letters, variant(low))
	}
	switch {
	case ok:
		s.class = uint8(ownLetter + i)
	case low < unicode.MaxASCII && unicode.IsLetter(low):
		s.class, s.extra = uint8(len(m.letters)+1), 4
	case unicode.IsLetter(r) || unicode.IsMark(r):
		s.class, s.extra = uint8(len(m.letters)+2), foreign(r)
	default:
		s.class, s.extra = between, sign(r)
		s.place, s.odd = placeOf(r), odd(r)
	}
	return s
}

// character is symbol for a model of characters: all of the cost is in extra.
func (m *Model) character(r rune) symbol {
	if i, ok := slices.BinarySearch(m.letters, r); ok {
		return symbol{extra: m.costs[m.costs[bands+i]]}
	}
	switch {
	case r < unicode.MaxASCII:
		return symbol{ascii: true}
	case unicode.IsLetter(r):
		if same := unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana); !same {
			return symbol{extra: 8 * 15}
		}
		return symbol{extra: m.costs[bands-1]}
	}
	return symbol{extra: 8 * max(sign(r), 9), odd: odd(r)}
}

// variant returns the letter that some encodings have in the place of a similar one.
func variant(r rune) rune {
	switch r {
	case 'ş':
		return 'ș'
	case 'ţ':
		return 'ț'
	case 'ی':
		return 'ي'
	}
	return r
}

// pair returns the bits of a class after another one.
func (m *Model) pair(a, b uint8) int {
	i := int(a)*m.classes + int(b)
	return int(m.costs[i/2]>>(4*(i&1))) & 15
}

// foreign is what a letter of no alphabet of the language costs beside its pair.
func foreign(r rune) uint8 {
	if unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Hebrew, unicode.Arabic, unicode.Thai) {
		return 5
	}
	return 11
}

// placeOf returns where a sign stands.
func placeOf(r rune) position {
	switch r {
	case '’', '·':
		return joins
	case '“', '”', '„', '«', '»', '‘', '‚', '‹', '›', '¿', '¡', '…':
		return opens
	case '–', '—', '\u00a0', '€', '£', '§', '•', '№', '،', '؛', '؟', '\u200e', '\u200f':
		return anywhere
	}
	return alone
}

// odd reports a character that is in no text.
func odd(r rune) bool {
	return r == unicode.ReplacementChar || r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Co, r)
}

// sign is what a character that is no letter costs.
func sign(r rune) uint8 {
	switch {
	case r < unicode.MaxASCII:
		return 0
	case r == unicode.ReplacementChar:
		return 28
	case r < 0xa0:
		return 24
	case r >= 0xe000 && r <= 0xf8ff:
		return 20
	}
	switch r {
	case '“', '”', '„', '«', '»', '’', '‘', '–', '—', '،', '؟', '؛', '№', '\u00a0':
		return 5
	case '…', '‚', '‹', '›', '•', '€', '£', '§', '°', '·', '©', '®', '™', '¿', '¡', 'º', 'ª', '\u200e', '\u200f':
		return 8
	}
	if r >= 0x2500 && r < 0x2580 {
		return 13
	}
	return 16
}
