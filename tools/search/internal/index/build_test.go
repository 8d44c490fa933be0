package index_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"toolcrib/tools/search/internal/index"
)

// A segment has the documents of each gram, of frequent and of rare ones, of few and of
// many in all.
func TestWritten(t *testing.T) {
	const grams = 1 << 22
	rnd := rand.New(rand.NewPCG(7, 8))
	for _, tt := range []struct{ docs, common, rare, row int }{
		{docs: 1, common: 3, rare: 3}, {docs: 2, common: 20, rare: 20}, {docs: 13, common: 3, rare: 300}, {docs: 60, common: 400, rare: 40},
		{docs: 129, common: 30, rare: 800}, {docs: 700, common: 1000, rare: 100}, {docs: 8192, common: 20, rare: 10}, {docs: 3, common: 40_000, row: 30_000},
	} {
		var docs [][]uint32
		want := map[uint32][]uint16{}
		for doc := range tt.docs {
			var of []uint32
			seen := map[uint32]bool{}
			note := func(g uint32) {
				if !seen[g] {
					seen[g] = true
					of = append(of, g)
					want[g] = append(want[g], uint16(doc))
				}
			}
			for g := range tt.common {
				if rnd.IntN(g+1) < 10 || rnd.IntN(8) == 0 { // ever rarer
					note(uint32(g * 7))
				}
			}
			for range tt.rare {
				note(grams - 1 - uint32(rnd.IntN(50_000)))
			}
			for g := range tt.row {
				note(uint32(grams/2 + g))
			}
			docs = append(docs, of)
		}
		listed, marked, err := index.Written(t.Context(), docs)
		if err != nil {
			t.Fatal(err)
		}
		for way, got := range map[string]map[uint32][]uint16{"listed": listed, "marked": marked} {
			if len(got) != len(want) {
				t.Errorf("%+v: %d grams are %s, want %d", tt, len(got), way, len(want))
			}
			for g, docs := range want {
				if !slices.Equal(got[g], docs) {
					t.Fatalf("%+v: gram %d is %s in %v, want %v", tt, g, way, got[g], docs)
				}
			}
		}
	}
}
