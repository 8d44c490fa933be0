package schedule

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/durations"
)

//go:embed schedule_run.md
var scheduleRunDoc string

// RunIn says which schedule to run.
type RunIn struct {
	Name string `json:"name" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Name of the schedule." alias:"id"`
	Wait string `json:"wait,omitempty" jsonschema:"maxLength=20,default=30s" jsonschema_description:"How long to wait for the end, 0s to 50s." unit:"s,ms"`
}

// RunOut is the run.
type RunOut struct {
	name string
	run  outcome
}

// Text implements [tools.Texter].
func (o RunOut) Text() string {
	var b strings.Builder
	b.WriteString("schedule " + o.name + "\n")
	o.run.write(&b, time.Local, true)
	if o.run.State == running {
		b.WriteString("schedule_list with name=" + o.name + " shows how it ends\n")
	}
	return b.String()
}

func scheduleRunTool(d Deps) tools.Tool {
	return tools.New(tools.Def[RunIn, RunOut]{
		Name: "schedule_run", Title: "Run a schedule now", Doc: scheduleRunDoc, Tags: []string{"schedules"},
		// The called tool has the effects, and its call has its own record.
		Access: tools.Delegates, Effects: tools.None,
		Examples: []tools.Example[RunIn]{{
			Say: "Look for large files now.", Files: map[string]string{"a.iso": "x"}, In: RunIn{Name: "large"},
			Before: d.exampleSchedule, Want: "schedule large\n  …: ok, by schedule_run\n    1 file\n    a.iso\n",
		}},
		Run: d.runNow,
	})
}

var waitArgument = durations.Argument{Name: "wait", Default: 30 * time.Second, Most: 50 * time.Second}

func (d Deps) runNow(ctx context.Context, in RunIn) (RunOut, error) {
	wait, err := waitArgument.Read(in.Wait)
	if err != nil {
		return RunOut{}, err
	}
	s := tools.Session(ctx)
	k, err := d.keeper(s)
	if err != nil {
		return RunOut{}, err
	}
	r, err := k.named(ctx, in.Name)
	if err != nil {
		return RunOut{}, err
	}
	if err := d.serves(s); err != nil {
		return RunOut{}, err
	}
	out := RunOut{name: r.Name, run: outcome{Run: "now-" + strings.ToLower(rand.Text()), State: running, Started: d.Now()}}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	limited, cancel := context.WithTimeout(ctx, k.engine.Patience())
	defer cancel()
	if _, err := k.engine.Start(limited, kind, r.ID+"/"+out.run.Run, input{Schedule: r.ID, Run: out.run.Run}); err != nil {
		if limited.Err() != nil && ctx.Err() == nil {
			return out, tools.Errorf(tools.Unavailable, "the database does not answer: the run may begin or not").WithHint("schedule_list with name=%s shows it; look before you repeat it", r.Name)
		}
		return out, told(err)
	}
	_, err = k.engine.Wait(waiting, kind, r.ID+"/"+out.run.Run)
	if err != nil && ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return out, told(err)
	}
	runs, err := k.store.runs(ctx, r.ID, mostRuns)
	if err != nil {
		return out, err
	}
	for _, run := range runs {
		if run.Run == out.run.Run {
			out.run = run
		}
	}
	return out, nil
}
