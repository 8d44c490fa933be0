package memory

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"toolcrib/tools/internal/lexical"
	"toolcrib/tools/memory/internal/notes"
)

// What a token of a topic and of a tag counts, where one of the content counts 1.
const (
	topicWeight = 3
	tagWeight   = 2
)

// ranked is the index of some notes, made anew when they change.
type ranked struct {
	mu     sync.Mutex
	of     []*notes.Note
	tokens map[*notes.Note][]string
	index  *lexical.Index
}

// hits returns the notes that have a token of a query, best first, by their places in list.
func (r *ranked) hits(list []*notes.Note, query []string) []lexical.Hit {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.index == nil || !slices.Equal(r.of, list) {
		tokens := make(map[*notes.Note][]string, len(list))
		docs := make([][]string, len(list))
		for i, n := range list {
			known, ok := r.tokens[n]
			if !ok {
				known = tokensOf(n)
			}
			tokens[n], docs[i] = known, known
		}
		r.of, r.tokens, r.index = list, tokens, lexical.New(docs)
	}
	return r.index.Search(query)
}

// tokensOf returns what a note is found by.
func tokensOf(n *notes.Note) []string {
	tokens := lexical.Tokens(n.Content)
	for range topicWeight {
		tokens = append(tokens, lexical.Tokens(n.Topic)...)
	}
	for range tagWeight {
		tokens = append(tokens, lexical.Tokens(strings.Join(n.Tags, "\n"))...)
	}
	return tokens
}

// snippet returns the part of a text that has the most of a query.
func snippet(text string, query []string) string {
	const longest = 240
	wanted := map[string]bool{}
	for _, token := range query {
		wanted[token] = true
	}
	best, most := "", -1.0
	for _, part := range parts(text, longest) {
		have := map[string]bool{}
		weight := 0.0
		for _, token := range lexical.Tokens(part) {
			if wanted[token] && !have[token] {
				have[token] = true
				weight += lexical.Weight(token)
			}
		}
		if weight > most {
			best, most = part, weight
		}
	}
	cut := strings.Join(strings.Fields(best), " ")
	if whole := strings.Join(strings.Fields(text), " "); cut != whole {
		if !strings.HasPrefix(whole, cut) {
			cut = "… " + cut
		}
		if !strings.HasSuffix(whole, strings.TrimPrefix(cut, "… ")) {
			cut += " …"
		}
	}
	return cut
}

// parts cuts a text into runs of lines, or pieces of long lines, of about so many bytes.
func parts(text string, longest int) (list []string) {
	add := func(part string) {
		if last := len(list) - 1; last >= 0 && len(list[last])+len(part) < longest {
			list[last] += "\n" + part
		} else {
			list = append(list, part)
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for len(line) > longest {
			end := longest
			if space := strings.LastIndexAny(line[:longest], " .,;。，；、"); space > longest/2 {
				end = space
			}
			for !utf8.RuneStart(line[end]) {
				end--
			}
			add(line[:end])
			line = line[end:]
		}
		if line != "" {
			add(line)
		}
	}
	return list
}

// How alike notes must be to be told.
const (
	nearDuplicate = 0.85 // by their 4-grams
	related       = 0.35 // of the score that a note has for its own tokens
	mostSimilar   = 3
	compared      = 20 // notes whose 4-grams are compared
)

// similar is a note that says nearly the same as another, or something about the same.
type similar struct {
	*notes.Note
	duplicate bool
}

// similarTo returns the notes of a list that are most like n, which is not one of them.
func (r *ranked) similarTo(n *notes.Note, list []*notes.Note) (alike []similar) {
	hits := r.hits(append(slices.Clone(list), n), tokensOf(n))
	own := slices.IndexFunc(hits, func(h lexical.Hit) bool { return h.Doc == len(list) })
	if own < 0 {
		return nil
	}
	grams := gramsOf(n.Content)
	self := hits[own].Score
	var others []similar
	for i, h := range hits {
		if i > compared {
			break
		}
		if h.Doc == len(list) {
			continue
		}
		other := list[h.Doc]
		switch {
		case jaccard(grams, gramsOf(other.Content)) >= nearDuplicate:
			alike = append(alike, similar{other, true})
		case h.Score >= related*self:
			others = append(others, similar{other, false})
		}
	}
	alike = append(alike, others...)
	return alike[:min(len(alike), mostSimilar)]
}

// gramsOf returns the runs of four characters of a text, in lower case and without its spaces.
func gramsOf(text string) map[string]bool {
	const length = 4
	r := []rune(strings.ToLower(strings.Join(strings.Fields(norm.NFKC.String(text)), "")))
	set := map[string]bool{}
	if len(r) < length {
		set[string(r)] = true
	}
	for i := range len(r) - length + 1 {
		set[string(r[i:i+length])] = true
	}
	return set
}

// jaccard is the share of what two sets have in common.
func jaccard(a, b map[string]bool) float64 {
	both := 0
	for g := range a {
		if b[g] {
			both++
		}
	}
	return float64(both) / float64(max(len(a)+len(b)-both, 1))
}
