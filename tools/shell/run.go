package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/programs/changed"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/programs/screen"
)

// Times of commands.
const (
	foreground     = 45 * time.Second // by default, then a command becomes a job; clients give up after a minute
	longest        = time.Minute      // that this can be
	longestTimeout = 24 * time.Hour
	settle         = 300 * time.Millisecond // a command in the background that ends by then has failed to start
	prompt         = 700 * time.Millisecond // without output: an interactive program waits
	promptWithin   = 5 * time.Second
)

// Of a terminal.
const (
	rows    = 30
	columns = 100
)

// commandIn has the arguments of bash and powershell.
type commandIn struct {
	Command    string
	Cwd        string
	Env        []string
	Timeout    string
	Background bool
	Session    string
	Terminal   bool
	Input      bool
	Network    bool
	Ports      []int
	MaxOutput  int
}

// most returns how many bytes of output the result shows.
func (in commandIn) most() int { return cmp.Or(in.MaxOutput, shownWhole) }

// commandOut is the result of a command, or the job that it has become.
type commandOut struct {
	Status string
	Notes  []string
	Output string // "" = none
	Job    string // its handle, if there is more output to read
	Code   *int   // its exit code, nil while it runs
	Report sandbox.Report
}

// bashArgs is the program that runs a line of bash.
func bashArgs(line string) []string { return []string{"bash", "--noprofile", "--norc", "-c", line} }

// run runs args, the shell with the line of in.
func (d Deps) run(ctx context.Context, tool string, in commandIn, args []string) (commandOut, error) {
	if err := ctx.Err(); err != nil {
		return commandOut{}, err
	}
	if err := d.check(ctx, in); err != nil {
		return commandOut{}, err
	}
	spec, err := d.spec(ctx, tool, in, args)
	if err != nil {
		return commandOut{}, err
	}
	if slices.ContainsFunc(in.Env, func(v string) bool { return strings.HasPrefix(v, "PATH=") }) {
		spec.Command.Args[0] = located(spec.Command.Args[0])
	}
	if in.Network {
		if err := d.Sandbox.AskHosts(ctx); err != nil {
			return commandOut{}, err
		}
	}
	w := changed.Begin(ctx, spec.Workspace, d.Jobs.Recorded(ctx))
	j, err := d.start(ctx, in, spec)
	if err != nil {
		return commandOut{}, refused(err)
	}
	ended, err := in.attend(ctx, j, d.Jobs.Options().Foreground)
	if err != nil {
		j.Cancel()
		return commandOut{}, err
	}
	if !ended {
		files := w.Changes(ctx, j) // what follows is a change of its own
		files.Note(ctx)
		out, err := running(j, in)
		out.Notes = append(out.Notes, files.String())
		return out, err
	}
	return d.ended(ctx, j, in, w)
}

// attend waits for the command as long as the call may last.
func (in commandIn) attend(ctx context.Context, j *jobs.Job, foreground time.Duration) (ended bool, err error) {
	switch {
	case in.Background:
		return attend(ctx, j, settle)
	case in.Terminal || in.Input:
		return quiesce(ctx, j, 0, prompt, promptWithin)
	}
	if s := tools.Session(ctx); s.Lasting || s.Once {
		return attend(ctx, j, longestTimeout)
	}
	return attend(ctx, j, foreground)
}

// start starts the command, in the named session if there is one.
func (d Deps) start(ctx context.Context, in commandIn, spec jobs.Spec) (*jobs.Job, error) {
	if in.Session == "" {
		return d.Jobs.Start(ctx, spec)
	}
	if d.Jobs.Known(spec, in.Session) && (len(in.Env) > 0 || in.Cwd != "") {
		return nil, tools.Errorf(tools.InvalidArgument, "session %s keeps its own directory and variables", in.Session).
			WithHint("write cd and export in the command")
	}
	j, err := d.Jobs.StartIn(ctx, spec, in.Session, in.Command)
	if busy, ok := errors.AsType[*jobs.BusyError](err); ok {
		return nil, tools.Errorf(tools.Conflict, "session %s still runs %s", in.Session, brief(busy.Job.Text)).
			WithHint("job_output job=%s wait=50s waits for it, job_stop ends it", busy.Job.ID)
	}
	if errors.Is(err, jobs.ErrOtherNetwork) {
		return nil, tools.Errorf(tools.Conflict, "session %s was started with network: %v", in.Session, !in.Network).
			WithHint("take another session")
	}
	if errors.Is(err, jobs.ErrOtherRoot) {
		return nil, tools.Errorf(tools.Conflict, "session %s has ended: its directory was removed and made again", in.Session).
			WithHint("the command has not run; the next call begins a new session")
	}
	return j, err
}

// spec returns the job of a command.
func (d Deps) spec(ctx context.Context, tool string, in commandIn, args []string) (jobs.Spec, error) {
	if d.Jobs == nil {
		return jobs.Spec{}, tools.Errorf(tools.Unavailable, "this server runs no programs")
	}
	dir, err := directory(ctx, in.Cwd)
	if err != nil {
		return jobs.Spec{}, err
	}
	byDefault := d.Jobs.Options().Timeout
	if in.Background || in.Terminal || in.Input {
		byDefault = 0
	}
	timeout, err := in.timeout(byDefault)
	if err != nil {
		return jobs.Spec{}, err
	}
	env := d.variables(in.Env)
	session := tools.Session(ctx)
	var terminal *sandbox.Size
	if in.Terminal {
		terminal = &sandbox.Size{Rows: rows, Columns: columns}
		env = append(env, "TERM=xterm", "PAGER=less", "GIT_PAGER=less")
	}
	return jobs.Spec{
		Principal: session.Principal, Workspace: session.Workspace, Text: in.Command, Timeout: timeout, Input: in.Input, Ports: in.Ports,
		Command: sandbox.Command{
			Tool: tool, Args: args, Dir: dir, Env: env, Network: in.Network, Terminal: terminal,
		},
	}, nil
}

// running returns the result for a job that goes on.
func running(j *jobs.Job, in commandIn) (commandOut, error) {
	shown := jobShown{}
	if err := shown.show(j, part{Most: in.most()}); err != nil {
		return commandOut{}, err
	}
	out := commandOut{Job: j.ID, Report: j.Report(), Output: shown.Output}
	next := fmt.Sprintf("job_output job=%s offset=%d wait=50s shows what comes, job_stop ends it", j.ID, shown.Next)
	switch {
	case in.Background:
		out.Status = "running: job " + j.ID
	case in.Terminal || in.Input:
		out.Status = "running: job " + j.ID + shown.cursor
		next = "job_input types, job_output waits, job_stop ends it"
	default:
		out.Status = fmt.Sprintf("still running after %s: it is job %s now", durations.Rough(j.Took()), j.ID)
	}
	out.Notes = append(append([]string{out.Report.Warning()}, shown.Notes...), next)
	return out, nil
}

// ended returns the result of a command that has ended. If the result shows all output, the
// job is not kept.
func (d Deps) ended(ctx context.Context, j *jobs.Job, in commandIn, w *changed.Watch) (commandOut, error) {
	exit, why := j.Exit()
	shown, err := excerptOf(j.Log(), j.ID, 0, in.most())
	if err != nil {
		return commandOut{}, err
	}
	j.SetShown(shown.next, shown.cut)
	if why == jobs.ByScreen {
		shown = excerpt{page: page{text: undrawn(j)}, whole: true}
	}
	j.Screen(func(s *screen.Screen) { shown.text, shown.note = s.String(), "" })
	e := j.Log().Extent()
	out := commandOut{Status: ending(j) + "; " + volume(e), Output: shown.text, Report: j.Report(), Code: &exit.Code}
	files := w.Changes(ctx, j)
	files.Note(ctx)
	out.Notes = []string{cmp.Or(d.holder(j, shown.text), d.absent(j, shown.text), hintOf(j)), out.Report.Warning(), orphans(exit), files.String(), exit.Warning(), shown.note, unkept(e), session(ctx, j)}
	if shown.whole {
		d.Jobs.Forget(j)
	} else {
		out.Job = j.ID
	}
	return out, ctx.Err()
}

// Text returns the status, the notes, and after an empty line the output.
func (o commandOut) Text() string { return worded(o.Status, o.Notes, o.Output) }

// Meta has, for programs, the sandbox of the command, its exit code, and the job.
func (o commandOut) Meta() map[string]any { return jobMeta(o.Report, o.Job, o.Code) }

// commandSpellings are the forms that bash and powershell share.
func commandSpellings() []schema.Spelling {
	const sandboxed = "the sandbox cannot be left; network: true asks for the network, and the rules of the server say what the user is asked"
	return []schema.Spelling{
		{Names: []string{"env"}, Read: envMap},
		schema.Flag(schema.Same(), map[string]any{"background": true}, "blocking"),
		schema.Refused(sandboxed, "with_escalated_permissions", "dangerously_disable_sandbox", "unsandboxed", "requires_approval"),
		schema.OnlyWith(sandboxed, "sandbox_permissions", "use_default"),
		schema.Refused("job_input types into a command that runs", "is_input"),
		schema.Refused("a session of another name is a new shell", "reset", "restart"),
		schema.Dropped("a command that lasts becomes a job by itself", "yield_time_ms", "wait_ms_before_async", "block_until_ms"),
		outputTokens(),
		schema.Dropped("", "verbose_timing", "safe_to_auto_run", "prefix_rule"),
	}
}

// outputTokens reads a number of tokens as the bytes of max_output.
func outputTokens() schema.Spelling {
	return schema.Spelling{Names: []string{"max_output_tokens"}, Read: func(given map[string]any) (map[string]any, error) {
		n, err := strconv.ParseFloat(fmt.Sprint(given["max_output_tokens"]), 64)
		if err != nil {
			return nil, errors.New("it is a number of tokens")
		}
		return map[string]any{"max_output": max(leastOutput, min(int(n*4), mostOutput))}, nil
	}}
}

// envMap reads variables that are the keys of an object.
func envMap(given map[string]any) (map[string]any, error) {
	object, ok := given["env"].(map[string]any)
	if !ok {
		return nil, nil
	}
	list := []string{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch v := object[name].(type) {
		case nil:
		case map[string]any, []any:
			return nil, fmt.Errorf("%s is not a text", name)
		default:
			list = append(list, fmt.Sprintf("%s=%v", name, v))
		}
	}
	return map[string]any{"env": list}, nil
}
