package textfile

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/encoding/traditionalchinese"
)

// Undecodable reports whether an encoding is recognised but has no decoder.
func Undecodable(name string) bool {
	return slices.Contains([]string{"johab", "euc-tw", "iso-2022-kr", "iso-2022-cn"}, strings.ToLower(name))
}

// Converts returns the command that converts a text from an encoding without a decoder.
func Converts(name string) string {
	return fmt.Sprintf("iconv -f %s -t UTF-8", strings.ToUpper(name))
}

// approximate returns a decoder for an encoding that has no exact one, nil for others: good
// enough to judge how a text reads.
func approximate(name string) func([]byte) []byte {
	switch name {
	case "johab":
		return readJohab
	case "euc-tw":
		return readEUCTW
	}
	return nil
}

// The parts of a syllable in Johab, each as its number plus one, by their five bits.
const (
	initials = "\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	vowels   = "\x00\x00\x00\x01\x02\x03\x04\x05\x00\x00\x06\x07\x08\x09\x0a\x0b\x00\x00\x0c\x0d\x0e\x0f\x10\x11\x00\x00\x12\x13\x14\x15\x00\x00"
	finals   = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x00\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x00\x00"
)

// readJohab reads the syllables of Korean, which have five bits for each part.
func readJohab(text []byte) []byte {
	return pairs(text, func(hi, lo byte) rune {
		u := int(hi)<<8 | int(lo)
		i, v, f := initials[u>>10&31], vowels[u>>5&31], finals[u&31]
		if i == 0 || v == 0 || f == 0 {
			return '\ufffd'
		}
		return 0xac00 + (rune(i-1)*21+rune(v-1))*28 + rune(f-1)
	})
}

// readEUCTW reads punctuation and the frequent characters, which are in the order of Big5,
// but in rows of 94.
func readEUCTW(text []byte) []byte {
	big5 := traditionalchinese.Big5.NewDecoder()
	return pairs(text, func(hi, lo byte) rune {
		first, row := byte(0xa1), 0xa1
		if hi >= 0xc4 {
			first, row = 0xc4, 0xa4
		}
		if hi < 0xa1 || lo < 0xa1 {
			return '\ufffd'
		}
		n := int(hi-first)*94 + int(lo) - 0xa1
		const perRow, half = 157, 63
		second := 0x40 + n%perRow
		if n%perRow >= half {
			second = 0xa1 + n%perRow - half
		}
		char, err := big5.Bytes([]byte{byte(row + n/perRow), byte(second)})
		if err != nil {
			return '\ufffd'
		}
		return []rune(string(char))[0]
	})
}

// pairs decodes characters of two bytes whose first byte is not ASCII.
func pairs(text []byte, of func(hi, lo byte) rune) []byte {
	out := make([]byte, 0, 2*len(text))
	for i := 0; i < len(text); i++ {
		if text[i] < 0x80 || i+1 == len(text) {
			out = append(out, text[i]&0x7f)
			continue
		}
		out = append(out, string(of(text[i], text[i+1]))...)
		i++
	}
	return out
}
