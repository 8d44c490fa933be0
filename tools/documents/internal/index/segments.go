package index

import (
	"context"
	"database/sql"
	"math/bits"
	"slices"
	"sync"
)

// Segments of about one size are merged when there are so many of them.
const mostAlike = 4

// smallest is the size, in passages, up to which segments are of one size; above, those are
// that differ by less than a factor of eight.
const smallest = 64

func level(passages int) int { return bits.Len(uint(passages/smallest)) / 3 }

// write adds a segment of new passages.
func (w *writer) write(ctx context.Context) error {
	if len(w.new.ids) == 0 {
		return nil
	}
	id, err := w.segment(ctx, &w.new.members, w.new.blocks())
	if err != nil {
		return err
	}
	_, err = w.tx.ExecContext(ctx, "UPDATE contents SET segment = ? WHERE segment = 0 AND passages > 0", id)
	return err
}

func (w *writer) segment(ctx context.Context, m *members, all []block) (int64, error) {
	result, err := w.tx.ExecContext(ctx, "INSERT INTO segments (passages, gone, words, members) VALUES (?, 0, ?, ?)", len(m.ids), m.total(), m.encode())
	if err != nil {
		return 0, err
	}
	id, err := result.LastInsertId()
	if err != nil {
		return 0, err
	}
	insert, err := w.tx.PrepareContext(ctx, "INSERT INTO blocks (segment, first, data) VALUES (?, ?, ?)")
	if err != nil {
		return 0, err
	}
	defer insert.Close()
	for _, b := range all {
		if _, err := insert.ExecContext(ctx, id, b.first, b.data); err != nil {
			return 0, err
		}
	}
	return id, nil
}

// tidy merges segments, and leaves out the passages that are gone.
func (w *writer) tidy(ctx context.Context) error {
	type segment struct {
		id             int64
		passages, gone int
	}
	alike := map[int][]segment{}
	rows, err := w.tx.QueryContext(ctx, "SELECT id, passages, gone FROM segments ORDER BY id")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var s segment
		if err := rows.Scan(&s.id, &s.passages, &s.gone); err != nil {
			return err
		}
		alike[level(s.passages)] = append(alike[level(s.passages)], s)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, segments := range alike {
		var ids []int64
		for _, s := range segments {
			if len(segments) >= mostAlike || 2*s.gone >= s.passages {
				ids = append(ids, s.id)
			}
		}
		if len(ids) > 0 {
			if err := w.join(ctx, ids); err != nil {
				return err
			}
		}
	}
	return nil
}

// join makes one segment of several.
func (w *writer) join(ctx context.Context, ids []int64) error {
	var all members
	var parts []*part
	for _, id := range ids {
		alive := map[int64]bool{}
		contents, err := column[int64](ctx, w.tx, "SELECT id FROM contents WHERE segment = ?", id)
		if err != nil {
			return err
		}
		for _, content := range contents {
			alive[content] = true
		}
		var data []byte
		if err := w.tx.QueryRowContext(ctx, "SELECT members FROM segments WHERE id = ?", id).Scan(&data); err != nil {
			return err
		}
		m, err := decode(data)
		if err != nil {
			return err
		}
		p := &part{to: make([]int, len(m.ids))}
		for i, passage := range m.ids {
			p.to[i] = -1
			if alive[passage>>contentShift] {
				p.to[i] = len(all.ids)
				all.add(passage, int(m.words[i]))
			}
		}
		if p.blocks, err = column[[]byte](ctx, w.tx, "SELECT data FROM blocks WHERE segment = ? ORDER BY first", id); err != nil {
			return err
		}
		parts = append(parts, p)
	}
	merged, err := merge(parts)
	if err != nil {
		return err
	}
	joined := int64(0)
	if len(all.ids) > 0 {
		if joined, err = w.segment(ctx, &all, merged); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if _, err := w.tx.ExecContext(ctx, "UPDATE contents SET segment = ? WHERE segment = ?", joined, id); err != nil {
			return err
		}
		for _, s := range []string{"DELETE FROM blocks WHERE segment = ?", "DELETE FROM segments WHERE id = ?"} {
			if _, err := w.tx.ExecContext(ctx, s, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// column returns the only column of a query.
func column[T any](ctx context.Context, tx *sql.Tx, query string, args ...any) ([]T, error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// Cache keeps the passages of segments, which never change, between the calls of a process.
// The zero value is ready.
type Cache struct {
	mu  sync.Mutex
	all map[segmentKey]*members
}

type segmentKey struct {
	db *sql.DB
	id int64
}

// members returns those of segments; of others of the database it keeps nothing. One that
// another server has merged meanwhile is missing.
func (x *Index) members(ctx context.Context, ids []int64) (map[int64]*members, error) {
	x.cache.mu.Lock()
	defer x.cache.mu.Unlock()
	found := map[int64]*members{}
	for key, m := range x.cache.all {
		if key.db == x.db && slices.Contains(ids, key.id) {
			found[key.id] = m
		} else if key.db == x.db {
			delete(x.cache.all, key)
		}
	}
	for _, id := range ids {
		if found[id] != nil {
			continue
		}
		var data []byte
		if err := x.db.QueryRowContext(ctx, "SELECT members FROM segments WHERE id = ?", id).Scan(&data); err == sql.ErrNoRows { //nolint:errorlint // Scan returns it as it is
			continue
		} else if err != nil {
			return nil, err
		}
		m, err := decode(data)
		if err != nil {
			return nil, err
		}
		if x.cache.all == nil {
			x.cache.all = map[segmentKey]*members{}
		}
		x.cache.all[segmentKey{x.db, id}] = m
		found[id] = m
	}
	return found, nil
}
