package server_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"toolcrib/server"
	"toolcrib/tools"
)

type workIn struct {
	Seconds int    `json:"seconds" jsonschema:"minimum=0,maximum=3000" jsonschema_description:"how long it takes"`
	Ask     int    `json:"ask,omitempty" jsonschema:"minimum=0,maximum=9" jsonschema_description:"how many things the user is asked then"`
	End     string `json:"end,omitempty" jsonschema_description:"fail or refuse; the default is a result"`
}

// lastingToys adds a tool whose calls last.
func lastingToys(opt *server.Options) { working(new(atomic.Int64))(opt) }

// working adds the tool and counts its calls that go on.
func working(calls *atomic.Int64) func(*server.Options) {
	return func(opt *server.Options) {
		opt.Tools = append(opt.Tools, tools.New(tools.Def[workIn, textOut]{
			Name: "work", Title: "Work", Doc: "Works for some seconds.",
			Access: tools.Write, Effects: tools.State, Streams: true, Timeout: time.Hour,
			Run: func(ctx context.Context, in workIn) (textOut, error) {
				calls.Add(1)
				defer calls.Add(-1)
				return work(ctx, in)
			},
		}))
	}
}

func work(ctx context.Context, in workIn) (textOut, error) {
	step := 907 * time.Millisecond // nothing else happens at the same time
	if in.Seconds > 1000 {
		step = time.Minute
	}
	for i := range in.Seconds {
		select {
		case <-time.After(step):
		case <-ctx.Done():
			return textOut{}, ctx.Err()
		}
		tools.Progress(ctx)(tools.ProgressEvent{Done: float64(i + 1), Total: float64(in.Seconds)})
	}
	forms := make([]tools.Form, in.Ask)
	for i := range forms {
		forms[i] = tools.Form{Message: fmt.Sprintf("question %d", i+1)}
	}
	answers, err := []tools.Answer(nil), error(nil)
	if in.Ask > 0 {
		if answers, err = tools.AskAll(ctx, forms...); err != nil {
			return textOut{}, err
		}
	}
	switch in.End {
	case "fail":
		return textOut{}, tools.Errorf(tools.Unavailable, "it does not work")
	case "refuse":
		e := tools.Errorf(tools.Unsupported, "the client can do too little")
		e.Err = &tools.AbilityError{Lacking: []tools.Ability{tools.Sampling}}
		return textOut{}, e
	}
	said := fmt.Sprintf("worked %d s, lasting=%t", in.Seconds, tools.Session(ctx).Lasting)
	for _, a := range answers {
		said += " " + string(a.Action)
	}
	return textOut{said}, nil
}

const taskMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// tasker makes requests of a client that takes tasks, and returns the answers.
func tasker(t *testing.T, c *client) func(method, params string) string {
	e, id := era{"2026-07-28", nil, taskMeta}, 0
	return func(method, params string) string {
		t.Helper()
		id++
		c.send(e.request(fmt.Sprint(id), method, params, ""))
		time.Sleep(3 * time.Second)
		synctest.Wait()
		lines := c.take()
		if len(lines) != 1 {
			t.Fatalf("%s %s: %d lines: %q", method, params, len(lines), lines)
		}
		return lines[0]
	}
}

func taskID(t *testing.T, line string) string {
	t.Helper()
	m := taskRule.FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("no task: %s", line)
	}
	return m[1]
}

// A result is kept for an hour, for five minutes after it was fetched, and a task whose
// user does not answer for ten.
func TestTaskIsForgotten(t *testing.T) {
	for _, tc := range []struct {
		name   string
		args   string
		waits  []time.Duration // before each look
		states []string
	}{
		{"fetched late", `"seconds":5`, []time.Duration{50 * time.Minute, 4 * time.Minute, 2 * time.Minute}, []string{"completed", "completed", "no task"}},
		{"not fetched", `"seconds":5`, []time.Duration{61 * time.Minute}, []string{"no task"}},
		{"not answered", `"seconds":5,"ask":1`, []time.Duration{9 * time.Minute, 2 * time.Minute}, []string{"input_required", "cancelled"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ask := tasker(t, connect(t, newServer(t, lastingToys)))
				id := taskID(t, ask("tools/call", `"name":"work","arguments":{`+tc.args+`}`))
				for i, wait := range tc.waits {
					time.Sleep(wait)
					if got := ask("tasks/get", `"taskId":"`+id+`"`); !strings.Contains(got, tc.states[i]) {
						t.Errorf("look %d: want %s: %s", i+1, tc.states[i], got)
					}
				}
			})
		})
	}
}

// Where there is no room for another task, a call is answered when it has ended, and
// may not last.
func TestTasksAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ask := tasker(t, connect(t, newServer(t, lastingToys)))
		var last string
		for range server.MaxTasksEach {
			last = taskID(t, ask("tools/call", `"name":"work","arguments":{"seconds":2800}`))
		}
		direct := ask("tools/call", `"name":"work","arguments":{"seconds":2}`)
		if !strings.Contains(direct, "worked 2 s, lasting=false") {
			t.Errorf("beyond the bound: %s", direct)
		}
		ask("tasks/cancel", `"taskId":"`+last+`"`)
		ask("tasks/get", `"taskId":"`+last+`"`)
		time.Sleep(6 * time.Minute)
		taskID(t, ask("tools/call", `"name":"work","arguments":{"seconds":10}`))
	})
}

// Over HTTP a task outlasts its request, is that of its principal alone, and may be named
// in the header only as in the body; a request that is given up takes its call along.
func TestTasksOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		w := serveHTTP(t, newServer(t, working(&calls)), server.HTTP{Auth: three(t)})
		e := era{"2026-07-28", nil, taskMeta}
		_, lines := w.post(e.call("1", "work", `"seconds":10`, ""), as("a"))
		id := taskID(t, lines[0])
		get := e.request("2", "tasks/get", `"taskId":"`+id+`"`, "")
		for _, tc := range []struct {
			h      headers
			status int
			says   string
		}{
			{as("a"), 200, `"status":"working"`},
			{as("b"), 400, "there is no task"},
			{merge(as("a"), headers{"Mcp-Name": id + "x"}), 400, "-32020"},
			{merge(as("a"), headers{"Mcp-Name": ""}), 400, "-32020"},
		} {
			if res, lines := w.post(get, tc.h); res.StatusCode != tc.status || !strings.Contains(lines[0], tc.says) {
				t.Errorf("%v: want %d, %s: %d %s", tc.h, tc.status, tc.says, res.StatusCode, lines)
			}
		}
		listen := e.request("5", "subscriptions/listen", `"notifications":{"taskIds":["`+id+`"]}`, "")
		if _, lines := w.post(listen, as("b")); len(lines) != 2 || strings.Contains(lines[0], id) || !strings.Contains(lines[0], `"notifications":{}`) {
			t.Errorf("another listens: %s", lines)
		}
		if _, lines := w.post(listen, as("a")); !strings.Contains(lines[0], `"taskIds":["`+id+`"]`) || !strings.Contains(lines[len(lines)-2], "worked 10 s") {
			t.Errorf("its principal listens: %s", lines)
		}
		time.Sleep(10 * time.Second)
		if _, lines := w.post(get, as("a")); !strings.Contains(lines[0], "worked 10 s") {
			t.Errorf("at its end: %s", lines)
		}

		given, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		message := e.call("3", "work", `"seconds":10`, "")
		if res, err := w.http.Do(w.request(given, "POST", message, merge(modernHeaders(message), as("a")))); err == nil {
			res.Body.Close()
			t.Error("a request that was given up is answered")
		}
		time.Sleep(time.Second)
		if n := calls.Load(); n != 0 {
			t.Errorf("%d calls go on", n)
		}
	})
}

// A connection that ends takes its tasks along at once.
func TestTasksEndWithTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newServer(t, lastingToys))
		ask := tasker(t, c)
		taskID(t, ask("tools/call", `"name":"work","arguments":{"seconds":2800}`))
		taskID(t, ask("tools/call", `"name":"work","arguments":{"seconds":3,"ask":1}`))
		began := time.Now()
		c.in.Close()
		if err := c.wait(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 200*time.Millisecond {
			t.Errorf("took %s", took)
		}
	})
}
