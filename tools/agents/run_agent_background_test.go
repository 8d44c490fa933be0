package agents_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/tools/agents"
	"toolcrib/tools/internal/tooltest"
)

// steps returns the steps of a run.
func (a *agency) steps(t *testing.T, id string) string {
	t.Helper()
	source := a.sources[0]
	args, _ := source.Args("toolcrib://run/" + id)
	bound, err := source.Read.Bind(args)
	if err != nil {
		t.Fatal(err)
	}
	out, err := source.Read.Run(tools.WithSession(t.Context(), &a.session), bound)
	if err != nil {
		t.Fatal(err)
	}
	return out.(tools.Contenter).Content()[0].Text
}

// until waits for a text in the steps of a run.
func (a *agency) until(t *testing.T, id, part string) string {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if steps := a.steps(t, id); strings.Contains(steps, part) {
			return steps
		} else if time.Now().After(end) {
			t.Fatalf("there is no %q in\n%s", part, steps)
		}
	}
}

// A run in the background goes on after its call, which is answered at once.
func TestRunAgentBackground(t *testing.T) {
	a := newAgency(t, "look {\"text\":\"a\"}", "Done.", "More.")
	id := handle(t, a.want(t, `{"task":"the task","background":true}`, "running; run ", ": the task", "next: job_output job="))
	steps := a.until(t, id, "completed")
	for _, part := range []string{"did a", "Done."} {
		if !strings.Contains(steps, part) {
			t.Errorf("%s has no %s", steps, part)
		}
	}
	a.want(t, fmt.Sprintf(`{"resume":{"run":%q,"message":"and?"},"background":true}`, id), "running; run "+id)
	a.until(t, id, "More.")
}

// What a run is asked anew when it goes on counts in the background too.
func TestRunAgentBackgroundAgain(t *testing.T) {
	a := newAgency(t, "look {\"text\":\"a\"}", "half", "edit {\"text\":\"b\"}", "Done.")
	id := handle(t, a.want(t, `{"task":"t","max_rounds":1}`, "limit: 1 rounds"))
	a.want(t, fmt.Sprintf(`{"resume":{"run":%q},"tools":["edit"],"background":true}`, id), "running")
	if steps := a.until(t, id, "completed"); !strings.Contains(steps, "did b") {
		t.Error(steps)
	}
}

// A run that cannot begin in the background has ended, so that it can go on at once.
func TestRunAgentBackgroundRefused(t *testing.T) {
	a := newAgency(t, "Done.")
	deps := agents.New(new(run.Caller), a.deps.Database) // its desk has no server
	deps.Settings, deps.Caller = a.deps.Settings, &tooltest.Caller{}
	session := a.session
	session.May = func(*tools.Tool) bool { return true }
	ctx := tools.WithSession(t.Context(), &session)
	begin := agents.Tools(deps)[2]
	bound, err := begin.Bind([]byte(`{"task":"t","background":true}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := begin.Run(ctx, bound); tools.AsError(err) == nil || tools.AsError(err).Code != tools.Unavailable {
		t.Fatal(err)
	}
	list, _, err := a.deps.Works(ctx, true)
	if err != nil || len(list) != 1 || !strings.HasPrefix(list[0].State, "failed: ") {
		t.Fatalf("%+v, %v", list, err)
	}
	a.want(t, fmt.Sprintf(`{"resume":{"run":%q}}`, list[0].Handle), "completed")
}

// A run in the background is not taken from a process that lives, however old its last step is.
func TestRunAgentTakenAway(t *testing.T) {
	a := newAgency(t, "look {\"text\":\"a\"}", "Done.")
	begun, end := make(chan struct{}), make(chan struct{})
	a.onBegin = func() { close(begun); <-end }
	id := handle(t, a.want(t, `{"task":"t","background":true}`, "running"))
	<-begun
	ctx := tools.WithSession(t.Context(), &a.session)
	other := agents.New(new(run.Caller), a.deps.Database)
	other.Settings = a.deps.Settings
	t.Cleanup(func() {
		if err := agents.Close(other); err != nil {
			t.Error(err)
		}
	})
	if err := agents.Free(ctx, other, id, time.Now().Add(-time.Hour)); tools.AsError(err) == nil || tools.AsError(err).Code != tools.Conflict {
		t.Errorf("a run in the background may be taken: %v", err)
	}
	close(end)
	a.until(t, id, "completed")
	for err := errors.New("x"); err != nil && t.Context().Err() == nil; { // when its leg has ended too
		err = agents.Free(ctx, other, id, time.Now().Add(-time.Hour))
	}
}

// A run whose process died too often has ended, and can go on when somebody wants it.
func TestRunAgentGivenUp(t *testing.T) {
	a := newAgency(t, "look {\"text\":\"a\"}", hang, "Done.")
	id := handle(t, a.want(t, `{"task":"t","background":true}`, "running"))
	<-a.model.hangs
	if err := agents.Close(a.deps); err != nil {
		t.Fatal(err)
	}
	ctx := tools.WithSession(t.Context(), &a.session)
	for agents.Load(a.deps).Running > 0 { // a cancelled call is answered before it has ended
		time.Sleep(time.Millisecond)
	}
	if err := agents.GivenUp(ctx, a.deps, id); err != nil {
		t.Fatal(err)
	}
	if list, _, err := a.deps.Works(ctx, true); err != nil || len(list) != 1 || list[0].State != "failed: unavailable: its process died 51 times" {
		t.Errorf("%+v, %v", list, err)
	}
	a.want(t, fmt.Sprintf(`{"resume":{"run":%q}}`, id), "completed")
}

// What a process leaves behind goes on in another one, in the name and with the tools of the
// principal that began it.
func TestRunAgentTakenOver(t *testing.T) {
	t.Parallel()
	a := newAgency(t, "edit {\"text\":\"first\"}", hang, "edit {\"text\":\"second\"}\nprogram {}", "Done.")
	a.session.May = func(t *tools.Tool) bool { return t.Name != "program" }
	id := handle(t, a.want(t, `{"task":"t","tools":["edit"],"background":true}`, "running"))
	<-a.model.hangs
	if err := agents.Close(a.deps); err != nil {
		t.Fatal(err)
	}
	if steps := a.steps(t, id); strings.Contains(steps, "end\n") || strings.Contains(steps, "second") {
		t.Fatalf("the run that was left has ended:\n%s", steps)
	}
	caller := new(run.Caller)
	other := agents.New(caller, a.deps.Database)
	other.Settings = a.deps.Settings
	a.world = newWorldOf(run.Settings{}, caller, agents.Tools(other))
	t.Cleanup(func() {
		if err := agents.Close(other); err != nil {
			t.Error(err)
		}
	})
	defer agents.Start(tools.WithSession(t.Context(), &a.session), other)()
	steps := a.until(t, id, "completed")
	for _, part := range []string{"taken", "did second", `denied: you have no tool "program"`, "Done."} {
		if !strings.Contains(steps, part) {
			t.Errorf("%s has no %s", steps, part)
		}
	}
}

// A run is listed, followed from a step on, and stopped as a job is.
func TestRunAgentFollowed(t *testing.T) {
	a := newAgency(t, "look {\"text\":\"a\"}", "look {\"text\":\"b\"}", "Done.")
	ctx := tools.WithSession(t.Context(), &a.session)
	id := handle(t, a.want(t, `{"task":"the task","background":true}`, "running"))
	var said string
	for from, over := 0, false; !over; {
		w, text, err := a.deps.Follow(ctx, id, from)
		if err != nil {
			t.Fatal(err)
		}
		said += strings.Join(text, "")
		from, over = w.Steps, w.Over
	}
	for _, part := range []string{"0 message: the task", "did a", "did b", "Done.", "end: completed"} {
		if strings.Count(said, part) != 1 {
			t.Errorf("%q has not %q once", said, part)
		}
	}
	if list, _, err := a.deps.Works(ctx, false); err != nil || len(list) != 0 {
		t.Errorf("a run that has ended is at work: %+v, %v", list, err)
	}
	list, _, err := a.deps.Works(ctx, true)
	if err != nil || len(list) != 1 || list[0].Handle != id || !list[0].Over || list[0].What != "agent: the task" {
		t.Errorf("%+v, %v", list, err)
	}
	stranger := a.session
	stranger.Principal = "other"
	for handle, want := range map[string]map[string]bool{id: {tools.Local: true, "other": false}, "aaaaaaaa": {tools.Local: false}} {
		for principal, want := range want {
			session := a.session
			session.Principal = principal
			if has, err := a.deps.Has(tools.WithSession(t.Context(), &session), handle); err != nil || has != want {
				t.Errorf("run %s of %s: %t, %v", handle, principal, has, err)
			}
		}
	}
	if _, _, err := a.deps.Follow(tools.WithSession(t.Context(), &stranger), id, 0); tools.AsError(err).Code != tools.NotFound {
		t.Errorf("the run of somebody else: %v", err)
	}
}

// A run begins in the background also if its record in a file has to wait for longer than a server
// that is out of reach is waited for.
func TestRunAgentBackgroundWaits(t *testing.T) {
	t.Parallel()
	a := newAgency(t, "One.", "Two.")
	a.until(t, handle(t, a.want(t, `{"task":"t","background":true}`, "running")), "One.")
	dir, err := a.ws.State()
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir.Path(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("PRAGMA busy_timeout = 60000; BEGIN IMMEDIATE"); err != nil { // the engine may be writing
		t.Fatal(err)
	}
	free := make(chan error, 1)
	time.AfterFunc(6*time.Second, func() {
		_, err := db.Exec("ROLLBACK")
		free <- err
	})
	a.until(t, handle(t, a.want(t, `{"task":"u","background":true}`, "running")), "Two.")
	if err := <-free; err != nil {
		t.Fatal(err)
	}
}

func TestRunAgentStopped(t *testing.T) {
	a := newAgency(t, "look {\"text\":\"a\"}", hang, "Done.")
	id := handle(t, a.want(t, `{"task":"t","background":true}`, "running"))
	<-a.model.hangs
	w, err := a.deps.Stop(tools.WithSession(t.Context(), &a.session), id)
	if err != nil {
		t.Fatal(err)
	}
	a.until(t, id, "cancelled it was stopped")
	if strings.Contains(w.State, "completed") || strings.Contains(a.steps(t, id), "Done.") {
		t.Errorf("%+v", w)
	}
}

// flaky is a caller whose first call in the background breaks off.
type flaky struct {
	tools.Caller
	once sync.Once
}

func (f *flaky) Later(ctx context.Context, c tools.LaterCall) (res tools.Result, err error) {
	f.once.Do(func() { err = tools.Errorf(tools.Unavailable, "the state database does not answer") })
	if err != nil {
		return res, err
	}
	return f.Caller.Later(ctx, c)
}

// A run goes on where something did not answer for a while.
func TestRunAgentBrokenOff(t *testing.T) {
	t.Parallel()
	a := newAgency(t, "Done.")
	caller := new(run.Caller)
	other := agents.New(&flaky{Caller: caller}, a.deps.Database)
	other.Settings = a.deps.Settings
	a.world = newWorldOf(run.Settings{}, caller, agents.Tools(other))
	t.Cleanup(func() {
		if err := agents.Close(other); err != nil {
			t.Error(err)
		}
	})
	id := handle(t, a.want(t, `{"task":"t","background":true}`, "running"))
	if steps := a.until(t, id, "end\n"); !strings.Contains(steps, "completed") {
		t.Error(steps)
	}
}
