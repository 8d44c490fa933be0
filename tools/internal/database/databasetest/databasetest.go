// Package databasetest is for tests of what is kept in the database: it runs them on SQLite and
// on PostgreSQL, and gives them a disk that can be full or read-only.
//
// No part of the program imports it, and it must not import a category. Start at [Databases].
package databasetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"toolcrib/tools/internal/database"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
	"toolcrib/workspace/state/postgres"
)

// Databases are what the tests of a package share: a PostgreSQL that starts when a test first
// needs it. The zero value can be used.
type Databases struct {
	once   sync.Once
	server *postgres.Server
	err    error
}

// Main runs the tests of a package, removes the PostgreSQL after them, and exits.
func (d *Databases) Main(m *testing.M) {
	code := tooltest.Together(m)
	if d.server != nil {
		if err := d.server.Remove(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

// Postgres returns the URL of the PostgreSQL that all tests share. It skips the test where none
// is installed.
func (d *Databases) Postgres(t *testing.T) string {
	t.Helper()
	d.once.Do(func() { d.server, d.err = postgres.Start(context.Background()) })
	must(t, d.err)
	return d.server.URL()
}

// Start starts a PostgreSQL for one test, and removes it at its end. It skips the test where
// none is installed.
func Start(t *testing.T) *postgres.Server {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	server, err := postgres.Start(ctx)
	must(t, err)
	t.Cleanup(func() {
		if err := server.Remove(ctx); err != nil {
			t.Error(err)
		}
	})
	return server
}

func must(t *testing.T, err error) {
	t.Helper()
	switch {
	case errors.Is(err, postgres.ErrMissing):
		t.Skip("needs: postgresql: it is not installed")
	case err != nil:
		t.Fatal(err)
	}
}

// Each runs a test on SQLite, where url is "", and on PostgreSQL.
func (d *Databases) Each(t *testing.T, f func(t *testing.T, url string)) {
	t.Run("sqlite", func(t *testing.T) { f(t, "") })
	t.Run("postgres", func(t *testing.T) { f(t, d.Postgres(t)) })
}

// Workspace opens a root whose state is below base.
func Workspace(t *testing.T, base, root string) *workspace.Workspace {
	t.Helper()
	ws, err := workspace.Open([]string{root}, workspace.Options{StateBase: base})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	return ws
}

// Use sets the database of a source, "" = SQLite, until the end of the test.
func Use(t *testing.T, source *database.Source, url string) {
	t.Helper()
	if err := source.Configure(url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Open opens a database as a process of its own would: that of a URL, or with "" the SQLite
// below base.
func Open(t *testing.T, base, url string) *database.DB {
	t.Helper()
	source := new(database.Source)
	Use(t, source, url)
	db, err := source.Open(t.Context(), Workspace(t, base, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	return db
}
