package database_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/database"
	"toolcrib/tools/internal/database/databasetest"
)

var databases databasetest.Databases

func TestMain(m *testing.M) { databases.Main(m) }

const table = "CREATE TABLE counts_%[1]s (name BYTEA PRIMARY KEY, n BIGINT NOT NULL)"

// count adds to a number and returns it.
func count(ctx context.Context, p *database.Part, name string) (n int, err error) {
	err = p.Change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "INSERT INTO counts_"+name+" AS c (name, n) VALUES ($1, 1) ON CONFLICT (name) DO UPDATE SET n = c.n + 1 RETURNING n", []byte("a\x00b")).Scan(&n)
	})
	return n, err
}

// TestChange has several users of a database count.
func TestChange(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, url string) {
		base := t.TempDir()
		script := fmt.Sprintf(table, "change")
		var wg sync.WaitGroup
		const users, rounds = 4, 25
		for range users {
			p := databasetest.Open(t, base, url).Part("change", script)
			wg.Go(func() {
				for range rounds {
					if _, err := count(t.Context(), p, "change"); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		p := databasetest.Open(t, base, url).Part("change", script)
		declined := tools.Errorf(tools.Conflict, "no")
		err := p.Change(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, "DELETE FROM counts_change"); err != nil {
				return err
			}
			return declined
		})
		if !errors.Is(err, declined) {
			t.Errorf("an error of the function became %v", err)
		}
		tried, plain := 0, errors.New("no number")
		err = p.Change(t.Context(), func(context.Context, *sql.Tx) error { tried++; return plain })
		if tried != 1 || !errors.Is(err, plain) {
			t.Errorf("after an error that is none of a connection it was tried %d times: %v", tried, err)
		}
		if n, err := count(t.Context(), p, "change"); n != users*rounds+1 || err != nil {
			t.Errorf("counted %d, %v; want %d", n, err, users*rounds+1)
		}
	})
}

// TestTurns has many users of one process change at once, on SQLite: each gets its turn.
func TestTurns(t *testing.T) {
	t.Parallel()
	p := databasetest.Open(t, t.TempDir(), "").Part("turns", fmt.Sprintf(table, "turns"))
	const users, all = 24, 24 * 12
	var made [users]int
	var total atomic.Int64
	var wg sync.WaitGroup
	for i := range users {
		wg.Go(func() {
			for total.Add(1) <= all {
				err := p.Change(t.Context(), func(context.Context, *sql.Tx) error {
					time.Sleep(5 * time.Millisecond)
					return nil
				})
				if err != nil {
					t.Error(err)
					return
				}
				made[i]++
			}
		})
	}
	wg.Wait()
	if least := slices.Min(made[:]); least < all/users/2 {
		t.Errorf("changes by user: %v, want at least %d each", made, all/users/2)
	}
}

// TestHold breaks the connection that holds a name, and gives the name up.
func TestHold(t *testing.T) {
	ctx, db := t.Context(), databasetest.Open(t, "", databases.Postgres(t))
	free := func(want bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			var got bool
			if err := db.SQL().QueryRow("SELECT " + database.Unheld("'x'")).Scan(&got); err != nil {
				t.Fatal(err)
			}
			if got == want {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("free: %t", got)
			}
		}
	}
	free(true)
	h, err := db.Hold(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	free(false)
	if _, err := db.Hold(ctx, "x"); err == nil || !h.Lost().IsZero() {
		t.Errorf("it was taken twice: %v; lost at %v", err, h.Lost())
	}
	if _, err := db.SQL().Exec("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND pid <> pg_backend_pid()"); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); h.Lost().IsZero() && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	free(false)
	if h.Lost().IsZero() {
		t.Error("the end of the connection was not seen")
	}
	h.Release()
	free(true)
}

// TestParts has a newer program change its tables.
func TestParts(t *testing.T) {
	databases.Each(t, func(t *testing.T, url string) {
		base := t.TempDir()
		first := fmt.Sprintf(table, "parts")
		second := "ALTER TABLE counts_parts ADD COLUMN more TEXT NOT NULL DEFAULT ''"
		for _, scripts := range [][]string{{first}, {first, second}, {first, second}} {
			if _, err := count(t.Context(), databasetest.Open(t, base, url).Part("parts", scripts...), "parts"); err != nil {
				t.Fatalf("with %d scripts: %v", len(scripts), err)
			}
		}
		db := databasetest.Open(t, base, url)
		_, err := count(t.Context(), db.Part("parts", first), "parts")
		if e := tools.AsError(err); err == nil || e.Code != tools.Unavailable || !strings.Contains(e.Msg, "newer toolcrib: version 2") {
			t.Errorf("an old program got %v", err)
		}
		if _, err := count(t.Context(), db.Part("others", fmt.Sprintf(table, "others")), "others"); err != nil {
			t.Errorf("another part: %v", err)
		}
		broken := db.Part("broken", fmt.Sprintf(table, "broken"), "CREATE TABEL x")
		if _, err := count(t.Context(), broken, "broken"); tools.AsError(err).Code != tools.Unavailable {
			t.Errorf("a script that is wrong: %v", err)
		}
		if _, err := count(t.Context(), db.Part("broken", fmt.Sprintf(table, "broken")), "broken"); err != nil {
			t.Errorf("its first half has stayed: %v", err)
		}
	})
}

// TestLost has somebody put an empty database in the place of one that is in use, and take a
// table out of one.
func TestLost(t *testing.T) {
	databases.Each(t, func(t *testing.T, url string) {
		db := databasetest.Open(t, t.TempDir(), url)
		p := db.Part("lost", fmt.Sprintf(table, "lost"))
		do := func(query string) {
			t.Helper()
			if _, err := db.SQL().Exec(query); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if n, err := count(t.Context(), p, "lost"); n != 1 || err != nil {
				t.Fatalf("counted %d, %v", n, err)
			}
			do("DROP TABLE counts_lost")
			do("DELETE FROM toolcrib_parts WHERE name = 'lost'")
		}
		if _, err := count(t.Context(), p, "lost"); err != nil {
			t.Fatal(err)
		}
		do("DROP TABLE counts_lost")
		begin := time.Now()
		_, err := count(t.Context(), p, "lost")
		if e := tools.AsError(err); err == nil || e.Code != tools.Unavailable || !strings.Contains(e.Msg, "lacks tables that it had") {
			t.Errorf("without its table: %v", err)
		}
		if took := time.Since(begin); took > 3*time.Second {
			t.Errorf("told after %v", took)
		}
	})
}

// TestBroken opens databases that cannot be used.
func TestBroken(t *testing.T) {
	use := func(t *testing.T, base, url string) error {
		source := new(database.Source)
		databasetest.Use(t, source, url)
		db, err := source.Open(t.Context(), databasetest.Workspace(t, base, t.TempDir()))
		if err == nil {
			_, err = count(t.Context(), db.Part("broken", fmt.Sprintf(table, "broken")), "broken")
		}
		return err
	}
	damaged := t.TempDir()
	if err := os.MkdirAll(filepath.Join(damaged, "shared"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(damaged, "shared", "state.db"), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, base, url, want string }{
		{"damaged", damaged, "", "damaged"},
		{"no state", "", "", "no state directory"},
		{"a file in its place", file, "", "the state directory cannot be used"},
		{"no server", "", "postgres://nobody@127.0.0.1:1/none", "does not answer"},
		{"no such name", "", "postgres://nobody@no.such.host.invalid/none", "does not answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := use(t, c.base, c.url)
			if e := tools.AsError(err); err == nil || e.Code != tools.Unavailable || !strings.Contains(e.Msg, c.want) {
				t.Errorf("got %v; want unavailable: %s", err, c.want)
			}
		})
	}
	t.Run("no such database", func(t *testing.T) {
		err := use(t, "", strings.Replace(databases.Postgres(t), "/postgres?", "/missing?", 1))
		if e := tools.AsError(err); err == nil || e.Code != tools.Unavailable || !strings.Contains(e.Msg, "does not exist") {
			t.Errorf("got %v", err)
		}
	})
}

func TestCheck(t *testing.T) {
	for url, ok := range map[string]bool{
		"postgres://user:pass@host:5432/name?sslmode=require": true,
		"postgresql://host/name":                              true,
		"host=localhost dbname=name":                          false,
		"mysql://user:secret@host/name":                       false,
		"postgres://user:secret@host:port/name":               false,
		"state.db":                                            false,
	} {
		err := database.Check(url)
		if (err == nil) != ok {
			t.Errorf("%s: %v", url, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error has the password: %v", err)
		}
	}
}
