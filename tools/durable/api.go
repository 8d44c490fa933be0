package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"toolcrib/tools/internal/database"
)

// State is how far a run has come.
type State string

// The states.
const (
	Waiting   State = "waiting" // in its queue
	Running   State = "running" // in a process, which may have died
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Info describes a run.
type Info struct {
	Kind, ID                string
	State                   State
	Created, Started, Ended time.Time // zero: not yet
	Err                     string    // of a failed one
}

// ErrNone says that there is no such run.
var ErrNone = errors.New("there is no such run")

// Patience is how long a call should wait for the engine. Its first use makes tables, which
// takes long on a busy machine; a server may be out of reach.
func (e *Engine) Patience() time.Duration {
	if e.opt.Database == nil {
		return 20 * time.Second
	}
	return 4500 * time.Millisecond
}

// Start begins a run in this process. started reports whether it did: false = there is one of
// this kind and ID already, here or in another process, whatever has become of it. If ctx
// ends first, the run may begin all the same.
func (e *Engine) Start(ctx context.Context, kind, id string, input any) (started bool, err error) {
	data, err := json.Marshal(input)
	if err != nil {
		return false, err
	}
	on, leave, err := e.use(ctx)
	if err != nil {
		return false, err
	}
	_, err = within(ctx, func() (dbos.WorkflowHandle[json.RawMessage], error) {
		defer leave()
		return dbos.RunWorkflow(on.dbos, e.carry, envelope{data},
			dbos.WithWorkflowID(e.full(kind, id)), dbos.WithWorkflowIDReusePolicy(dbos.WorkflowIDReusePolicyReject))
	})
	if errors.Is(err, dbos.ErrWorkflowIDInUse) {
		return false, nil
	}
	return err == nil, err
}

// Enqueue leaves a run to the first process that has room for it. queued is false if there is
// one of this kind and ID already.
func (e *Engine) Enqueue(ctx context.Context, kind, id string, input any) (queued bool, err error) {
	data, err := json.Marshal(input)
	if err != nil {
		return false, err
	}
	on, leave, err := e.use(ctx)
	if err != nil {
		return false, err
	}
	_, err = within(ctx, func() (dbos.WorkflowHandle[json.RawMessage], error) {
		defer leave()
		for {
			h, err := dbos.Enqueue[json.RawMessage](on.dbos, e.queue(kind), workflowName, envelope{data},
				dbos.WithEnqueueWorkflowID(e.full(kind, id)), dbos.WithEnqueueWorkflowIDReusePolicy(dbos.WorkflowIDReusePolicyReject),
				dbos.WithEnqueueApplicationVersion(format))
			// DBOS waits for the lock of SQLite in everything else, but tries this once.
			if !database.Busy(err) || ctx.Err() != nil {
				return h, err
			}
		}
	})
	if errors.Is(err, dbos.ErrWorkflowIDInUse) {
		return false, nil
	}
	return err == nil, err
}

// do calls f with the launched engine, for as long as ctx allows.
func do[T any](ctx context.Context, e *Engine, f func(on *session) (T, error)) (T, error) {
	on, leave, err := e.use(ctx)
	if err != nil {
		var zero T
		return zero, err
	}
	v, err := within(ctx, func() (T, error) {
		defer leave()
		return f(on)
	})
	if errors.Is(err, dbos.ErrNonExistentWorkflow) {
		err = ErrNone
	}
	return v, err
}

// Get describes a run.
func (e *Engine) Get(ctx context.Context, kind, id string) (Info, error) {
	found, err := e.statuses(ctx, dbos.WithFilterWorkflowIDs(e.full(kind, id)))
	switch {
	case err != nil:
		return Info{}, err
	case len(found) == 0:
		return Info{}, ErrNone
	}
	return e.info(found[0]), nil
}

// List describes the runs of a kind whose IDs begin with a prefix, the newest first.
func (e *Engine) List(ctx context.Context, kind, prefix string, limit int) ([]Info, error) {
	found, err := e.statuses(ctx, dbos.WithFilterWorkflowIDPrefix(e.full(kind, prefix)), dbos.WithFilterLimit(limit), dbos.WithFilterSortDesc())
	if err != nil {
		return nil, err
	}
	list := make([]Info, len(found))
	for i, s := range found {
		list[i] = e.info(s)
	}
	return list, nil
}

func (e *Engine) statuses(ctx context.Context, filter ...dbos.ListWorkflowsOption) ([]dbos.WorkflowStatus, error) {
	return do(ctx, e, func(on *session) ([]dbos.WorkflowStatus, error) {
		return dbos.ListWorkflows(on.dbos, e.filter(filter...)...)
	})
}

var states = map[dbos.WorkflowStatusType]State{
	dbos.WorkflowStatusEnqueued: Waiting, dbos.WorkflowStatusDelayed: Waiting, dbos.WorkflowStatusPending: Running,
	dbos.WorkflowStatusSuccess: Done, dbos.WorkflowStatusError: Failed, dbos.WorkflowStatusCancelled: Cancelled,
	dbos.WorkflowStatusMaxRecoveryAttemptsExceeded: Failed,
}

func (e *Engine) info(s dbos.WorkflowStatus) Info {
	kind, id, _ := e.split(s.ID)
	info := Info{Kind: kind, ID: id, State: states[s.Status], Created: s.CreatedAt, Started: s.StartedAt, Ended: s.CompletedAt}
	if s.Error != nil {
		info.Err = s.Error.Error()
	}
	return info
}

// Wait waits for the end of a run and returns its result. The error of a failed run is a
// *Failure, that of a cancelled one ErrCancelled.
func (e *Engine) Wait(ctx context.Context, kind, id string) (json.RawMessage, error) {
	for {
		info, err := e.Get(ctx, kind, id)
		switch {
		case err != nil:
			return nil, err
		case info.State == Failed:
			return nil, &Failure{info.Err}
		case info.State == Cancelled:
			return nil, ErrCancelled
		case info.State == Done:
			return do(ctx, e, func(on *session) (json.RawMessage, error) {
				h, err := dbos.RetrieveWorkflow[json.RawMessage](on.dbos, e.full(kind, id))
				if err != nil {
					return nil, err
				}
				return h.GetResult()
			})
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(look):
		}
	}
}

// Cancel ends a run, in whichever process it is: there within a few seconds, here at once.
// A run that has ended stays as it is.
func (e *Engine) Cancel(ctx context.Context, kind, id string) error {
	full := e.full(kind, id)
	_, err := do(ctx, e, func(on *session) (struct{}, error) {
		return struct{}{}, dbos.CancelWorkflow(on.dbos, full)
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := e.active[full]; r != nil && err == nil {
		r.halt(ErrCancelled)
	}
	return err
}

// Fork enqueues a run that takes over the first steps of another one, as many as given, and
// goes on from there by itself.
func (e *Engine) Fork(ctx context.Context, kind, id string, steps uint, forked string) error {
	_, err := do(ctx, e, func(on *session) (struct{}, error) {
		_, err := dbos.ForkWorkflow[json.RawMessage](on.dbos, dbos.ForkWorkflowInput{
			OriginalWorkflowID: e.full(kind, id), ForkedWorkflowID: e.full(kind, forked), StartStep: steps,
			ApplicationVersion: format, QueueName: e.queue(kind),
		})
		return struct{}{}, err
	})
	return err
}

// Send leaves a message for a run, which gets it by [Run.Receive].
func (e *Engine) Send(ctx context.Context, kind, id, topic string, message any) error {
	data, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = do(ctx, e, func(on *session) (struct{}, error) {
		return struct{}{}, dbos.Send(on.dbos, e.full(kind, id), json.RawMessage(data), topic)
	})
	return err
}

// Read returns the values of a run's stream from an offset on.
func (e *Engine) Read(ctx context.Context, kind, id, stream string, from int) ([]json.RawMessage, error) {
	return do(ctx, e, func(on *session) ([]json.RawMessage, error) {
		values, _, err := dbos.ReadStream[json.RawMessage](on.dbos, e.full(kind, id), stream, dbos.WithReadStreamSnapshot(), dbos.WithReadStreamFromOffset(from))
		return values, err
	})
}

// Steps returns the names of the steps that a run has recorded, in their order.
func (e *Engine) Steps(ctx context.Context, kind, id string) ([]string, error) {
	return do(ctx, e, func(on *session) ([]string, error) {
		steps, err := dbos.GetWorkflowSteps(on.dbos, e.full(kind, id), dbos.WithStepsLoadOutput(false))
		names := make([]string, len(steps))
		for i, s := range steps {
			names[i] = s.StepName
		}
		return names, err
	})
}

// Prune deletes the runs of a kind that ended before a time, with their steps and streams.
// Their IDs are free again.
func (e *Engine) Prune(ctx context.Context, kind string, before time.Time) (deleted int, err error) {
	const batch = 500
	for {
		old, err := e.statuses(ctx, dbos.WithFilterWorkflowIDPrefix(e.full(kind, "")), dbos.WithFilterCompletedBefore(before), dbos.WithFilterLimit(batch))
		if err != nil || len(old) == 0 {
			return deleted, err
		}
		ids := make([]string, len(old))
		for i, s := range old {
			ids[i] = s.ID
		}
		if _, err := do(ctx, e, func(on *session) (struct{}, error) { return struct{}{}, dbos.DeleteWorkflows(on.dbos, ids) }); err != nil {
			return deleted, fmt.Errorf("runs that ended before %s: %w", before, err)
		}
		deleted += len(old)
	}
}

// Check returns why the engine cannot be used. It launches it only if there is something in
// its database.
func (e *Engine) Check(ctx context.Context) error {
	if e.opt.Database == nil && !e.opt.State.HasDB("runs") {
		return nil
	}
	_, leave, err := e.use(ctx)
	if err == nil {
		leave()
	}
	return err
}
