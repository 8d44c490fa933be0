package schema

import (
	"strings"
	"unicode"
)

// maxWord is the longest word, in bytes, that is compared.
const maxWord = 100

// Nearest returns the word of known that is nearest to word, "" if none is near. Case and
// separators do not count: filePath is file_path. Near means an edit distance
// (Damerau-Levenshtein, optimal string alignment) of at most a third of the longer word, or
// that one word is the start or a part of the other. Of equally near words the first wins.
func Nearest(word string, known []string) string {
	return nearest(word, known, distance)
}

// Misspelt returns the word of known that word is with few slips, "" if none is: with an edit
// distance of at most a quarter of the longer word, or 1. Of many words some are near any other
// by the measure of Nearest, and mean something else: names of tools are suggested by this one.
func Misspelt(word string, known []string) string {
	return nearest(word, known, func(a, b []rune) int {
		if d := Edits(a, b); d <= max(1, max(len(a), len(b))/4) && len(a) > 2 {
			return d
		}
		return farAway
	})
}

func nearest(word string, known []string, distance func(a, b []rune) int) string {
	if len(word) > maxWord {
		return ""
	}
	w := fold(word)
	best, least := "", farAway
	for _, k := range known {
		if d := distance(w, fold(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

const (
	asStart = 1000 // ranks behind every edit distance
	asPart  = 2000
	farAway = 3000
)

func distance(a, b []rune) int {
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	if len(long) > maxWord {
		return farAway
	}
	if d := Edits(short, long); d <= len(long)/3 {
		return d
	}
	if len(short) < 3 {
		return farAway
	}
	switch i := strings.Index(string(long), string(short)); {
	case i == 0:
		return asStart + len(long) - len(short)
	case i > 0:
		return asPart + len(long) - len(short)
	}
	return farAway
}

func fold(s string) []rune {
	folded := make([]rune, 0, len(s))
	for _, r := range s {
		if r != '_' && r != '-' && r != '.' && r != ' ' {
			folded = append(folded, unicode.ToLower(r))
		}
	}
	return folded
}

// Edits is the number of insertions, deletions, replacements and swaps of neighbours that
// turn a into b.
func Edits[T comparable](a, b []T) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
