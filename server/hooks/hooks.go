// Package hooks makes hooks of the pipeline from the configuration: external ones, which
// are commands or HTTP endpoints that receive and return JSON, and built-in ones, which
// ask for consent, log, redact results or rewrite arguments.
//
// They fail closed: if a hook before a call gives no clear decision, the call is denied.
// Hooks after a call can change nothing; their errors are logged. The package knows the
// hooks of package run, never MCP, and opens no files. Start at [New].
package hooks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/workspace/redact"
)

// Spec is a hook of the configuration. It sees the calls that fit all of its
// filters; of a list, one entry is enough, and an empty one fits every call.
// Exactly one of Command, URL and Builtin is set.
type Spec struct {
	Name  string `json:"name,omitempty" jsonschema_description:"name of the hook in denials and in the log; without it, its place: hooks[1] is the first"`
	Event string `json:"event,omitempty" jsonschema:"enum=pre,enum=post,enum=error,enum=skip" jsonschema_description:"when it runs: pre before a call, where it can deny, ask, answer or change the arguments; post, error or skip after it, by how the call ended; a builtin knows its own"`

	Tool     []string          `json:"tool,omitempty" jsonschema:"minItems=1" jsonschema_description:"names of tools, or globs of names such as *_file"`
	Access   []string          `json:"access,omitempty" jsonschema:"minItems=1" jsonschema_description:"access classes: read, write, exec, external or delegates"`
	Effect   []string          `json:"effect,omitempty" jsonschema:"minItems=1" jsonschema_description:"effects, of which a tool has one: none, workspace, outside, process, network, state or destroys"`
	Runs     []string          `json:"runs,omitempty" jsonschema_description:"commands that a tool is to run, such as git push, as rules of the policy that ask have them; a call that may run one unseen fits too"`
	Path     []string          `json:"path,omitempty" jsonschema:"minItems=1" jsonschema_description:"paths as results print them, or patterns with * and **; each covers all that is below it, also by way of links"`
	Argument map[string]string `json:"argument,omitempty" jsonschema_description:"regular expressions (RE2) by the name of an argument; the text of each has to match"`

	Command []string          `json:"command,omitempty" jsonschema_description:"program and its arguments, run without a shell: the call is JSON on its stdin, the decision JSON on its stdout"`
	URL     string            `json:"url,omitempty" jsonschema_description:"http or https address that the call is posted to as JSON and that answers with the decision"`
	Builtin string            `json:"builtin,omitempty" jsonschema:"enum=confirm,enum=log,enum=redact,enum=rewrite" jsonschema_description:"confirm asks the user; log writes a line for each call; redact takes secrets out of results; rewrite changes arguments"`
	Env     map[string]string `json:"env,omitempty" jsonschema_description:"variables for the command beside PATH, HOME, LANG and the like, which alone it inherits"`
	Header  map[string]string `json:"header,omitempty" jsonschema_description:"headers for the url"`
	Timeout string            `json:"timeout,omitempty" jsonschema_description:"how long the command or url may take, such as 500ms or 10s (default 5s)"`

	Question string    `json:"question,omitempty" jsonschema_description:"what confirm asks; without it, the tool and its arguments are shown"`
	Rewrite  []Rewrite `json:"rewrite,omitempty" jsonschema_description:"what rewrite does, in this order"`
}

// Rewrite is a change of one argument.
type Rewrite struct {
	Argument string `json:"argument" jsonschema_description:"name of the argument"`
	Do       string `json:"do" jsonschema:"enum=set,enum=default,enum=remove,enum=replace" jsonschema_description:"set gives it the value; default does where it is absent; remove takes it out; replace puts with where pattern matches in its text"`
	Value    string `json:"value,omitempty" jsonschema_description:"for set and default: the value as JSON; what is no JSON is taken as text"`
	Pattern  string `json:"pattern,omitempty" jsonschema_description:"for replace: a regular expression (RE2)"`
	With     string `json:"with,omitempty" jsonschema_description:"for replace: the new text, where $1 is the first group"`
}

// The events.
const (
	pre   = "pre"
	post  = "post"
	erred = "error"
	skip  = "skip"
)

// DefaultTimeout is how long an external hook may take if its Spec sets no timeout.
const DefaultTimeout = 5 * time.Second

// maxAtOnce is how many runs of one external hook there are at a time; further
// calls wait.
const maxAtOnce = 16

// Options are what hooks need of the process.
type Options struct {
	Tools    []tools.Tool // every tool there is, to check names
	Environ  []string     // KEY=VALUE; commands inherit a few
	LookPath func(file string) (string, error)
	Redactor *redact.Redactor
	Log      *slog.Logger
}

// external is a command or an endpoint. ask returns its answer to the input within the
// time of ctx; the error says why there is no answer, for the log.
type external interface {
	ask(ctx context.Context, input []byte) ([]byte, error)
}

// hook is a Spec at work.
type hook struct {
	filter
	name    string
	timeout time.Duration
	slots   chan struct{} // holds a token for each run
	via     external
	log     *slog.Logger
}

// New returns the hooks of the configuration, in its order. Its error names the
// hook by its place, the key, and the nearest value that there is.
func New(specs []Spec, opt Options) (run.Hooks, error) {
	var all run.Hooks
	for i, spec := range specs {
		one, err := compile(i, spec, opt)
		if err != nil {
			return run.Hooks{}, err
		}
		all = all.Then(one)
	}
	return all, nil
}

// on returns the external hook as one of the pipeline.
func (h *hook) on(event string) run.Hooks {
	switch event {
	case pre:
		return run.Hooks{Pre: []func(context.Context, run.View) (run.Decision, error){h.before}}
	case post:
		return run.Hooks{Post: []func(context.Context, run.View, any){func(ctx context.Context, v run.View, out any) {
			h.after(ctx, v, func(m *message) {
				res, err := v.Tool.Render(out)
				if err == nil {
					m.Result = resultOf(res)
				}
			}, post)
		}}}
	case erred:
		return run.Hooks{Error: []func(context.Context, run.View, *tools.Error){func(ctx context.Context, v run.View, e *tools.Error) {
			h.after(ctx, v, func(m *message) { m.Error = &messageError{string(e.Code), head(e.Msg)} }, erred)
		}}}
	default:
		return run.Hooks{Skip: []func(context.Context, run.View, tools.Result){func(ctx context.Context, v run.View, res tools.Result) {
			h.after(ctx, v, func(m *message) { m.Result = resultOf(res) }, skip)
		}}}
	}
}

// before asks for a decision. An unclear answer is an error, which denies.
func (h *hook) before(ctx context.Context, v run.View) (run.Decision, error) {
	if !h.fits(v) {
		return run.Decision{}, nil
	}
	answer, err := h.run(ctx, messageOf(pre, v))
	if no, objects := errors.AsType[*objection](err); objects {
		return h.denial(no.reason, ""), nil
	}
	if err == nil {
		var d run.Decision
		if d, err = h.decision(v, answer); err == nil {
			d.By = h.name
			return d, nil
		}
	}
	if ctx.Err() != nil {
		return run.Decision{}, ctx.Err() // the call was cancelled, which is no fault of the hook
	}
	e := &tools.Error{
		Code: tools.Denied, Err: err,
		Msg:  fmt.Sprintf("%s: the hook %s gave no decision, so the call is denied", v.Tool.Name, h.name),
		Hint: fmt.Sprintf("tell the user that the hook %s does not work; the log of the server says why", h.name),
	}
	if unclear, is := errors.AsType[misspelt](err); is {
		e.Msg = fmt.Sprintf("%s: the answer of the hook %s is unclear, so the call is denied: %v", v.Tool.Name, h.name, unclear)
		e.Hint = fmt.Sprintf("tell the user to mend the hook %s; toolcrib help hooks says what it can answer", h.name)
	}
	return run.Decision{By: h.name}, e
}

// after tells a hook how a call ended, which fill puts into the message.
func (h *hook) after(ctx context.Context, v run.View, fill func(*message), event string) {
	if !h.fits(v) {
		return
	}
	m := messageOf(event, v)
	fill(m)
	answer, err := h.run(ctx, m)
	if err == nil {
		err = idle(answer)
	}
	if err != nil {
		h.log.Error("hook", "hook", h.name, "event", event, "call", v.ID, "tool", v.Tool.Name, "err", err)
	}
}

// run runs the hook once; its time begins when there is room for it.
func (h *hook) run(ctx context.Context, m *message) ([]byte, error) {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	limited, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	answer, err := h.via.ask(limited, m.encode())
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("no answer within %s", h.timeout)
	}
	return answer, err
}
