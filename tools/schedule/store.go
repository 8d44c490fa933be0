package schedule

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/database"
	"toolcrib/tools/schedule/internal/slots"
	"toolcrib/workspace"
)

// migrations follow the rules of [database.DB.Part].
var migrations = []string{`
	CREATE TABLE toolcrib_schedules (
		id TEXT PRIMARY KEY, root TEXT NOT NULL, principal TEXT NOT NULL, name TEXT NOT NULL,
		spec TEXT NOT NULL, created BIGINT NOT NULL, cursor BIGINT NOT NULL,
		ran BIGINT NOT NULL, missed BIGINT NOT NULL, over TEXT NOT NULL,
		UNIQUE (root, principal, name));
	CREATE TABLE toolcrib_schedule_runs (
		schedule TEXT NOT NULL, run TEXT NOT NULL, slot BIGINT NOT NULL, started BIGINT NOT NULL, ended BIGINT NOT NULL,
		state TEXT NOT NULL, missed BIGINT NOT NULL, note TEXT NOT NULL, result TEXT NOT NULL,
		PRIMARY KEY (schedule, run));`,
}

// mostRuns is how many runs of a schedule are remembered.
const mostRuns = 50

// spec is what a schedule is to do. It does not change.
type spec struct {
	When      string          `json:"when"`
	Zone      string          `json:"zone,omitempty"` // "" = that of the machine
	Tool      string          `json:"tool"`
	Args      json.RawMessage `json:"args"`
	Missed    string          `json:"missed"`
	Overlap   string          `json:"overlap"`
	Until     time.Time       `json:"until,omitzero"`
	MaxRuns   int             `json:"max_runs,omitempty"`
	Retries   int             `json:"retries,omitempty"`
	Consented bool            `json:"consented,omitempty"` // the user agreed to the very call
	Repeat    bool            `json:"repeat,omitempty"`    // the tool is Repeatable
}

// row is a schedule.
type row struct {
	ID, Principal, Name string
	Spec                spec
	Created, Cursor     time.Time // slots up to Cursor are dealt with
	Ran, Missed         int
	Over                string // why there are no more runs; "" = there are
}

// times returns the slots of a schedule.
func (r row) times() (slots.Times, error) {
	zone := time.Local
	if r.Spec.Zone != "" {
		var err error
		if zone, err = time.LoadLocation(r.Spec.Zone); err != nil {
			return slots.Times{}, err
		}
	}
	return slots.Parse(r.Spec.When, zone, r.Created)
}

// The states of a run.
const (
	queued    = "queued"
	running   = "running"
	ok        = "ok"
	failed    = "failed"
	unknown   = "outcome unknown"
	skipped   = "skipped"
	cancelled = "cancelled"
)

// outcome is one run of a schedule.
type outcome struct {
	Run                  string
	Slot, Started, Ended time.Time // Slot is zero for a run by schedule_run
	State                string
	Missed               int // slots that were missed before it
	Note, Result         string
}

// store keeps the schedules of a root.
type store struct {
	source *database.Source
	ws     *workspace.Workspace
	root   string
}

// part opens the database.
func (s *store) part(ctx context.Context) (*database.Part, error) {
	db, err := s.source.Open(ctx, s.ws)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return db.Part("schedules", migrations...), nil
}

func (s *store) change(ctx context.Context, f func(context.Context, *sql.Tx) error) error {
	part, err := s.part(ctx)
	if err != nil {
		return err
	}
	return part.Change(ctx, f)
}

func (s *store) read(ctx context.Context, f func(context.Context, database.Query) error) error {
	part, err := s.part(ctx)
	if err != nil {
		return err
	}
	return part.Read(ctx, f)
}

const columns = "id, principal, name, spec, created, cursor, ran, missed, over"

type scanner interface{ Scan(dest ...any) error }

func scan(s scanner) (row, error) {
	var r row
	var text string
	var created, cursor int64
	if err := s.Scan(&r.ID, &r.Principal, &r.Name, &text, &created, &cursor, &r.Ran, &r.Missed, &r.Over); err != nil {
		return row{}, err
	}
	r.Created, r.Cursor = time.UnixMilli(created), time.UnixMilli(cursor)
	return r, json.Unmarshal([]byte(text), &r.Spec)
}

func (s *store) rows(ctx context.Context, where string, args ...any) (all []row, err error) {
	err = s.read(ctx, func(ctx context.Context, q database.Query) error {
		all = nil
		found, err := q.QueryContext(ctx, "SELECT "+columns+" FROM toolcrib_schedules WHERE "+where+" ORDER BY name", args...)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			r, err := scan(found)
			if err != nil {
				return err
			}
			all = append(all, r)
		}
		return found.Err()
	})
	return all, err
}

// list returns the schedules of a principal by name.
func (s *store) list(ctx context.Context, principal string) ([]row, error) {
	return s.rows(ctx, "root = $1 AND principal = $2", s.root, principal)
}

// waiting returns those that may run again.
func (s *store) waiting(ctx context.Context, principal string) ([]row, error) {
	return s.rows(ctx, "root = $1 AND principal = $2 AND over = ''", s.root, principal)
}

// errGone says that a schedule was deleted.
var errGone = tools.Errorf(tools.NotFound, "the schedule was deleted")

func (s *store) get(ctx context.Context, id string) (row, error) {
	all, err := s.rows(ctx, "root = $1 AND id = $2", s.root, id)
	if err == nil && len(all) == 0 {
		err = errGone
	}
	if err != nil {
		return row{}, err
	}
	return all[0], nil
}

// add adds a schedule. If there is one of its name, the error is already_exists.
func (s *store) add(ctx context.Context, r row, most int) error {
	text, err := json.Marshal(r.Spec)
	if err != nil {
		return err
	}
	return s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM toolcrib_schedules WHERE root = $1 AND principal = $2", s.root, r.Principal).Scan(&n); err != nil {
			return err
		}
		if n >= most {
			return tools.Errorf(tools.TooLarge, "there are %d schedules, and no more are allowed", n).WithHint("schedule_delete removes those that are over; schedules.most of the configuration allows more")
		}
		done, err := tx.ExecContext(ctx, `INSERT INTO toolcrib_schedules (id, root, principal, name, spec, created, cursor, ran, missed, over)
			VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, '') ON CONFLICT (root, principal, name) DO NOTHING`,
			r.ID, s.root, r.Principal, r.Name, string(text), r.Created.UnixMilli(), r.Cursor.UnixMilli())
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, tools.Errorf(tools.AlreadyExists, "there is a schedule %q", r.Name).WithHint("choose another name, or schedule_delete it first"))
		}
		return nil
	})
}

func (s *store) remove(ctx context.Context, id string) error {
	return s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.alone(ctx, tx, id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM toolcrib_schedules WHERE id = $1", id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM toolcrib_schedule_runs WHERE schedule = $1", id)
		return err
	})
}

// advance notes that the slots up to a time are dealt with, if no other process has noted
// more meanwhile.
func (s *store) advance(ctx context.Context, r row, to time.Time, ran, missed int, over string) error {
	return s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE toolcrib_schedules SET cursor = $1, ran = ran + $2, missed = missed + $3, over = $4 WHERE id = $5 AND cursor = $6",
			to.UnixMilli(), ran, missed, over, r.ID, r.Cursor.UnixMilli())
		return err
	})
}

// alone lets the transactions that decide about the runs of a schedule come one after another,
// as those of SQLite do anyway.
func (s *store) alone(ctx context.Context, tx *sql.Tx, id string) error {
	if !s.source.Postgres() {
		return nil
	}
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", "toolcrib schedule "+id)
	return err
}

// mostQueued is how many runs of a schedule wait for another at once.
const mostQueued = 300

// errFull says that so many wait already.
var errFull = tools.Errorf(tools.TooLarge, "%d runs are queued already", mostQueued)

// turn is SQL for a run's place in the queue: its slot, or when a run by schedule_run came.
const turn = "CASE slot WHEN 0 THEN started ELSE slot END"

// admit notes that a run begins, at the time that now returns, unless another of the schedule
// is running or has waited for longer: it returns that, and how many runs come before this one,
// and notes that the run is queued if it is to be. Of a deleted schedule no run begins.
func (s *store) admit(ctx context.Context, id string, o outcome, queue bool, now func() time.Time) (other outcome, ahead int, err error) {
	err = s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.alone(ctx, tx, id); err != nil {
			return err
		}
		o.Started = now()
		mine := o.Slot
		if mine.IsZero() {
			mine = o.Started
		}
		const state = `WITH mine AS (SELECT COALESCE((SELECT ` + turn + ` FROM toolcrib_schedule_runs WHERE schedule = $1 AND run = $3 AND state = $4), $5) AS turn),
			others AS (SELECT run, state, ` + turn + ` AS turn FROM toolcrib_schedule_runs WHERE schedule = $1 AND run <> $3 AND state IN ($2, $4)),
			earlier AS (SELECT * FROM others WHERE state = $2 OR turn < (SELECT turn FROM mine))
			SELECT (SELECT count(*) FROM toolcrib_schedules WHERE id = $1), (SELECT count(*) FROM others WHERE state = $4), (SELECT count(*) FROM earlier),
				COALESCE((SELECT run FROM earlier ORDER BY CASE state WHEN $2 THEN 0 ELSE 1 END, turn LIMIT 1), ''),
				COALESCE((SELECT state FROM earlier ORDER BY CASE state WHEN $2 THEN 0 ELSE 1 END, turn LIMIT 1), '')`
		var there, waiting int
		if err := tx.QueryRowContext(ctx, state, id, running, o.Run, queued, milli(mine)).Scan(&there, &waiting, &ahead, &other.Run, &other.State); err != nil {
			return err
		}
		switch {
		case there == 0:
			return errGone
		case ahead == 0:
			return s.note(ctx, tx, id, o)
		case !queue:
			return nil
		case waiting >= mostQueued:
			return errFull
		}
		waits := o
		waits.State, waits.Note = queued, "an earlier run has not ended: "+other.Run
		return s.note(ctx, tx, id, waits)
	})
	return other, ahead, err
}

// note adds a run, or what has become of a queued one, and forgets the oldest that have ended.
func (s *store) note(ctx context.Context, tx *sql.Tx, id string, o outcome) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO toolcrib_schedule_runs AS r (schedule, run, slot, started, ended, state, missed, note, result)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (schedule, run) DO UPDATE SET started = $4, ended = $5, state = $6, note = $8 WHERE r.state = $10 AND excluded.state <> $10`,
		id, o.Run, milli(o.Slot), milli(o.Started), milli(o.Ended), o.State, o.Missed, o.Note, o.Result, queued); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM toolcrib_schedule_runs WHERE schedule = $1 AND ended > 0 AND started < (
		SELECT min(started) FROM (SELECT started FROM toolcrib_schedule_runs WHERE schedule = $1 ORDER BY started DESC LIMIT $2) AS newest)`, id, mostRuns)
	return err
}

func (s *store) record(ctx context.Context, id string, o outcome) error {
	return s.change(ctx, func(ctx context.Context, tx *sql.Tx) error { return s.note(ctx, tx, id, o) })
}

// finish notes how a run has ended, unless that is known.
func (s *store) finish(ctx context.Context, id string, o outcome) error {
	return s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE toolcrib_schedule_runs SET ended = $1, state = $2, note = $3, result = $4 WHERE schedule = $5 AND run = $6 AND state IN ($7, $8)",
			milli(o.Ended), o.State, o.Note, o.Result, id, o.Run, running, queued)
		return err
	})
}

// noted reports whether a run has been admitted, queued or left out.
func (s *store) noted(ctx context.Context, id, run string) (yes bool, err error) {
	err = s.read(ctx, func(ctx context.Context, q database.Query) error {
		return q.QueryRowContext(ctx, "SELECT count(*) > 0 FROM toolcrib_schedule_runs WHERE schedule = $1 AND run = $2", id, run).Scan(&yes)
	})
	return yes, err
}

// runs returns the newest runs of a schedule, first the one that is running.
func (s *store) runs(ctx context.Context, id string, limit int) (all []outcome, err error) {
	err = s.read(ctx, func(ctx context.Context, q database.Query) error {
		all = nil
		found, err := q.QueryContext(ctx, `SELECT run, slot, started, ended, state, missed, note, result FROM toolcrib_schedule_runs
			WHERE schedule = $1 ORDER BY CASE state WHEN $2 THEN 0 ELSE 1 END, started DESC, run DESC LIMIT $3`, id, running, limit)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			var o outcome
			var slot, started, ended int64
			if err := found.Scan(&o.Run, &slot, &started, &ended, &o.State, &o.Missed, &o.Note, &o.Result); err != nil {
				return err
			}
			o.Slot, o.Started, o.Ended = at(slot), at(started), at(ended)
			all = append(all, o)
		}
		return found.Err()
	})
	return all, err
}

func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func at(milli int64) time.Time {
	if milli == 0 {
		return time.Time{}
	}
	return time.UnixMilli(milli)
}
