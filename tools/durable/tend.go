package durable

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

// Tend launches the engine if a process died that left runs behind, so that they go on. It is
// cheap, for a caller who waits and calls it from time to time.
func (e *Engine) Tend(ctx context.Context) error {
	e.mu.Lock()
	on := e.on != nil
	e.mu.Unlock()
	if on || e.opt.Database == nil && !e.opt.State.HasDB("runs") {
		return nil
	}
	store, err := e.openStore(ctx)
	if err != nil {
		return err
	}
	left, err := store.members().stranded(ctx)
	err = errors.Join(err, store.close())
	if err != nil || !left {
		return err
	}
	_, leave, err := e.use(ctx)
	if err == nil {
		leave()
	}
	return err
}

// tend adopts the runs of the dead, and ends those here that were cancelled or adopted
// elsewhere, until the engine stops.
func (e *Engine) tend(on *session, tick *time.Ticker) {
	defer close(on.tended)
	defer tick.Stop()
	var first sync.Once
	var searched time.Time
	broken := false
	for {
		err := e.tendOnce(on, &searched)
		if err != nil && !broken && on.ctx.Err() == nil {
			e.log.Warn("durable runs: those of processes that died cannot be looked for at the moment", "err", err)
		}
		broken = err != nil
		first.Do(func() { close(on.first) })
		select {
		case <-on.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tendOnce looks after the runs. searched is when this process last looked for the dead whatever
// the cheap look says.
func (e *Engine) tendOnce(on *session, searched *time.Time) error {
	ctx, cancel := context.WithTimeout(on.ctx, tendWithin)
	defer cancel()
	if lived := on.lived.Load(); lived == nil || time.Since(*lived) >= reportEvery {
		if err := on.members.confirm(ctx); errors.Is(err, ErrFenced) {
			e.fenced(on)
			return nil
		} else if err != nil {
			return err
		}
		now := time.Now()
		on.lived.Store(&now)
		if err := e.reconcile(ctx, on); err != nil {
			return err
		}
	}
	if time.Since(*searched) < e.opt.DeadAfter {
		left, err := on.members.stranded(ctx)
		if err != nil || !left {
			return err
		}
	}
	*searched = time.Now()
	return errors.Join(e.reclaim(ctx, on), e.adopt(ctx, on))
}

// owned returns the runs that this process has by the records.
func (e *Engine) owned(ctx context.Context, on *session) ([]dbos.WorkflowStatus, error) {
	return within(ctx, func() ([]dbos.WorkflowStatus, error) {
		return dbos.ListWorkflows(on.dbos, e.filter(dbos.WithFilterStatus(dbos.WorkflowStatusPending), dbos.WithFilterExecutorIDs(on.id), dbos.WithFilterLoadOutput(false))...)
	})
}

// reclaim lets the runs go on that this process had and has no more, although nothing is
// recorded of their end: that could not be written, such as on a full disk.
func (e *Engine) reclaim(ctx context.Context, on *session) error {
	pending, err := e.owned(ctx, on)
	if err != nil {
		return err
	}
	lost := map[string]bool{}
	for _, s := range pending {
		e.mu.Lock()
		active := e.active[s.ID] != nil
		e.mu.Unlock()
		switch {
		case active:
		case !on.lost[s.ID]: // it may be about to begin, or to end
			lost[s.ID] = true
		default:
			if err := e.adoptRun(ctx, on, s.ID); err != nil {
				return err
			}
		}
	}
	on.lost = lost
	return nil
}

// adopt moves the runs of the dead into their queues.
func (e *Engine) adopt(ctx context.Context, on *session) error {
	var pending []dbos.WorkflowStatus
	owners := func() ([]string, error) {
		var err error
		pending, err = within(ctx, func() ([]dbos.WorkflowStatus, error) {
			return dbos.ListWorkflows(on.dbos, e.filter(dbos.WithFilterStatus(dbos.WorkflowStatusPending), dbos.WithFilterLoadOutput(false))...)
		})
		var ids []string
		seen := map[string]bool{on.id: true}
		for _, s := range pending {
			if !seen[s.ExecutorID] {
				seen[s.ExecutorID] = true
				ids = append(ids, s.ExecutorID)
			}
		}
		return ids, err
	}
	return on.members.survey(ctx, owners, func(dead []string, sure func() error) error {
		gone := map[string]bool{}
		for _, id := range dead {
			gone[id] = true
		}
		for _, s := range pending {
			if !gone[s.ExecutorID] {
				continue
			}
			if err := sure(); err != nil {
				return err
			}
			if err := e.adoptRun(ctx, on, s.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *Engine) adoptRun(ctx context.Context, on *session, full string) error {
	times, err := on.store.adopted(ctx, full)
	if err != nil {
		return err
	}
	kind, id, _ := e.split(full)
	of := e.opt.Kinds[kind]
	most := cmp.Or(of.Adoptions, usualAdoptions)
	_, err = within(ctx, func() (struct{}, error) {
		if times > most {
			e.log.Warn("durable runs: a run is given up, since its process died each time", "kind", kind, "run", id, "times", times)
			if of.GivenUp != nil {
				if err := of.GivenUp(ctx, id); err != nil {
					return struct{}{}, err
				}
			}
			return struct{}{}, dbos.CancelWorkflow(on.dbos, full)
		}
		_, err := dbos.ResumeWorkflow[any](on.dbos, full, dbos.WithResumeQueue(e.queue(kind)))
		return struct{}{}, err
	})
	if err == nil && times <= most {
		e.log.Info("durable runs: a run goes on whose process died, or could not record its end", "kind", kind, "run", id)
	}
	return err
}

// reconcile ends the runs here that are no longer this process's.
func (e *Engine) reconcile(ctx context.Context, on *session) error {
	e.mu.Lock()
	runs := make(map[string]*Run, len(e.active))
	ids := make([]string, 0, len(e.active))
	for id, r := range e.active {
		runs[id] = r
		ids = append(ids, id)
	}
	e.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	now, err := within(ctx, func() ([]dbos.WorkflowStatus, error) {
		return dbos.ListWorkflows(on.dbos, e.filter(dbos.WithFilterWorkflowIDs(ids...), dbos.WithFilterLoadOutput(false))...)
	})
	if err != nil {
		return err
	}
	for _, s := range now {
		switch {
		case s.Status == dbos.WorkflowStatusCancelled:
			runs[s.ID].halt(ErrCancelled)
		case s.Status == dbos.WorkflowStatusEnqueued, s.Status == dbos.WorkflowStatusPending && s.ExecutorID != on.id:
			runs[s.ID].halt(ErrFenced)
		}
	}
	return nil
}

// fenced ends all runs of a session whose membership was taken away. The next use launches
// another one.
func (e *Engine) fenced(on *session) {
	e.mu.Lock()
	if e.on != on {
		e.mu.Unlock()
		return
	}
	e.log.Warn("durable runs: this process did not report for too long, so others have adopted its runs")
	for _, r := range e.active {
		r.halt(ErrFenced)
	}
	e.mu.Unlock()
	go func() { // stop waits for those who call this: tend, and runs
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.on != on {
			return
		}
		if err := e.stop(); err != nil {
			e.log.Warn("durable runs: the engine did not stop cleanly", "err", err)
		}
	}()
}

// outlived reports whether the others have taken this process for dead. It asks only if this
// process has not reported for a while, as after it was stopped.
func (on *session) outlived(ctx context.Context) bool {
	if lived := on.lived.Load(); lived == nil || time.Since(*lived) < heldUp {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, stopWithin)
	defer cancel()
	return errors.Is(on.members.confirm(ctx), ErrFenced)
}

// holds returns nil if a run is certainly still this execution's, and ErrFenced if it is not.
func (e *Engine) holds(ctx context.Context, r *Run) error {
	e.mu.Lock()
	on := e.on
	e.mu.Unlock()
	if on == nil {
		return ErrFenced
	}
	if err := on.members.confirm(ctx); err != nil {
		return err
	}
	found, err := within(ctx, func() ([]dbos.WorkflowStatus, error) {
		return dbos.ListWorkflows(on.dbos, e.filter(dbos.WithFilterWorkflowIDs(r.full))...)
	})
	switch {
	case err != nil:
		return err
	case len(found) == 0, found[0].Status != dbos.WorkflowStatusPending, found[0].ExecutorID != on.id:
		return ErrFenced
	}
	return nil
}
