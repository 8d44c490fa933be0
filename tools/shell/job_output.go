package shell

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"math"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/text/textfile"
)

//go:embed job_output.md
var jobOutputDoc string

// JobOutputIn says which output to show.
type JobOutputIn struct {
	Job    string `json:"job,omitempty" jsonschema:"maxLength=64" jsonschema_description:"handle of the job; default the newest" alias:"handle,job_id,id,shell_id,task_id,bash_id,pid,process_id,session_id"`
	Offset *int64 `json:"offset,omitempty" jsonschema:"minimum=0,maximum=9007199254740991" jsonschema_description:"show what follows this byte; the last result names the next"`
	Line   int64  `json:"line,omitempty" jsonschema:"minimum=1,maximum=9007199254740991" jsonschema_description:"show what follows from this line, counted from 1" alias:"start_line"`
	Tail   int    `json:"tail,omitempty" jsonschema:"minimum=1,maximum=10000" jsonschema_description:"show the last lines" alias:"last_lines,tail_lines"`
	Wait   string `json:"wait,omitempty" unit:"s,ms" jsonschema:"maxLength=20" jsonschema_description:"first wait, at most 50s, for its end; with offset, for more output" alias:"timeout,yield_time"`
	Most   int    `json:"max_output,omitempty" jsonschema:"minimum=200,maximum=45000" jsonschema_description:"bytes of output to show; default 20000, of a page 30000" alias:"max_output_length,max_output_bytes,max_output_chars"`
	Until  string `json:"until,omitempty" jsonschema:"maxLength=1000" jsonschema_description:"wait only until the output has this text, or /regexp/"`
}

// JobOutputOut is a part of the output of a job.
type JobOutputOut struct {
	jobShown
	followed *followed // in the place of a job
}

// Text returns a status and the output, or the steps of an agent's run.
func (o JobOutputOut) Text() string {
	if o.followed != nil {
		return o.followed.Text()
	}
	return o.jobShown.Text()
}

func jobOutputTool(d Deps) tools.Tool {
	return tools.New(tools.Def[JobOutputIn, JobOutputOut]{
		Name: "job_output", Title: "Read the output of a job", Doc: jobOutputDoc, Tags: []string{"shell", "jobs", "log", "wait", "finished"},
		Foreign: append(tools.Called("BashOutput", "TaskOutput", "read_process_output", "get_terminal_output"), processBy("output", "log", "logs", "poll", "read", "status", "wait")),
		Access:  tools.Read, Effects: tools.None,
		Streams: true, Timeout: longestWait + 10*time.Second, Spellings: outputSpellings(),
		Limits: tools.Limits{Facts: map[string]any{"page": shownPage, "line": textfile.LineChars}},
		Examples: []tools.Example[JobOutputIn]{{
			Say:    "Wait for the end of the newest job.",
			Before: d.example("echo one; echo two", false),
			In:     JobOutputIn{Wait: "20s"},
			Want:   "exit 0 in …; job …; 2 lines, 8 B\n\none\ntwo\n",
		}, {
			Say:    "Wait until a server is ready.",
			Before: d.example("echo starting; echo listening on 8080; sleep 20", false),
			In:     JobOutputIn{Wait: "20s", Until: "listening", Tail: 1},
			Want:   "running for …; job …; 2 lines, 27 B; next: offset=27\nfound: listening on 8080\n\nlistening on 8080\n",
		}},
		Run: (&jobOutput{Deps: d}).run,
	})
}

// jobOutput knows what of works its answers have shown. A job knows that itself.
type jobOutput struct {
	Deps
	shown shown
}

func (d *jobOutput) run(ctx context.Context, in JobOutputIn) (JobOutputOut, error) {
	if err := ctx.Err(); err != nil {
		return JobOutputOut{}, err
	}
	if of := d.workOf(ctx, in.Job); of != nil {
		return d.work(ctx, of, in)
	}
	j, err := d.job(ctx, in.Job, true)
	if err != nil {
		return JobOutputOut{}, err
	}
	wait, err := durations.Argument{Name: "wait", Most: 24 * time.Hour}.Read(in.Wait)
	if err != nil {
		return JobOutputOut{}, err
	}
	until, err := matcher(in.Until)
	if err != nil {
		return JobOutputOut{}, err
	}
	out := JobOutputOut{jobShown: jobShown{Job: j.ID, Report: j.Report()}}
	p := part{Offset: in.Offset, Line: in.Line, Tail: in.Tail, Until: in.Until, Most: in.Most}
	if wait > 0 || until != nil {
		if wait == 0 || wait > longestWait {
			wait = longestWait
		}
		found, err := await(ctx, j, p, until, wait)
		if err != nil {
			return JobOutputOut{}, err
		}
		out.Notes = append(out.Notes, found)
	}
	if err := out.show(j, p); err != nil {
		return JobOutputOut{}, err
	}
	return out, ctx.Err()
}

// work shows steps of what is no job. Without an offset it waits for the end, and shows what no
// answer has shown.
func (d *jobOutput) work(ctx context.Context, of tools.Works, in JobOutputIn) (JobOutputOut, error) {
	wait, err := durations.Argument{Name: "wait", Most: 24 * time.Hour}.Read(in.Wait)
	if err != nil {
		return JobOutputOut{}, err
	}
	handle := written(in.Job)
	from := d.shown.of(handle)
	if in.Offset != nil {
		from = int(min(*in.Offset, math.MaxInt32))
	}
	f, err := follow(ctx, of, handle, from, min(wait, longestWait), in.Offset == nil)
	if err != nil {
		return JobOutputOut{}, err
	}
	most := cmp.Or(in.Most, shownPage)
	switch {
	case in.Offset != nil:
		f.first(most)
	case from > 0 && len(f.steps) == 0:
		f.notes = append(f.notes, fmt.Sprintf("nothing new since step %d; offset=0 shows the steps again", from))
	case from > 0:
		f.notes = append(f.notes, fmt.Sprintf("from step %d, where the last answer ended", from))
		fallthrough
	default:
		f.last(most)
	}
	d.shown.set(handle, f.next)
	return JobOutputOut{jobShown: jobShown{Job: f.work.Handle, Next: int64(f.next)}, followed: f}, ctx.Err()
}

// outputSpellings are the forms in which other tools say what to wait for.
func outputSpellings() []schema.Spelling {
	return []schema.Spelling{
		{Names: []string{"block", "wait"}, Read: func(given map[string]any) (map[string]any, error) {
			block, ok := schema.Bool(given["block"])
			switch {
			case !ok:
				return nil, nil
			case !block:
				return schema.Same(), nil
			case given["wait"] != nil:
				return map[string]any{"wait": given["wait"]}, nil
			}
			return map[string]any{"wait": "30s"}, nil
		}},
		outputTokens(),
		schema.Dropped("", "verbose_timing"),
		schema.Refused("all of the output is shown; grep it in a command", "filter"),
	}
}
