package lexical

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// The saturation of repeated tokens and the weight of a text's length: k1 and b of BM25.
const (
	saturation = 1.2
	lengthNorm = 0.75
)

// Hit is a text that has tokens of a query.
type Hit struct {
	Doc   int // its place in the list that the index was made of
	Score float64
}

// Index ranks texts. It does not change and is safe for concurrent use.
type Index struct {
	postings map[string][]posting
	norms    []float64 // by text: what its length makes of a token's frequency
}

type posting struct {
	doc   int
	count float64
}

// New makes an index of texts, each given as its tokens.
func New(docs [][]string) *Index {
	ix := &Index{postings: map[string][]posting{}}
	total := 0
	for i, tokens := range docs {
		total += len(tokens)
		for _, token := range tokens {
			list := ix.postings[token]
			if n := len(list); n > 0 && list[n-1].doc == i {
				list[n-1].count++
				continue
			}
			ix.postings[token] = append(list, posting{i, 1})
		}
	}
	average := max(float64(total)/float64(max(len(docs), 1)), 1)
	for _, tokens := range docs {
		ix.norms = append(ix.norms, saturation*(1-lengthNorm+lengthNorm*float64(len(tokens))/average))
	}
	return ix
}

// Search returns the texts that have at least one of the tokens, best first; those that
// answer equally well keep their order. A token that is given twice counts once, and each by its
// [Weight].
func (ix *Index) Search(tokens []string) []Hit {
	tokens = Spread(tokens, maps.Keys(ix.postings))
	words, parts := Divide(tokens)
	scores := map[int]float64{}
	for _, token := range slices.Concat(words, parts) {
		list := ix.postings[token]
		n, df := float64(len(ix.norms)), float64(len(list))
		weight := Weight(token)
		idf := math.Log((n+0.5)/df) * weight
		for _, p := range list {
			if weight == 1 || scores[p.doc] > 0 {
				scores[p.doc] += idf * p.count * (saturation + 1) / (p.count + ix.norms[p.doc])
			}
		}
	}
	hits := make([]Hit, 0, len(scores))
	for doc, score := range scores {
		hits = append(hits, Hit{doc, score})
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
	})
	return hits
}

// Divide returns the words of tokens and the parts of words, each once and in order.
func Divide(tokens []string) (words, parts []string) {
	all := slices.Sorted(slices.Values(tokens))
	for _, token := range slices.Compact(all) {
		if Weight(token) < 1 {
			parts = append(parts, token)
		} else {
			words = append(words, token)
		}
	}
	return words, parts
}
