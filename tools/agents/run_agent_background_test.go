package agents_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/tools/agents"
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

// What a process leaves behind goes on in another one, in the name and with the tools of whoever
// began it.
func TestRunAgentTakenOver(t *testing.T) {
	a := newAgency(t, "edit {\"text\":\"first\"}", "edit {\"text\":\"second\"}\nprogram {}", "Done.")
	a.session.May = func(t *tools.Tool) bool { return t.Name != "program" }
	begun := make(chan struct{}, 3)
	a.onBegin = func() { begun <- struct{}{} }
	id := handle(t, a.want(t, `{"task":"t","tools":["edit"],"background":true}`, "running"))
	<-begun
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
		said += text
		from, over = w.Steps, w.Over
	}
	for _, part := range []string{"0 message: the task", "did a", "did b", "Done.", "end: completed"} {
		if strings.Count(said, part) != 1 {
			t.Errorf("%q has not %q once", said, part)
		}
	}
	list, err := a.deps.Works(ctx)
	if err != nil || len(list) != 1 || list[0].Handle != id || !list[0].Over || list[0].What != "agent: the task" {
		t.Errorf("%+v, %v", list, err)
	}
	stranger := a.session
	stranger.Principal = "other"
	if _, _, err := a.deps.Follow(tools.WithSession(t.Context(), &stranger), id, 0); tools.AsError(err).Code != tools.NotFound {
		t.Errorf("the run of somebody else: %v", err)
	}
}

func TestRunAgentStopped(t *testing.T) {
	a := newAgency(t, "look {\"text\":\"a\"}", "look {\"text\":\"b\"}", "Done.")
	begun := make(chan struct{}, 3)
	a.onBegin = func() { begun <- struct{}{} }
	id := handle(t, a.want(t, `{"task":"t","background":true}`, "running"))
	<-begun
	w, err := a.deps.Stop(tools.WithSession(t.Context(), &a.session), id)
	if err != nil {
		t.Fatal(err)
	}
	a.until(t, id, "cancelled it was stopped")
	if strings.Contains(w.State, "completed") || strings.Contains(a.steps(t, id), "Done.") {
		t.Errorf("%+v", w)
	}
}
