package agents

import (
	"context"
	"encoding/json"
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
func (d Deps) Works(ctx context.Context) ([]tools.Work, error) {
	s := tools.Session(ctx)
	if !d.keeps(s) {
		return nil, nil
	}
	store, err := runs.Open(ctx, d.Database, s.Workspace)
	if err != nil {
		return nil, err
	}
	found, err := store.List(ctx, s.Principal, mostRuns)
	if err != nil {
		return nil, err
	}
	var list []tools.Work
	for _, run := range found {
		w, err := d.look(ctx, store, run)
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, nil
}

// look returns a run as work.
func (d Deps) look(ctx context.Context, store *runs.Store, run runs.Run) (tools.Work, error) {
	w := tools.Work{Handle: run.ID}
	var s spec
	if err := json.Unmarshal(run.Spec, &s); err != nil {
		return w, err
	}
	n, last, err := store.Last(ctx, run.ID)
	if err != nil {
		return w, err
	}
	w.What, w.Steps = "agent: "+s.Title, n
	switch {
	case last.Kind == loop.End:
		w.Over = true
		w.State = string(last.Status)
		if last.Status == loop.InputRequired {
			w.State += fmt.Sprintf(": %s\nanswer it by run_agent resume: {\"run\": %q, \"answers\": [...]}", questions(last.Output), run.ID)
		} else if last.Text != "" {
			w.State += ": " + last.Text
		}
	case d.desk.at(run.ID) != nil:
		w.State = "running for " + durations.Rough(time.Since(run.Created))
	default:
		w.State = "running in another process, or about to be taken over; last step " + durations.Rough(time.Since(last.At)) + " ago"
	}
	return w, nil
}

// Follow implements [tools.Works].
func (d Deps) Follow(ctx context.Context, handle string, from int) (tools.Work, string, error) {
	s := tools.Session(ctx)
	reading := context.WithoutCancel(ctx) // what there is is read when the time is over
	store, err := runs.Open(reading, d.Database, s.Workspace)
	if err != nil {
		return tools.Work{}, "", err
	}
	run, err := store.Get(reading, handle, s.Principal)
	if err != nil {
		return tools.Work{}, "", err
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
				return w, "", err
			}
			text, err := stepsOf(reading, store, handle, from, w.Steps)
			return w, text, err
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
func stepsOf(ctx context.Context, store *runs.Store, run string, from, to int) (string, error) {
	records, err := store.Records(ctx, run, from)
	var b strings.Builder
	for i, r := range records[:min(to-from, len(records))] {
		fmt.Fprintf(&b, "%d %s: %s", from+i, r.Kind, step(r))
	}
	return b.String(), err
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
