package rank_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/documents/internal/rank"
)

func TestFuse(t *testing.T) {
	one := func(ids ...int64) rank.List { return rank.List{IDs: ids, Weight: 1} }
	two := func(ids ...int64) rank.List { return rank.List{IDs: ids, Weight: 2} }
	for _, test := range []struct {
		name  string
		lists []rank.List
		want  []int64
	}{
		{"nothing", nil, nil},
		{"one list", []rank.List{one(3, 1, 2)}, []int64{3, 1, 2}},
		{"in both", []rank.List{one(1, 2, 3), one(4, 3)}, []int64{3, 1, 4, 2}},
		{"weights", []rank.List{one(4, 5), two(1, 2)}, []int64{1, 2, 4, 5}},
		{"the heavier one does not decide alone", []rank.List{two(1, 2), one(2, 3)}, []int64{2, 1, 3}},
	} {
		if diff := cmp.Diff(test.want, rank.Fuse(test.lists...)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestWeights(t *testing.T) {
	if diff := cmp.Diff([]float64{1, 0.125, 0}, rank.Weights(10, 5, 0)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{0, 0}, rank.Weights(0, 0)); diff != "" {
		t.Error(diff)
	}
}

func TestSlips(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"word", "word", 0},
		{"word", "wrod", 1},
		{"word", "wor", 1},
		{"word", "words", 1},
		{"word", "ward", 1},
		{"слово", "слова", 1},
		{"boundary", "bounrday", 2},
		{"boundary", "bondry", 2},
		{"word", "other", 3},
		{"a", "abcdef", 3},
		{"", "", 0},
	} {
		if got := rank.Slips([]rune(test.a), []rune(test.b), 2); got != test.want {
			t.Errorf("%s, %s: %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

// Vectors of words that are spelt alike are alike, whatever the weights.
func TestHashed(t *testing.T) {
	vector := func(words ...string) []int8 {
		weights := map[string]float64{}
		for _, w := range words {
			weights[w] = 2
		}
		return rank.Hashed(weights)
	}
	one := vector("boundary", "layer")
	for _, test := range []struct {
		words    []string
		from, to float64
	}{
		{[]string{"layer", "boundary"}, 0.999, 1.001},
		{[]string{"boundaries", "layers"}, 0.5, 0.99},
		{[]string{"bounadry", "layer"}, 0.5, 0.99},
		{[]string{"cooking", "recipe"}, -0.2, 0.2},
		{nil, 0, 0},
	} {
		if got := rank.Cosine(one, vector(test.words...)); got < test.from || got > test.to {
			t.Errorf("%v: %.3f", test.words, got)
		}
	}
}
