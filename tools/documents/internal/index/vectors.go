package index

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"math"
	"slices"
	"time"

	"toolcrib/tools/documents/internal/passage"
	"toolcrib/tools/documents/internal/rank"
	"toolcrib/tools/internal/lexical"
)

// Model makes vectors of texts, see package vector; [Index.Hashed] is the built-in one.
type Model interface {
	Name() string
	Batch(texts []string) int
	Vectors(ctx context.Context, texts []string) ([][]int8, error)
}

const (
	vectorStep = 500                 // passages that are looked at in one query
	unusedDays = 30                  // after which the vectors of a model go
	sameBytes  = 16                  // of the hash of a text
	day        = int64(24 * 60 * 60) // in seconds
)

// kind is a model whose vectors have one length.
type kind struct {
	id         int64
	dimensions int
}

// kindOf returns the last kind of a model; id is 0 if there is none.
func (x *Index) kindOf(ctx context.Context, name string) (k kind, err error) {
	err = x.db.QueryRowContext(ctx, "SELECT id, dimensions FROM models WHERE name = ? ORDER BY id DESC LIMIT 1", name).Scan(&k.id, &k.dimensions)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return k, err
}

// begin makes the kind of a model, in the place of one whose vectors have another length.
func (x *Index) begin(ctx context.Context, name string, dimensions int) (k kind, err error) {
	err = x.change(ctx, func(tx *sql.Tx) error {
		today := time.Now().Unix() / day
		for _, s := range []struct {
			sql  string
			args []any
		}{
			{"DELETE FROM models WHERE name = ? AND dimensions <> ? OR used < ?", []any{name, dimensions, today - unusedDays}},
			{"INSERT INTO models (name, dimensions, used) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET used = excluded.used", []any{name, dimensions, today}},
			{"DELETE FROM vectors WHERE model NOT IN (SELECT id FROM models)", nil},
		} {
			if _, err := tx.ExecContext(ctx, s.sql, s.args...); err != nil {
				return err
			}
		}
		k.dimensions = dimensions
		return tx.QueryRowContext(ctx, "SELECT id FROM models WHERE name = ?", name).Scan(&k.id)
	})
	return k, err
}

// Vectors makes the vectors that passages of the kept contents lack, until more returns false
// or the model fails. all is how many passages these contents have, dimensions the length of
// the model's vectors now: those that had another one are made anew. It returns how many
// passages are left. more is asked after each batch.
func (x *Index) Vectors(ctx context.Context, m Model, dimensions int, keep func(ID) bool, all int, more func(done, all int) bool) (left int, err error) {
	k, err := x.kindOf(ctx, m.Name())
	if err != nil {
		return 0, err
	}
	if k.dimensions != dimensions {
		if k, err = x.begin(ctx, m.Name(), dimensions); err != nil {
			return 0, err
		}
	}
	have, err := x.have(ctx, k, keep)
	if err != nil || have >= all {
		return 0, err
	}
	left = all - have
	if k, err = x.begin(ctx, m.Name(), dimensions); err != nil { // it is in use
		return left, err
	}
	w := &vectorWork{Index: x, model: m, kind: k, keep: keep, after: -1}
	for {
		looked, err := w.step(ctx, func(made int) bool {
			left = max(left-made, 0)
			return more(all-left, all)
		})
		if err != nil || w.stopped {
			return left, err
		}
		if looked == 0 {
			return 0, x.change(ctx, func(tx *sql.Tx) error { // those of passages that are gone
				_, err := tx.ExecContext(ctx, "DELETE FROM vectors WHERE passage NOT IN (SELECT id FROM passages)")
				return err
			})
		}
	}
}

// have returns how many passages of the kept contents have vectors.
func (x *Index) have(ctx context.Context, k kind, keep func(ID) bool) (n int, err error) {
	rows, err := x.db.QueryContext(ctx, "SELECT passage >> 20, count(*) FROM vectors WHERE model = ? GROUP BY 1", k.id)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id ID
		var of int
		if err := rows.Scan(&id, &of); err != nil {
			return 0, err
		}
		if keep(id) {
			n += of
		}
	}
	return n, rows.Err()
}

// vectorWork makes the vectors of passages, in the order of their numbers.
type vectorWork struct {
	*Index
	model   Model
	kind    kind
	keep    func(ID) bool
	after   int64 // the number that was looked at last
	stopped bool
}

// lacking is a text without a vector, and the passages that have it.
type lacking struct {
	ids  []int64
	text string
	same []byte // its hash
}

// step looks at the next passages. It returns how many of any contents there were.
func (w *vectorWork) step(ctx context.Context, more func(made int) bool) (looked int, err error) {
	found, looked, err := w.next(ctx)
	if err != nil {
		return looked, err
	}
	found, copied, err := w.known(ctx, found)
	if err != nil {
		return looked, err
	}
	if copied > 0 && !more(copied) {
		w.stopped = true
	}
	for len(found) > 0 && !w.stopped {
		texts := make([]string, len(found))
		for i := range found {
			texts[i] = found[i].text
		}
		n := w.model.Batch(texts)
		vectors, failed := w.model.Vectors(ctx, texts[:n])
		vectors = vectors[:min(len(vectors), n)]
		for i, v := range vectors {
			if len(v) != w.kind.dimensions { // it has changed meanwhile: the next call begins anew
				vectors, w.stopped = vectors[:i], true
				break
			}
		}
		made, err := w.put(ctx, found[:len(vectors)], vectors)
		if err != nil {
			return looked, err
		}
		w.stopped = !more(made) || w.stopped
		if failed != nil {
			return looked, failed
		}
		found = found[n:]
	}
	return looked, nil
}

func (w *vectorWork) next(ctx context.Context) (found []lacking, looked int, err error) {
	rows, err := w.db.QueryContext(ctx, `SELECT id, headings, text FROM passages
		WHERE id > ? AND NOT EXISTS (SELECT 1 FROM vectors WHERE model = ? AND passage = passages.id) ORDER BY id LIMIT ?`, w.after, w.kind.id, vectorStep)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	places := map[string]int{}
	for rows.Next() {
		var p passage.Passage
		if err := rows.Scan(&w.after, &p.Headings, &p.Text); err != nil {
			return nil, looked, err
		}
		looked++
		if !w.keep(Hit{Passage: w.after}.Content()) {
			continue
		}
		text := p.Headings + "\n" + p.Text
		at, ok := places[text]
		if !ok {
			sum := sha256.Sum256([]byte(text))
			at = len(found)
			places[text] = at
			found = append(found, lacking{nil, text, sum[:sameBytes]})
		}
		found[at].ids = append(found[at].ids, w.after)
	}
	return found, looked, rows.Err()
}

// known gives passages the vectors of those that have the same text, and returns the others.
func (w *vectorWork) known(ctx context.Context, found []lacking) (rest []lacking, copied int, err error) {
	if len(found) == 0 {
		return nil, 0, nil
	}
	err = w.change(ctx, func(tx *sql.Tx) error {
		for _, p := range found {
			before := copied
			for _, id := range p.ids {
				result, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO vectors (model, passage, same, data)
					SELECT model, ?1, same, data FROM vectors WHERE model = ?2 AND same = ?3 LIMIT 1`, id, w.kind.id, p.same)
				if err != nil {
					return err
				}
				n, err := result.RowsAffected()
				if err != nil {
					return err
				}
				copied += int(n)
			}
			if copied == before {
				rest = append(rest, p)
			}
		}
		return nil
	})
	return rest, copied, err
}

// put keeps the vectors of texts, and returns how many passages have them. Some may be gone, or
// have got theirs from another server.
func (w *vectorWork) put(ctx context.Context, texts []lacking, vectors [][]int8) (made int, err error) {
	err = w.change(ctx, func(tx *sql.Tx) error {
		for i, p := range texts {
			for _, id := range p.ids {
				_, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO vectors (model, passage, same, data)
					SELECT models.id, passages.id, ?, ? FROM models, passages WHERE models.id = ? AND passages.id = ?`, p.same, pack(vectors[i]), w.kind.id, id)
				if err != nil {
					return err
				}
				made++
			}
		}
		return nil
	})
	return made, err
}

// Similar returns the passages whose vectors of a model are most like one, best first.
func (x *Index) Similar(ctx context.Context, m Model, query []int8, keep func(ID) bool, most int) ([]Hit, error) {
	k, err := x.kindOf(ctx, m.Name())
	if err != nil {
		return nil, err
	}
	rows, err := x.db.QueryContext(ctx, "SELECT passage, model, data FROM vectors")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var top []Hit
	vector := make([]int8, len(query))
	for rows.Next() {
		var h Hit
		var model int64
		var data sql.RawBytes
		if err := rows.Scan(&h.Passage, &model, &data); err != nil {
			return nil, err
		}
		if model != k.id || len(data) != len(vector) || !keep(h.Content()) {
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

// Hashed returns the built-in model, of how words are spelt. It serves one call.
func (x *Index) Hashed() Model { return &hashed{Index: x} }

type hashed struct {
	*Index
	passages  int
	frequency map[string]int // how many passages have a word; nil = not yet read
	tokenizer lexical.Tokenizer
}

func (h *hashed) Name() string { return "hashed" }

func (h *hashed) Batch(texts []string) int { return len(texts) }

// Vectors implements [Model]. The words of one text, such as a query, are looked up by
// themselves if they are few.
func (h *hashed) Vectors(ctx context.Context, texts []string) ([][]int8, error) {
	if len(texts) == 1 && h.frequency == nil {
		if words := lexical.Tokens(texts[0]); len(words) <= mostTokens {
			m, err := h.match(ctx, words)
			if err != nil {
				return nil, err
			}
			return [][]int8{weighed(h.tokenizer.Count(texts[0]), m.passages, func(word string) int { return m.df[slices.Index(words, word)] })}, nil
		}
	}
	if h.frequency == nil {
		h.frequency = map[string]int{}
		if err := h.vocabulary(ctx, "SELECT data FROM blocks", nil, func(e entry) { h.frequency[string(e.word)] += e.count }); err != nil {
			return nil, err
		}
		if err := h.db.QueryRowContext(ctx, "SELECT count(*) FROM passages").Scan(&h.passages); err != nil {
			return nil, err
		}
	}
	vectors := make([][]int8, len(texts))
	for i, text := range texts {
		vectors[i] = weighed(h.tokenizer.Count(text), h.passages, func(word string) int { return h.frequency[word] })
	}
	return vectors, nil
}

// weighed returns the vector of words. Those that few passages have weigh more.
func weighed(words []lexical.Count, passages int, frequency func(word string) int) []int8 {
	weights := map[string]float64{}
	for _, w := range words {
		if lexical.Weight(w.Token) < 1 {
			continue
		}
		n, df := float64(passages), float64(frequency(w.Token))
		weights[w.Token] = (1 + math.Log(float64(w.N))) * math.Log(1+max(n-df+0.5, 0.5)/(df+0.5))
	}
	return rank.Hashed(weights)
}
