package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/tools/agents"
	"toolcrib/tools/internal/tooltest"
)

// calls writes the arguments of parallel_calls: "tool text path session", a call a line.
func calls(lines ...string) string {
	var list []string
	for _, line := range lines {
		f := append(strings.Fields(line), "", "", "")
		args := map[string]string{}
		for i, name := range []string{"text", "path", "session"} {
			if v := f[i+1]; v != "" && v != "-" {
				args[name] = v
			}
		}
		encoded, _ := json.Marshal(args) // texts
		list = append(list, fmt.Sprintf(`{"tool":%q,"arguments":%s}`, f[0], encoded))
	}
	return `"calls":[` + strings.Join(list, ",") + `]`
}

// bodies are the lines of a result without its first, which has the time.
func bodies(text string) string {
	_, rest, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(rest)
}

func TestCallsRunAtOnce(t *testing.T) {
	var many []string
	for i := range 16 {
		many = append(many, fmt.Sprintf("look %d file%d", i, i))
	}
	for _, tt := range []struct {
		name, args string
		want       time.Duration
	}{
		{"all at once", calls(many...), 100 * time.Millisecond},
		{"four at once", calls(many...) + `,"max_parallel":4`, 400 * time.Millisecond},
		{"one after the other", calls(many[:3]...) + `,"max_parallel":1`, 300 * time.Millisecond},
		{"writes to different paths", calls("edit 1 a.txt", "edit 2 dir/b.txt"), 100 * time.Millisecond},
		{"writes to one path", calls("edit 1 a.txt", "edit 2 ./A.txt"), 200 * time.Millisecond},
		{"a write below another", calls("edit 1 dir", "edit 2 dir/b.txt"), 200 * time.Millisecond},
		{"a write that may be anywhere", calls("edit 1 a.txt", "edit 2"), 200 * time.Millisecond},
		{"a read after a write of it", calls("edit 1 a.txt", "look 2 a.txt"), 200 * time.Millisecond},
		{"a write after a read of it", calls("look 1 dir", "edit 2 dir/b.txt"), 200 * time.Millisecond},
		{"a read beside a write", calls("look 1 dir", "edit 2 dirt"), 100 * time.Millisecond},
		{"programs", calls("program 1", "program 2"), 100 * time.Millisecond},
		{"a program after a write", calls("edit 1 a.txt", "program 2"), 200 * time.Millisecond},
		{"a session", calls("program 1 - s", "program 2 - s", "program 3 - t"), 200 * time.Millisecond},
		{"identical reads", calls("look 1 a.txt", "look 1 a.txt") + `,"max_parallel":1`, 100 * time.Millisecond},
		{"identical reads about a write", calls("look 1 a.txt", "edit 2 a.txt", "look 1 a.txt"), 300 * time.Millisecond},
		{"a write after one that is the same as another", calls("look 1 a.txt", "look 1 a.txt", "edit 2 a.txt"), 200 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(run.Settings{})
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				text, _ := w.call(t, "parallel_calls", "{"+tt.args+"}")
				if took := time.Since(begin); took != tt.want {
					t.Errorf("took %v, want %v:\n%s", took, tt.want, strings.Join(w.logged(), "\n"))
				}
				if n := strings.Count(tt.args, `"tool"`); !strings.HasPrefix(text, fmt.Sprintf("%d of %d calls ok in ", n, n)) {
					t.Errorf("got\n%s", text)
				}
			})
		})
	}
}

func TestResultsAreInOrder(t *testing.T) {
	for _, tt := range []struct {
		name, args, want string
		log              []string
	}{
		{"errors stay in their place", "{" + calls("nothing", "fail", "unknown", "nothing x y") + "}",
			"[1] nothing: ok\ndone\n\n[2] fail: failed\nnot_found: nothing there (look elsewhere)\n\n[3] unknown: failed\nnot_found: no tool is called \"unknown\"\n\n[4] nothing: ok\ndone", nil},
		{"a panic is one error", "{" + calls("nothing", "panic") + "}",
			"[1] nothing: ok\ndone\n\n[2] panic: failed\ninternal: panic: crashed, error …", nil},
		{"the same call", "{" + calls("look 1 a.txt", "look 1 a.txt") + "}",
			"[1] look: ok\ndid 1\n\n[2] look: the same call as 1", []string{"begin 1", "end 1"}},
		{"a tool that only reads, but differs each time", "{" + calls("nothing", "nothing") + "}",
			"[1] nothing: ok\ndone\n\n[2] nothing: ok\ndone", nil},
		{"none begins after an error", "{" + calls("fail", "nothing") + `,"stop_on_error":true,"max_parallel":1}`,
			"[1] fail: failed\nnot_found: nothing there (look elsewhere)\n\n[2] nothing: not made, since another has failed", nil},
		{"ids and foreign names", `{"calls":[{"tool":"parallel_execute","id":"x"},{"tool":"functions.nothing","id":"y"}]}`,
			"[1] parallel_calls, called as parallel_execute (x): failed\ndenied: parallel_calls does not call parallel_calls (give the name and the arguments of the other tool)\n\n[2] nothing, called as functions.nothing (y): ok\ndone", nil},
		{"a single one", "{" + calls("nothing") + "}", "[1] nothing: ok\ndone", nil},
		{"arguments that are wrong", `{"calls":[{"tool":"look","arguments":{"pth":"a.txt"}}]}`,
			"[1] look: failed\ninvalid_argument: /pth: unknown argument; did you mean \"path\"; allowed: path, text, session", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(run.Settings{})
			text, _ := w.call(t, "parallel_calls", tt.args)
			if diff := tooltest.Match(tt.want, bodies(text)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.log, w.logged()); tt.log != nil && diff != "" {
				t.Errorf("what ran (-want +got):\n%s", diff)
			}
		})
	}
}

// All calls are checked, and the user is asked, before the first begins.
func TestCheckedBefore(t *testing.T) {
	for _, tt := range []struct {
		name, args string
		answers    []tools.Action
		asked      []string
		log        []string
		want       string
	}{
		{"one question for all", calls("edit 1 a", "risky 2 b", "risky 3 c") + `,"max_parallel":1`, []tools.Action{tools.Accept}, []string{"risk 2\nrisk 3"},
			[]string{"begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"}, "3 of 3 calls ok in "},
		{"declined", calls("edit 1 a", "risky 2 b"), []tools.Action{tools.Decline}, []string{"risk 2"}, nil, "declined: risky: not confirmed"},
		{"all or none", calls("edit 1 a", "unknown", "look 3 ../x", "edit 2 /etc/x") + `,"stop_on_error":true`, nil, nil, nil, `not_found: no call was made: call 2: not_found: no tool is called "unknown" (mend`},
		{"not asked if one is wrong and none is to be made", calls("risky 1 a", "unknown") + `,"stop_on_error":true`, nil, nil, nil, "not_found: no call was made: "},
		{"asked about those that can be made", calls("risky 1 a", "unknown"), []tools.Action{tools.Accept}, []string{"risk 1"}, []string{"begin 1", "end 1"}, "1 of 2 calls ok, 1 failed in "},
		{"a question of a single call", calls("asks"), []tools.Action{tools.Decline}, []string{"well?"}, nil, "1 of 1 calls ok in "},
		{"a question in the middle", calls("nothing", "asks"), nil, nil, nil, "1 of 2 calls ok, 1 failed in "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(run.Settings{})
			text, asked := w.call(t, "parallel_calls", "{"+tt.args+"}", tt.answers...)
			if !strings.HasPrefix(text, tt.want) {
				t.Errorf("got\n%s\nwant %s", text, tt.want)
			}
			if diff := cmp.Diff(tt.asked, asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.log, w.logged()); diff != "" {
				t.Errorf("what ran (-want +got):\n%s", diff)
			}
		})
	}
}

// Where nobody can be asked, only the calls that need it fail.
func TestNobodyToAsk(t *testing.T) {
	w := newWorld(run.Settings{Confirm: run.ConfirmDeny})
	text, _ := w.call(t, "parallel_calls", "{"+calls("risky 1 a", "edit 2 b")+"}")
	if !strings.HasPrefix(text, "1 of 2 calls ok, 1 failed in ") || !strings.Contains(text, "denied: risky: needs the user's consent") {
		t.Errorf("got\n%s", text)
	}
	w = newWorld(run.Settings{Confirm: run.ConfirmClient})
	if text, _ := w.call(t, "parallel_calls", "{"+calls("risky 1 a", "edit 2 b")+"}"); !strings.HasPrefix(text, "2 of 2 calls ok in ") {
		t.Errorf("got\n%s", text)
	}
}

func TestNoNesting(t *testing.T) {
	w := newWorld(run.Settings{})
	quoted, err := json.Marshal(`{"calls":[{"tool":"nothing"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	args := `{"calls":[{"tool":"call_tool","arguments":{"text":` + string(quoted) + `}}]}`
	if text, _ := w.call(t, "parallel_calls", args); !strings.Contains(text, "denied: parallel_calls does not call call_tool") {
		t.Errorf("got\n%s", text)
	}
	if text, _ := w.call(t, "call_tool", `{"text":`+string(quoted)+`}`); !strings.HasPrefix(text, "1 of 1 calls ok") {
		t.Errorf("by call_tool: got\n%s", text)
	}
}

// Short results stay whole, long ones are cut alike, as their tools cut.
func TestRoomIsShared(t *testing.T) {
	w := newWorld(run.Settings{})
	text, _ := w.call(t, "parallel_calls", "{"+calls("long a", "nothing", "long b")+"}")
	if len(text) > tools.MaxText || len(text) < tools.MaxText-200 {
		t.Errorf("%d bytes", len(text))
	}
	a, b := strings.Count(text, "aa"), strings.Count(text, "bb")
	if a-b > 10 || b-a > 10 || strings.Count(text, "[cut; next: offset=7]") != 2 || !strings.Contains(text, "[2] nothing: ok\ndone\n") {
		t.Errorf("a %d, b %d, end %s", a, b, text[len(text)-100:])
	}
}

func TestCancelledCalls(t *testing.T) {
	w := newWorld(run.Settings{})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		defer cancel()
		out := w.runner.Run(ctx, run.Call{Tool: "parallel_calls", Args: json.RawMessage("{" + calls("program 1", "program 2", "program 3") + `,"max_parallel":1}`), Session: tools.SessionInfo{Principal: tools.Local}})
		if out.Err == nil || out.Err.Code != tools.Timeout {
			t.Errorf("got %+v", out)
		}
		synctest.Wait()
		if diff := cmp.Diff([]string{"begin 1", "end 1", "begin 2"}, w.logged()); diff != "" {
			t.Errorf("what ran (-want +got):\n%s", diff)
		}
		time.Sleep(time.Second)
	})
}

// brokenCaller is one that fails.
type brokenCaller struct{ tools.Caller }

func (brokenCaller) Names(context.Context) (*tools.Names, error) { return nil, errors.New("no names") }

func TestWithoutACaller(t *testing.T) {
	for _, c := range []tools.Caller{nil, brokenCaller{}} {
		ws, _ := tooltest.Tree(t, nil)
		if _, err := tooltest.Call(t.Context(), ws, agents.Tools(agents.Deps{Caller: c})[1], json.RawMessage("{"+calls("x")+"}")); err == nil {
			t.Error("it called something")
		}
	}
}

// An agent whose time is over goes on with the results that there are; any other call that is
// cancelled has none.
func TestCancelledInTheMiddle(t *testing.T) {
	for group, want := range map[string]string{"run": "1 of 3 calls ok, 2 failed", "": context.Canceled.Error()} {
		ctx, cancel := context.WithCancel(t.Context())
		toy := func(name string, a tools.Access, e tools.Effects, f func(context.Context, In) (Out, error)) tools.Tool {
			return tools.New(tools.Def[In, Out]{Name: name, Title: name, Doc: "Does a thing.", Access: a, Effects: e, Run: f})
		}
		caller := &tooltest.Caller{All: []tools.Tool{
			toy("nothing", tools.Read, tools.None, func(context.Context, In) (Out, error) { return Out{"done"}, nil }),
			toy("edit", tools.Write, tools.Workspace, func(ctx context.Context, _ In) (Out, error) {
				cancel()
				<-ctx.Done()
				return Out{}, ctx.Err()
			}),
		}}
		parallel := agents.Tools(agents.Deps{Caller: caller, Settings: tools.NewSettings(agents.Settings{}, nil)})[1]
		bound, err := parallel.Bind([]byte("{" + calls("nothing", "edit 1 a.txt", "edit 2 a.txt") + `,"max_parallel":1}`))
		if err != nil {
			t.Fatal(err)
		}
		ws, _ := tooltest.Tree(t, map[string]string{"a.txt": ""})
		out, err := parallel.Run(tools.WithSession(ctx, &tools.SessionInfo{Principal: tools.Local, Workspace: ws, Group: group}), bound)
		got := ""
		if err != nil {
			got = err.Error()
		} else if result, err := parallel.Render(out); err == nil {
			got = tooltest.Text(result)
		}
		if !strings.HasPrefix(got, want) || err == nil && !strings.Contains(got, "cancelled before it began") {
			t.Errorf("group %q: %s\nwant %s", group, got, want)
		}
	}
}
