package notes

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"toolcrib/tools/internal/database"
)

// migrations are the tables. The number of changes of an owner goes up with each change and
// is in the rows that it touched, so that a process reads only what it has not seen. Its row
// is changed first by every writer, so that they come one after another.
var migrations = []string{`
CREATE TABLE toolcrib_memory_owners (
	owner   BYTEA PRIMARY KEY,
	changes BIGINT NOT NULL
);
CREATE TABLE toolcrib_memories (
	owner   BYTEA NOT NULL,
	id      TEXT NOT NULL,
	change  BIGINT NOT NULL,
	removed BIGINT NOT NULL,
	note    BYTEA NOT NULL,
	PRIMARY KEY (owner, id)
);
CREATE INDEX toolcrib_memories_change ON toolcrib_memories (owner, change);
CREATE TABLE toolcrib_memory_versions (
	owner   BYTEA NOT NULL,
	id      TEXT NOT NULL,
	version BIGINT NOT NULL,
	written BIGINT NOT NULL,
	note    BYTEA NOT NULL,
	PRIMARY KEY (owner, id, version)
)`}

// Rows keeps notes in the database.
type Rows struct {
	part  *database.Part
	owner []byte

	mu      sync.Mutex
	changes int64
	known   map[string]*Note
	set     *Set
	read    time.Time // when everything was read
	swept   time.Time
}

// NewRows returns the notes of an owner in a database.
func NewRows(db *database.DB, owner database.Owner) *Rows {
	return &Rows{part: db.Part("memory", migrations...), owner: owner.Key("memory")}
}

// Notes implements [Store].
func (s *Rows) Notes(ctx context.Context) (*Set, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.part.Read(ctx, func(ctx context.Context, q database.Query) error {
		var changes int64
		err := q.QueryRowContext(ctx, "SELECT changes FROM toolcrib_memory_owners WHERE owner = $1", s.owner).Scan(&changes)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		return s.load(ctx, q, changes)
	})
	return s.set, err
}

// load reads what has changed up to a number of changes.
func (s *Rows) load(ctx context.Context, q database.Query, changes int64) error {
	// Rows of removed notes go some day; who has not looked for long reads everything.
	const fresh = Retention / 2
	if s.set == nil || time.Since(s.read) > fresh {
		s.changes, s.known, s.set, s.read = 0, map[string]*Note{}, newSet(nil), time.Now()
	}
	if s.changes == changes {
		return nil
	}
	seen := s.changes
	err := database.Each(ctx, q, func(rows *sql.Rows) error {
		var id string
		var change, removed int64
		var data []byte
		if err := rows.Scan(&id, &change, &removed, &data); err != nil {
			return err
		}
		if seen = max(seen, change); removed != 0 {
			delete(s.known, id)
		} else {
			s.known[id] = Parse(data)
		}
		return nil
	}, "SELECT id, change, removed, note FROM toolcrib_memories WHERE owner = $1 AND change > $2", s.owner, s.changes)
	if err != nil {
		s.set = nil // part of it may have been read
		return err
	}
	s.changes = max(seen, changes)
	var list []*Note
	for _, n := range s.known {
		list = append(list, n)
	}
	s.set = newSet(list)
	return nil
}

// Change implements [Store].
func (s *Rows) Change(ctx context.Context, f func(*Set) (Batch, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.part.Change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var changes, now int64
		err := tx.QueryRowContext(ctx, `INSERT INTO toolcrib_memory_owners AS o (owner, changes) VALUES ($1, 0)
			ON CONFLICT (owner) DO UPDATE SET changes = o.changes RETURNING changes, `+s.part.Now(), s.owner).Scan(&changes, &now)
		if err != nil {
			return err
		}
		if err := s.load(ctx, tx, changes); err != nil {
			return err
		}
		batch, err := f(s.set)
		if err != nil {
			return err
		}
		for _, n := range batch.Write {
			if err := s.write(ctx, tx, n, changes+1, now); err != nil {
				return err
			}
		}
		for _, id := range batch.Remove {
			if _, err := tx.ExecContext(ctx, "UPDATE toolcrib_memories SET removed = $1, change = $2 WHERE owner = $3 AND id = $4", now, changes+1, s.owner, id); err != nil {
				return err
			}
		}
		if err := s.sweep(ctx, tx, now); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE toolcrib_memory_owners SET changes = $1 WHERE owner = $2", changes+1, s.owner)
		return err
	})
}

func (s *Rows) write(ctx context.Context, tx *sql.Tx, n *Note, change, now int64) error {
	data, err := Format(n)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO toolcrib_memories (owner, id, change, removed, note) VALUES ($1, $2, $3, 0, $4)
		ON CONFLICT (owner, id) DO UPDATE SET change = excluded.change, removed = 0, note = excluded.note`, s.owner, n.ID, change, data); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO toolcrib_memory_versions (owner, id, version, written, note) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (owner, id, version) DO UPDATE SET written = excluded.written, note = excluded.note`, s.owner, n.ID, n.Version, now, data)
	return err
}

// Versions implements [Store].
func (s *Rows) Versions(ctx context.Context, id string) ([]*Note, error) {
	return s.notes(ctx, "SELECT note FROM toolcrib_memory_versions WHERE owner = $1 AND id = $2 ORDER BY version", s.owner, id)
}

// Removed implements [Store].
func (s *Rows) Removed(ctx context.Context) ([]*Note, error) {
	return s.notes(ctx, "SELECT note FROM toolcrib_memories WHERE owner = $1 AND removed <> 0 ORDER BY id", s.owner)
}

func (s *Rows) notes(ctx context.Context, query string, args ...any) (list []*Note, err error) {
	err = s.part.Read(ctx, func(ctx context.Context, q database.Query) error {
		list = nil
		return database.Each(ctx, q, func(rows *sql.Rows) error {
			var data []byte
			err := rows.Scan(&data)
			list = append(list, Parse(data))
			return err
		}, query, args...)
	})
	return list, err
}

// sweep removes, once an hour at most, versions and removed notes that are older than the
// retention.
func (s *Rows) sweep(ctx context.Context, tx *sql.Tx, now int64) error {
	if time.Since(s.swept) < time.Hour {
		return nil
	}
	s.swept = time.Now()
	old := now - Retention.Milliseconds()
	if _, err := tx.ExecContext(ctx, "DELETE FROM toolcrib_memories WHERE owner = $1 AND removed <> 0 AND removed < $2", s.owner, old); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM toolcrib_memory_versions WHERE owner = $1 AND written < $2 AND version < (
		SELECT max(v.version) FROM toolcrib_memory_versions v WHERE v.owner = $1 AND v.id = toolcrib_memory_versions.id)`, s.owner, old); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM toolcrib_memory_versions WHERE owner = $1 AND NOT EXISTS (
		SELECT 1 FROM toolcrib_memories m WHERE m.owner = $1 AND m.id = toolcrib_memory_versions.id)`, s.owner)
	return err
}
