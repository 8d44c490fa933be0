package agents

import (
	"context"
	"fmt"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/runs"
	"toolcrib/tools/internal/durations"
)

var _ tools.Works = Deps{}

// elsewhere is how often a run of another process is looked at.
const elsewhere = 300 * time.Millisecond

// keeps reports whether there may be runs. Nothing is opened for those who have no agents.
func (d Deps) keeps(s *tools.SessionInfo) bool {
	return d.desk != nil && d.Settings.Now().Has(modelsSetting) && d.Database.Exists(s.Workspace)
}

// Has implements [tools.Works].
func (d Deps) Has(ctx context.Context, handle string) (bool, error) {
	s := tools.Session(ctx)
	if !d.keeps(s) {
		return false, nil
	}
	store, err := runs.Open(ctx, d.Database, s.Workspace)
	if err != nil {
		return false, err
	}
	_, err = store.Get(ctx, handle, s.Principal)
	if e := tools.AsError(err); e != nil && e.Code == tools.NotFound {
		return false, nil
	}
	return err == nil, err
}

// Works implements [tools.Works].
func (d Deps) Works(ctx context.Context, over bool) (list []tools.Work, older int, err error) {
	s := tools.Session(ctx)
	if !d.keeps(s) {
		return nil, 0, nil
	}
	store, err := runs.Open(ctx, d.Database, s.Workspace)
	if err != nil {
		return nil, 0, err
	}
	found, older, err := store.Newest(ctx, s.Principal, mostRuns, over)
	for _, run := range found {
		w, err := d.work(run)
		if err != nil {
			return nil, 0, err
		}
		list = append(list, w)
	}
	return list, older, err
}

// work returns a run as work.
func (d Deps) work(run runs.Standing) (tools.Work, error) {
	s, err := specOf(run.Run)
	if err != nil {
		return tools.Work{}, err
	}
	w := tools.Work{Handle: run.ID, What: "agent: " + s.Title, Steps: run.Steps, Over: run.Last.Kind == loop.End}
	var status loop.Status
	status, w.State = d.standing(run.Run, run.Last)
	w.Input = fmt.Sprintf("run_agent resume: {\"run\": %q, \"message\": \"...\"}", run.ID)
	switch status {
	case loop.InputRequired:
		w.Input = fmt.Sprintf("run_agent resume: {\"run\": %q, \"answers\": [...]}", run.ID)
		w.State += "\nanswer it by " + w.Input
	case atWork:
		w.Input = "job_stop first, then " + w.Input
	}
	return w, nil
}

// Statuses of runs that have not ended.
const (
	atWork loop.Status = "running"
	left   loop.Status = "left" // nobody seems to be at work on it
)

// stillAtWork is the age of the last step of a run at which its process is taken for dead.
const stillAtWork = 3 * time.Minute

// standing returns how a run stands by its last step: in a word, and for people.
func (d Deps) standing(run runs.Run, last loop.Record) (loop.Status, string) {
	age := time.Since(last.At)
	switch {
	case last.Kind == loop.End && last.Status == loop.InputRequired:
		return last.Status, string(last.Status) + ": " + questions(last.Output)
	case last.Kind == loop.End:
		return last.Status, strings.TrimSuffix(string(last.Status)+": "+last.Text, ": ")
	case d.desk.at(run.ID) != nil:
		return atWork, "running for " + durations.Rough(time.Since(run.Created))
	case age < stillAtWork:
		return atWork, "running in another process, or about to be taken over; last step " + durations.Rough(age) + " ago"
	}
	return left, "no step for " + durations.Rough(age) + ": its process has died, or a call takes long"
}

// look returns a run as work.
func (d Deps) look(ctx context.Context, store *runs.Store, run runs.Run) (tools.Work, error) {
	n, last, err := store.Last(ctx, run.ID)
	if err != nil {
		return tools.Work{}, err
	}
	return d.work(runs.Standing{Run: run, Steps: n, Last: last})
}

// Follow implements [tools.Works].
func (d Deps) Follow(ctx context.Context, handle string, from int) (tools.Work, []string, error) {
	s := tools.Session(ctx)
	reading := context.WithoutCancel(ctx) // what there is is read when the time is over
	store, err := runs.Open(reading, d.Database, s.Workspace)
	if err != nil {
		return tools.Work{}, nil, err
	}
	run, err := store.Get(reading, handle, s.Principal)
	if err != nil {
		return tools.Work{}, nil, err
	}
	for {
		grown, every := (<-chan struct{})(nil), time.NewTimer(elsewhere)
		if l := d.desk.at(handle); l != nil {
			grown = l.more() // before the look, so that nothing is missed
		}
		w, err := d.look(reading, store, run)
		if err != nil || w.Over || w.Steps > from || ctx.Err() != nil {
			every.Stop()
			if err != nil || w.Steps <= from {
				return w, nil, err
			}
			steps, err := stepsOf(reading, store, handle, from, w.Steps)
			return w, steps, err
		}
		select {
		case <-ctx.Done():
		case <-grown:
		case <-every.C:
		}
		every.Stop()
	}
}

// stepsOf returns steps of a run for people.
func stepsOf(ctx context.Context, store *runs.Store, run string, from, to int) (list []string, err error) {
	records, err := store.Records(ctx, run, from)
	for i, r := range records[:min(to-from, len(records))] {
		list = append(list, strings.TrimRight(fmt.Sprintf("%d %s: %s", from+i, r.Kind, step(r)), "\n")+"\n")
	}
	return list, err
}

// stopWithin is how long a stop waits for a run of this process to end.
const stopWithin = 80 * time.Millisecond

// Stop implements [tools.Works].
func (d Deps) Stop(ctx context.Context, handle string) (tools.Work, error) {
	s := tools.Session(ctx)
	store, err := runs.Open(ctx, d.Database, s.Workspace)
	if err != nil {
		return tools.Work{}, err
	}
	run, err := store.Get(ctx, handle, s.Principal)
	if err != nil {
		return tools.Work{}, err
	}
	if l := d.desk.at(handle); l != nil {
		l.stop(errStopped)
		select {
		case <-l.done:
		case <-time.After(stopWithin):
		case <-ctx.Done():
		}
	} else if _, err := store.Stop(ctx, handle, s.Principal, errStopped.Error()); err != nil {
		return tools.Work{}, err
	}
	return d.look(ctx, store, run)
}
