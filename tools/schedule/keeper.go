package schedule

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/durable"
	"toolcrib/tools/internal/database"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/schedule/internal/slots"
	"toolcrib/workspace"
)

// Times of the keeper.
const (
	// again is when a look is repeated that failed.
	again = time.Second
	// punctual is how late a slot may be started without counting as missed.
	punctual = 10 * time.Second
	// back is how far the clock must go back to be believed. Clocks of machines differ.
	back = time.Minute
	// keepRuns is how long the engine remembers a run, so that its slot does not run again.
	keepRuns = 48 * time.Hour
)

// glance is the longest time between two looks at the clock: a machine that slept wakes up with
// timers that are late.
var glance = 30 * time.Second

// mostCaught is the most missed slots that run at once, where all are to run.
const mostCaught = 100

// kind is that of the durable runs.
const kind = "schedule"

// keeper runs the schedules of a principal in a root.
type keeper struct {
	deps      Deps
	principal string
	ws        *workspace.Workspace
	store     *store
	engine    *durable.Engine

	wake    chan struct{}
	waiting atomic.Int64 // schedules that may run again
	pruned  atomic.Int64 // when the engine forgot old runs, in Unix seconds

	mu    sync.Mutex
	ended chan struct{} // closed, and made anew, when a run has ended here
}

func newKeeper(d Deps, s *tools.SessionInfo, root string) (*keeper, error) {
	dir, err := s.Workspace.State()
	if err != nil {
		return nil, err
	}
	var db *database.DB
	if d.Database.Postgres() {
		if db, err = d.Database.Open(context.Background(), s.Workspace); err != nil {
			return nil, err
		}
	}
	k := &keeper{
		deps: d, principal: s.Principal, ws: s.Workspace, wake: make(chan struct{}, 1),
		store: &store{source: d.Database, ws: s.Workspace, root: root}, ended: make(chan struct{}),
	}
	sum := sha256.Sum256([]byte(root))
	k.engine = durable.New(durable.Options{
		State: dir, Database: db, Scope: "root-" + hex.EncodeToString(sum[:8]), Log: d.log,
		// A run that waits for another keeps its place, so there is one for each that may wait.
		Kinds: map[string]durable.Kind{kind: {Do: k.run, Workers: 4 * mostQueued}},
	})
	return k, nil
}

// exists reports whether there may be schedules.
func (k *keeper) exists() bool { return k.deps.Database.Exists(k.ws) }

// watch looks at the clock until ctx ends.
func (k *keeper) watch(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	broken := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.wake:
		case <-timer.C:
		}
		wait := glance
		if k.exists() {
			next, err := k.tick(ctx, k.deps.Now())
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				if !broken {
					k.deps.log.Warn("schedules do not run at the moment", "err", err)
				}
				wait = again
			case !next.IsZero():
				wait = min(wait, max(0, next.Sub(k.deps.Now())))
			}
			broken = err != nil
		}
		timer.Reset(wait)
	}
}

// look wakes the one who watches.
func (k *keeper) look() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// tick starts what is due at a time, and returns when it is to be called next; zero = only
// to see what other processes have changed.
func (k *keeper) tick(ctx context.Context, now time.Time) (next time.Time, err error) {
	all, err := k.store.waiting(ctx, k.principal)
	if err != nil {
		return next, err
	}
	k.waiting.Store(int64(len(all)))
	var errs []error
	for _, r := range all {
		at, err := k.serve(ctx, r, now)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if len(all) > 0 {
		errs = append(errs, told(k.engine.Tend(ctx)))
	}
	return next, errors.Join(errs...)
}

// serve starts the runs of a schedule that are due, and returns its next slot.
func (k *keeper) serve(ctx context.Context, r row, now time.Time) (next time.Time, err error) {
	times, err := r.times()
	if err != nil {
		return next, k.store.advance(ctx, r, r.Cursor, 0, 0, "it cannot be read: "+err.Error())
	}
	if r.Cursor.After(now.Add(back)) { // the clock went back: a slot that ran does not run again
		moved := r
		moved.Cursor = now
		if err := k.store.advance(ctx, r, now, 0, 0, ""); err != nil {
			return next, err
		}
		r = moved
	}
	due := dueSlots(r, times, now)
	ran, before := 0, r.Cursor
	for _, slot := range due.start {
		started, err := k.begin(ctx, input{Schedule: r.ID, Run: nameOf(slot), Slot: slot, Before: before, Missed: due.missedBefore(slot)})
		if err != nil {
			return next, err
		}
		if started {
			k.deps.log.Debug("a schedule runs", "name", r.Name, "slot", slot)
		}
		ran, before = ran+1, slot
	}
	next, more := times.Next(due.last)
	over := ""
	switch {
	case !more:
		over = "it was for once"
	case !r.Spec.Until.IsZero() && next.After(r.Spec.Until):
		over = "its time is over"
	case r.Spec.MaxRuns > 0 && r.Ran+ran >= r.Spec.MaxRuns:
		over = "it has run " + textfile.Count(r.Spec.MaxRuns, "time")
	}
	if !due.last.Equal(r.Cursor) || over != "" {
		if err := k.store.advance(ctx, r, due.last, ran, due.missed, over); err != nil {
			return next, err
		}
	}
	if over != "" {
		return time.Time{}, nil
	}
	return next, nil
}

// due says what is to be done about the slots that have passed.
type due struct {
	start  []time.Time // to run, in this order
	missed int         // that never run
	last   time.Time   // the slots up to here are dealt with
}

// missedBefore returns how many missed slots are to be told with the run of a slot: the
// first run tells all.
func (d due) missedBefore(slot time.Time) int {
	if len(d.start) > 0 && d.start[0].Equal(slot) {
		return d.missed
	}
	return 0
}

// dueSlots sorts the slots from the cursor of a schedule until now.
func dueSlots(r row, times slots.Times, now time.Time) due {
	d := due{last: r.Cursor}
	until := now
	if !r.Spec.Until.IsZero() && r.Spec.Until.Before(now) {
		until = r.Spec.Until
	}
	var late []time.Time // the newest that are missed
	for n := 0; ; n++ {
		slot, ok := times.Next(d.last)
		if !ok || slot.After(until) {
			break
		}
		d.last = slot
		if n > mostCounted { // years of seconds: the rest counts as one
			d.last = until
		}
		if now.Sub(slot) <= punctual {
			d.start = append(d.start, slot)
			continue
		}
		d.missed++
		if late = append(late, slot); len(late) > mostCaught {
			late = late[1:]
		}
	}
	_, once := times.Once()
	catch := r.Ran > 0 || once // one that never ran has nothing to catch up with
	switch {
	case len(late) == 0 || !catch:
	case r.Spec.Missed == "all":
		d.start = append(late, d.start...)
		d.missed -= len(late)
	case r.Spec.Missed == "once" && len(d.start) == 0: // else the one that is due now is it
		d.start = late[len(late)-1:]
		d.missed--
	}
	if left := r.Spec.MaxRuns - r.Ran; r.Spec.MaxRuns > 0 && len(d.start) > left {
		d.start = d.start[:max(left, 0)]
	}
	return d
}

// mostCounted is the most missed slots that are counted one by one.
const mostCounted = 1_000_000

// nameOf is the name of the run of a slot.
func nameOf(slot time.Time) string { return slot.UTC().Format("20060102T150405Z") }

// begin starts a run, unless another process has.
func (k *keeper) begin(ctx context.Context, in input) (started bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, k.engine.Patience())
	defer cancel()
	started, err = k.engine.Start(ctx, kind, in.Schedule+"/"+in.Run, in)
	return started, told(err)
}

// told returns an error of the engine as an unavailable one.
func told(err error) error {
	if err == nil {
		return nil
	}
	if e, ours := errors.AsType[*tools.Error](err); ours {
		return e
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	msg, hint := database.Cause(err)
	if msg == "" {
		msg, hint = err.Error(), "toolcrib doctor says more; other tools work"
	}
	return &tools.Error{Code: tools.Unavailable, Msg: "runs cannot be started or read at the moment: " + msg, Hint: hint, Err: err}
}
