package shell

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/handles"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/shell/internal/processes"
)

//go:embed process_kill.md
var processKillDoc string

// ProcessKillIn says which process to end.
type ProcessKillIn struct {
	Process string `json:"process,omitempty" jsonschema:"maxLength=40" jsonschema_description:"id that process_list shows: PID@START" alias:"id,pid,process_id,session_id,job,job_id,handle,shell_id,task_id,bash_id"`
	Name    string `json:"name,omitempty" jsonschema:"maxLength=200" jsonschema_description:"instead: the newest of the programs that this server has started whose command line has this text"`
	Signal  string `json:"signal,omitempty" jsonschema:"enum=TERM,enum=KILL,enum=INT,enum=HUP,enum=QUIT,enum=STOP,enum=CONT,enum=USR1,enum=USR2,default=TERM" jsonschema_description:"what to send"`
	Tree    bool   `json:"tree,omitempty" jsonschema:"default=false" jsonschema_description:"also to all that descends from it"`
	Wait    string `json:"wait,omitempty" unit:"s,ms" jsonschema:"maxLength=20" jsonschema_description:"how long to wait for the end; default 3s, at most 20s"`
}

// ProcessKillOut reports what happened to the process.
type ProcessKillOut struct{ Lines []string }

// Text returns a line for each process.
func (o ProcessKillOut) Text() string { return lines(o.Lines...) }

func processKillTool(d Deps) tools.Tool {
	return tools.New(tools.Def[ProcessKillIn, ProcessKillOut]{
		Name: "process_kill", Title: "End a process", Doc: processKillDoc, Tags: []string{"shell", "processes", "kill", "pid"},
		Aliases: []string{"kill_process"}, Foreign: []tools.Foreign{processBy("kill", "terminate", "signal")},
		Access: tools.Exec, Effects: tools.Process | tools.Outside | tools.Destroys,
		Spellings: []schema.Spelling{schema.Values("signal", signals())},
		Plan: func(ctx context.Context, in ProcessKillIn) (tools.Plan, error) {
			_, ours, err := in.victims(ctx)
			if err != nil || !ours || !local(ctx) {
				return tools.Plan{}, err
			}
			return tools.Plan{Effects: tools.Process}, nil
		},
		Confirm: func(ctx context.Context, in ProcessKillIn) (tools.Question, error) {
			victims, ours, err := in.victims(ctx)
			if err != nil || ours && local(ctx) {
				return tools.Question{}, err
			}
			return tools.Question{Message: in.question(victims)}, nil
		},
		Examples: []tools.Example[ProcessKillIn]{{
			Say:    "End a program of a job by its name.",
			Before: d.example("echo ready; exec sleep 61.5", false),
			In:     ProcessKillIn{Name: "sleep 61.5"},
			Want:   "ended by TERM after …: …@… sleep 61.5\n",
		}},
		Run: d.killProcess,
	})
}

// local reports whether the caller is the user of the server.
func local(ctx context.Context) bool { return tools.Session(ctx).Principal == tools.Local }

// question returns the question to the user, which names the processes.
func (in ProcessKillIn) question(victims []processes.Process) string {
	p := victims[0]
	text := fmt.Sprintf("Send %s to process %d of %s: %s?", cmp.Or(in.Signal, "TERM"), p.PID, p.User, shortCommand(p))
	if n := len(victims) - 1; n > 0 {
		text += fmt.Sprintf(" Also to %d that descend from it.", n)
	}
	return text
}

func (d Deps) killProcess(ctx context.Context, in ProcessKillIn) (ProcessKillOut, error) {
	signal := cmp.Or(in.Signal, "TERM")
	wait, err := durations.Argument{Name: "wait", Default: 3 * time.Second, Most: longestGrace}.Read(in.Wait)
	if err != nil {
		return ProcessKillOut{}, err
	}
	victims, ours, err := in.victims(ctx)
	if err != nil {
		return ProcessKillOut{}, err
	}
	running := d.live(ctx)
	until, hit := time.Now().Add(wait), false
	var out ProcessKillOut
	for _, p := range slices.Backward(victims) {
		began := time.Now()
		ended, err := processes.Kill(ctx, processes.ID{PID: p.PID, Began: p.Began}, signal, max(time.Until(until), 0))
		hit = hit || ended
		line := fmt.Sprintf("%s after %s: %s %s", "ended by "+signal, durations.Rough(time.Since(began)), p.ID(), shortCommand(p))
		switch {
		case errors.Is(err, processes.ErrGone) && len(victims) > 1:
			line = "had ended before: " + p.ID()
		case err != nil:
			return out, unkilled(p.ID(), err)
		case !ended && slices.Contains([]string{"TERM", "KILL", "INT", "QUIT"}, signal):
			line = fmt.Sprintf("still running %s after %s: %s %s; signal=KILL cannot be ignored", durations.Rough(time.Since(began)), signal, p.ID(), shortCommand(p))
		case !ended:
			line = fmt.Sprintf("%s was sent: %s %s", signal, p.ID(), shortCommand(p))
		}
		out.Lines = append(out.Lines, line)
	}
	slices.Reverse(out.Lines) // the process itself first
	if hit && ours && len(running) > 0 {
		awaitOne(ctx, running)
	}
	return out, nil
}

// settling is how long a job may take to end after its process.
const settling = 500 * time.Millisecond

// awaitOne waits until one of some jobs has ended, of which the killed process may have been the
// last: the next call must not find it running.
func awaitOne(ctx context.Context, running []*jobs.Job) {
	ctx, cancel := context.WithTimeout(ctx, settling)
	defer cancel()
	for _, j := range running {
		go func() {
			select {
			case <-j.Done():
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	<-ctx.Done()
}

// victims returns the process, and its descendants if tree is set. ours reports whether this
// server started all of them.
func (in ProcessKillIn) victims(ctx context.Context) (victims []processes.Process, ours bool, err error) {
	all, err := shownProcesses(ctx)
	if err != nil {
		return nil, false, unlisted(err)
	}
	if in.Name != "" && !local(ctx) {
		return nil, false, tools.Errorf(tools.Denied, "only the user who started this server can end a process by its name").WithHint("process_list shows the ids")
	}
	id, err := in.meant(all)
	if err != nil {
		return nil, false, err
	}
	tree, _ := processes.Tree(all, id.PID)
	if len(tree) == 0 || tree[0].Began != id.Began {
		return nil, false, unkilled(id.String(), processes.ErrGone)
	}
	if !in.Tree {
		tree = tree[:1]
	}
	self := os.Getpid()
	above := processes.Above(all, self)
	ours = true
	for _, p := range tree {
		switch {
		case p.PID == self:
			return nil, false, forbidden(p, "it is this server")
		case p.PID == 1:
			return nil, false, forbidden(p, "it is the first process of this system")
		case slices.Contains(above, p.PID):
			return nil, false, forbidden(p, "this server was started by it")
		case p.Kernel:
			return nil, false, forbidden(p, "it is a part of the kernel")
		}
		ours = ours && slices.Contains(processes.Above(all, p.PID), self)
	}
	return tree, ours, nil
}

// meant returns the identity of the process that the call names.
func (in ProcessKillIn) meant(all []processes.Process) (processes.ID, error) {
	if (in.Process == "") == (in.Name == "") {
		return processes.ID{}, tools.Errorf(tools.InvalidArgument, "either process or name says what to end").WithHint("process_list shows the ids")
	}
	if in.Name == "" {
		id, err := processes.ParseID(in.Process)
		if err != nil {
			return id, misnamed(in.Process, all)
		}
		return id, nil
	}
	ours, _ := processes.Tree(all, os.Getpid())
	var newest processes.Process
	for _, p := range ours[min(1, len(ours)):] {
		if p.State != "Z" && p.Began >= newest.Began && strings.Contains(p.Command, in.Name) {
			newest = p
		}
	}
	if newest.PID == 0 {
		return processes.ID{}, tools.Errorf(tools.NotFound, "nothing that this server has started has %q in its command line", in.Name).WithHint("process_list name=%q shows what else has", in.Name)
	}
	return processes.ID{PID: newest.PID, Began: newest.Began}, nil
}

// misnamed is the error for a process that is not named by its id. It says which one is meant.
func misnamed(text string, all []processes.Process) error {
	if pid, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
		e := tools.Errorf(tools.InvalidArgument, "/process: %d is a PID alone, which may be another process by now", pid)
		for _, p := range all {
			if p.PID == pid {
				return e.WithHint("now it is %s: process=%s", shortCommand(p), p.ID())
			}
		}
		return e.WithHint("no process has it now; process_list shows the ids, PID@START")
	}
	if handle := written(text); handles.Is(handle) {
		return tools.Errorf(tools.InvalidArgument, "/process: %s is the handle of a job", handle).WithHint("job_stop job=%s ends it", handle)
	}
	return tools.Errorf(tools.InvalidArgument, "/process: %q is not PID@START", tools.Clip(text)).WithHint("process_list shows the ids; name takes a text of the command line")
}

func forbidden(p processes.Process, why string) error {
	return tools.Errorf(tools.Denied, "process %s (%s) is not ended: %s", p.ID(), shortCommand(p), why)
}

func unkilled(id string, err error) error {
	switch {
	case errors.Is(err, processes.ErrGone):
		return tools.Errorf(tools.NotFound, "process %s has ended", id).WithHint("process_list shows what runs now")
	case errors.Is(err, processes.ErrSignal):
		return tools.Errorf(tools.Unsupported, "%v", err).WithHint("TERM and KILL are there everywhere")
	case errors.Is(err, os.ErrPermission):
		return tools.Errorf(tools.Denied, "process %s: %v", id, err).WithHint("it is of another user: ask yours to end it")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return tools.Errorf(tools.Unavailable, "process %s: %v", id, err)
}

// signals returns the alternative names of signals.
func signals() map[string]string {
	names := map[string]string{"9": "KILL", "15": "TERM", "2": "INT", "1": "HUP", "3": "QUIT"}
	for _, name := range []string{"TERM", "KILL", "INT", "HUP", "QUIT", "STOP", "CONT", "USR1", "USR2"} {
		names["sig"+strings.ToLower(name)] = name
	}
	return names
}
