package fsys

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Nearest returns the name of an entry that is nearest to name: the same but for case or
// Unicode form, or else with a few letters changed; "" if no entry is. exists is asked about
// an entry before it is chosen.
func Nearest(name string, entries []DirEntry, exists func(name string) bool) string {
	want := fold(name)
	best, least := "", min(max(1, len(want)/3), len(want)-1) // another letter alone is not near
	for _, e := range entries {
		n := distance(want, fold(e.Name), least+1)
		if (n < least || n == least && (best == "" || e.Name < best)) && exists(e.Name) {
			best, least = e.Name, n
		}
	}
	return best
}

// fold removes what differs between twins of a name: case and Unicode form.
func fold(name string) []rune { return []rune(strings.ToLower(norm.NFC.String(name))) }

// distance is the number of letters to insert, delete, replace or swap with the
// next one to make b of a (optimal string alignment), or limit if it is not less.
func distance(a, b []rune, limit int) int {
	if max(len(a)-len(b), len(b)-len(a)) >= limit {
		return limit
	}
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least >= limit {
			return limit
		}
		before, above, row = above, row, before
	}
	return min(above[len(b)], limit)
}
