package shell

import (
	"context"
	_ "embed"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/text/textfile"
)

//go:embed job_stop.md
var jobStopDoc string

// JobStopIn says what to end.
type JobStopIn struct {
	Job   string `json:"job,omitempty" jsonschema:"maxLength=64" jsonschema_description:"handle of the job, or \"all\"; default the only one that runs" alias:"handle,job_id,id,shell_id,task_id,bash_id,pid,process_id,session_id"`
	Grace string `json:"grace,omitempty" unit:"s,ms" jsonschema:"maxLength=20" jsonschema_description:"how long it may take after SIGTERM before it is killed; default 2s, at most 20s"`
}

// JobStopOut says how the jobs have ended.
type JobStopOut struct{ Lines []string }

// Text returns a line for each job.
func (o JobStopOut) Text() string { return lines(o.Lines...) }

func jobStopTool(d Deps) tools.Tool {
	return tools.New(tools.Def[JobStopIn, JobStopOut]{
		Name: "job_stop", Title: "Stop a job", Doc: jobStopDoc, Tags: []string{"shell", "jobs", "kill"},
		Aliases: []string{"kill_shell"}, Foreign: append(tools.Called("KillShell", "KillBash", "force_terminate"), processBy("stop", "end", "cancel")),
		Access: tools.Exec, Effects: tools.Process | tools.State, Repeatable: true,
		Examples: []tools.Example[JobStopIn]{{
			Say:    "Stop what runs.",
			Before: d.example("echo ready; sleep 60", false),
			In:     JobStopIn{Job: "all"},
			Want:   "...\nended by … after … (stopped); job …; …\n...",
		}},
		Run: d.jobStop,
	})
}

func (d Deps) jobStop(ctx context.Context, in JobStopIn) (JobStopOut, error) {
	if err := ctx.Err(); err != nil {
		return JobStopOut{}, err
	}
	grace, err := durations.Argument{Name: "grace", Default: jobs.Grace, Most: longestGrace}.Read(in.Grace)
	if err != nil {
		return JobStopOut{}, err
	}
	if of := d.workOf(ctx, in.Job); of != nil {
		w, err := of.Stop(ctx, written(in.Job))
		return JobStopOut{Lines: []string{w.State + "; " + w.What + ", " + textfile.Count(w.Steps, "step")}}, err
	}
	list, err := d.stopped(ctx, in.Job)
	if err != nil {
		return JobStopOut{}, err
	}
	over := make([]bool, len(list))
	for i, j := range list {
		_, over[i] = overOf(j)
		j.Stop(jobs.ByStop, grace)
	}
	out := JobStopOut{}
	for i, j := range list {
		select {
		case <-ctx.Done():
			return JobStopOut{}, ctx.Err()
		case <-j.Done():
		}
		line := ending(j) + "; job " + j.ID + "; " + volume(j.Log().Extent())
		if over[i] {
			line = "had ended before: " + line
		}
		if exit, _ := j.Exit(); exit.Left > 0 {
			line += "; " + exit.Orphans()
		}
		out.Lines = append(out.Lines, line)
		if touched := j.Touched().Warning(); touched != "" {
			out.Lines = append(out.Lines, touched)
		}
	}
	if len(list) == 0 {
		out.Lines = []string{"no job is running"}
	}
	return out, ctx.Err()
}

// stopped returns the jobs that are to end.
func (d Deps) stopped(ctx context.Context, handle string) ([]*jobs.Job, error) {
	if !strings.EqualFold(handle, "all") || d.Jobs == nil {
		j, err := d.job(ctx, handle, false)
		return []*jobs.Job{j}, err
	}
	return d.live(ctx), nil
}
