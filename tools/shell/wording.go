package shell

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"toolcrib/tools"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/text/textfile"
)

// ending returns how a job has ended.
func ending(j *jobs.Job) string {
	exit, why := j.Exit()
	cause := ""
	switch why {
	case jobs.ByItself:
	case jobs.ByTimeout:
		cause = fmt.Sprintf(" (timeout %s)", durations.Exact(j.Timeout))
	default:
		cause = fmt.Sprintf(" (%s)", why)
	}
	switch {
	case exit.Err != nil:
		return fmt.Sprintf("ended after %s%s, how is not known: %v", durations.Rough(j.Took()), cause, exit.Err)
	case exit.Signal != "" && why == jobs.ByItself:
		return fmt.Sprintf("killed by %s after %s", exit.Signal, durations.Rough(j.Took()))
	case exit.Signal != "":
		return fmt.Sprintf("ended by %s after %s%s", exit.Signal, durations.Rough(j.Took()), cause)
	}
	return fmt.Sprintf("exit %d in %s%s", exit.Code, durations.Rough(j.Took()), cause)
}

// volume returns how much a job has printed.
func volume(e jobs.Extent) string {
	if e.Bytes == 0 {
		return "no output"
	}
	return textfile.Count(e.Lines, "line") + ", " + textfile.Size(e.Bytes)
}

// unkept returns why output was lost, "" if none was.
func unkept(e jobs.Extent) string {
	if e.Err == nil {
		return ""
	}
	return fmt.Sprintf("output was lost: %v", e.Err)
}

// ports says where the ports of a job are open, and which others it has opened for commands
// alone.
func ports(j *jobs.Job) []string {
	var notes []string
	forwarded := map[int]bool{}
	for _, f := range j.Forwards() {
		forwarded[f.Inside] = true
		notes = append(notes, fmt.Sprintf("port %d is open for the user at http://%s", f.Inside, f.Address()))
	}
	var others []string
	for _, port := range j.Listens() {
		if !forwarded[port] {
			others = append(others, strconv.Itoa(port))
		}
	}
	if len(others) > 0 {
		list := strings.Join(others, ", ")
		notes = append(notes, fmt.Sprintf("port %s is open in the sandbox only; ports: [%s] opens it for the user's browser", list, list))
	}
	return notes
}

// inUse is what programs print that cannot open a port.
var inUse = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)address already in use|EADDRINUSE|port is already allocated`)
})

// holder names the job that holds the port which a command could not open, "" if none is known:
// commands of a workspace share their ports.
func (d Deps) holder(j *jobs.Job, output string) string {
	if !inUse().MatchString(output) {
		return ""
	}
	named := regexp.MustCompile(`\d+`).FindAllString(output+" "+j.Text, -1)
	for _, other := range d.Jobs.List(j.Principal) {
		for _, port := range other.Listens() {
			if slices.Contains(named, strconv.Itoa(port)) {
				return fmt.Sprintf("hint: port %d is held by job %s: %s; job_stop job=%s ends it", port, other.ID, brief(other.Text), other.ID)
			}
		}
	}
	return ""
}

// unanswered is what programs print that reach no server.
var unanswered = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)connection refused|ECONNREFUSED|couldn't connect to server|actively refused`)
})

// absent says why a command has reached no server at a port of localhost, and which ports have
// one, "" if it has not tried: a workspace has a localhost of its own.
func (d Deps) absent(j *jobs.Job, output string) string {
	if exit, _ := j.Exit(); exit.Code == 0 || j.Report().Level != sandbox.Full || !unanswered().MatchString(output) {
		return ""
	}
	named := regexp.MustCompile(`(?i)(?:localhost|127\.0\.0\.1|\[::1\])(?: port |[:/])(\d+)`).FindStringSubmatch(output + " " + j.Text)
	if named == nil {
		return ""
	}
	there := "bash with background: true starts one"
	for _, other := range d.Jobs.List(j.Principal) {
		if ports := other.Listens(); len(ports) > 0 {
			there = fmt.Sprintf("job %s listens at %s", other.ID, strings.Trim(fmt.Sprint(ports), "[]"))
			break
		}
	}
	return fmt.Sprintf("hint: nothing listens at localhost:%s here: commands do not reach the servers of the machine itself; %s", named[1], there)
}

// orphans counts the processes that a command left behind, "" for none.
func orphans(e sandbox.Exit) string {
	text := e.Orphans()
	if text == "" {
		return ""
	}
	return text + "; use background: true for processes that must go on"
}

// session names the directory in which the session of a command goes on, "" without one.
func session(ctx context.Context, j *jobs.Job) string {
	if j.Shell == "" {
		return ""
	}
	after := j.After()
	switch {
	case after.Broken:
		return fmt.Sprintf("session %s has ended: a command has redefined, disabled or closed what it needs, such as builtin or its descriptors; the next call begins a new one", j.Shell)
	case !after.Lives:
		return fmt.Sprintf("session %s has ended with it", j.Shell)
	}
	text := fmt.Sprintf("session %s is in a directory that is gone, or that PWD does not name", j.Shell)
	if after.Dir != "" {
		if dir, err := tools.Resolve(ctx, after.Dir); err == nil {
			after.Dir = dir.String()
		}
		text = fmt.Sprintf("session %s is in %s", j.Shell, textfile.Path(after.Dir))
	}
	if after.Mute {
		text += "; its output is closed, so that nothing more is shown: the command exit ends it, and the next call begins it anew"
	}
	return text
}

// metaJob is a key of the metadata of a job, in addition to those of the sandbox.
const metaJob = "toolcrib/job" // its handle

func jobMeta(r sandbox.Report, handle string, code *int) map[string]any {
	meta := map[string]any{}
	maps.Copy(meta, r.Meta())
	if handle != "" {
		meta[metaJob] = handle
	}
	if code != nil {
		meta[tools.MetaExit] = *code
	}
	return meta
}

// worded joins a status, notes, and after an empty line an output.
func worded(status string, notes []string, output string) string {
	text := lines(append([]string{status}, notes...)...)
	if output == "" {
		return text
	}
	return text + "\n" + output
}

// lines joins the texts that are not empty, one a line.
func lines(texts ...string) string {
	var b strings.Builder
	for _, t := range texts {
		if t != "" {
			b.WriteString(t)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// refused returns why a program could not be started.
func refused(err error) error {
	if errors.Is(err, jobs.ErrTooMany) {
		return tools.Errorf(tools.Conflict, "too many jobs run at a time").WithHint("job_list shows them, job_stop ends one")
	}
	if errors.Is(err, jobs.ErrNotPrivate) {
		return tools.Errorf(tools.Unsupported, "/ports: %v", jobs.ErrNotPrivate).WithHint("leave ports out; programs use those of this machine, which are open already")
	}
	return sandbox.Refused(err)
}
