package runs

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/internal/database"
)

// stops are the marks of runs that somebody wants to end, in whichever process they are.
const stops = `CREATE TABLE toolcrib_agent_stops (run TEXT PRIMARY KEY, why TEXT NOT NULL);`

// Times of stopping.
const (
	watchEvery = 250 * time.Millisecond
	takenIn    = 8 * watchEvery // by the process that is at work on the run, if there is one
	endsIn     = 30 * time.Second
)

// Stop ends a run of a principal, also one of another process, and returns its end. One that no
// process is at work on ends here. A run that has ended stays as it is.
func (s *Store) Stop(ctx context.Context, id, principal, why string) (loop.Record, error) {
	if _, err := s.Get(ctx, id, principal); err != nil {
		return loop.Record{}, err
	}
	if _, last, err := s.Last(ctx, id); err != nil || last.Kind == loop.End {
		return last, err
	}
	if err := s.change(ctx, "INSERT INTO toolcrib_agent_stops (run, why) VALUES ($1, $2) ON CONFLICT (run) DO NOTHING", id, why); err != nil {
		return loop.Record{}, err
	}
	soon, late := time.After(takenIn), time.After(endsIn)
	tick := time.NewTicker(watchEvery / 2)
	defer tick.Stop()
	for {
		if _, last, err := s.Last(ctx, id); err != nil || last.Kind == loop.End {
			return last, errors.Join(err, s.unmark(ctx, id))
		}
		select {
		case <-tick.C:
		case <-soon:
			why, err := s.marked(ctx, id)
			if err == nil && why != "" {
				err = s.End(ctx, id, loop.Cancelled, why)
			}
			if err != nil {
				return loop.Record{}, err
			}
		case <-late:
			return loop.Record{}, tools.Errorf(tools.Timeout, "run %s was told to stop and has not ended within %s: a call of it takes longer", id, endsIn)
		case <-ctx.Done():
			return loop.Record{}, ctx.Err()
		}
	}
}

// End ends a run that no process is at work on. One that has ended, or that a process goes on
// with at the same time, stays as it is.
func (s *Store) End(ctx context.Context, id string, status loop.Status, why string) error {
	n, last, err := s.Last(ctx, id)
	if err != nil || last.Kind == loop.End {
		return err
	}
	err = s.Journal(id, n).Append(ctx, loop.Record{Kind: loop.End, At: time.Now(), Status: status, Text: why})
	if e, ok := errors.AsType[*tools.Error](err); ok && e.Code == tools.Conflict {
		return nil
	}
	return err
}

// Stopped returns a context of work on a run, which ends when somebody wants the run to end. The
// cause says why.
func (s *Store) Stopped(ctx context.Context, id string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			// What cannot be read now is read next time.
			if why, err := s.marked(ctx, id); err == nil && why != "" && s.unmark(ctx, id) == nil {
				cancel(errors.New(why))
				return
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// marked returns why a run is to end; "" = it is not.
func (s *Store) marked(ctx context.Context, id string) (why string, err error) {
	err = s.part.Read(ctx, func(ctx context.Context, q database.Query) error {
		err := q.QueryRowContext(ctx, "SELECT why FROM toolcrib_agent_stops WHERE run = $1", id).Scan(&why)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return why, err
}

func (s *Store) unmark(ctx context.Context, id string) error {
	return s.change(ctx, "DELETE FROM toolcrib_agent_stops WHERE run = $1", id)
}

func (s *Store) change(ctx context.Context, statement string, args ...any) error {
	return s.part.Change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	})
}

// Find returns the run of a principal whose handle begins so.
func (s *Store) Find(ctx context.Context, prefix, principal string) (Run, error) {
	list, err := s.runs(ctx, "SELECT id, created, spec FROM toolcrib_agent_runs WHERE principal = $1 AND substr(id, 1, $3) = $2 ORDER BY created DESC, id LIMIT $4",
		principal, prefix, len(prefix), mostAlike+1)
	switch {
	case err != nil:
		return Run{}, err
	case len(list) == 0 || prefix == "":
		return Run{}, noRun(prefix)
	case len(list) > 1 && list[0].ID != prefix:
		var names []string
		for _, r := range list[:min(len(list), mostAlike)] {
			names = append(names, r.ID)
		}
		if len(list) > mostAlike {
			names = append(names, "...")
		}
		return Run{}, tools.Errorf(tools.InvalidArgument, "%s begins several runs: %s", prefix, strings.Join(names, " "))
	}
	return list[0], nil
}

// mostAlike is how many runs are named whose handles begin alike.
const mostAlike = 10
