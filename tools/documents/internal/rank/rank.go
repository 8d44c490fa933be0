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

// List is passages, best first and without repetition.
type List struct {
	IDs    []int64
	Weight float64
}

// Fuse joins lists by the ranks in them: a passage gets weight/(60+rank) for each. Equal ones
// keep the order in which the lists have them.
func Fuse(lists ...List) []int64 {
	scores := map[int64]float64{}
	var all []int64
	for _, list := range lists {
		for at, id := range list.IDs {
			if _, known := scores[id]; !known {
				all = append(all, id)
			}
			scores[id] += list.Weight / float64(damping+at+1)
		}
	}
	slices.SortStableFunc(all, func(a, b int64) int { return cmp.Compare(scores[b], scores[a]) })
	return all
}
