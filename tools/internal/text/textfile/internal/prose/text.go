package prose

import (
	"math"
	"unicode/utf8"
)

// Text is the parts of a text that show its language.
type Text struct {
	runes  []rune   // the different characters
	units  []uint16 // the text, each the index of its character
	words  []word
	plain  float64 // weight of the words that are only ASCII
	beyond int     // characters of the other words
}

// word is a run of letters of ASCII and of characters beyond it.
type word struct {
	begin, end int
	plain      bool // only ASCII
}

// OfBytes returns a text in an encoding of one byte a character; [Text.Read] gives it the
// characters.
func OfBytes(text []byte) Text {
	t := Text{units: make([]uint16, len(text))}
	for i, c := range text {
		t.units[i] = uint16(c)
	}
	t.split(func(u uint16) (letter, plain bool) { return separates(rune(u)) })
	return t
}

// Read returns the text with the characters of its bytes.
func (t Text) Read(character func(byte) rune) Text {
	t.runes = make([]rune, 256)
	for _, u := range t.units {
		if t.runes[u] == 0 {
			t.runes[u] = character(byte(u))
		}
	}
	return t
}

// OfRunes returns a decoded text.
func OfRunes(text []byte) Text {
	t := Text{units: make([]uint16, 0, len(text)/2)}
	index := map[rune]uint16{}
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		i, ok := index[r]
		if !ok {
			i = uint16(len(t.runes))
			index[r] = i
			t.runes = append(t.runes, r)
		}
		t.units = append(t.units, i)
	}
	t.split(func(u uint16) (letter, plain bool) { return separates(t.runes[u]) })
	return t
}

// Weigh gives the plain words the weight that they have in another reading of the same
// bytes, so that the two can be compared.
func (t Text) Weigh(other Text) Text {
	t.plain = other.plain
	return t
}

// separates reports whether a character is part of a word, and whether it is ASCII.
func separates(r rune) (letter, plain bool) {
	plain = r < utf8.RuneSelf
	return !plain || r|0x20 >= 'a' && r|0x20 <= 'z', plain
}

// split finds the words. Words of only ASCII show the language of the others but little
// more, so they weigh little, and together less than the others.
func (t *Text) split(of func(uint16) (letter, plain bool)) {
	plain := 0
	for i := 0; i < len(t.units); {
		if letter, _ := of(t.units[i]); !letter {
			i++
			continue
		}
		w := word{begin: i, plain: true}
		for ; i < len(t.units); i++ {
			letter, ascii := of(t.units[i])
			if !letter {
				break
			}
			w.plain = w.plain && ascii
		}
		w.end = i
		t.words = append(t.words, w)
		if w.plain {
			plain += w.end - w.begin
		} else {
			t.beyond += w.end - w.begin
		}
	}
	t.plain = 0.25
	if plain > t.beyond {
		t.plain *= float64(t.beyond) / float64(plain)
	}
}

// flat is the cost of a letter of an ASCII word in a language that has other letters.
const flat = 4

// Fit says how well a text fits a language.
type Fit struct {
	// Bits is the cost of its words, the fewer the likelier; words of only ASCII weigh
	// little.
	Bits float64
	// mean is the mean excess of bits of a letter of the other words over the typical cost,
	// most its limit; odd is the number of improbable places in these words, and letters
	// the number of their letters.
	mean, most   float64
	odd, letters int
}

// Typical reports whether the text is typical for the language.
func (f Fit) Typical() bool {
	const odd = 100
	return f.letters >= 8 && f.mean < f.most && f.odd*odd <= f.letters
}

// Fit measures how a text fits the language.
func (m *Model) Fit(t Text) Fit {
	symbols := make([]symbol, len(t.runes))
	for i, r := range t.runes {
		if r != 0 { // 0 is a byte that does not occur
			symbols[i] = m.symbol(r)
		}
	}
	var beyond, plain tally
	for _, w := range t.words {
		units := t.units[w.begin:w.end]
		switch {
		case w.plain && !m.latin:
			plain.bits += flat * len(units)
		case w.plain:
			m.word(symbols, units, &plain)
		case m.classes > 0:
			m.word(symbols, units, &beyond)
		default:
			m.phrase(symbols, units, &beyond)
		}
	}
	fit := Fit{Bits: float64(beyond.bits) + t.plain*float64(plain.bits), odd: beyond.odd, letters: t.beyond - beyond.ascii}
	letters := float64(max(fit.letters, 1))
	fit.mean = float64(beyond.bits-ascii*beyond.ascii)/letters - m.typical
	fit.most = 0.7 + 3/math.Sqrt(letters) // a few letters vary more
	if m.classes == 0 {
		fit.most++
	}
	return fit
}

// tally is the bits of words, the number of odd places in them, and, if characters have no
// pairs, the number of their ASCII letters.
type tally struct{ bits, odd, ascii int }

// Bits of an ASCII letter where characters have no pairs, and of one next to a character of
// another script.
const (
	ascii  = 5
	joined = 5
)

// phrase adds a word if characters have no pairs.
func (m *Model) phrase(symbols []symbol, units []uint16, sum *tally) {
	eighths := 0
	for i, u := range units {
		s := symbols[u]
		if s.ascii {
			sum.bits += ascii
			sum.ascii++
		} else {
			eighths += int(s.extra)
		}
		if i > 0 && s.ascii != symbols[units[i-1]].ascii {
			sum.bits += joined
		}
		if s.odd {
			sum.odd++
		}
	}
	sum.bits += eighths / 8
}

// Bits in addition to those of pairs.
const (
	capital   = 1
	mixed     = 12 // a capital after a small letter, or a small one after capitals
	misplaced = 5  // a sign before a letter
)

// misplaces reports whether a sign before a letter is misplaced, given the symbol before
// the sign.
func misplaces(sign, before symbol) bool {
	switch sign.place {
	case joins:
		return before.class == between
	case opens:
		return before.class != between
	}
	return sign.place == alone
}

// word adds a word of an alphabet.
func (m *Model) word(symbols []symbol, units []uint16, sum *tally) {
	var last, before symbol
	uppers := 0
	for _, u := range units {
		s := symbols[u]
		sum.bits += int(s.extra)
		if last.class != between || s.class != between {
			sum.bits += m.pair(last.class, s.class)
		}
		if s.class != between && misplaces(last, before) {
			sum.bits += misplaced
		}
		switch {
		case s.upper && last.lower, s.lower && uppers > 1:
			sum.bits += mixed
			sum.odd++
		case s.upper:
			sum.bits += capital
		}
		if s.odd {
			sum.odd++
		}
		if s.upper {
			uppers++
		} else {
			uppers = 0
		}
		before, last = last, s
	}
	if last.class != between {
		sum.bits += m.pair(last.class, between)
	}
}
