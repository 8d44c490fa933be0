package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"toolcrib/server/run"
	"toolcrib/tools"
)

// In is what every tool of these tests takes.
type In struct {
	Path string `json:"path,omitempty" path:"any" jsonschema_description:"a path"`
	N    int    `json:"n,omitempty" jsonschema:"minimum=0,maximum=1000" jsonschema_description:"a number"`
}

// Out is what every tool of these tests gives.
type Out struct{ Say string }

func (o Out) Text() string { return o.Say }

type handler = func(context.Context, In) (Out, error)

// tool declares a tool by its class; the changes are made to the declaration.
func tool(name string, a tools.Access, e tools.Effects, h handler, change ...func(*tools.Def[In, Out])) tools.Tool {
	d := tools.Def[In, Out]{Name: name, Title: "Test " + name, Doc: "Does a thing.", Access: a, Effects: e, Run: h}
	for _, c := range change {
		c(&d)
	}
	return tools.New(d)
}

func repeatable(d *tools.Def[In, Out]) { d.Repeatable = true }
func streams(d *tools.Def[In, Out])    { d.Streams = true }

func timeout(t time.Duration) func(*tools.Def[In, Out]) {
	return func(d *tools.Def[In, Out]) { d.Timeout = t }
}

func confirm(message string) func(*tools.Def[In, Out]) {
	return func(d *tools.Def[In, Out]) {
		d.Confirm = func(context.Context, In) (tools.Question, error) { return tools.Question{Message: message}, nil }
	}
}

func say(text string) handler {
	return func(context.Context, In) (Out, error) { return Out{text}, nil }
}

func fails(err error) handler {
	return func(context.Context, In) (Out, error) { return Out{}, err }
}

// lines is an audit log that may be read while it is written.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
	err error
}

func (l *lines) Record(rec run.Record) error {
	line, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	_, err = l.buf.Write(append(line, '\n'))
	return err
}

// records returns the log as "event tool verdict rule code", a line a record.
func (l *lines) records(t *testing.T) []string {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for line := range strings.Lines(l.buf.String()) {
		var r struct{ Event, Tool, Verdict, Rule, Code string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("audit line %q: %v", line, err)
		}
		out = append(out, strings.Join(strings.Fields(strings.Join([]string{r.Event, r.Tool, r.Verdict, r.Rule, r.Code}, " ")), " "))
	}
	return out
}

var (
	local    = tools.SessionInfo{Principal: "local", Client: tools.Client{Name: "test"}}
	askable  = tools.SessionInfo{Principal: "local", Client: tools.Client{Name: "test", Forms: true}}
	stranger = tools.SessionInfo{Principal: "stranger", Client: tools.Client{Name: "test", Forms: true}}
)

func text(out run.Outcome) string {
	var parts []string
	for _, b := range out.Result.Content {
		parts = append(parts, b.Text)
	}
	return strings.Join(parts, "|")
}

// ending describes an outcome for a table: the text, "asked", or the code.
func ending(out run.Outcome) string {
	switch {
	case out.Err != nil:
		return string(out.Err.Code)
	case out.Ask != nil:
		return "asked"
	}
	return text(out)
}
