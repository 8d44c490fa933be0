package prose

import (
	_ "embed"
	"slices"
	"sync"
	"unicode"
)

//go:embed models.bin
var data string

// Model is the statistics of a written language.
type Model struct {
	typical float64 // mean cost of a letter, in bits
	letters []rune  // lower case, in order
	// costs are, for an alphabet, the bits of each pair of classes, two a byte; else the
	// cost of each band of characters in eighths of a bit, and then the band of each
	// letter.
	costs   string
	classes int  // of an alphabet, 0 = characters have no pairs
	latin   bool // its letters are ASCII too
}

// bands is how many costs a model of characters has, the last one for all others.
const bands = 7

// Classes of an alphabet besides its letters, which are 1 to len(letters).
const (
	between   = 0 // not a letter
	ownLetter = 1
)

// models are read at their first use.
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

// symbol is a character in terms of a model.
type symbol struct {
	class uint8
	extra uint8 // bits in addition to the pair's, or all bits in eighths
	upper bool
	lower bool
	ascii bool // in a model of characters
	place position
	odd   bool // nobody writes it
}

// position is the place of a sign.
type position uint8

const (
	anywhere position = iota
	joins             // between letters
	opens             // before the first letter of a word, or after its last one
	alone             // not before a letter
)

// symbol returns a character in terms of the model.
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

// character is symbol for a model of characters: extra has the whole cost.
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

// variant returns the letter that some encodings use for a similar one.
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

// pair returns the bits of a class after another.
func (m *Model) pair(a, b uint8) int {
	i := int(a)*m.classes + int(b)
	return int(m.costs[i/2]>>(4*(i&1))) & 15
}

// foreign is the cost of a letter outside of the language's alphabet, in addition to its
// pair.
func foreign(r rune) uint8 {
	if unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Hebrew, unicode.Arabic, unicode.Thai) {
		return 5
	}
	return 11
}

// placeOf returns the place of a sign.
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

// odd reports whether a character occurs in no text.
func odd(r rune) bool {
	return r == unicode.ReplacementChar || r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Co, r)
}

// sign returns the cost of a character that is not a letter.
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
