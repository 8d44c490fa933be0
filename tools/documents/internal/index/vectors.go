package index

import (
	"context"
	"database/sql"
	"math"
	"slices"

	"toolcrib/tools/documents/internal/passage"
	"toolcrib/tools/documents/internal/rank"
)

// vectorStep is how many passages get their vectors in one transaction.
const vectorStep = 500

// Vectors makes the hashed vectors of passages that have none, until more returns false. It
// returns how many are left. more is asked after each step, with the passages that have
// theirs and all.
func (x *Index) Vectors(ctx context.Context, more func(done, all int) bool) (left int, err error) {
	var all, lack int
	err = x.db.QueryRowContext(ctx, "SELECT count(*), count(*) - (SELECT count(*) FROM vectors) FROM passages").Scan(&all, &lack)
	if err != nil || lack == 0 {
		return 0, err
	}
	frequency, err := x.frequencies(ctx)
	if err != nil {
		return 0, err
	}
	for after := int64(-1); ; {
		made, err := x.vectors(ctx, &after, all, frequency)
		if err != nil || made == 0 {
			return 0, err
		}
		if lack -= made; !more(all-lack, all) {
			return max(lack, 0), nil
		}
	}
}

// vectors makes the vectors of the next passages without one, and returns how many.
func (x *Index) vectors(ctx context.Context, after *int64, all int, frequency map[string]int) (made int, err error) {
	rows, err := x.db.QueryContext(ctx, `SELECT id, headings, text FROM passages
		WHERE id > ? AND NOT EXISTS (SELECT 1 FROM vectors WHERE passage = passages.id) ORDER BY id LIMIT ?`, *after, vectorStep)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var ids []int64
	var data [][]byte
	for rows.Next() {
		var p passage.Passage
		if err := rows.Scan(after, &p.Headings, &p.Text); err != nil {
			return 0, err
		}
		ids = append(ids, *after)
		data = append(data, pack(weighed(Words(&p), all, func(word string) int { return frequency[word] })))
	}
	if err := rows.Err(); err != nil || len(ids) == 0 {
		return 0, err
	}
	return len(ids), x.change(ctx, func(tx *sql.Tx) error {
		for i, id := range ids { // some may be gone, or have got theirs from another server
			_, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO vectors (passage, data) SELECT id, ?2 FROM passages WHERE id = ?1", id, data[i])
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// weighed returns the vector of words. Those that few passages have weigh more.
func weighed(words []Count, passages int, frequency func(word string) int) []int8 {
	weights := map[string]float64{}
	for _, w := range words {
		n, df := float64(passages), float64(frequency(w.Word))
		weights[w.Word] = (1 + math.Log(float64(w.N))) * math.Log(1+max(n-df+0.5, 0.5)/(df+0.5))
	}
	return rank.Hashed(weights)
}

// frequencies returns how many passages have each word.
func (x *Index) frequencies(ctx context.Context) (map[string]int, error) {
	all := map[string]int{}
	err := x.vocabulary(ctx, "SELECT data FROM blocks", nil, func(e entry) { all[string(e.word)] += e.count })
	return all, err
}

// Similar returns the passages whose vectors are most like that of words, best first.
func (x *Index) Similar(ctx context.Context, words []string, keep func(ID) bool, most int) ([]Hit, error) {
	words = slices.Compact(slices.Sorted(slices.Values(words)))
	words = words[:min(len(words), mostTokens)]
	m, err := x.match(ctx, words)
	if err != nil {
		return nil, err
	}
	counts := make([]Count, len(words))
	for i, word := range words {
		counts[i] = Count{word, 1}
	}
	query := weighed(counts, m.passages, func(word string) int { return m.df[slices.Index(words, word)] })
	rows, err := x.db.QueryContext(ctx, "SELECT passage, data FROM vectors")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var top []Hit
	vector := make([]int8, rank.Dimensions)
	for rows.Next() {
		var h Hit
		var data sql.RawBytes
		if err := rows.Scan(&h.Passage, &data); err != nil {
			return nil, err
		}
		if len(data) != len(vector) || !keep(h.Content()) {
			continue
		}
		for i, b := range data {
			vector[i] = int8(b)
		}
		h.Score = rank.Cosine(query, vector)
		if h.Score > 0 && (len(top) < most || before(h, top[0]) < 0) {
			top = push(top, h, most)
		}
	}
	slices.SortFunc(top, before)
	return top, rows.Err()
}

func pack(vector []int8) []byte {
	data := make([]byte, len(vector))
	for i, v := range vector {
		data[i] = byte(v)
	}
	return data
}
