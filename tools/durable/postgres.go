package durable

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"toolcrib/tools/internal/database"
)

// deadAfter is the default of Options.
const deadAfter = 20 * time.Second

// schema has the tables of DBOS.
const schema = "toolcrib_runs"

// postgresMigrations follow the rule of sqliteMigrations.
var postgresMigrations = []string{
	`CREATE TABLE toolcrib_executors (id TEXT PRIMARY KEY, scope TEXT NOT NULL, beat TIMESTAMPTZ NOT NULL);
	CREATE TABLE toolcrib_adoptions (run TEXT PRIMARY KEY, count BIGINT NOT NULL)`,
}

// postgresStore is a PostgreSQL database, shared by machines.
type postgresStore struct {
	db    *database.DB
	part  *database.Part
	scope string
	dead  time.Duration // silent for so long, an executor is dead
}

func (s *postgresStore) configure(c *dbos.Config) {
	c.DatabaseURL, c.DatabaseSchema = s.db.URL(), schema
}

func (s *postgresStore) members() members { return &rows{postgresStore: s} }
func (s *postgresStore) close() error     { return nil } // others use it

func (s *postgresStore) alone(ctx context.Context, f func() error) error {
	// It asks again and again: a session that waits for a lock would hold up the indexes that
	// DBOS makes, which wait for every session.
	for {
		mine, err := s.locked(ctx, "toolcrib runs", launchWithin, func(func() error) error { return f() })
		if mine || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(look):
		}
	}
}

// locked calls f, which takes at most that long, unless another session has a lock. It reports
// whether it did. The lock is that of a transaction, which the database ends if this process is
// stopped for longer; sure returns an error then.
func (s *postgresStore) locked(ctx context.Context, lock string, most time.Duration, f func(sure func() error) error) (mine bool, err error) {
	conn, err := s.db.SQL().Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	held, cancel := context.WithTimeout(context.WithoutCancel(ctx), most) // also if ctx ends while f runs
	defer cancel()
	keep := context.AfterFunc(ctx, cancel)
	tx, err := conn.BeginTx(held, nil)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	// The second statement lets go of the snapshot of the first one, for which the indexes of DBOS
	// would wait.
	err = tx.QueryRowContext(held, `SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))`, lock).Scan(&mine)
	if err == nil && mine {
		_, err = tx.ExecContext(held, fmt.Sprintf(`SET LOCAL idle_in_transaction_session_timeout = '%d ms'`, most.Milliseconds()))
	}
	if err != nil || !mine || !keep() {
		return false, errors.Join(err, ctx.Err())
	}
	return true, f(func() error {
		_, err := tx.ExecContext(held, `SELECT`)
		return err
	})
}

func (s *postgresStore) adopted(ctx context.Context, run string) (count int, err error) {
	err = s.part.Change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `INSERT INTO toolcrib_adoptions AS a (run, count) VALUES ($1, 1)
			ON CONFLICT (run) DO UPDATE SET count = a.count + 1 RETURNING count`, run).Scan(&count)
	})
	return count, err
}

// rows are the executors of a scope: each holds its ID in the database, which frees it when the
// process dies, and renews a row, whose age by the clock of the database tells of one that is
// stopped.
type rows struct {
	*postgresStore
	id   string
	hold *database.Hold

	mu    sync.Mutex
	since time.Time // from when on every renewal has succeeded; zero: the last has failed
}

// reported notes whether a renewal has succeeded.
func (m *rows) reported(ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !ok:
		m.since = time.Time{}
	case m.since.IsZero():
		m.since = time.Now()
	}
}

// steady reports whether all renewals have succeeded for long enough to judge the others.
func (m *rows) steady() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.since.IsZero() && time.Since(m.since) >= m.dead
}

func (m *rows) join(ctx context.Context) (_ string, err error) {
	m.id = rand.Text()
	m.hold, err = m.db.Hold(ctx, m.id)
	return m.id, err
}

func (m *rows) begin(ctx context.Context) error {
	return m.part.Change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO toolcrib_executors (id, scope, beat) VALUES ($1, $2, now()) ON CONFLICT DO NOTHING`, m.id, m.scope)
		return err
	})
}

// silent selects the executors that have been silent for too long. Right after a start of
// the database all have been.
const silent = `scope = $1 AND beat < now() - $2::interval AND pg_postmaster_start_time() < now() - $2::interval`

// regain is how long an executor has to hold its ID again when its connection breaks together
// with those of others, and flicker how long when it breaks alone.
const (
	regain  = 5 * time.Second
	flicker = 500 * time.Millisecond
)

// unheld selects the executors whose IDs nobody holds.
var unheld = fmt.Sprintf(`scope = $1 AND pg_postmaster_start_time() < now() - interval '%d s' AND %s`, regain/time.Second, database.Unheld("id"))

func (m *rows) stranded(ctx context.Context) (left bool, err error) {
	err = m.part.Read(ctx, func(ctx context.Context, q database.Query) error {
		return q.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM toolcrib_executors WHERE `+silent+`) OR EXISTS (SELECT FROM toolcrib_executors WHERE `+unheld+`)`,
			m.scope, m.dead.String()).Scan(&left)
	})
	return left, err
}

func (m *rows) survey(ctx context.Context, owners func() ([]string, error), adopt func(dead []string, sure func() error) error) error {
	// If another has the lock, that one adopts.
	_, err := m.locked(ctx, "toolcrib adoption "+m.scope, tendWithin, func(sure func() error) error {
		if err := m.removeUnheld(ctx); err != nil {
			return err
		}
		// If it could not reach the database itself a moment ago, or has only begun, the others
		// may be as well off, and get the time to report.
		if m.steady() {
			if _, err := m.db.SQL().ExecContext(ctx, `DELETE FROM toolcrib_executors WHERE `+silent+` AND id <> $3`, m.scope, m.dead.String(), m.id); err != nil {
				return err
			}
		}
		return m.unowned(ctx, owners, func(dead []string) error { return adopt(dead, sure) })
	})
	return err
}

// removeUnheld takes those for dead whose IDs nobody holds at two looks.
func (m *rows) removeUnheld(ctx context.Context) error {
	if time.Since(m.hold.Lost()) < regain {
		return nil
	}
	look := func() (ids []string, err error) {
		err = database.Each(ctx, m.db.SQL(), func(found *sql.Rows) error {
			var id string
			err := found.Scan(&id)
			ids = append(ids, id)
			return err
		}, `SELECT id FROM toolcrib_executors WHERE `+unheld+` AND id <> $2`, m.scope, m.id)
		return ids, err
	}
	first, err := look()
	if err != nil || len(first) == 0 {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(flicker):
	}
	second, err := look()
	if err != nil {
		return err
	}
	dead := slices.DeleteFunc(second, func(id string) bool { return !slices.Contains(first, id) })
	_, err = m.db.SQL().ExecContext(ctx, `DELETE FROM toolcrib_executors WHERE id = ANY ($1)`, dead)
	return err
}

// unowned adopts the runs of executors that have no row any more, whoever has removed it.
func (m *rows) unowned(ctx context.Context, owners func() ([]string, error), adopt func(dead []string) error) error {
	// The runs are listed before the rows: an executor has its row before its first run.
	named, err := owners()
	if err != nil || len(named) == 0 {
		return err
	}
	var living []string
	if err := database.Each(ctx, m.db.SQL(), func(found *sql.Rows) error {
		var id string
		err := found.Scan(&id)
		living = append(living, id)
		return err
	}, `SELECT id FROM toolcrib_executors WHERE scope = $1`, m.scope); err != nil {
		return err
	}
	dead := slices.DeleteFunc(named, func(id string) bool { return slices.Contains(living, id) })
	if len(dead) == 0 {
		return nil
	}
	return adopt(dead)
}

func (m *rows) confirm(ctx context.Context) error {
	done, err := m.db.SQL().ExecContext(ctx, `UPDATE toolcrib_executors SET beat = now() WHERE id = $1`, m.id)
	if err != nil {
		m.reported(false)
		return fmt.Errorf("this process cannot report that it lives: %w", err)
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return errors.Join(ErrFenced, err)
	}
	m.reported(true)
	return nil
}

// leave gives up the ID. The row stays if there are runs, or if the database does not answer:
// nobody holds its ID then, and another executor removes it.
func (m *rows) leave(left bool) error {
	if !left {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, _ = m.db.SQL().ExecContext(ctx, `DELETE FROM toolcrib_executors WHERE id = $1`, m.id)
	}
	m.hold.Release()
	return nil
}
