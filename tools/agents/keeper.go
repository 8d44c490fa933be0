package agents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/runs"
	"toolcrib/tools/durable"
	"toolcrib/tools/internal/database"
	"toolcrib/workspace"
)

// Times of the keeper.
const (
	// watchEvery is how often a process looks for runs of those that died.
	watchEvery = 5 * time.Second
	// keepLegs is how long the engine remembers the legs of runs.
	keepLegs = 48 * time.Hour
	// again is when something is repeated that a database did not answer.
	again = time.Second
)

// mostTakeovers is how often a run may go on after its process died. Effects are not repeated,
// so that it takes long until a run is suspected to be the cause.
const mostTakeovers = 50

// mostTries is how often a process begins a leg again that broke off since something did not answer,
// such as the database, before the run ends.
const mostTries = 30

// kind is that of the durable runs.
const kind = "agent"

// keeper lets the runs of a root go on in the background.
type keeper struct {
	desk   *desk
	ws     *workspace.Workspace
	engine *durable.Engine
	pruned atomic.Int64 // when the engine forgot old legs, in Unix seconds
}

// leg is the work on a run from when somebody begins or resumes it in the background until it
// ends, in whichever process. It says whose call it is, as far as another process must know.
type leg struct {
	Run       string   `json:"run"`
	Principal string   `json:"principal"`
	Client    string   `json:"client,omitempty"`
	Roots     []string `json:"roots"`         // the directories of the call
	May       []string `json:"may,omitempty"` // the tools that the principal may call; nil = all
}

func newKeeper(d *desk, ws *workspace.Workspace, root string) (*keeper, error) {
	dir, err := ws.State()
	if err != nil {
		return nil, err
	}
	var db *database.DB
	if d.database.Postgres() {
		if db, err = d.database.Open(context.Background(), ws); err != nil {
			return nil, err
		}
	}
	k := &keeper{desk: d, ws: ws}
	sum := sha256.Sum256([]byte(root))
	k.engine = durable.New(durable.Options{
		State: dir, Database: db, Scope: "agents-" + hex.EncodeToString(sum[:8]), Log: d.log,
		Kinds: map[string]durable.Kind{kind: {Do: k.carry, Adoptions: mostTakeovers, GivenUp: k.givenUp}},
	})
	return k, nil
}

// watch looks for runs of processes that died until ctx ends.
func (d Deps) watch(ctx context.Context, s *tools.SessionInfo) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for broken := false; ; {
		if d.Settings.Now().Has(modelsSetting) && d.Database.Exists(s.Workspace) {
			k, err := d.desk.keeper(s)
			if err == nil {
				err = k.engine.Tend(ctx)
			}
			if err != nil && !broken && ctx.Err() == nil {
				d.desk.warn("runs of agents that lost their process do not go on at the moment", err)
			}
			broken = err != nil
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// launch lets a run go on in the background, for the session of ctx. If this process ends with
// the call, another one takes the run over.
func (d *desk) launch(ctx context.Context, store *runs.Store, id string) error {
	s := tools.Session(ctx)
	k, err := d.keeper(s)
	if err != nil {
		return err
	}
	n, err := store.Count(ctx, id, s.Principal)
	if err != nil {
		return err
	}
	of := leg{Run: id, Principal: s.Principal, Client: s.Client.Name, Roots: s.Workspace.Roots()}
	if s.May != nil {
		there, err := d.caller.Tools(ctx)
		if err != nil {
			return err
		}
		of.May = []string{}
		for _, t := range there.Enabled {
			if s.May(&t) {
				of.May = append(of.May, t.Name)
			}
		}
	}
	starting, cancel := context.WithTimeout(ctx, k.engine.Patience())
	defer cancel()
	if _, err = k.engine.Start(starting, kind, legID(id, n), of); err != nil {
		return &tools.Error{Code: tools.Unavailable, Msg: "run " + id + " cannot go on in the background at the moment: " + err.Error(), Hint: fmt.Sprintf("resume: {\"run\": %q} without background goes on with it", id), Err: err}
	}
	for s.Once && d.at(id) == nil && starting.Err() == nil { // what a process leaves that ends now must have begun
		time.Sleep(time.Millisecond)
	}
	return nil
}

// has reports whether the newest leg of a run has not ended: a process is at work on it, or the
// engine lets another one take it over.
func (k *keeper) has(ctx context.Context, run string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, k.engine.Patience())
	defer cancel()
	legs, err := k.engine.List(ctx, kind, legsOf(run), 1)
	return len(legs) > 0 && (legs[0].State == durable.Running || legs[0].State == durable.Waiting), err
}

// legsOf is how the legs of a run are called, before their numbers.
func legsOf(run string) string { return run + "/" }

// legID names the leg of a run that begins after so many steps.
func legID(run string, steps int) string { return legsOf(run) + strconv.Itoa(steps) }

type legKey struct{}

// goesOn reports whether the call is a leg of the run.
func goesOn(ctx context.Context, run string) bool {
	of, ok := ctx.Value(legKey{}).(string)
	return ok && of == run
}

// carry is the durable run: it calls run_agent for a leg. Everything that must not be done twice
// is in the records of the agent's run, so the durable run has no steps of its own.
func (k *keeper) carry(r *durable.Run, raw json.RawMessage) (json.RawMessage, error) {
	var of leg
	if err := json.Unmarshal(raw, &of); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(context.WithoutCancel(r.Context()), legKey{}, of.Run))
	defer cancel(nil)
	defer context.AfterFunc(r.Context(), func() {
		if errors.Is(context.Cause(r.Context()), durable.ErrCancelled) {
			cancel(errStopped)
			return
		}
		cancel(loop.ErrLeft)
	})()
	for tries := 1; ; tries++ {
		err := k.call(ctx, of)
		e := tools.AsError(err)
		switch {
		case r.Context().Err() != nil:
			return nil, context.Cause(r.Context())
		case e == nil, e.Code == tools.Conflict: // another call has the run
			k.prune(ctx)
			return nil, nil
		case e.Code != tools.Unavailable || tries >= mostTries:
			err = k.fail(ctx, of.Run, err) // a run that has ended stays as it is
			if err == nil {
				k.prune(ctx)
				return nil, nil
			}
		}
		select {
		case <-r.Context().Done():
			return nil, context.Cause(r.Context())
		case <-time.After(again):
		}
	}
}

// call calls run_agent in the name of the principal that began the leg.
func (k *keeper) call(ctx context.Context, of leg) error {
	view, err := k.ws.Narrow(of.Roots)
	if err != nil {
		return err
	}
	defer view.Close()
	s := tools.SessionInfo{Principal: of.Principal, Workspace: view, Client: tools.Client{Name: of.Client}}
	if of.May != nil {
		s.May = func(t *tools.Tool) bool { return slices.Contains(of.May, t.Name) }
	}
	args, err := json.Marshal(map[string]any{"resume": map[string]any{"run": of.Run}})
	if err != nil {
		return err
	}
	_, err = k.desk.caller.Later(ctx, tools.LaterCall{CallSpec: tools.CallSpec{Name: runAgentName, Args: args}, Session: s, Consented: true})
	return err
}

// fail ends a run that cannot go on, unless it has ended. The error is that of the database.
func (k *keeper) fail(ctx context.Context, run string, why error) error {
	store, err := runs.Open(ctx, k.desk.database, k.ws)
	if err != nil {
		return err
	}
	return store.End(ctx, run, loop.Failed, tools.AsError(why).Error())
}

// givenUp ends the run of a leg whose process died too often.
func (k *keeper) givenUp(ctx context.Context, leg string) error {
	run, _, _ := strings.Cut(leg, legsOf(""))
	return k.fail(ctx, run, tools.Errorf(tools.Unavailable, "its process died %d times", mostTakeovers+1))
}

// prune lets the engine forget old legs, once an hour.
func (k *keeper) prune(ctx context.Context) {
	now := time.Now()
	if before := k.pruned.Load(); now.Unix()-before < 3600 || !k.pruned.CompareAndSwap(before, now.Unix()) {
		return
	}
	if _, err := k.engine.Prune(ctx, kind, now.Add(-keepLegs)); err != nil {
		k.desk.warn("old legs of runs stay", err)
	}
}
