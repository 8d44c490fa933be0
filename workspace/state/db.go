package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// ErrNewer says that a database was made by a newer program.
var ErrNewer = errors.New("it was made by a newer program")

// DB opens a SQLite database of the state, at its first call; later calls return
// the same one, which Close closes. The migrations are SQL scripts, each one
// version: those that the database has not seen yet run in one transaction, so
// that it is never between versions. A script that has been released is never
// changed, only followed by another. A database with more versions than there are
// migrations was made by a newer program and is refused.
//
// Every transaction takes the write lock when it begins and waits up to ten
// seconds for it: one that only reads should be a single statement instead. A loss of power
// may undo the last transactions.
func (d *Dir) DB(ctx context.Context, name string, migrations ...string) (*sql.DB, error) {
	return d.db(ctx, name, []string{"busy_timeout(10000)", "synchronous(NORMAL)"}, migrations)
}

// DurableDB opens a database as DB does, whose transactions are on the disk when they have
// been committed, and wait up to four seconds for the write lock.
func (d *Dir) DurableDB(ctx context.Context, name string, migrations ...string) (*sql.DB, error) {
	return d.db(ctx, name, durable, migrations)
}

var durable = []string{"busy_timeout(4000)", "synchronous(FULL)"}

// HasDB reports whether a process has ever opened the database of that name.
func (d *Dir) HasDB(name string) bool {
	_, err := os.Lstat(d.file(name + ".db"))
	return err == nil
}

func (d *Dir) db(ctx context.Context, name string, pragmas, migrations []string) (*sql.DB, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, os.ErrClosed
	}
	if db := d.dbs[name]; db != nil {
		return db, nil
	}
	db, err := d.openDB(ctx, name, pragmas, migrations)
	if err != nil {
		return nil, fmt.Errorf("state %s: %w", name, err)
	}
	d.dbs[name] = db
	return db, nil
}

// OwnDB opens a database as DurableDB does, for a caller who closes it.
func (d *Dir) OwnDB(ctx context.Context, name string, migrations ...string) (*sql.DB, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	db, err := d.openDB(ctx, name, durable, migrations)
	if err != nil {
		return nil, fmt.Errorf("state %s: %w", name, err)
	}
	return db, nil
}

// openDB works under a lock, since changing a new database to WAL is not safe
// between processes by itself.
func (d *Dir) openDB(ctx context.Context, name string, pragmas, migrations []string) (_ *sql.DB, err error) {
	lock, err := d.Lock(ctx, "db_"+name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	path := d.file(name + ".db")
	// SQLite gives its other files the mode of this one.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", dsn(path, pragmas))
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, db, migrations); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func dsn(path string, pragmas []string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/x is /C:/x in a URI
	}
	query := url.Values{
		"_pragma": slices.Concat(pragmas, []string{"journal_mode(WAL)", "foreign_keys(1)"}),
		"_txlock": {"immediate"},
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String()
}

// migrate brings a database to its last version, which it keeps in user_version. For one that
// has it, it does not wait until others have written.
func migrate(ctx context.Context, db *sql.DB, migrations []string) error {
	var has int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&has); err != nil || has > 0 && has == len(migrations) {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing left to undo
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > len(migrations) {
		return fmt.Errorf("%w: it has version %d, this one knows %d", ErrNewer, version, len(migrations))
	}
	for i, script := range migrations[version:] {
		if _, err := tx.ExecContext(ctx, script); err != nil {
			return fmt.Errorf("migration %d: %w", version+i+1, err)
		}
	}
	if version == len(migrations) {
		return nil
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(migrations))); err != nil {
		return err
	}
	return tx.Commit()
}
