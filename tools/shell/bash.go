package shell

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/programs/changed"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/programs/screen"
)

//go:embed bash.md
var bashDoc string

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

// BashIn says what to run.
type BashIn struct {
	Command    string   `json:"command" jsonschema:"minLength=1,maxLength=100000" jsonschema_description:"bash command line or script" alias:"cmd,script,code,command_line,bash_command"`
	Cwd        string   `json:"cwd,omitempty" jsonschema_description:"directory to run in; default the root, or where the session is" path:"directory" alias:"workdir,working_directory,directory,dir,path,working_dir,dir_path"`
	Env        []string `json:"env,omitempty" jsonschema:"maxItems=100" jsonschema_description:"variables, each KEY=VALUE" alias:"environment,env_vars,envs"`
	Timeout    string   `json:"timeout,omitempty" unit:"s,ms" jsonschema:"maxLength=20" jsonschema_description:"end it after, such as \"90s\" or \"5m\"; default 30m, none in the background"`
	Background bool     `json:"background,omitempty" jsonschema:"default=false" jsonschema_description:"return at once with the handle of a job: servers, watchers, long builds" alias:"run_in_background,is_background,detach"`
	Session    string   `json:"session,omitempty" jsonschema:"maxLength=40" jsonschema_description:"name of a shell that keeps directory, variables and functions from call to call" alias:"session_id,shell_id"`
	Terminal   bool     `json:"terminal,omitempty" jsonschema:"default=false" jsonschema_description:"run on a terminal, for interactive programs; job_input types" alias:"pty,tty"`
	Input      bool     `json:"input,omitempty" jsonschema:"default=false" jsonschema_description:"keep its input open, as a pipe, for job_input" alias:"interactive"`
	Network    bool     `json:"network,omitempty" jsonschema:"default=false" jsonschema_description:"let it reach the network; the user may be asked" alias:"allow_network,network_access"`
}

// BashOut is how a command ended, or the job that it has become.
type BashOut struct {
	Status string
	Notes  []string
	Output string // "" = none
	Job    string // its handle, where there is more to be had
	Code   *int   // its exit code, nil while it runs
	Report sandbox.Report
}

func bashTool(d Deps) tools.Tool {
	return tools.New(tools.Def[BashIn, BashOut]{
		Name: "bash", Title: "Run a command", Doc: bashDoc, Tags: []string{"shell", "run", "build", "test", "packages", "version control"},
		Aliases: []string{"shell", "run_command", "execute_command"},
		Access:  tools.Exec, Effects: tools.Workspace | tools.Outside | tools.Process | tools.Network | tools.State | tools.Destroys,
		Streams: true, Timeout: longest + 30*time.Second, Spellings: bashSpellings(),
		Needs:  []tools.Need{{Binaries: []string{"bash"}, How: "install bash"}},
		Limits: tools.Limits{Facts: map[string]any{"foreground": int(foreground.Seconds()), "head": shownHead, "tail": shownTail, "whole": shownWhole}},
		Plan:   d.plan,
		Tell:   tellBash,
		Examples: []tools.Example[BashIn]{{
			Say:   "Count the lines of the Go files.",
			Files: map[string]string{"a.go": "package a\n", "b/b.go": "package b\n\nvar B = 1\n"},
			In:    BashIn{Command: "cat $(find . -name '*.go') | wc -l"},
			Want:  "exit 0 in …; 1 line, 2 B\n...\n\n4\n",
		}, {
			Say:   "A command that fails has its exit code in the first line.",
			Files: map[string]string{"docs/a.txt": "alpha\n"},
			In:    BashIn{Command: "echo $WHO; grep -n beta a.txt", Cwd: "docs", Env: []string{"WHO=me"}, Timeout: "20s"},
			Want:  "exit 1 in …; 1 line, 3 B\n...\n\nme\n",
		}, {
			Say:   "What has changed is listed.",
			Files: map[string]string{"a.txt": "one\n", "b.txt": "two\n"},
			In:    BashIn{Command: "echo more >> a.txt; rm b.txt; echo new > c.txt"},
			Want:  "exit 0 in …; no output\n...\nfiles: created c.txt; changed a.txt; deleted b.txt (not in the history of restore_file)\n",
			After: map[string]string{"a.txt": "one\nmore\n", "c.txt": "new\n"},
		}},
		Run: d.bash,
	})
}

func (d Deps) bash(ctx context.Context, in BashIn) (BashOut, error) {
	return d.run(ctx, in, bashArgs(in.Command))
}

// bashArgs is the program that runs a line of bash.
func bashArgs(line string) []string { return []string{"bash", "--noprofile", "--norc", "-c", line} }

// run runs a program that does what in says, by bash or by another shell.
func (d Deps) run(ctx context.Context, in BashIn, args []string) (BashOut, error) {
	if err := ctx.Err(); err != nil {
		return BashOut{}, err
	}
	if err := in.check(ctx); err != nil {
		return BashOut{}, err
	}
	spec, err := d.spec(ctx, in, args)
	if err != nil {
		return BashOut{}, err
	}
	if slices.ContainsFunc(in.Env, func(v string) bool { return strings.HasPrefix(v, "PATH=") }) {
		spec.Command.Args[0] = located(spec.Command.Args[0])
	}
	w := changed.Begin(ctx, spec.Workspace)
	j, err := d.start(ctx, in, spec)
	if err != nil {
		return BashOut{}, refused(err)
	}
	ended, err := in.attend(ctx, j, d.Jobs.Options().Foreground)
	if err != nil {
		j.Cancel()
		return BashOut{}, err
	}
	if !ended {
		return running(j, in)
	}
	return d.ended(ctx, j, w)
}

// attend waits for the command as long as the call is to last.
func (in BashIn) attend(ctx context.Context, j *jobs.Job, foreground time.Duration) (ended bool, err error) {
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

// start starts the command, in the named shell where there is one.
func (d Deps) start(ctx context.Context, in BashIn, spec jobs.Spec) (*jobs.Job, error) {
	if in.Session == "" {
		return d.Jobs.Start(ctx, spec)
	}
	switch {
	case in.Terminal || in.Input:
		return nil, tools.Errorf(tools.InvalidArgument, "/session: the commands of a session have no input").
			WithHint("leave session out, or terminal and input")
	case d.Jobs.Known(spec, in.Session) && (len(in.Env) > 0 || in.Cwd != ""):
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
	return j, err
}

// spec is the job that a command is.
func (d Deps) spec(ctx context.Context, in BashIn, args []string) (jobs.Spec, error) {
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
	env, err := variables(in.Env)
	if err != nil {
		return jobs.Spec{}, err
	}
	session := tools.Session(ctx)
	var terminal *sandbox.Size
	if in.Terminal {
		terminal = &sandbox.Size{Rows: rows, Columns: columns}
		env = append(env, "TERM=xterm", "PAGER=less", "GIT_PAGER=less")
	}
	return jobs.Spec{
		Principal: session.Principal, Workspace: session.Workspace, Text: in.Command, Timeout: timeout, Input: in.Input,
		Command: sandbox.Command{
			Args: args, Dir: dir, Env: env, Network: in.Network, Terminal: terminal,
		},
	}, nil
}

// running words a job that goes on.
func running(j *jobs.Job, in BashIn) (BashOut, error) {
	shown := JobOutputOut{}
	if err := shown.show(j, JobOutputIn{}); err != nil {
		return BashOut{}, err
	}
	out := BashOut{Job: j.ID, Report: j.Report(), Output: shown.Output}
	next := fmt.Sprintf("job_output job=%s offset=%d wait=50s shows what comes, job_stop ends it", j.ID, shown.Next)
	switch {
	case in.Background:
		out.Status = "running: job " + j.ID
	case in.Terminal || in.Input:
		out.Status = "running: job " + j.ID + shown.place
		next = "job_input types, job_output waits, job_stop ends it"
	default:
		out.Status = fmt.Sprintf("still running after %s: it is job %s now", durations.Rough(j.Took()), j.ID)
	}
	out.Notes = []string{out.Report.Warning(), next}
	return out, nil
}

// ended words a command that has ended. Where all of its output is shown, nothing is
// kept of it.
func (d Deps) ended(ctx context.Context, j *jobs.Job, w *changed.Watch) (BashOut, error) {
	exit, _ := j.Exit()
	text, whole, err := excerpt(j.Log(), j.ID)
	if err != nil {
		return BashOut{}, err
	}
	j.Screen(func(s *screen.Screen) { text = s.String() })
	e := j.Log().Extent()
	out := BashOut{Status: ending(j) + "; " + volume(e), Output: text, Report: j.Report(), Code: &exit.Code}
	files := w.Changes(ctx)
	files.Note(ctx)
	out.Notes = []string{hintOf(j), out.Report.Warning(), orphans(exit), files.String(), exit.Warning(), unkept(e), session(ctx, j)}
	if whole {
		d.Jobs.Forget(j)
	} else {
		out.Job = j.ID
	}
	return out, ctx.Err()
}

// Text is the status, what there is to say, and after an empty line the output.
func (o BashOut) Text() string { return worded(o.Status, o.Notes, o.Output) }

// Meta tells programs what contained the command, its exit code, and the job.
func (o BashOut) Meta() map[string]any { return jobMeta(o.Report, o.Job, o.Code) }
