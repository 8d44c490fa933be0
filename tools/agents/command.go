package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/runs"
	"toolcrib/tools/internal/durations"
)

// command returns the command "run", by which the user looks at the runs of agents.
func command(d Deps) tools.UserCommand {
	return tools.UserCommand{
		Name:  "run",
		Args:  "list | show RUN | replay RUN | stop RUN",
		Short: "list the runs of agents, read or replay one, or stop one in any process",
		Long: `
A run is one of a model that worked on a task by itself. Its handle is in the result
of the call and in the list; a beginning that no other run has is enough.

  toolcrib run list           the newest runs: status, age, tokens, cost and title
  toolcrib run show RUN       what was asked, all steps, and what was done to what
  toolcrib run replay RUN     the run again, step by step, as its records decide: no
                              model is asked and nothing is called
  toolcrib run stop RUN       ends a run that is at work, whichever process has it;
                              it can be resumed`,
		JSON: true,
		Run:  d.command,
	}
}

// printed is where a command writes.
type printed struct {
	io.Writer
	json bool
}

func (d Deps) command(ctx context.Context, args []string, _ io.Reader, out io.Writer) error {
	to := printed{Writer: out}
	if len(args) > 0 && args[0] == "--json" {
		to.json, args = true, args[1:]
	}
	each := map[string]func(context.Context, *runs.Store, runs.Run, printed) error{"show": d.showRun, "replay": replayRun, "stop": stopRun}
	usage := func(format string, args ...any) error {
		return &tools.UsageError{Msg: fmt.Sprintf(format, args...), Hint: "toolcrib run list; toolcrib run show RUN; toolcrib run replay RUN; toolcrib run stop RUN"}
	}
	switch {
	case len(args) == 0:
		return usage("run wants to know what to do")
	case args[0] != "list" && each[args[0]] == nil:
		return usage("run cannot %q", strings.Join(args, " "))
	case args[0] == "list" && len(args) > 1:
		return usage("run list takes no %q", args[1])
	case args[0] != "list" && len(args) != 2:
		return usage("run %s wants one run", args[0])
	}
	session := tools.Session(ctx)
	if !d.Database.Exists(session.Workspace) {
		if args[0] == "list" {
			return nil
		}
		return tools.Errorf(tools.NotFound, "there is no run %s", args[1])
	}
	store, err := runs.Open(ctx, d.Database, session.Workspace)
	if err != nil {
		return err
	}
	if args[0] == "list" {
		return d.printRuns(ctx, store, to)
	}
	run, err := store.Find(ctx, args[1], session.Principal)
	if err != nil {
		return err
	}
	return each[args[0]](ctx, store, run, to)
}

// line writes a value as JSON in a line.
func (to printed) line(value any) error {
	return json.NewEncoder(to).Encode(value)
}

// told is what is told of a run.
type told struct {
	Run    string      `json:"run"`
	Status loop.Status `json:"status"`
	Title  string      `json:"title"`
	Agent  string      `json:"agent,omitempty"`
	Model  string      `json:"model,omitempty"`
	Began  time.Time   `json:"began"`
	Spent  loop.Spent  `json:"spent"`
	Steps  int         `json:"steps"`
}

func (d Deps) tell(run runs.Run, records []loop.Record) (told, error) {
	s, err := specOf(run)
	if err != nil {
		return told{}, err
	}
	t := told{Run: run.ID, Title: s.Title, Agent: s.Agent, Began: run.Created, Spent: loop.Sum(records), Steps: len(records)}
	var last loop.Record
	for _, last = range records {
		t.Model = cmp.Or(last.From, t.Model)
	}
	t.Status, _ = d.standing(run, last)
	return t, nil
}

func (d Deps) printRuns(ctx context.Context, store *runs.Store, to printed) error {
	list, err := store.List(ctx, tools.Session(ctx).Principal, mostRuns)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, run := range list {
		records, err := store.Records(ctx, run.ID, 0)
		if err != nil {
			return err
		}
		t, err := d.tell(run, records)
		if err != nil {
			return err
		}
		if to.json {
			if err := to.line(t); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s ago\t%s\t%d tokens%s\t%s\n", t.Run, t.Status, durations.Rough(time.Since(t.Began)), counted(t.Spent.Rounds, "round"),
			t.Spent.Use.Total(), cost(t.Spent), tools.Visible(t.Title))
	}
	return table.Flush()
}

func (d Deps) showRun(ctx context.Context, store *runs.Store, run runs.Run, to printed) error {
	records, err := store.Records(ctx, run.ID, 0)
	if err != nil {
		return err
	}
	t, err := d.tell(run, records)
	if err != nil {
		return err
	}
	r := receiptOf(records)
	if to.json {
		return to.line(struct {
			told
			Receipt receipt       `json:"receipt"`
			Records []loop.Record `json:"records"`
		}{t, r, records})
	}
	fmt.Fprintf(to, "%s\nrun %s: %s; begun %s; %s\n", tools.Visible(t.Title), t.Run, t.Status, t.Began.Format(time.DateTime), r.used())
	if t.Model != "" {
		fmt.Fprintf(to, "model: %s\n", tools.Visible(t.Model))
	}
	fmt.Fprint(to, r.done())
	for n, r := range records {
		if _, err := fmt.Fprintf(to, "\n## %d %s\n\n%s", n, r.Kind, tools.Visible(step(r))); err != nil {
			return err
		}
	}
	return nil
}

func replayRun(ctx context.Context, store *runs.Store, run runs.Run, to printed) error {
	records, err := store.Records(ctx, run.ID, 0)
	if err != nil {
		return err
	}
	return loop.Replay(records, func(n int, r loop.Record, spent loop.Spent) error {
		if to.json {
			return to.line(struct {
				N int `json:"n"`
				loop.Record
				Spent loop.Spent `json:"spent"`
			}{n, r, spent})
		}
		_, err := fmt.Fprintf(to, "%s  %d %s; %s, %d tokens\n%s\n", durations.Rough(r.At.Sub(records[0].At)), n, r.Kind, counted(spent.Rounds, "round"), spent.Use.Total(), indented(tools.Visible(step(r))))
		return err
	})
}

// indented returns a text with its lines indented below a heading.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(text)) {
		b.WriteString("    " + line)
	}
	return b.String()
}

func stopRun(ctx context.Context, store *runs.Store, run runs.Run, to printed) error {
	before, err := store.Count(ctx, run.ID, run.Principal)
	if err != nil {
		return err
	}
	end, err := store.Stop(ctx, run.ID, run.Principal, "the user stopped it")
	if err != nil {
		return err
	}
	after, err := store.Count(ctx, run.ID, run.Principal)
	if err != nil {
		return err
	}
	if to.json {
		return to.line(map[string]any{"run": run.ID, "status": end.Status, "stopped": after > before})
	}
	if after == before {
		_, err = fmt.Fprintf(to, "run %s had ended: %s\n", run.ID, end.Status)
		return err
	}
	_, err = fmt.Fprintf(to, "run %s: %s; what it has done stays\n", run.ID, end.Status)
	return err
}
