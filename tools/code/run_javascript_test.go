package code_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/tools/code"
	"toolcrib/tools/internal/tooltest"
)

// TestJavascript includes scripts that are made to end their process.
func TestJavascript(t *testing.T) {
	call := caller(t)
	for _, c := range []struct{ name, code, want string }{
		{"undefined is not shown", "let a = 1;", "ok in …\n..."},
		{"await", "await new Promise(r => setTimeout(r, 5)); 'later'", "ok in …\n...\nvalue: \"later\""},
		{"a promise", "Promise.resolve(7)", "ok in …\n...\nvalue: 7"},
		{"a rejection", "await Promise.reject(new RangeError('far'))", "error in …\n...\nRangeError: far\n  at line 1, column …"},
		{"syntax", "let a = 1;\nlet b = (;", "error in …\n...\nSyntaxError: unexpected token in expression: ';' (line 2)"},
		{"thrown late", "setTimeout(() => { throw new Error('late') }, 1); 1", "error in …\n...\nError: late\n  at …"},
		{"big numbers", "2n ** 100n", "ok in …\n...\nvalue: 1267650600228229401496703205376n"},
		{"kinds", "[new Map([['a', 1]]), new Set('x'), null, undefined, -0, /r/g, new Date(0), Symbol('s')]", "ok in …\n...\nvalue: \n[\n  Map(1) { \"a\" => 1 },\n  Set(1) { \"x\" },\n  null,\n  undefined,\n  -0,\n  /r/g,\n  1970-01-01T00:00:00.000Z,\n  Symbol(s)\n]"},
		{"a circle", "const o = {}; o.self = o; o", "ok in …\n...\nvalue: { self: [Circular] }"},
		{"no files", "require('fs')", "error in …\n...\nReferenceError: …\n..."},
		{"no modules", "await import('/etc/passwd')", "error in …\n...\n…could not load module…\n..."},
		{"recursion", "function f() { return f() + 1 }\nf()", "error in …\n...\nInternalError: stack overflow\n..."},
		{"nested source", "eval('('.repeat(1e6))", "error in …\n...\nSyntaxError: stack overflow\n..."},
		{"nested JSON", "JSON.parse('['.repeat(1e6))", "error in …\n...\nSyntaxError: stack overflow\n..."},
		{"memory", "new Uint8Array(1e9)", "error in …\n...\n…out of memory\n..."},
		{"much memory", "const all = []; for (;;) all.push(new Uint8Array(1e7))", "error in …\n...\n…out of memory\n..."},
		{"replaced functions", "JSON.stringify = null; Promise.prototype.then = null; Array.prototype.map = null; 5", "ok in …\n...\nvalue: 5"},
		{"NUL", "console.log('a\\0b')", "ok in …\n...\n\na\\0b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := call(t.Context(), "run_javascript", map[string]any{"code": c.code, "timeout": "1m"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := tooltest.Match(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestJavascriptFloods(t *testing.T) {
	floods(t, "run_javascript", "\nwhat is left out is not kept: print less\n", [][2]string{
		{"for (let i = 0; i < 200; i++) console.log(('x'.repeat(99) + '\\n').repeat(1000)); 'end'", "value: \"end\""},
		{"'z'.repeat(1e6)", "characters more"},
	})
}

func TestJavascriptTimeouts(t *testing.T) {
	t.Parallel()
	stops(t, "run_javascript", "1s", [][2]string{
		{"let n = 0;\nwhile (true) n++;", "stopped: it took longer than 1s\n...\nInternalError: interrupted\n  at line …"},
		{"console.log(1); [].indexOf.call({length: 2**53 - 1}, 1)", "stopped: it took longer than 1s\n...\n\n1"},
		{"/(a+)+$/.test('a'.repeat(50) + 'b')", "stopped: it took longer than 1s\n..."},
		{"(async () => { for (;;) await null })()", "stopped: it took longer than 1s\n..."},
		{"setInterval(() => {}, 10)", "stopped: it took longer than 1s\n..."},
	})
}

// TestJavascriptLate checks that the time of a script begins when it does, and that a program
// ends by itself if its script does not obey.
func TestJavascriptLate(t *testing.T) {
	t.Parallel()
	call := callerIn(t, map[string]string{late: ""})
	for code, want := range map[string]string{
		"for (;;);": "stopped: it took longer than 1s\n...\nInternalError: interrupted\n  at line 1, column 1",
		"console.log(1); [].indexOf.call({length: 2**53 - 1}, 1)": "stopped: it took longer than 1s\n...\n\n1",
	} {
		begin := time.Now()
		got, err := call(t.Context(), "run_javascript", map[string]any{"code": code, "timeout": "1s"})
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(begin)
		if diff := tooltest.Match(want, got); diff != "" || took < 3*time.Second || took > 10*time.Second {
			t.Errorf("%s: %v:\n%s", code, took, diff)
		}
	}
}

func TestBadTimeout(t *testing.T) {
	call := caller(t)
	for text, want := range map[string]string{
		"90":   "/timeout: 1m30s is out of range (from 1ms to 1m",
		"soon": `/timeout: "soon" is not a duration (such as "90s"`,
		"2h":   "from 1ms to 1m",
		"-1s":  "/timeout: -1s is out of range (from 1ms to 1m",
	} {
		if _, err := call(t.Context(), "run_javascript", map[string]any{"code": "1", "timeout": text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestJavascriptCancelled(t *testing.T) {
	cancels(t, "run_javascript", "[].indexOf.call({length: 2**53 - 1}, 1)")
}

func TestJavascriptProgress(t *testing.T) {
	progresses(t, "run_javascript", "for (let i = 0; i < 40; i++) {\n  console.log('line', i);\n  await new Promise(r => setTimeout(r, 30));\n}\n'the value'")
}

// In is what the tools of scripts take.
type In struct {
	Text string `json:"text,omitempty" jsonschema_description:"a text"`
	N    int    `json:"n,omitempty" jsonschema:"minimum=0,maximum=1000000" jsonschema_description:"a number"`
}

// Out is what they give.
type Out struct{ say string }

func (o Out) Text() string { return o.say }

// Data is a result that is data.
type Data struct {
	N int `json:"n" jsonschema:"minimum=0,maximum=1000000" jsonschema_description:"a number"`
	tools.More
}

// scripted returns a function that runs scripts with tools, a channel that says when the tool
// wait has begun, and its gate: it returns when that is closed.
func scripted(t *testing.T) (script func(code, more string) (tools.Result, error), begun, gate chan struct{}) {
	t.Helper()
	caller := new(run.Caller)
	begun, gate = make(chan struct{}, 2), make(chan struct{})
	toy := func(name string, f func(context.Context, In) (Out, error), change ...func(*tools.Def[In, Out])) tools.Tool {
		d := tools.Def[In, Out]{Name: name, Title: name, Doc: "Does a thing.", Access: tools.Read, Effects: tools.None, Run: f}
		for _, c := range change {
			c(&d)
		}
		return tools.New(d)
	}
	echo := func(_ context.Context, in In) (Out, error) { return Out{in.Text}, nil }
	runner := run.New(run.Config{Caller: caller, Settings: run.Settings{Tools: append(code.Tools(code.Deps{Scripts: true, Caller: caller}),
		toy("echo", echo),
		toy("long", func(_ context.Context, in In) (Out, error) { return Out{strings.Repeat("x", in.N)}, nil }, func(d *tools.Def[In, Out]) { d.Limits.Text = 2 << 20 }),
		toy("fail", func(context.Context, In) (Out, error) {
			return Out{}, tools.Errorf(tools.Conflict, "it has changed").WithHint("read it again")
		}),
		toy("wait", func(ctx context.Context, _ In) (Out, error) {
			begun <- struct{}{}
			select {
			case <-gate:
				return Out{"waited"}, nil
			case <-ctx.Done():
				return Out{}, ctx.Err()
			}
		}),
		toy("risky", echo, func(d *tools.Def[In, Out]) {
			d.Access, d.Effects = tools.Write, tools.State
			d.Confirm = func(context.Context, In) (tools.Question, error) { return tools.Question{Message: "risk it"}, nil }
		}),
		toy("asks", func(ctx context.Context, _ In) (Out, error) {
			a, err := tools.Ask(ctx, tools.Form{Message: "well?"})
			return Out{string(a.Action)}, err
		}),
		tools.New(tools.Def[In, Data]{
			Name: "data", Title: "data", Doc: "Gives data.", Access: tools.Read, Effects: tools.None, Data: true,
			Run: func(_ context.Context, in In) (Data, error) {
				if in.N < 3 {
					return Data{in.N, tools.NextAt("n", in.N+1)}, nil
				}
				return Data{N: in.N}, nil
			},
		}),
	)}})
	return func(script, more string) (tools.Result, error) {
		quoted, err := json.Marshal(script)
		if err != nil {
			return tools.Result{}, err
		}
		ws, _ := tooltest.Tree(t, nil)
		out := runner.Run(t.Context(), run.Call{
			Tool: "run_javascript", Args: json.RawMessage(`{"tools":true,"code":` + string(quoted) + more + `}`),
			Session: tools.SessionInfo{Principal: tools.Local, Client: tools.Client{Name: "test", Forms: true}, Workspace: ws},
		})
		if out.Ask != nil {
			return tools.Result{}, fmt.Errorf("it asks: %v", out.Ask.Forms)
		}
		if out.Err != nil {
			return tools.Result{}, out.Err
		}
		return out.Result, nil
	}, begun, gate
}

func TestScriptsCallTools(t *testing.T) {
	t.Parallel()
	script, _, _ := scripted(t)
	for _, c := range []struct{ name, code, want string }{
		{"text", "await tools.echo({text: 'a\\0b <&> \u00fc'})", "ok in …\n1 call of tools, 10 B kept out of this result: echo 1 in …\n...\nvalue: \"a\\u0000b <&> \u00fc\""},
		{"data", "(await tools.data({n: '7'})).n + 1", "ok in …\n...\nvalue: 8"},
		{"pages", "const all = [];\nfor await (const p of tools.pages('data', {n: 1})) all.push(p.n);\nall", "ok in …\n...\nvalue: [1, 2, 3]"},
		{"no arguments", "await tools.echo()", "ok in …\n...\nvalue: \"\""},
		{"much text", "(await tools.long({n: 900000})).length", "ok in …\n...\nvalue: 900000"},
		{"an error", "try { await tools.fail({}) } catch (e) { [e.name, e.code, e.hint, e.tool, e.message, e instanceof ToolError] }",
			"ok in …\n...\nvalue: \n[\n  \"ToolError\",\n  \"conflict\",\n  \"read it again\",\n  \"fail\",\n  \"conflict: it has changed (read it again)\",\n  true\n]"},
		{"an error that nobody catches", "const go = async () => {\n  await tools.fail({});\n};\nawait go();", "error in …\n1 call of tools, … (conflict)\n...\nToolError: conflict: it has changed (read it again)\n  at go (line 2, column …)\n  at line 4, column …"},
		{"wrong arguments", "await tools.echo({txt: 1})", "error in …\n...\nToolError: invalid_argument: /txt: unknown argument; did you mean \"text\"…\n..."},
		{"arguments in a list", "await tools.echo('a')", "error in …\n...\nTypeError: the arguments of echo are one object, such as tools.echo({path: \".\"})\n..."},
		{"no such tool", "await tools.ecko({})", "error in …\n...\nToolError: not_found: no tool is called \"ecko\" (did you mean echo)\n..."},
		{"consent", "await tools.risky({})", "error in …\n...\nToolError: denied: risky: needs the user's consent, which cannot be asked for inside another call (rule tool-asks: risk it) (call risky by itself; …a rule of the policy…)\n..."},
		{"a question", "await tools.asks({})", "error in …\n...\nToolError: denied: asks: it asks the user (well?), which it cannot inside a script (call asks by itself)\n..."},
		{"a script inside", "await tools.run_javascript({code: '1', tools: true})", "error in …\n...\nToolError: denied: a script that calls tools inside another…\n..."},
		{"a plain script inside", "(await tools.run_javascript({code: '1+1'})).split('\\n').pop()", "ok in …\n...\nvalue: \"value: 2\""},
		{"nobody awaits", "tools.echo({text: 'x'}).then(v => console.log('late', v)); 1", "ok in …\n...\nvalue: 1\n\nlate x"},
		{"tools is no promise", "await tools; typeof tools.then", "ok in …\n...\nvalue: \"undefined\""},
		{"51 calls", "let n = 0; const all = await Promise.allSettled(Array.from({length: 51}, () => tools.echo({text: String(n++)})));\nconst bad = all.filter(a => a.reason); [bad.length, bad[0].reason.code, all.at(49).value]", "ok in …\n50 calls of tools, …\n...\nvalue: [1, \"too_large\", \"49\"]"},
		{"large arguments", "await tools.echo({text: 'x'.repeat(2e6)})", "error in …\n...\nToolError: too_large: arguments of …\n..."},
		{"replaced functions", "JSON.stringify = JSON.parse = null; await tools.echo({text: 'x'})", "ok in …\n...\nvalue: \"x\""},
		{"the channel is not the script's", "[typeof __request, Object.keys(globalThis).length]", "ok in …\n...\nvalue: [\"undefined\", 0]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := script(c.code, `,"timeout":"30s"`)
			if err != nil {
				t.Fatal(err)
			}
			if diff := tooltest.Match(c.want, tooltest.Text(res)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The time of a script stands still while it waits for a call, but not while it computes.
func TestScriptTimeWithCalls(t *testing.T) {
	t.Parallel()
	script, begun, gate := scripted(t)
	res, err := script("tools.wait({}); for (;;);", `,"timeout":"300ms"`)
	if err != nil {
		t.Fatal(err)
	}
	if got := tooltest.Text(res); !strings.HasPrefix(got, "stopped: it took longer than 300ms") {
		t.Errorf("one that computes meanwhile:\n%s", got)
	}
	<-begun
	waited := make(chan string)
	go func() {
		res, err := script("const begin = Date.now(); await tools.wait({}); Date.now() - begin >= 1000", `,"timeout":"1s"`)
		waited <- tooltest.Text(res) + fmt.Sprint(err)
	}()
	<-begun
	time.Sleep(1200 * time.Millisecond) // more than the script has
	close(gate)
	if got := <-waited; !strings.HasPrefix(got, "ok in ") || !strings.Contains(got, "value: true") {
		t.Errorf("one that waits longer than its time:\n%s", got)
	}
}
