package durable

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"toolcrib/workspace/state"
)

// store is the database of runs.
type store interface {
	configure(c *dbos.Config)
	members() members
	// alone calls f, which makes the tables of DBOS, while no other process does.
	alone(ctx context.Context, f func() error) error
	// adopted counts one more adoption of a run and returns the count.
	adopted(ctx context.Context, run string) (int, error)
	close() error
}

// members knows which executors live.
type members interface {
	// join makes this process an executor, under an ID that none had before.
	join(ctx context.Context) (id string, err error)
	// begin lets the executor have runs: from now on the others count how long it is silent.
	begin(ctx context.Context) error
	// stranded reports whether there may be runs of the dead. It is cheap.
	stranded(ctx context.Context) (bool, error)
	// survey calls adopt with those executors that are dead, of the ones that owners
	// returns. Of all processes one at a time surveys; sure returns an error if this one has
	// lost its turn, since it was stopped.
	survey(ctx context.Context, owners func() ([]string, error), adopt func(dead []string, sure func() error) error) error
	// confirm renews the membership. ErrFenced: the others have taken this executor for
	// dead, so that its runs are theirs.
	confirm(ctx context.Context) error
	// leave ends the membership. left says that there are runs to adopt.
	leave(left bool) error
}

// ErrFenced says that the other processes have taken this one for dead and have adopted its
// runs.
var ErrFenced = errors.New("this process was taken for dead, since it did not report for too long; others have its runs")

// sqliteMigrations are those of what the engine keeps beside the tables of DBOS. There is one
// more whenever a new version of DBOS changes its tables, even if it is empty: a program that
// does not know them must not write to them. A test holds this.
var sqliteMigrations = []string{
	`CREATE TABLE adoptions (run TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID`,
}

func (e *Engine) openStore(ctx context.Context) (store, error) {
	if e.opt.Database != nil && e.opt.Database.URL() != "" {
		return &postgresStore{db: e.opt.Database, part: e.opt.Database.Part("runs", postgresMigrations...), scope: e.opt.Scope, dead: e.opt.DeadAfter}, nil
	}
	db, err := e.opt.State.OwnDB(ctx, "runs", sqliteMigrations...)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(2)
	return &sqliteStore{db: db, dir: e.opt.State}, nil
}

// sqliteStore is a database in the state directory.
type sqliteStore struct {
	db  *sql.DB
	dir *state.Dir
}

func (s *sqliteStore) configure(c *dbos.Config) { c.SQLiteSystemDB = s.db }
func (s *sqliteStore) members() members         { return &lockedFiles{dir: s.dir} }

// close returns when the file is released, or after stopWithin: connections whose transaction
// was broken off are closed a moment later than the others.
func (s *sqliteStore) close() error {
	err := s.db.Close()
	for end := time.Now().Add(stopWithin); s.db.Stats().OpenConnections > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	return err
}

func (s *sqliteStore) alone(_ context.Context, f func() error) error { return f() } // DBOS sees to it itself

func (s *sqliteStore) adopted(ctx context.Context, run string) (count int, err error) {
	err = s.db.QueryRowContext(ctx, `INSERT INTO adoptions (run, count) VALUES (?, 1)
		ON CONFLICT (run) DO UPDATE SET count = count + 1 RETURNING count`, run).Scan(&count)
	return count, err
}

// lockedFiles are the executors of one machine: each has a file that is locked for as long as
// its process lives, also while that is stopped.
type lockedFiles struct {
	dir *state.Dir
	own *state.Owned
}

// executors is the folder of the state with the files.
const executors = "executors"

func (m *lockedFiles) join(context.Context) (string, error) {
	own, err := m.dir.Own(executors)
	if err != nil {
		return "", err
	}
	m.own = own
	return own.Name(), nil
}

func (m *lockedFiles) begin(context.Context) error { return nil }

func (m *lockedFiles) stranded(context.Context) (bool, error) {
	dead, err := m.dir.Orphans(executors)
	for _, o := range dead {
		err = errors.Join(err, o.Release())
	}
	return len(dead) > 0, err
}

func (m *lockedFiles) survey(ctx context.Context, owners func() ([]string, error), adopt func(dead []string, sure func() error) error) (err error) {
	lock, err := m.dir.Lock(ctx, "adoption")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	// The runs are listed before the files: an executor has its file before its first run.
	named, err := owners()
	if err != nil {
		return err
	}
	orphans, err := m.dir.Orphans(executors)
	if err != nil {
		return err
	}
	var dead []string
	for _, o := range orphans {
		dead = append(dead, o.Name())
	}
	living, err := m.dir.OwnedNames(executors)
	if err != nil {
		return err
	}
	for _, id := range named {
		if !slices.Contains(dead, id) && !slices.Contains(living, id) {
			dead = append(dead, id)
		}
	}
	err = adopt(dead, func() error { return nil }) // it keeps the lock while it is stopped
	for _, o := range orphans {
		if err != nil {
			err = errors.Join(err, o.Release())
		} else {
			err = o.Remove()
		}
	}
	return err
}

func (m *lockedFiles) confirm(context.Context) error { return nil }

func (m *lockedFiles) leave(left bool) error {
	if left {
		return m.own.Abandon()
	}
	if err := m.own.Close(); !errors.Is(err, fs.ErrNotExist) { // the state is gone
		return err
	}
	return nil
}
