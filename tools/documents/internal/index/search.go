package index

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"toolcrib/tools/documents/internal/passage"
)

// Hit is a passage that was found.
type Hit struct {
	Passage int64
	Score   float64
}

// Content returns the content that the passage belongs to.
func (h Hit) Content() ID { return ID(h.Passage >> contentShift) }

// mostTokens bounds a query.
const mostTokens = 200

// Search returns the passages that have at least one of the tokens, best first, at most most
// of them. keep chooses the contents.
func (x *Index) Search(ctx context.Context, tokens []string, keep func(ID) bool, most int) ([]Hit, error) {
	tokens = slices.Compact(slices.Sorted(slices.Values(tokens)))
	if len(tokens) == 0 {
		return nil, nil
	}
	terms := make([]string, 0, len(tokens))
	for _, token := range tokens[:min(len(tokens), mostTokens)] {
		terms = append(terms, `"`+token+`"`)
	}
	rows, err := x.db.QueryContext(ctx, "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank", strings.Join(terms, " OR "))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var hits []Hit
	for len(hits) < most && rows.Next() {
		var h Hit
		if err := rows.Scan(&h.Passage, &h.Score); err != nil {
			return nil, err
		}
		if h.Score = -h.Score; keep(h.Content()) {
			hits = append(hits, h)
		}
	}
	return hits, rows.Err()
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
