package shell

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/text/textfile"
)

//go:embed job_list.md
var jobListDoc string

// JobListIn says which jobs to list.
type JobListIn struct {
	All bool `json:"all,omitempty" jsonschema:"default=false" jsonschema_description:"also those that have ended"`
}

// JobListOut is a table of jobs.
type JobListOut struct {
	Lines []string
	Ended int // ended jobs that are left out
	More  int // jobs beyond the most that one result lists
	Notes []string
}

func jobListTool(d Deps) tools.Tool {
	return tools.New(tools.Def[JobListIn, JobListOut]{
		Name: "job_list", Title: "List jobs", Doc: jobListDoc, Tags: []string{"shell", "jobs", "background"},
		Foreign: []tools.Foreign{processBy("jobs", "list_jobs")},
		Access:  tools.Read, Effects: tools.None,
		Limits: tools.Limits{Facts: map[string]any{"most": mostListed}},
		Examples: []tools.Example[JobListIn]{{
			Say:    "What is running?",
			Before: d.example("echo ready; sleep 60", false),
			In:     JobListIn{},
			Want:   "…\n...\n… running for …; …; echo ready; sleep 60\n...",
		}},
		Run: d.jobList,
	})
}

func (d Deps) jobList(ctx context.Context, in JobListIn) (JobListOut, error) {
	if d.Jobs == nil {
		return JobListOut{}, tools.Errorf(tools.Unavailable, "this server runs no programs")
	}
	var out JobListOut
	for _, j := range d.Jobs.List(tools.Session(ctx).Principal) {
		how, over := overOf(j)
		switch {
		case over && !in.All:
			out.Ended++
			continue
		case len(out.Lines) == mostListed:
			out.More++
			continue
		case !over:
			how = state(j)
		}
		out.Lines = append(out.Lines, strings.Join(listed(j, how), "; "))
	}
	works, older, err := d.works(ctx, in.All)
	if err != nil {
		return JobListOut{}, err
	}
	out.More += older
	for _, w := range works {
		out.Lines = append(out.Lines, strings.Join([]string{w.Handle + " " + w.State, textfile.Count(w.Steps, "step"), w.What}, "; "))
	}
	out.Notes = d.neighbours(tools.Session(ctx).Principal)
	return out, ctx.Err()
}

// listed is a row of the table.
func listed(j *jobs.Job, how string) []string {
	row := []string{j.ID + " " + how, volume(j.Log().Extent())}
	switch {
	case j.Terminal:
		row = append(row, "terminal")
	case j.Shell != "":
		row = append(row, "session "+j.Shell)
	}
	for _, f := range j.Forwards() {
		row = append(row, fmt.Sprintf("%s = port %d", f.Address(), f.Inside))
	}
	if j.Dir != "." {
		row = append(row, "in "+textfile.Path(j.Dir))
	}
	return append(row, brief(j.Text))
}

// Text returns a line for each job, the newest first.
func (o JobListOut) Text() string {
	status := textfile.Count(len(o.Lines), "job")
	if len(o.Lines) == 0 {
		status = "no job is running"
	}
	if o.Ended > 0 {
		status += fmt.Sprintf("; %d ended, all: true shows them", o.Ended)
	}
	if o.More > 0 {
		status += fmt.Sprintf("; %d older ones are not shown", o.More)
	}
	return lines(slices.Concat([]string{status}, o.Lines, o.Notes)...)
}
