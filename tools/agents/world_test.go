package agents_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/tools/agents"
	"toolcrib/tools/internal/tooltest"
)

// In is what the tools of these tests take.
type In struct {
	Path    string `json:"path,omitempty" path:"any" jsonschema_description:"a path"`
	Text    string `json:"text,omitempty" jsonschema_description:"a text"`
	Session string `json:"session,omitempty" jsonschema_description:"a session"`
}

// Out is what they give.
type Out struct{ say string }

func (o Out) Text() string { return o.say }

// Trim cuts and says so.
func (o Out) Trim(budget int) Out {
	const mark = " [cut; next: offset=7]"
	return Out{o.say[:budget-len(mark)] + mark}
}

// world is a server of toys and a log of when they begin and end.
type world struct {
	runner  *run.Runner
	onBegin func() // what happens when a tool begins; nil = nothing
	later   func() // what a program does after its call has ended
	mu      sync.Mutex
	log     []string
}

func (w *world) note(line string) {
	if w.onBegin != nil && strings.HasPrefix(line, "begin ") {
		w.onBegin()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, line)
}

func (w *world) logged() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.log)
}

func newWorld(settings run.Settings) *world {
	caller := new(run.Caller)
	return newWorldOf(settings, caller, agents.Tools(agents.Deps{Caller: caller, Settings: tools.NewSettings(agents.Settings{}, nil)}))
}

// newWorldOf is newWorld with tools of the category that call others by a caller.
func newWorldOf(settings run.Settings, caller *run.Caller, own []tools.Tool) *world {
	w := &world{}
	timed := func(ctx context.Context, in In) (Out, error) {
		if in.Path != "" {
			tools.Changed(ctx, in.Path)
		}
		w.note("begin " + in.Text)
		time.Sleep(100 * time.Millisecond)
		w.note("end " + in.Text)
		return Out{"did " + in.Text}, nil
	}
	toy := func(name string, a tools.Access, e tools.Effects, f func(context.Context, In) (Out, error), change ...func(*tools.Def[In, Out])) tools.Tool {
		d := tools.Def[In, Out]{Name: name, Title: name, Doc: "Does a thing.", Access: a, Effects: e, Run: f}
		for _, c := range change {
			c(&d)
		}
		return tools.New(d)
	}
	settings.Tools = slices.Concat(own, []tools.Tool{
		toy("look", tools.Read, tools.None, timed, func(d *tools.Def[In, Out]) { d.Repeatable = true }),
		toy("edit", tools.Write, tools.Workspace, timed),
		toy("reach", tools.External, tools.Network, func(ctx context.Context, in In) (Out, error) {
			tools.Reached(ctx, in.Text)
			return Out{"reached"}, nil
		}),
		toy("serve", tools.Exec, tools.Process, func(ctx context.Context, in In) (Out, error) { // a program that outlasts its call
			w.later = func() {
				tools.Reached(ctx, in.Text)
				tools.Changed(ctx, in.Path)
			}
			return Out{"it runs"}, nil
		}),
		toy("follow", tools.Read, tools.None, func(context.Context, In) (Out, error) {
			w.later()
			return Out{"it has ended"}, nil
		}),
		toy("program", tools.Exec, tools.Workspace|tools.Process, timed),
		toy("nothing", tools.Read, tools.None, func(context.Context, In) (Out, error) { return Out{"done"}, nil }),
		toy("fail", tools.Read, tools.None, func(context.Context, In) (Out, error) {
			return Out{}, tools.Errorf(tools.NotFound, "nothing there").WithHint("look elsewhere")
		}),
		toy("panic", tools.Read, tools.None, func(context.Context, In) (Out, error) { panic("no") }),
		toy("long", tools.Read, tools.None, func(_ context.Context, in In) (Out, error) { return Out{strings.Repeat(in.Text, 40_000)}, nil }),
		toy("risky", tools.Write, tools.Workspace, timed, func(d *tools.Def[In, Out]) {
			d.Confirm = func(_ context.Context, in In) (tools.Question, error) {
				return tools.Question{Message: "risk " + in.Text}, nil
			}
		}),
		toy("asks", tools.Read, tools.None, func(ctx context.Context, _ In) (Out, error) {
			a, err := tools.Ask(ctx, tools.Form{Message: "well?"})
			return Out{string(a.Action)}, err
		}),
		toy("call_tool", tools.Delegates, tools.None, func(ctx context.Context, in In) (Out, error) {
			res, err := caller.Call(ctx, "parallel_calls", json.RawMessage(in.Text))
			return Out{tooltest.Text(res)}, err
		}),
	})
	w.runner = run.New(run.Config{Settings: settings, Caller: caller})
	return w
}

// call makes a call and answers its questions.
func (w *world) call(t *testing.T, name, args string, answers ...tools.Action) (text string, asked []string) {
	t.Helper()
	ws, _ := tooltest.Tree(t, map[string]string{"a.txt": "", "dir/b.txt": ""})
	c := run.Call{Tool: name, Args: json.RawMessage(args), Session: tools.SessionInfo{
		Principal: tools.Local, Client: tools.Client{Name: "test", Forms: true}, Workspace: ws,
	}}
	for {
		out := w.runner.Run(t.Context(), c)
		if out.Ask == nil {
			if out.Err != nil {
				return out.Err.Error(), asked
			}
			return tooltest.Text(out.Result), asked
		}
		reply := &run.Reply{State: out.Ask.State, Answers: map[string]tools.Answer{}}
		for id, form := range out.Ask.Forms {
			asked = append(asked, form.Message)
			reply.Answers[id] = tools.Answer{Action: answers[0]}
		}
		c.Reply, answers = reply, answers[1:]
	}
}
