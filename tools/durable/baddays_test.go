package durable_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"toolcrib/tools/durable"
	"toolcrib/tools/internal/database/databasetest"
	"toolcrib/workspace/state"
)

// The tables of DBOS are of the version that the migrations of the engine stand for: a newer
// DBOS needs one more of these, so that an older program refuses its tables.
func TestVersionOfDBOS(t *testing.T) {
	const version, migrations = 125, 1
	b := newBench(t, "", 0)
	if _, err := b.List(t.Context(), "count", "", 1); err != nil {
		t.Fatal(err)
	}
	dir, err := state.Open(b.base, "/root")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	db := plain(t, dir)
	var tables, ours int
	if err := db.QueryRow("SELECT version FROM dbos_migrations").Scan(&tables); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow("PRAGMA user_version").Scan(&ours); err != nil {
		t.Fatal(err)
	}
	if tables != version || ours != migrations {
		t.Errorf("DBOS has tables of version %d, the engine %d migrations; want %d and %d: see sqliteMigrations", tables, ours, version, migrations)
	}
}

// plain opens the database of runs without looking at its version.
func plain(t *testing.T, dir *state.Dir) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir.Path(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// What cannot be used is told, and nothing is changed.
func TestUnusable(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir *state.Dir)
		want  string
	}{
		"newer": {func(t *testing.T, dir *state.Dir) {
			if _, err := plain(t, dir).Exec("PRAGMA user_version = 99"); err != nil {
				t.Fatal(err)
			}
		}, "newer program"},
		"damaged": {func(t *testing.T, dir *state.Dir) {
			if err := os.WriteFile(filepath.Join(dir.Path(), "runs.db"), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not a database"},
		"no place for executors": {func(t *testing.T, dir *state.Dir) {
			if err := os.WriteFile(filepath.Join(dir.Path(), "executors.d"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "executors.d"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "", 0)
			dir, err := state.Open(b.base, "/root")
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			c.spoil(t, dir)
			started, err := b.Start(t.Context(), "count", "x", nil)
			if started || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("started %t: %v", started, err)
			}
			if got := b.noted(t); got[0] != "" {
				t.Errorf("effects %q", got)
			}
		})
	}
}

// A run is queued although others hold the lock of SQLite for longer than one try waits.
func TestLocked(t *testing.T) {
	t.Parallel() // it waits most of the time
	b := newBench(t, "", time.Minute)
	if _, err := b.List(t.Context(), "count", "", 1); err != nil {
		t.Fatal(err)
	}
	dir, err := state.Open(b.base, "/root")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	db := plain(t, dir)
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("PRAGMA busy_timeout = 60000; BEGIN IMMEDIATE"); err != nil { // the engine may be writing
		t.Fatal(err)
	}
	free := make(chan error, 1)
	time.AfterFunc(5*time.Second, func() {
		_, err := db.Exec("ROLLBACK")
		free <- err
	})
	queued, err := b.Enqueue(t.Context(), "count", "x", nil)
	if !queued || err != nil {
		t.Errorf("queued %t: %v", queued, err)
	}
	if err := <-free; err != nil {
		t.Fatal(err)
	}
	if _, err := b.Wait(t.Context(), "count", "x"); err != nil {
		t.Error(err)
	}
}

// A process that is stopped for longer than it may be silent has lost its runs: it begins
// nothing afterwards, and what it had begun is unknown.
func TestStopped(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs: signals: processes cannot be stopped")
	}
	b := newBench(t, databases.Postgres(t), time.Minute)
	worker := b.worker(t)
	if _, err := b.Enqueue(t.Context(), "slow", "x", nil); err != nil {
		t.Fatal(err)
	}
	until(t, "the first effect", func() bool { return b.noted(t)[0] != "" })
	stopped(t, worker.Process, true)
	b.worker(t, "second")
	if got, err := b.Wait(t.Context(), "slow", "x"); err != nil || string(got) != `["unknown a","did b","did c"]` {
		t.Errorf("%s, %v", got, err)
	}
	stopped(t, worker.Process, false)
	if _, err := b.Enqueue(t.Context(), "slow", "y", nil); err != nil { // whoever takes it
		t.Fatal(err)
	}
	if got, err := b.Wait(t.Context(), "slow", "y"); err != nil || string(got) != `["did a","did b","did c"]` {
		t.Errorf("the next run: %s, %v", got, err)
	}
	want := []string{"x a", "x b", "x c", "x unknown a false", "y a", "y b", "y c"}
	got := slices.Sorted(slices.Values(b.noted(t)))
	if !slices.Equal(got, want) {
		t.Errorf("effects %q, want %q", got, want)
	}
}

// A process that was taken for dead begins no run until it is back under another ID: the others
// would adopt that too.
func TestDeadBeginsNothing(t *testing.T) {
	t.Parallel() // it waits most of the time
	b := newBench(t, databases.Postgres(t), time.Minute)
	if _, err := b.List(t.Context(), "count", "", 1); err != nil {
		t.Fatal(err)
	}
	db := open(b.url)
	executors := func() (count int) {
		if err := db.SQL().QueryRowContext(t.Context(), `SELECT count(*) FROM toolcrib_executors WHERE scope = $1`, scope(b.base)).Scan(&count); err != nil {
			t.Fatal(err)
		}
		return count
	}
	b.worker(t, drowsy)
	until(t, "its death", func() bool { return executors() == 1 })
	if _, err := b.Enqueue(t.Context(), "slow", "x", nil); err != nil {
		t.Fatal(err)
	}
	until(t, "the first effect", func() bool { return b.noted(t)[0] != "" })
	if n := executors(); n != 2 {
		t.Errorf("it begins a run while %d executors are known, want it and the one of the test", n)
	}
	if got, err := b.Wait(t.Context(), "slow", "x"); err != nil || string(got) != `["did a","did b","did c"]` {
		t.Errorf("%s, %v", got, err)
	}
}

// A process that is stopped while it adopts runs does not keep the others from that.
func TestStoppedWhileAdopting(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs: signals: processes cannot be stopped")
	}
	b := newBench(t, databases.Postgres(t), time.Minute)
	first := b.worker(t)
	if _, err := b.Enqueue(t.Context(), "trap", "x", nil); err != nil {
		t.Fatal(err)
	}
	until(t, "the beginning", func() bool { return slices.Contains(b.noted(t), "x begun") })
	if err := b.Close(); err != nil { // it would adopt the run
		t.Fatal(err)
	}
	second := b.worker(t, "trapped")
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	until(t, "the adoption", func() bool { return slices.Contains(b.noted(t), "x given up") })
	stopped(t, second.Process, true)
	b.worker(t, "third")
	want := []string{"x begun", "x given up", "x given up"}
	until(t, "the adoption by the third", func() bool { return slices.Equal(b.noted(t), want) })
	stopped(t, second.Process, false)
	time.Sleep(2 * time.Second)
	if got := b.noted(t); !slices.Equal(got, want) {
		t.Errorf("effects %q", got)
	}
}

// A lock is one process's at a time, which learns that the database has ended its turn.
func TestTurns(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), open(databases.Postgres(t))
	mine, err := durable.Locked(ctx, db, t.Name(), time.Minute, func(sure func() error) error {
		if err := sure(); err != nil {
			t.Error(err)
		}
		if mine, err := durable.Locked(ctx, db, t.Name(), time.Minute, nil); mine || err != nil {
			t.Errorf("another has it: %t, %v", mine, err)
		}
		if _, err := db.SQL().ExecContext(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction' AND pid IN (SELECT pid FROM pg_locks
			WHERE locktype = 'advisory' AND (classid::bigint << 32 | objid::bigint) = hashtextextended($1, 0))`, t.Name()); err != nil {
			t.Fatal(err)
		}
		return sure()
	})
	if !mine || err == nil {
		t.Errorf("its turn has ended: %t, %v", mine, err)
	}
	until(t, "the end of the session, which frees it", func() bool {
		mine, err := durable.Locked(ctx, db, t.Name(), time.Minute, func(func() error) error { return nil })
		if err != nil {
			t.Error(err)
		}
		return mine
	})
}

// While PostgreSQL is down, calls end in time; afterwards runs go on, and nothing is done
// twice.
func TestOutage(t *testing.T) {
	t.Parallel()
	ctx, own := t.Context(), databasetest.Start(t)
	b := newBench(t, own.URL(), time.Minute)
	b.worker(t)
	for _, id := range []string{"x", "y"} {
		if _, err := b.Enqueue(ctx, "slow", id, nil); err != nil {
			t.Fatal(err)
		}
		until(t, "the first effect", func() bool { return slices.Contains(b.noted(t), id+" a") })
		if err := own.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		limited, cancel := context.WithTimeout(ctx, 2*time.Second)
		begin := time.Now()
		if _, err := b.Start(limited, "count", "z"+id, nil); err == nil {
			t.Error("a run was started in a database that is down")
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("that took %s", took)
		}
		cancel()
		if err := own.Restart(ctx); err != nil {
			t.Fatal(err)
		}
		if got, err := waitFor(t, b.Engine, id); err != nil || string(got) != `["did a","did b","did c"]` {
			t.Errorf("%s, %v", got, err)
		}
	}
	want := []string{"x a", "x b", "x c", "y a", "y b", "y c"}
	got := slices.DeleteFunc(slices.Sorted(slices.Values(b.noted(t))), func(line string) bool { return strings.HasPrefix(line, "z") })
	if !slices.Equal(got, want) {
		t.Errorf("effects %q, want %q", got, want)
	}
}

// An engine whose launch takes longer than an executor may be silent is not taken for dead.
func TestLongLaunch(t *testing.T) {
	t.Parallel()
	ctx, own := t.Context(), databasetest.Start(t)
	b := newBench(t, own.URL(), time.Minute)
	b.worker(t)
	time.Sleep(deadAfter + time.Second) // so that it judges others
	conn, err := open(own.URL()).SQL().Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock(hashtextextended('toolcrib runs', 0))`); err != nil { // which launches take
		t.Fatal(err)
	}
	launched := make(chan error, 1)
	go func() {
		_, err := b.Enqueue(ctx, "slow", "x", nil)
		launched <- err
	}()
	time.Sleep(2 * deadAfter)
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_unlock(hashtextextended('toolcrib runs', 0))`); err != nil {
		t.Fatal(err)
	}
	if err := <-launched; err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var executors int
		if err := conn.QueryRowContext(ctx, `SELECT count(*) FROM toolcrib_executors`).Scan(&executors); err != nil || executors != 2 {
			t.Errorf("%d executors, %v", executors, err)
		}
		time.Sleep(time.Second)
	}
}

// An engine ends without an error though its database is down.
func TestCloseInOutage(t *testing.T) {
	t.Parallel()
	ctx, own := t.Context(), databasetest.Start(t)
	b := newBench(t, own.URL(), time.Minute)
	if _, err := b.Start(ctx, "count", "x", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Wait(ctx, "count", "x"); err != nil {
		t.Fatal(err)
	}
	if err := own.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// waitFor waits for a run although the database may not answer yet.
func waitFor(t *testing.T, e *durable.Engine, id string) (got []byte, err error) {
	t.Helper()
	until(t, "the run", func() bool {
		limited, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		got, err = e.Wait(limited, "slow", id)
		return err == nil
	})
	return got, err
}

// Runs that end because their engine is closed have no outcome: they go on at the next launch.
func TestClosedRecordsNothing(t *testing.T) {
	t.Parallel()
	dir, err := state.Open(t.TempDir(), "/root")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	const runs = 100
	var begun sync.WaitGroup
	begun.Add(runs)
	engine := func(do func(r *durable.Run) error) *durable.Engine {
		return durable.New(durable.Options{State: dir, Kinds: map[string]durable.Kind{"wait": {Workers: runs, Do: func(r *durable.Run, _ json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage("1"), do(r)
		}}}})
	}
	first := engine(func(r *durable.Run) error {
		begun.Done()
		<-r.Context().Done()
		return context.Cause(r.Context())
	})
	for i := range runs {
		if _, err := first.Start(t.Context(), "wait", strconv.Itoa(i), nil); err != nil {
			t.Fatal(err)
		}
	}
	begun.Wait()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := engine(func(*durable.Run) error { return nil })
	defer second.Close()
	for i := range runs {
		if got, err := second.Wait(t.Context(), "wait", strconv.Itoa(i)); err != nil || string(got) != "1" {
			t.Errorf("run %d: %s, %v", i, got, err)
		}
	}
}
