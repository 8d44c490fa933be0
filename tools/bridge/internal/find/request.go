package find

import (
	"slices"
	"strings"

	"toolcrib/schema"
	"toolcrib/tools/internal/lexical"
)

// concept is one thing that a request is about: the terms that may mean it, each with its
// certainty.
type concept struct {
	terms  map[string]float64
	weight float64
}

// How certainly a term means a word of the request.
const (
	asSynonym = 0.75
	asPart    = 0.5 // a word of a phrase
	asPrefix  = 0.8 // of the whole word
	asTypo    = 0.7 // and once more for the second slip
)

// weak is the weight of a concept that most requests have.
const weak = 0.35

// aside is the weight of the words after one of adjuncts: they name the purpose, not the
// thing.
const aside = 0.6

// maxWords is how much of a request is read.
const maxWords = 64

// concepts splits a request into the longest phrases that the synonyms know, and single words.
// The first ones count most.
func (ix *Index) concepts(request string) []concept {
	words := slices.DeleteFunc(plain(request), func(word string) bool { return articles(word) })
	words = words[:min(len(words), maxWords)]
	stems := make([]string, len(words))
	for i, word := range words {
		stems[i] = lexical.Stem(word)
	}
	var list []concept
	if len(words) > 2 && (words[0] == "which" || words[0] == "what") {
		list = append(list, concept{ix.meanings("list"), weak})
	}
	importance := 1.0
	for i := 0; i < len(words); {
		if adjuncts(words[i]) && len(list) > 1 {
			importance = aside
		}
		if n, read, others := ix.synonyms.phrase(stems[i:]); n > 0 {
			for _, word := range read {
				list = append(list, concept{ix.meanings(word), importance})
			}
			if read == nil {
				list = append(list, concept{phrased(words[i:i+n], stems[i:i+n], others), importance})
			}
			i += n
			continue
		}
		if !stopWords(words[i]) {
			c := concept{ix.meanings(stems[i]), importance}
			if weakWords(words[i]) {
				c.weight *= weak
			}
			list = append(list, c)
		}
		i++
	}
	for i := range list {
		list[i].weight *= max(0.6, 1-0.08*float64(i))
	}
	return list
}

func phrased(words, stems, others []string) map[string]float64 {
	terms := map[string]float64{}
	for i, s := range stems {
		if !stopWords(words[i]) && !weakWords(words[i]) {
			terms[s] = asPart
		}
	}
	for _, s := range others {
		terms[s] = asSynonym
	}
	return terms
}

// meanings returns the terms that may mean a word, each with its certainty.
func (ix *Index) meanings(word string) map[string]float64 {
	terms := map[string]float64{}
	add := func(term string, weight float64) { terms[term] = max(terms[term], weight) }
	others := ix.synonyms.of(word)
	for _, other := range others {
		add(other, asSynonym)
	}
	add(word, 1)
	known := len(others) > 0 || len(ix.postings[word]) > 0
	for _, term := range ix.terms {
		if weight := prefix(word, term); weight > 0 {
			add(term, weight)
			known = true
		}
	}
	if known || len(word) < 4 {
		return terms
	}
	slips := 1 + len(word)/8
	for _, term := range slices.Concat(ix.terms, ix.synonyms.words()) {
		n := distance(word, term, slips)
		if n > slips {
			continue
		}
		weight := asTypo
		if n > 1 {
			weight *= asTypo
		}
		add(term, weight)
		for _, other := range ix.synonyms.of(term) {
			add(other, weight*asSynonym)
		}
	}
	return terms
}

// prefix returns how certainly a term means a word if one is a prefix of the other: config for
// configuration.
func prefix(word, term string) float64 {
	short, long := word, term
	if len(short) > len(long) {
		short, long = long, short
	}
	if len(short) < 4 || len(short) == len(long) || 2*len(short) < len(long) || !strings.HasPrefix(long, short) {
		return 0
	}
	return asPrefix * float64(len(short)) / float64(len(long))
}

// distance counts the slips between two words: a letter too many, missing or
// wrong, or two that are exchanged. Beyond limit it is limit+1.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit || a == "" || b == "" || a[0] != b[0] && limit < 2 {
		return limit + 1
	}
	return min(schema.Edits([]byte(a), []byte(b)), limit+1)
}
