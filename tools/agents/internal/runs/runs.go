// Package runs keeps the runs of agents in the database of what lasts: what each was asked, and
// its records, which other processes can read and go on with.
//
// A run belongs to a principal. Runs are deleted [Lifetime] after they began. The package imports
// the database and the loop, and must not import a category. Start at [Store].
package runs

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/internal/database"
	"toolcrib/workspace"
)

// Lifetime is how long a run can be read and resumed.
const Lifetime = 30 * 24 * time.Hour

const tables = `
CREATE TABLE toolcrib_agent_runs (id TEXT PRIMARY KEY, principal TEXT NOT NULL, created BIGINT NOT NULL, spec BYTEA NOT NULL);
CREATE TABLE toolcrib_agent_records (run TEXT NOT NULL, n BIGINT NOT NULL, data BYTEA NOT NULL, PRIMARY KEY (run, n));`

// Store has the runs of a workspace's database.
type Store struct{ part *database.Part }

// Open returns the store. It opens nothing before its first use.
func Open(ctx context.Context, source *database.Source, ws *workspace.Workspace) (*Store, error) {
	db, err := source.Open(ctx, ws)
	if err != nil {
		return nil, err
	}
	return &Store{db.Part("agents", tables, stops)}, nil
}

// Run is what a run was asked.
type Run struct {
	ID, Principal string
	Created       time.Time
	Spec          json.RawMessage // as its maker wrote it; without secrets
}

// Create keeps a new run with its first records, and deletes old runs.
func (s *Store) Create(ctx context.Context, r Run, records []loop.Record) error {
	return s.part.Change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		old := r.Created.Add(-Lifetime).UnixMilli()
		if _, err := tx.ExecContext(ctx, "DELETE FROM toolcrib_agent_records WHERE run IN (SELECT id FROM toolcrib_agent_runs WHERE created < $1)", old); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM toolcrib_agent_runs WHERE created < $1", old); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO toolcrib_agent_runs (id, principal, created, spec) VALUES ($1, $2, $3, $4)",
			r.ID, r.Principal, r.Created.UnixMilli(), []byte(r.Spec)); err != nil {
			return err
		}
		for n, record := range records {
			if _, err := insert(ctx, tx, r.ID, n, record); err != nil {
				return err
			}
		}
		return nil
	})
}

// insert keeps a record. It reports whether there was none of that number.
func insert(ctx context.Context, tx *sql.Tx, run string, n int, r loop.Record) (bool, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return false, err
	}
	done, err := tx.ExecContext(ctx, "INSERT INTO toolcrib_agent_records (run, n, data) VALUES ($1, $2, $3) ON CONFLICT (run, n) DO NOTHING", run, n, data)
	if err != nil {
		return false, err
	}
	rows, err := done.RowsAffected()
	return rows == 1, err
}

// has reports whether a record is that of its number.
func has(ctx context.Context, tx *sql.Tx, run string, n int, r loop.Record) (bool, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return false, err
	}
	var there []byte
	err = tx.QueryRowContext(ctx, "SELECT data FROM toolcrib_agent_records WHERE run = $1 AND n = $2", run, n).Scan(&there)
	return bytes.Equal(data, there), err
}

// Get returns a run of a principal. The error is not_found for those of others too.
func (s *Store) Get(ctx context.Context, id, principal string) (Run, error) {
	r := Run{ID: id, Principal: principal}
	err := s.part.Read(ctx, func(ctx context.Context, q database.Query) error {
		var created int64
		err := q.QueryRowContext(ctx, "SELECT created, spec FROM toolcrib_agent_runs WHERE id = $1 AND principal = $2", id, principal).Scan(&created, &r.Spec)
		if errors.Is(err, sql.ErrNoRows) {
			return noRun(id)
		}
		r.Created = time.UnixMilli(created)
		return err
	})
	return r, err
}

func noRun(id string) error {
	return tools.Errorf(tools.NotFound, "there is no run %s", tools.Visible(id)).WithHint("runs are kept for 30 days")
}

// Ask changes what a run is asked.
func (s *Store) Ask(ctx context.Context, id string, spec json.RawMessage) error {
	return s.change(ctx, "UPDATE toolcrib_agent_runs SET spec = $2 WHERE id = $1", id, []byte(spec))
}

// List returns the newest runs of a principal, the newest first.
func (s *Store) List(ctx context.Context, principal string, limit int) ([]Run, error) {
	return s.runs(ctx, "SELECT id, created, spec FROM toolcrib_agent_runs WHERE principal = $1 ORDER BY created DESC, id LIMIT $2", principal, limit)
}

// runs reads the runs of a principal, the first of the arguments.
func (s *Store) runs(ctx context.Context, query, principal string, args ...any) ([]Run, error) {
	var list []Run
	err := s.part.Read(ctx, func(ctx context.Context, q database.Query) error {
		list = nil
		return database.Each(ctx, q, func(rows *sql.Rows) error {
			r := Run{Principal: principal}
			var created int64
			err := rows.Scan(&r.ID, &created, &r.Spec)
			r.Created = time.UnixMilli(created)
			list = append(list, r)
			return err
		}, query, append([]any{principal}, args...)...)
	})
	return list, err
}

// Records returns the records of a run from a number on.
func (s *Store) Records(ctx context.Context, id string, from int) ([]loop.Record, error) {
	var list []loop.Record
	err := s.part.Read(ctx, func(ctx context.Context, q database.Query) error {
		list = nil
		return database.Each(ctx, q, func(rows *sql.Rows) error {
			var data []byte
			var r loop.Record
			if err := rows.Scan(&data); err != nil {
				return err
			}
			err := json.Unmarshal(data, &r)
			list = append(list, r)
			return err
		}, "SELECT data FROM toolcrib_agent_records WHERE run = $1 AND n >= $2 ORDER BY n", id, from)
	})
	return list, err
}

// Last returns how many records a run has, and the last one.
func (s *Store) Last(ctx context.Context, id string) (n int, last loop.Record, err error) {
	var data []byte
	err = s.part.Read(ctx, func(ctx context.Context, q database.Query) error {
		err := q.QueryRowContext(ctx, "SELECT n + 1, data FROM toolcrib_agent_records WHERE run = $1 ORDER BY n DESC LIMIT 1", id).Scan(&n, &data)
		if errors.Is(err, sql.ErrNoRows) {
			return noRun(id)
		}
		return err
	})
	if err == nil {
		err = json.Unmarshal(data, &last)
	}
	return n, last, err
}

// Standing is how far a run is.
type Standing struct {
	Run
	Steps int // records
	Last  loop.Record
}

// Newest returns the newest runs of a principal, the newest first; those that have ended only if
// ended is set. older is how many more there are.
func (s *Store) Newest(ctx context.Context, principal string, limit int, ended bool) (list []Standing, older int, err error) {
	err = s.part.Read(ctx, func(ctx context.Context, q database.Query) error {
		list, older = nil, 0
		return database.Each(ctx, q, func(rows *sql.Rows) error {
			r := Standing{Run: Run{Principal: principal}}
			var created int64
			var data []byte
			if err := rows.Scan(&r.ID, &created, &r.Spec, &r.Steps, &data); err != nil {
				return err
			}
			r.Created = time.UnixMilli(created)
			if err := json.Unmarshal(data, &r.Last); err != nil {
				return err
			}
			switch {
			case r.Last.Kind == loop.End && !ended:
			case len(list) == limit:
				older++
			default:
				list = append(list, r)
			}
			return nil
		}, `SELECT r.id, r.created, r.spec, l.n + 1, l.data FROM toolcrib_agent_runs r
			JOIN toolcrib_agent_records l ON l.run = r.id AND l.n = (SELECT MAX(n) FROM toolcrib_agent_records WHERE run = r.id)
			WHERE r.principal = $1 ORDER BY r.created DESC, r.id`, principal)
	})
	return list, older, err
}

// Count returns how many records a run of a principal has; 0 = there is no such run.
func (s *Store) Count(ctx context.Context, id, principal string) (n int, err error) {
	err = s.part.Read(ctx, func(ctx context.Context, q database.Query) error {
		return q.QueryRowContext(ctx, "SELECT COUNT(*) FROM toolcrib_agent_records JOIN toolcrib_agent_runs ON toolcrib_agent_runs.id = toolcrib_agent_records.run WHERE run = $1 AND principal = $2", id, principal).Scan(&n)
	})
	return n, err
}

// Journal keeps the records of one run. It is for one process at a time.
type Journal struct {
	store *Store
	id    string
	next  int
}

// Journal returns that of a run, which goes on after so many records.
func (s *Store) Journal(id string, after int) *Journal {
	return &Journal{store: s, id: id, next: after}
}

// Records implements [loop.Journal].
func (j *Journal) Records(ctx context.Context) ([]loop.Record, error) {
	list, err := j.store.Records(ctx, j.id, 0)
	j.next = len(list)
	return list, err
}

// insists is how long a step is offered to a database that does not answer, since what it says was
// done, and pause is the time between two offers.
const (
	insists = 30 * time.Second
	pause   = 200 * time.Millisecond
)

// Append implements [loop.Journal].
func (j *Journal) Append(ctx context.Context, more ...loop.Record) error {
	end := time.Now().Add(insists)
	for again := false; ; again = true {
		err := j.append(ctx, more, again)
		e := tools.AsError(err)
		if e == nil || e.Code != tools.Unavailable || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// append keeps records. again says that it was tried before, perhaps with success.
func (j *Journal) append(ctx context.Context, more []loop.Record, again bool) error {
	err := j.store.part.Change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for i, r := range more {
			kept, err := insert(ctx, tx, j.id, j.next+i, r)
			if err == nil && !kept && again {
				kept, err = has(ctx, tx, j.id, j.next+i, r)
			}
			if err == nil && !kept {
				return tools.Errorf(tools.Conflict, "another process goes on with run %s", j.id)
			}
			if err == nil && r.Kind == loop.End { // what has ended need not be stopped
				_, err = tx.ExecContext(ctx, "DELETE FROM toolcrib_agent_stops WHERE run = $1", j.id)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		j.next += len(more)
	}
	return err
}
