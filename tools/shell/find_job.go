package shell

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/handles"
	"toolcrib/tools/internal/programs/jobs"
)

// mostListed is how many jobs one result lists.
const mostListed = 100

// longestGrace is the longest time that a call waits for a program to end by itself.
const longestGrace = 20 * time.Second

// job returns the job of a handle. Without a handle it returns the newest job or, unless
// newest is set, the only running one.
func (d Deps) job(ctx context.Context, handle string, newest bool) (*jobs.Job, error) {
	if d.Jobs == nil {
		return nil, tools.Errorf(tools.Unavailable, "this server runs no programs")
	}
	principal := tools.Session(ctx).Principal
	if handle == "" {
		return d.implied(ctx, newest)
	}
	j, err := d.Jobs.Get(principal, written(handle))
	if other, ok := errors.AsType[*jobs.ElsewhereError](err); ok {
		return nil, tools.Errorf(tools.Unavailable, "job %s is of another server: handles of this one begin with %s", handle, other.Ours).
			WithHint("%s", d.elsewhere(principal))
	}
	if err != nil {
		hint := strings.Join(append([]string{"job_list shows the jobs"}, d.neighbours(principal)...), "; ")
		return nil, tools.Errorf(tools.NotFound, "no job %s: it was never there, or ended long ago", handle).WithHint("%s", hint)
	}
	return j, nil
}

// written returns a handle as results print it: models also write "Job ABC" or "job: abc".
func written(handle string) string {
	text := strings.ToLower(strings.TrimSpace(handle))
	if rest := strings.TrimLeft(strings.TrimPrefix(text, "job"), " :=#"); handles.Is(rest) {
		return rest
	}
	return text
}

// elsewhere returns the hint for a job of another server.
func (d Deps) elsewhere(principal string) string {
	if told := d.neighbours(principal); len(told) > 0 {
		return strings.Join(append(told, "job_list shows those of this one"), "; ")
	}
	if d.Jobs.Options().Detached {
		return "that was of other settings, or has ended; job_list shows the jobs of this one"
	}
	return "jobs end with their server; job_list shows those of this one"
}

// neighbours lists the jobs that other servers of the same user run, one a line.
func (d Deps) neighbours(principal string) []string {
	if principal != tools.Local {
		return nil
	}
	return d.Jobs.Elsewhere()
}

func (d Deps) implied(ctx context.Context, newest bool) (*jobs.Job, error) {
	if newest {
		if all := d.Jobs.List(tools.Session(ctx).Principal); len(all) > 0 {
			return all[0], nil
		}
		return nil, tools.Errorf(tools.NotFound, "there are no jobs").WithHint("bash with background: true starts one")
	}
	running := d.live(ctx)
	switch {
	case len(running) == 1:
		return running[0], nil
	case len(running) == 0:
		return nil, tools.Errorf(tools.NotFound, "no job is running")
	}
	return nil, tools.Errorf(tools.InvalidArgument, "%d jobs are running", len(running)).WithHint("name one of them: job_list shows them")
}

// overOf reports whether and how a job has ended.
func overOf(j *jobs.Job) (how string, over bool) {
	select {
	case <-j.Done():
		return ending(j), true
	default:
		return "", false
	}
}

// live returns the jobs of the caller that run.
func (d Deps) live(ctx context.Context) (list []*jobs.Job) {
	if d.Jobs == nil {
		return nil
	}
	for _, j := range d.Jobs.List(tools.Session(ctx).Principal) {
		if _, over := overOf(j); !over {
			list = append(list, j)
		}
	}
	return list
}

// state returns whether a job runs or how it has ended.
func state(j *jobs.Job) string {
	if how, over := overOf(j); over {
		return how
	}
	return fmt.Sprintf("running for %s", durations.Rough(j.Took()))
}

// example starts a job for the example of a tool. It returns when the job has printed its
// first line, unless the job waits for input.
func (d Deps) example(command string, input bool) func(context.Context) error {
	return func(ctx context.Context) error {
		spec, err := d.spec(ctx, "bash", commandIn{Command: command, Background: true}, bashArgs(command))
		if err != nil {
			return err
		}
		spec.Input = input
		j, err := d.Jobs.Start(ctx, spec)
		if err != nil || input {
			return err
		}
		select {
		case <-j.Log().Grown(0):
		case <-ctx.Done():
		}
		return ctx.Err()
	}
}
