// Package database opens the database in which tools keep what must last: a SQLite file in
// the state directory, or PostgreSQL, by the configuration.
//
// Both take the same SQL: numbered parameters, BIGINT, BYTEA for text that is compared and
// returned byte for byte, and upserts with RETURNING. Each user of the database is a part
// with tables and migrations of its own. It imports the contract, for its errors, and the
// state. It must not import a category. Start at [Source.Open], then [DB.Part] and
// [Part.Change].
package database

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"toolcrib/tools"
	"toolcrib/workspace"
	"toolcrib/workspace/state"
)

// name is that of the file, without its extension.
const name = "state"

// Source opens the database of a process. The zero value has SQLite.
type Source struct {
	mu   sync.Mutex
	url  string         // of PostgreSQL; "" = SQLite
	open map[string]*DB // by the base of the state; "" is PostgreSQL
}

// Configure sets the URL of PostgreSQL, which Check has accepted; "" = SQLite. What is open
// is closed if it changes.
func (s *Source) Configure(url string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if url == s.url {
		return nil
	}
	s.url = url
	return s.close()
}

// Check returns why a URL is none of PostgreSQL, without its password.
func Check(url string) error {
	_, err := configOf(url)
	return err
}

func configOf(url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil || !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://") {
		return nil, errors.New("this is no URL of PostgreSQL, such as postgres://user:password@host:5432/name")
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > patience {
		config.ConnectTimeout = patience
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "toolcrib"
	}
	return config, nil
}

// Postgres reports whether the database is PostgreSQL.
func (s *Source) Postgres() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.url != ""
}

// Exists reports whether something may be in the database, without opening it.
func (s *Source) Exists(ws *workspace.Workspace) bool {
	if s.Postgres() {
		return true
	}
	if ws.StateBase() == "" || !state.HasShared(ws.StateBase()) {
		return false
	}
	dir, err := state.Shared(ws.StateBase(), ws.Roots()...)
	return err == nil && dir.HasDB(name)
}

// Open opens the database; later calls return the same one. It lasts until Close of the
// source, longer than the workspace, which says where the state is. It does not connect to
// PostgreSQL yet. Its error is an unavailable [tools.Error], or that of ctx.
func (s *Source) Open(ctx context.Context, ws *workspace.Workspace) (*DB, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	base := ""
	if s.url == "" {
		base = ws.StateBase()
	}
	if db := s.open[base]; db != nil {
		return db, nil
	}
	var db *DB
	var err error
	if s.url != "" {
		db, err = openPostgres(s.url)
	} else {
		db, err = openSQLite(ctx, ws)
	}
	if err != nil {
		return nil, err
	}
	if s.open == nil {
		s.open = map[string]*DB{}
	}
	s.open[base] = db
	return db, nil
}

// Close closes what is open. The source can be used again.
func (s *Source) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.close()
}

func (s *Source) close() error {
	var errs []error
	for _, db := range s.open {
		errs = append(errs, db.close())
	}
	s.open = nil
	return errors.Join(errs...)
}

// DB is an open database. Several goroutines may use it.
type DB struct {
	sql   *sql.DB
	url   string // of PostgreSQL; "" = SQLite
	place string // for people: the file, or host and name
	close func() error
	turn  chan struct{} // SQLite: holds the token of the transaction that runs

	mu    sync.Mutex
	ready map[string]bool // parts whose tables are there
	down  bool            // it was not reached at the last use
}

// SQL returns the handle, for an engine that has tables of its own.
func (db *DB) SQL() *sql.DB { return db.sql }

// URL returns the URL of PostgreSQL with its password; "" = the database is SQLite.
func (db *DB) URL() string { return db.url }

// Place names the database for people, without a password.
func (db *DB) Place() string { return db.place }

func openSQLite(ctx context.Context, ws *workspace.Workspace) (*DB, error) {
	if ws.StateBase() == "" {
		return nil, tools.Errorf(tools.Unavailable, "%v", state.ErrNoBase).WithHint("start the server with --state-dir, outside of its roots")
	}
	dir, err := state.Shared(ws.StateBase(), ws.Roots()...)
	if err != nil {
		return nil, Told(err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	handle, err := dir.DurableDB(ctx, name)
	if err != nil {
		return nil, Told(errors.Join(err, dir.Close()))
	}
	return &DB{sql: handle, place: dir.Path() + "/" + name + ".db", close: dir.Close, turn: make(chan struct{}, 1), ready: map[string]bool{}}, nil
}

func openPostgres(url string) (*DB, error) {
	config, err := configOf(url)
	if err != nil {
		return nil, tools.Errorf(tools.Unavailable, "%v", err)
	}
	handle := stdlib.OpenDB(*config)
	const most, idle = 8, 4
	handle.SetMaxOpenConns(most)
	handle.SetMaxIdleConns(idle)
	handle.SetConnMaxIdleTime(time.Minute)
	place := net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))) + "/" + config.Database
	return &DB{sql: handle, url: url, place: place, close: handle.Close, ready: map[string]bool{}, down: true}, nil
}
