// Package find ranks short texts by how well they answer a request in plain language: the
// descriptions of tools, a few hundred at most.
//
// It knows words, not tools, and imports of toolcrib only what stems words. Start at [New] and
// [Index.Search]: words.go makes terms of text, request.go makes concepts of a request,
// synonyms.txt maps the words of users to the words of the texts.
package find

import (
	"cmp"
	"math"
	"slices"
)

// Doc is one thing that can be found.
type Doc struct {
	Name   string // a request that contains it in full finds it first
	Fields []Field
}

// Field is a part of a Doc. All documents have their fields in the same order: a long text
// weighs as much as a short one in the same field.
type Field struct {
	Weight float64
	Text   string
}

// Hit is a document that answers a request.
type Hit struct {
	Doc   int // its place in the list that the index was made of
	Score float64
	// Fit is how well the document answers the request, whatever else there is: 0 = not at
	// all, 1 = as one that is about a rare word and nothing else is asked. Score orders the
	// documents of one request; Fit compares requests.
	Fit float64
}

// Index finds documents. It does not change and is safe for concurrent use.
type Index struct {
	names    []string   // of the documents, as words
	parts    [][]string // the terms of these
	postings map[string][]posting
	terms    []string // the keys of postings, sorted
	synonyms *thesaurus
}

type posting struct {
	doc    int
	weight float64 // how much the document is about the term
}

// The weight of repeated terms and of long fields: the constants k1 and b of Robertson and
// Zaragoza, The Probabilistic Relevance Framework (2009).
const (
	saturation = 1.2
	lengthNorm = 0.5
)

// New makes an index. It is a BM25F: the frequencies of a term in the fields of a
// document are weighed and summed before they saturate.
func New(docs []Doc) *Index {
	ix := &Index{postings: map[string][]posting{}, synonyms: newThesaurus()}
	words := make([][][]string, len(docs)) // by document and field
	var total, filled []float64            // by field
	for i, d := range docs {
		ix.names = append(ix.names, joined(split(d.Name)))
		ix.parts = append(ix.parts, stemsOf(d.Name))
		for f, field := range d.Fields {
			if f == len(total) {
				total, filled = append(total, 0), append(filled, 0)
			}
			terms := termsOf(field.Text)
			words[i] = append(words[i], terms)
			if len(terms) > 0 {
				total[f], filled[f] = total[f]+float64(len(terms)), filled[f]+1
			}
		}
	}
	for i, d := range docs {
		about := map[string]float64{}
		for f, terms := range words[i] {
			norm := 1 - lengthNorm + lengthNorm*float64(len(terms))*filled[f]/max(total[f], 1)
			for _, term := range terms {
				about[term] += d.Fields[f].Weight / norm
			}
		}
		for term, weight := range about {
			ix.postings[term] = append(ix.postings[term], posting{i, weight})
		}
	}
	for term := range ix.postings {
		ix.terms = append(ix.terms, term)
	}
	slices.Sort(ix.terms)
	return ix
}

// asNamed is the extra weight of a document whose name the request contains, also by synonyms.
const asNamed = 1.2

// nameShare returns how far a request contains a name: the square of the share of its terms.
func nameShare(name []string, concepts []concept) float64 {
	sum := 0.0
	for _, term := range name {
		best := 0.0
		for _, c := range concepts {
			best = max(best, c.terms[term])
		}
		sum += best
	}
	share := sum / float64(max(len(name), 1))
	return share * share
}

// named is added to the score of a document whose full name is in the request.
const named = 100

// Search returns the documents that answer a request, best first; those that
// answer equally well keep their order.
func (ix *Index) Search(request string) []Hit {
	concepts := ix.concepts(request)
	scores := make([]float64, len(ix.names))
	matched := make([]float64, len(ix.names)) // the weights of the concepts that a document has, as far as it certainly has them
	var all, asked float64                    // of the concepts that some document has, and of all
	for _, c := range concepts {
		best, sure := map[int]float64{}, map[int]float64{}
		rarest, strange := 0.0, 0.0 // strange: of a word that no document has but by its synonyms
		for term, weight := range c.terms {
			list := ix.postings[term]
			idf := ix.idf(len(list))
			if len(list) > 0 {
				rarest = max(rarest, weight*idf)
			} else if weight == 1 {
				strange = idf
			}
			for _, p := range list {
				score := weight * idf * p.weight * (saturation + 1) / (p.weight + saturation)
				best[p.doc] = max(best[p.doc], score)
				sure[p.doc] = max(sure[p.doc], weight)
			}
		}
		all += c.weight * rarest
		if rarest == 0 {
			rarest = ix.idf(0)
		}
		asked += c.weight * max(rarest, strange)
		for doc, score := range best {
			scores[doc] += c.weight * score
			matched[doc] += c.weight * rarest * sure[doc]
		}
	}
	said := " " + joined(split(request)) + " "
	var hits []Hit
	for doc, score := range scores {
		if all > 0 {
			score *= 0.5 + 0.5*matched[doc]/all
			score *= 1 + asNamed*nameShare(ix.parts[doc], concepts)
		}
		if mentions(said, ix.names[doc]) {
			hits = append(hits, Hit{doc, score + named, named})
		} else if score > 0 {
			hits = append(hits, Hit{doc, score, score / ix.idf(0) * math.Sqrt(matched[doc]/asked)})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits
}

// idf returns the weight of a term that docs documents have (inverse document frequency).
func (ix *Index) idf(docs int) float64 {
	n, df := float64(len(ix.names)), float64(docs)
	return math.Log(1 + (n-df+0.5)/(df+0.5))
}
