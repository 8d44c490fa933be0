// Package rank orders what searches of an index found.
//
// It touches no files and no index. Start at [Fuse].
package rank

import (
	"cmp"
	"slices"
)

// damping keeps the first ranks of one list from deciding alone.
const damping = 60

// Fuse joins lists of passages, each best first and without repetition, by the ranks in
// them: a passage gets 1/(60+rank) for each. Equal ones keep the order in which the lists
// have them.
func Fuse(lists [][]int64) []int64 {
	scores := map[int64]float64{}
	var all []int64
	for _, list := range lists {
		for at, id := range list {
			if _, known := scores[id]; !known {
				all = append(all, id)
			}
			scores[id] += 1 / float64(damping+at+1)
		}
	}
	slices.SortStableFunc(all, func(a, b int64) int { return cmp.Compare(scores[b], scores[a]) })
	return all
}
