package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/database"
	"toolcrib/tools/internal/text/textfile"
)

// Bounds of what is kept.
const (
	maxKey   = 512
	maxValue = 1 << 20
	maxSpace = 100 << 20 // keys and values of a namespace
)

// migrations are the tables. A space is a namespace of an owner. Its row is changed first by
// everything that writes into it, so that writers come one after another on PostgreSQL too.
// Its floor is the highest version that a key had which is gone: versions of new keys begin
// above it, so that no version of a key ever comes twice.
var migrations = []string{`
CREATE TABLE toolcrib_spaces (
	space BYTEA PRIMARY KEY,
	owner BYTEA NOT NULL,
	name  TEXT NOT NULL,
	bytes BIGINT NOT NULL,
	floor BIGINT NOT NULL
);
CREATE INDEX toolcrib_spaces_owner ON toolcrib_spaces (owner);
CREATE TABLE toolcrib_values (
	space   BYTEA NOT NULL REFERENCES toolcrib_spaces (space),
	key     BYTEA NOT NULL,
	value   BYTEA NOT NULL,
	version BIGINT NOT NULL,
	updated BIGINT NOT NULL,
	expires BIGINT NOT NULL,
	PRIMARY KEY (space, key)
)`}

// table has the values of everybody.
type table struct{ part *database.Part }

func newTable(db *database.DB) *table { return &table{db.Part("storage", migrations...)} }

// space is a namespace of an owner.
type space struct {
	owner database.Owner
	name  string
}

func (s space) id() []byte { return s.owner.Key("storage", s.name) }

// entry is a value under its key.
type entry struct {
	key, value       string
	size             int
	version          int64
	updated, expires time.Time // expires is zero: never
}

func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// held is what a writer knows of a space and a key, once it has locked the space.
type held struct {
	bytes, floor, now int64
	version, size     int64 // of the key, 0 = it does not exist
	row               bool  // it exists, or has expired and is still there
}

// hold locks a space, which it makes if a value is to be put. One that does not exist has no keys.
func (t *table) hold(ctx context.Context, tx *sql.Tx, s space, key string, put bool) (h held, err error) {
	query, args := `UPDATE toolcrib_spaces AS s SET bytes = s.bytes WHERE space = $1`, []any{s.id()}
	if put {
		query = `INSERT INTO toolcrib_spaces AS s (space, owner, name, bytes, floor) VALUES ($1, $2, $3, 0, 0) ON CONFLICT (space) DO UPDATE SET bytes = s.bytes`
		args = append(args, s.owner.Key("storage"), s.name)
	}
	err = tx.QueryRowContext(ctx, query+` RETURNING bytes, floor, `+t.part.Now(), args...).Scan(&h.bytes, &h.floor, &h.now)
	if errors.Is(err, sql.ErrNoRows) {
		return held{}, nil
	}
	if err != nil {
		return held{}, err
	}
	var expires int64
	err = tx.QueryRowContext(ctx, "SELECT version, length(key) + length(value), expires FROM toolcrib_values WHERE space = $1 AND key = $2", s.id(), []byte(key)).
		Scan(&h.version, &h.size, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return h, nil
	}
	h.row = true
	if err == nil && expires != 0 && expires <= h.now {
		h.floor, h.version = max(h.floor, h.version), 0
	}
	return h, err
}

// expect refuses a key whose version is not the expected one; nil expects any.
func (h held) expect(key string, expected *int64) error {
	switch {
	case expected == nil || *expected == h.version:
		return nil
	case h.version == 0:
		return tools.Errorf(tools.Conflict, "%s does not exist, so its version is not %d", tools.Visible(key), *expected).WithHint("expected_version=0 puts it")
	case *expected == 0:
		return tools.Errorf(tools.Conflict, "%s exists, at version %d", tools.Visible(key), h.version).WithHint("get it before you put it")
	}
	return tools.Errorf(tools.Conflict, "%s is at version %d, not %d", tools.Visible(key), h.version, *expected).WithHint("get it, and put with the version that you saw")
}

// put sets a value and returns it as it is now.
func (t *table) put(ctx context.Context, s space, key, value string, expected *int64, ttl time.Duration) (e entry, err error) {
	err = t.part.Change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		h, err := t.hold(ctx, tx, s, key, true)
		if err == nil {
			err = h.expect(key, expected)
		}
		if err != nil {
			return err
		}
		size := int64(len(key) + len(value))
		if h.bytes-h.size+size > maxSpace {
			if err := t.sweep(ctx, tx, s, key, &h); err != nil {
				return err
			}
			if h.bytes-h.size+size > maxSpace {
				return tools.Errorf(tools.TooLarge, "the namespace %s would have %s, at most %s are kept", tools.Visible(s.name), textfile.Size(h.bytes-h.size+size), textfile.Size(maxSpace)).
					WithHint("delete values, or give those that end a ttl")
			}
		}
		version := h.floor + 1
		if h.version > 0 {
			version = h.version + 1
		}
		var expires int64
		if ttl > 0 {
			expires = h.now + ttl.Milliseconds()
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO toolcrib_values (space, key, value, version, updated, expires) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (space, key) DO UPDATE SET value = excluded.value, version = excluded.version, updated = excluded.updated, expires = excluded.expires`,
			s.id(), []byte(key), []byte(value), version, h.now, expires); err != nil {
			return err
		}
		e = entry{key: key, size: len(value), version: version, updated: moment(h.now), expires: moment(expires)}
		return t.settle(ctx, tx, s, h.bytes-h.size+size, h.floor)
	})
	return e, err
}

func (t *table) settle(ctx context.Context, tx *sql.Tx, s space, bytes, floor int64) error {
	_, err := tx.ExecContext(ctx, "UPDATE toolcrib_spaces SET bytes = $1, floor = $2 WHERE space = $3", bytes, floor, s.id())
	return err
}

// sweep removes what has expired in a space, but for one key.
func (t *table) sweep(ctx context.Context, tx *sql.Tx, s space, but string, h *held) error {
	const gone = "FROM toolcrib_values WHERE space = $1 AND key <> $2 AND expires <> 0 AND expires <= $3"
	var bytes, version int64
	err := tx.QueryRowContext(ctx, "SELECT COALESCE(sum(length(key) + length(value)), 0), COALESCE(max(version), 0) "+gone, s.id(), []byte(but), h.now).Scan(&bytes, &version)
	if err != nil || bytes == 0 {
		return err
	}
	h.bytes, h.floor = h.bytes-bytes, max(h.floor, version)
	_, err = tx.ExecContext(ctx, "DELETE "+gone, s.id(), []byte(but), h.now)
	return err
}

// delete removes a key and returns the version that it had, 0 if it did not exist.
func (t *table) delete(ctx context.Context, s space, key string, expected *int64) (version int64, err error) {
	err = t.part.Change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		h, err := t.hold(ctx, tx, s, key, false)
		if err == nil {
			err = h.expect(key, expected)
		}
		version = h.version // also if another try has seen a key that is gone now
		if err != nil || !h.row {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM toolcrib_values WHERE space = $1 AND key = $2", s.id(), []byte(key)); err != nil {
			return err
		}
		return t.settle(ctx, tx, s, h.bytes-h.size, max(h.floor, h.version))
	})
	return version, err
}

// live selects what has not expired, in the space $1.
func (t *table) live(columns string) string {
	return "SELECT " + columns + " FROM toolcrib_values WHERE space = $1 AND (expires = 0 OR expires > " + t.part.Now() + ")"
}

// get returns a value. The error for a key that does not exist names near ones.
func (t *table) get(ctx context.Context, s space, key string) (e entry, err error) {
	var value []byte
	var updated, expires int64
	err = t.part.Read(ctx, func(ctx context.Context, q database.Query) error {
		err := q.QueryRowContext(ctx, t.live("value, version, updated, expires")+" AND key = $2", s.id(), []byte(key)).Scan(&value, &e.version, &updated, &expires)
		if errors.Is(err, sql.ErrNoRows) {
			return t.missing(ctx, q, s, key)
		}
		return err
	})
	e.key, e.value, e.size, e.updated, e.expires = key, string(value), len(value), moment(updated), moment(expires)
	return e, err
}

// missing is the error for a key that does not exist.
func (t *table) missing(ctx context.Context, q database.Query, s space, key string) error {
	const looked = 1000
	missing := tools.Errorf(tools.NotFound, "%s is not in the namespace %s", tools.Visible(key), tools.Visible(s.name))
	var keys []string
	if err := database.Each(ctx, q, func(rows *sql.Rows) error {
		var found []byte
		err := rows.Scan(&found)
		keys = append(keys, string(found))
		return err
	}, t.live("key")+" ORDER BY key LIMIT $2", s.id(), looked); err != nil {
		return err
	}
	if near := schema.Nearest(key, keys); near != "" {
		return missing.WithHint("did you mean %s", tools.Visible(near))
	}
	if len(keys) > 0 {
		const named = 5
		return missing.WithHint("there are %s", tools.Visible(strings.Join(keys[:min(len(keys), named)], ", ")))
	}
	if names, err := t.spaces(ctx, q, s); err != nil || names == nil {
		return errors.Join(err, missing)
	} else {
		return missing.WithHint("it is empty; namespaces with values are %s", tools.Visible(strings.Join(names, ", ")))
	}
}

// spaces returns names of the other namespaces of an owner that have values.
func (t *table) spaces(ctx context.Context, q database.Query, s space) (names []string, err error) {
	const most = 20
	err = database.Each(ctx, q, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	}, "SELECT name FROM toolcrib_spaces WHERE owner = $1 AND space <> $2 AND bytes > 0 ORDER BY name LIMIT $3", s.owner.Key("storage"), s.id(), most)
	return names, err
}

// list returns the entries at or below a key, "" for all, in the order of the bytes of their
// keys behind after, at most so many, and whether there are more. Values of more than longest
// bytes are left out, all if it is negative. Values of more than room bytes in all are left for
// the next page.
func (t *table) list(ctx context.Context, s space, at, after string, limit, room, longest int) (entries []entry, more bool, err error) {
	query := t.live(fmt.Sprintf("key, CASE WHEN length(value) <= %d THEN value END, length(value), version, updated, expires", longest)) + " AND key > $2"
	args := []any{s.id(), []byte(after)}
	if at != "" {
		query += " AND (key = $3 OR key > $4 AND key < $5)"
		args = append(args, []byte(at), []byte(at+"/"), []byte(at+"0")) // the byte that follows /
	}
	query += fmt.Sprintf(" ORDER BY key LIMIT %d", limit+1)
	err = t.part.Read(ctx, func(ctx context.Context, q database.Query) error {
		entries, more = nil, false
		left := room
		return database.Each(ctx, q, func(rows *sql.Rows) error {
			var e entry
			var key, value []byte
			var updated, expires int64
			if err := rows.Scan(&key, &value, &e.size, &e.version, &updated, &expires); err != nil {
				return err
			}
			left -= len(value)
			if more = len(entries) == limit || left < 0 && len(entries) > 0; more {
				return database.ErrEnough
			}
			e.key, e.value, e.updated, e.expires = string(key), string(value), moment(updated), moment(expires)
			entries = append(entries, e)
			return nil
		}, query, args...)
	})
	return entries, more, err
}
