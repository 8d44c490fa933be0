package index

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"

	"toolcrib/tools/documents/internal/passage"
	"toolcrib/tools/internal/lexical"
)

// Hit is a passage that was found.
type Hit struct {
	Passage int64
	Score   float64
	behind  bool // it has none of the words that come first
}

// Content returns the content that the passage belongs to.
func (h Hit) Content() ID { return ID(h.Passage >> contentShift) }

// mostTokens bounds a query.
const mostTokens = 200

// The saturation of repeated words and the weight of a passage's length: k1 and b of BM25.
const (
	saturation = 1.2
	lengthNorm = 0.75
)

// The weights of words beside those of the query.
const (
	guessed          = 0.75 // such as the nearest one of a word that no passage has
	guessedWithParts = 0.5  // where parts of that word count as well
	compound         = 0.5  // two words of the query that are written as one, such as filename
)

// query is the words that are looked for, each once.
type query struct {
	words   []string
	weights []float64
	first   int // how many of them, from the start, are in the query itself
}

func newQuery(given, more []string) (q query) {
	words, parts := lexical.Divide(given)
	guess := guessed
	if len(parts) > 0 {
		guess = guessedWithParts
	}
	known := map[string]bool{}
	add := func(words []string, weight float64) {
		for _, word := range words {
			if !known[word] && len(q.words) < mostTokens {
				known[word] = true
				q.words, q.weights = append(q.words, word), append(q.weights, weight)
			}
		}
	}
	add(words, 1)
	q.first = len(q.words)
	add(more, guess)
	if len(parts) == 0 { // which are in compounds too
		add(lexical.Compounds(given), compound)
	}
	for _, part := range parts {
		add([]string{part}, lexical.Weight(part))
	}
	return q
}

// Search returns the passages that have at least one of the words, which are in the order of the
// query, best first by BM25, at most most of them; equal ones in their order. A word that is given
// twice counts once. keep chooses the contents. A passage that has only others, of more or two
// words of the query as one, comes behind those that have one of the words; parts of words only
// rank, see [lexical.Weight].
func (x *Index) Search(ctx context.Context, words []string, keep func(ID) bool, most int, more ...string) ([]Hit, error) {
	q := newQuery(words, more)
	m, err := x.match(ctx, q.words)
	if err != nil {
		return nil, err
	}
	return m.best(q, keep, most)
}

// match is what all segments have of the words of a query.
type match struct {
	passages, words int // of all segments
	df              []int
	segments        map[int64]*matchOf
}

// matchOf is what a segment has.
type matchOf struct {
	*members
	lists [][]byte // by word
}

// match reads the lists of words, anew if another server merges a segment meanwhile.
func (x *Index) match(ctx context.Context, words []string) (*match, error) {
	for {
		if m, err := x.matchOnce(ctx, words); m != nil || err != nil {
			return m, err
		}
	}
}

// matchOnce returns nil if another server has merged a segment meanwhile.
func (x *Index) matchOnce(ctx context.Context, words []string) (*match, error) {
	asked, err := json.Marshal(words)
	if err != nil {
		return nil, err
	}
	rows, err := x.db.QueryContext(ctx, `SELECT segments.id, segments.passages, segments.words, asked.key, blocks.data
		FROM segments CROSS JOIN json_each(?) AS asked LEFT JOIN blocks ON blocks.id =
			(SELECT id FROM blocks WHERE segment = segments.id AND first <= asked.value ORDER BY first DESC LIMIT 1)`, string(asked))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	m := &match{df: make([]int, len(words)), segments: map[int64]*matchOf{}}
	for rows.Next() {
		var segment int64
		var passages, total, word int
		var data sql.RawBytes
		if err := rows.Scan(&segment, &passages, &total, &word, &data); err != nil {
			return nil, err
		}
		of := m.segments[segment]
		if of == nil {
			of = &matchOf{lists: make([][]byte, len(words))}
			m.segments[segment] = of
			m.passages += passages
			m.words += total
		}
		e, err := find(data, words[word])
		if err != nil {
			return nil, err
		}
		m.df[word] += e.count
		of.lists[word] = bytes.Clone(e.data)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	all, err := x.members(ctx, slices.Collect(maps.Keys(m.segments)))
	if err != nil {
		return nil, err
	}
	for id, of := range m.segments {
		if of.members = all[id]; of.members == nil {
			return nil, nil
		}
	}
	return m, nil
}

// best returns the best hits; those that have one of the first words come first.
func (m *match) best(q query, keep func(ID) bool, most int) ([]Hit, error) {
	average := max(float64(m.words)/float64(max(m.passages, 1)), 1)
	var top []Hit
	for _, of := range m.segments {
		scores := make([]float64, len(of.ids))
		ahead := make([]bool, len(of.ids))
		for word, data := range of.lists {
			if len(data) == 0 {
				continue
			}
			n, df := float64(m.passages), float64(m.df[word])
			idf := math.Log((n+0.5)/df) * (saturation + 1) * q.weights[word]
			part := lexical.Weight(q.words[word]) < 1
			err := each(data, len(scores), func(at, n int) {
				if part && scores[at] == 0 { // a part finds nothing
					return
				}
				count := float64(n)
				ahead[at] = ahead[at] || word < q.first
				scores[at] += idf * count / (count + saturation*(1-lengthNorm+lengthNorm*float64(of.words[at])/average))
			})
			if err != nil {
				return nil, err
			}
		}
		for at, score := range scores {
			h := Hit{of.ids[at], score, !ahead[at]}
			if score > 0 && (len(top) < most || before(h, top[0]) < 0) && keep(h.Content()) {
				top = push(top, h, most)
			}
		}
	}
	slices.SortFunc(top, before)
	return top, nil
}

// before orders hits, the best first.
func before(a, b Hit) int {
	if a.behind != b.behind {
		if b.behind {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Passage, b.Passage))
}

// push adds a hit to a heap whose first one is the worst, and drops that if the heap is full.
func push(heap []Hit, h Hit, most int) []Hit {
	if len(heap) < most {
		heap = append(heap, h)
		for i := len(heap) - 1; i > 0 && before(heap[(i-1)/2], heap[i]) < 0; i = (i - 1) / 2 {
			heap[i], heap[(i-1)/2] = heap[(i-1)/2], heap[i]
		}
		return heap
	}
	heap[0] = h
	for i := 0; ; {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if before(heap[worst], heap[child]) < 0 {
				worst = child
			}
		}
		if worst == i {
			return heap
		}
		heap[i], heap[worst] = heap[worst], heap[i]
		i = worst
	}
}

// Passage returns a passage. ok is false if another server has removed it meanwhile.
func (x *Index) Passage(ctx context.Context, id int64) (p passage.Passage, ok bool, err error) {
	err = x.db.QueryRowContext(ctx, "SELECT place, headings, text, tokens FROM passages WHERE id = ?", id).
		Scan(&p.Place, &p.Headings, &p.Text, &p.Tokens)
	if errors.Is(err, sql.ErrNoRows) {
		return p, false, nil
	}
	return p, err == nil, err
}

// First returns the number of the first passage of a content; the others follow it.
func (id ID) First() int64 { return int64(id) << contentShift }
