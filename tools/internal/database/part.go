package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"toolcrib/tools"
)

// patience is how long a call waits for the database until it is told that it is
// unavailable: within 5 s, of which a busy machine may take one.
const patience = 4 * time.Second

// pause is how long a call waits before it tries again.
const pause = 50 * time.Millisecond

// Part is the tables of one user of the database.
type Part struct {
	db      *DB
	name    string
	scripts []string
}

// Part returns the tables of that name. Scripts are SQL that both databases take, each one
// version: those that the database has not seen yet run in one transaction at the first use,
// and again when somebody has put an empty or older database in its place.
// A script that has been released is never changed, only followed by another. A database
// with more versions than there are scripts was made by a newer program: the part is then
// unavailable.
func (db *DB) Part(name string, scripts ...string) *Part { return &Part{db, name, scripts} }

// Postgres reports whether the database is PostgreSQL.
func (p *Part) Postgres() bool { return p.db.url != "" }

// Change runs f in a transaction. It runs f again if the database failed before the commit,
// so f must do nothing else. On SQLite transactions run one after another; on PostgreSQL each
// statement sees what was committed before it, and a row that was updated is locked.
//
// An error of f that is a [tools.Error] is returned as it is. Any other error is an
// unavailable one; its text says if the change may have been made.
func (p *Part) Change(ctx context.Context, f func(context.Context, *sql.Tx) error) error {
	return p.try(ctx, func(ctx context.Context) error { return p.db.transaction(ctx, f) })
}

// Query reads. Both a database and a transaction are one.
type Query interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Read runs f, which only reads, by single statements. It runs f again if the database
// failed. Errors are those of Change.
func (p *Part) Read(ctx context.Context, f func(context.Context, Query) error) error {
	return p.try(ctx, func(ctx context.Context) error { return f(ctx, p.db.sql) })
}

// try runs f once the tables are there, and again while the database cannot be reached, until
// the patience ends. A database that was not reached at the last use is tried once.
func (p *Part) try(ctx context.Context, f func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	p.db.mu.Lock()
	again := !p.db.down
	p.db.mu.Unlock()
	var err error
	looked := false // for the tables, again
	for {
		if err = p.prepare(limited); err == nil {
			err = f(limited)
		}
		if lacks(err) && !looked {
			looked = true
			p.forget()
			continue
		}
		if !again || !p.db.lost(err) || !sleep(limited, pause) {
			break
		}
	}
	if err != nil && ctx.Err() != nil && !errors.Is(err, errUncertain) {
		return ctx.Err() // the caller has given up, not the database
	}
	p.db.mu.Lock()
	p.db.down = p.db.lost(err)
	p.db.mu.Unlock()
	return Told(err)
}

// errUncertain is the cause of an error after which a commit may have been made.
var errUncertain = errors.New("the connection broke while the change was committed: it may have been made or not; look before you repeat it")

func (db *DB) transaction(ctx context.Context, f func(context.Context, *sql.Tx) error) error {
	if db.turn != nil { // SQLite has no queue: whoever looks in the right moment gets its lock
		select {
		case db.turn <- struct{}{}:
			defer func() { <-db.turn }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	tx, err := db.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing left to undo
	if err := f(ctx, tx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // nothing was committed
	}
	err = tx.Commit()
	if db.url != "" && db.lost(err) {
		return fmt.Errorf("%w: %w", errUncertain, err)
	}
	return err
}

// prepare runs the scripts that the database has not seen yet.
func (p *Part) prepare(ctx context.Context) error {
	p.db.mu.Lock()
	ready := p.db.ready[p.name]
	p.db.mu.Unlock()
	if ready {
		return nil
	}
	if err := p.db.transaction(ctx, p.migrate); err != nil {
		return err
	}
	p.db.mu.Lock()
	p.db.ready[p.name] = true
	p.db.mu.Unlock()
	return nil
}

// forget has the tables looked for again at the next use.
func (p *Part) forget() {
	p.db.mu.Lock()
	defer p.db.mu.Unlock()
	delete(p.db.ready, p.name)
}

func (p *Part) migrate(ctx context.Context, tx *sql.Tx) error {
	if p.db.url != "" { // SQLite has locked itself
		const key = 0x746f6f6c63726962 // "toolcrib"
		if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", int64(key)); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS toolcrib_parts (name TEXT PRIMARY KEY, version BIGINT NOT NULL)"); err != nil {
		return err
	}
	var version int
	err := tx.QueryRowContext(ctx, "SELECT version FROM toolcrib_parts WHERE name = $1", p.name).Scan(&version)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if version > len(p.scripts) {
		return tools.Errorf(tools.Unavailable, "the tables of %s in the database were made by a newer toolcrib: version %d, this one knows %d", p.name, version, len(p.scripts)).
			WithHint(newerHint)
	}
	if version == len(p.scripts) {
		return nil
	}
	for i, script := range p.scripts[version:] {
		if _, err := tx.ExecContext(ctx, script); err != nil {
			return fmt.Errorf("version %d of %s: %w", version+i+1, p.name, err)
		}
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO toolcrib_parts (name, version) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET version = excluded.version", p.name, len(p.scripts))
	return err
}

// sleep reports whether the time has passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// ErrEnough ends Each without an error.
var ErrEnough = errors.New("enough")

// Each calls f for each row of a query.
func Each(ctx context.Context, q Query, f func(*sql.Rows) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); errors.Is(err, ErrEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return rows.Err()
}

// Now returns SQL for the time of the database's clock, in milliseconds since 1970: servers
// on several machines have one.
func (p *Part) Now() string {
	if p.Postgres() {
		return "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"
	}
	return "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
}
