package redact

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
)

// needles finds many values at once by Wu and Manber's algorithm: the last two of
// [MinKnown] bytes give the distance to the next position at which a value can begin.
type needles struct {
	shift [1 << 16]uint8
	begin map[uint64][]needle // by the first MinKnown bytes; the longest first
}

// needle is one form of a known value.
type needle struct {
	text string
	// shared: the characters before and after it in base64 hold some of its bits.
	shared bool
}

func newNeedles(values []string) *needles {
	n := &needles{begin: map[uint64][]needle{}}
	for i := range n.shift {
		n.shift[i] = MinKnown - 1
	}
	for _, v := range values {
		for _, form := range forms(v) {
			n.add(form)
		}
	}
	for _, list := range n.begin {
		slices.SortFunc(list, func(a, b needle) int { return len(b.text) - len(a.text) })
	}
	return n
}

func (n *needles) add(form needle) {
	if len(form.text) < MinKnown || isMark(form.text) {
		return
	}
	for i := range MinKnown - 1 {
		pair := uint16(form.text[i])<<8 | uint16(form.text[i+1])
		n.shift[pair] = min(n.shift[pair], uint8(MinKnown-2-i))
	}
	first := word(form.text)
	if !slices.Contains(n.begin[first], form) {
		n.begin[first] = append(n.begin[first], form)
	}
}

func word(s string) uint64 {
	return binary.LittleEndian.Uint64([]byte(s[:MinKnown]))
}

// forms returns the forms of a value without escapes, which views remove. Each line of a
// value with several, such as a key, is a value too.
func forms(value string) []needle {
	var list []needle
	plain := []string{value, unescaped(value)}
	for line := range strings.Lines(value) {
		plain = append(plain, strings.TrimSpace(line))
	}
	for _, p := range plain {
		list = append(list, needle{text: p}, needle{text: strings.ReplaceAll(p, " ", "+")})
		if len(p) < MinKnown {
			continue
		}
		lower := hex.EncodeToString([]byte(p))
		list = append(list,
			needle{text: lower}, needle{text: strings.ToUpper(lower)},
			needle{text: strings.TrimRight(base32.StdEncoding.EncodeToString([]byte(p)), "=")})
		for before := range 3 {
			list = append(list, inBase64(base64.RawStdEncoding, before, p), inBase64(base64.RawURLEncoding, before, p))
		}
	}
	return list
}

// inBase64 returns the characters that a value always has in base64 with this many bytes
// before it.
func inBase64(enc *base64.Encoding, before int, value string) needle {
	text := enc.EncodeToString(append(make([]byte, before), value...))
	whole := (before + len(value)) * 8 / 6
	return needle{text: text[(before*8+5)/6 : whole], shared: true}
}

// find adds the positions of known values to spans.
func (n *needles) find(s string, spans []span) []span {
	for i := 0; i+MinKnown <= len(s); {
		if d := n.shift[uint16(s[i+MinKnown-2])<<8|uint16(s[i+MinKnown-1])]; d > 0 {
			i += int(d)
			continue
		}
		for _, c := range n.begin[word(s[i:])] {
			if strings.HasPrefix(s[i:], c.text) {
				spans = append(spans, c.at(s, i))
				break
			}
		}
		i++
	}
	return spans
}

func (n needle) at(s string, from int) span {
	to := from + len(n.text)
	if n.shared {
		if from > 0 && isBase64(s[from-1]) {
			from--
		}
		if to < len(s) && isBase64(s[to]) {
			to++
		}
		for to < len(s) && s[to] == '=' {
			to++
		}
	}
	return span{from: from, to: to}
}

func isBase64(c byte) bool {
	return isAlnum(c) || strings.IndexByte("+/-_", c) >= 0
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
