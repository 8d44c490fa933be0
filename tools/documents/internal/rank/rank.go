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

// Weights returns how much lists of one searcher count, by the score of the best hit of each: one
// of another language than the passages, which have few of its words, counts little.
func Weights(best ...float64) []float64 {
	all := make([]float64, len(best))
	for i, b := range best {
		share := b / max(slices.Max(best), 1e-9)
		all[i] = share * share * share
	}
	return all
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
