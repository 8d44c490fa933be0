package code_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/code"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

// bench is a server with interpreters in one workspace.
type bench struct {
	t      *testing.T
	engine *sandbox.Engine
	tool   tools.Tool
	ws     *workspace.Workspace
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return openBench(t, sandbox.Options{}, new(code.Kernels))
}

func openBench(t *testing.T, opt sandbox.Options, kernels *code.Kernels) *bench {
	t.Helper()
	needPython(t)
	engine := sandbox.New()
	engine.Configure(opt)
	ws, _ := tooltest.Tree(t, nil)
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	b := &bench{t: t, engine: engine, ws: ws}
	for _, tool := range code.Tools(code.Deps{Sandbox: engine, Kernels: kernels}) {
		if tool.Name == "code_interpreter" {
			b.tool = tool
		}
	}
	return b
}

func (b *bench) call(ctx context.Context, args map[string]any) (tools.Result, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return tools.Result{}, err
	}
	return tooltest.Call(ctx, b.ws, b.tool, raw)
}

// run runs a cell and compares its text.
func (b *bench) run(handle, code, want string) tools.Result {
	b.t.Helper()
	timeout := "50s"
	if strings.Contains(code, "sleep(60)") {
		timeout = "2s"
	}
	result, err := b.call(b.t.Context(), map[string]any{"handle": handle, "code": code, "timeout": timeout})
	if err != nil {
		b.t.Fatal(err)
	}
	if diff := tooltest.Match(want, tooltest.Text(result)); diff != "" {
		b.t.Errorf("%s\n%s", code, diff)
	}
	return result
}

// await waits for a file that a cell makes.
func (b *bench) await(name string) {
	b.t.Helper()
	for there := false; !there; time.Sleep(10 * time.Millisecond) {
		p, err := b.ws.Resolve(name)
		if err != nil {
			b.t.Fatal(err)
		}
		_, err = p.Stat()
		there = err == nil
	}
}

var handles = regexp.MustCompile(`py-[a-z0-9]+`)

func (b *bench) start() string {
	b.t.Helper()
	return handles.FindString(tooltest.Text(b.run("new", "x = 1", "ok in …; new handle py-…")))
}

func TestCells(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.start()
	for _, c := range []struct{ code, want string }{
		{"x += 1; x", "ok in …\nvalue: 2"},
		{"_ * 10", "ok in …\nvalue: 20"},
		{"def f(n):\n    return 1 / n", "ok in …"},
		{"f(0)", "error in …\nTraceback (most recent call last):\n  File \"<cell 5>\", line 1, in <module>\n    f(0)\n  File \"<cell 4>\", line 2, in f\n    return 1 / n\n...\nZeroDivisionError: division by zero"},
		{"x = (", "error in …\n...\nSyntaxError: '(' was never closed"},
		{"import time\nx = 'kept'\ntime.sleep(60)", "interrupted: the cell took longer than 2s; variables are kept…\n...\nKeyboardInterrupt"},
		{"x", "ok in …\nvalue: 'kept'"},
		{"%matplotlib inline\nx", "ok in …\nvalue: 'kept'"},
		{"raise ModuleNotFoundError(\"No module named 'IPython'\")", "error in …\ndisplay(x) is there without an import\n...\nModuleNotFoundError: No module named 'IPython'"},
		{"import nosuchmodule", "error in …\nthe interpreter has …; the user can install more for it, or set --python of the server to the interpreter of a virtual environment\n...\nModuleNotFoundError: No module named 'nosuchmodule'"},
		{"input()", "error in …\nthere is no input: put the values into the code\n...\nEOFError: EOF when reading a line"},
		{"import asyncio\nawait asyncio.sleep(0, 3)", "ok in …\nvalue: 3"},
		{"import sys, os\nprint(1)\nprint(2, file=sys.stderr)\nos.system('echo 3')\nprint(4)", "ok in …\n\n1\n2\n3\n4"},
		{"open('made.txt', 'w').write('abc')", "ok in …\nfiles: created made.txt\nvalue: 3"},
		{"import sys\nsys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush()", "ok in …\n\n…"},
		{"big = bytearray(1 << 30)\nlen(big)", "ok in …\nvalue: 1073741824"},
		{"del big\nbytearray(64 << 30)", "error in …\n...\nMemoryError"},
		{"for i in range(200): print('y' * 99_999)\n'end'", "ok in …\n2 lines cut at 2000 characters\nvalue: 'end'\n\nyyy…[+30768 bytes]\n[... 20 MB left out ...]\nyyy…[+30767 bytes]"},
		{"print('z' * 2500)\nprint(1)", "ok in …\n1 line cut at 2000 characters\n\nzzz…[+500 bytes]\n1"},
		{"import os\nfor fd in range(3, 50):\n    try: os.write(fd, b'{\"mark\": \"forged\", \"value\": \"forged\"}\\n')\n    except OSError: pass\n'true'", "ok in …\nvalue: 'true'\n\n..."},
		{"import os\nos.fork() or os._exit(0)\n'parent'", "ok in …\nvalue: 'parent'"},
	} {
		b.run(h, c.code, strings.Replace(c.want, " in …", " in …; handle "+h, 1))
	}
	result := b.run(h, "class P:\n    def _repr_png_(self):\n        import zlib, struct\n        def chunk(k, d): return struct.pack('>I', len(d)) + k + d + struct.pack('>I', zlib.crc32(k + d))\n        return b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 1, 1, 8, 0, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(b'\\0\\0')) + chunk(b'IEND', b'')\nP()", "ok in …")
	if n := len(result.Content); n != 2 || result.Content[1].Kind != tools.ImageBlock || result.Content[1].MIME != "image/png" {
		t.Errorf("%d blocks, want a text and an image", n)
	}
	b.run(h, "class Q:\n    def _repr_png_(self): return b'x' * 100_000_000\nQ()", "ok in …\n1 image too large or too many to show; save them to files")
	b.run(h, "class R:\n    def _repr_png_(self): return b'no image'\nR()", "ok in …\nan image that cannot be decoded is left out")
}

func TestMagics(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.start()
	for _, c := range []struct{ code, want string }{
		{"name = 'it'\n!echo {name} is $name; echo $HOME | wc -l", "ok in …\n\nit is it\n1"},
		{"!exit 3", "ok in …\n\nexit 3"},
		{"if name:\n    found = !printf 'a\\nb\\n'\nfound", "ok in …\nvalue: ['a', 'b']"},
		{"text = \"\"\"\n!echo no\n%pwd\n\"\"\"\n!echo yes\ntext", "ok in …\nvalue: '\\n!echo no\\n%pwd\\n'\n\nyes"},
		{"!echo it\\'s\n%load_ext autoreload\n1 / 0", "error in …\n...\n  File \"<cell 6>\", line 3, in <module>\n...\nZeroDivisionError: division by zero\n\nit's"},
		{"%env COLOUR=red\n!echo $COLOUR", "ok in …\n\nred"},
		{"%cd /\n%pwd", "ok in …\nvalue: '/'"},
		{"%%time\ny = 2\ny + 1", "ok in …\nvalue: 3\n\nCPU … s, wall … s"},
		{"%%timeit\ny + 1", "ok in …\n\nbest … s, worst … s a loop (5 runs of …)"},
		{"%timeit -n 10 y", "ok in …\n\nbest … s, worst … s a loop (5 runs of …)"},
		{"%%bash\nfor i in 1 2; do echo $i; done", "ok in …\n\n1\n2"},
		{"%%writefile /tmp/noted.txt\nhello %name\n", "ok in …"},
		{"open('/tmp/noted.txt').read()", "ok in …\nvalue: 'hello %name\\n'"},
		{"%%capture out\nprint('kept')", "ok in …"},
		{"out", "ok in …\nvalue: 'kept\\n'"},
		{"def f(a, b=1):\n    'Adds.'\nf?", "ok in …\n\nf(a, b=1)\nAdds."},
		{"%wrong", "error in …\n...\nNameError: no magic is called %wrong here; there are …"},
		{"!sleep 77.5 & sleep 77.6 # sleep(60)", "interrupted: the cell took longer than 2s; variables are kept…\n...\nKeyboardInterrupt"},
		{"!seq 15 | while read i && pgrep -f '^sleep 77' >/dev/null; do sleep 0.1; done; pgrep -fc '^sleep 77'; true", "ok in …\n\n0"}, // they are killed, and end
		{"!false\nx = (", "error in …\n...\nSyntaxError: '(' was never closed"},
		{"x = = 1", "error in …\n  File \"<cell 22>\", line 1\n    x = = 1\n        ^\nSyntaxError: invalid syntax"},
		{"!echo no\nx = = 1", "error in …\n  File \"<cell 23>\", line 2\n    x = = 1\n        ^\nSyntaxError: invalid syntax"},
		{"@property\n!ls", "error in …\n  File \"<cell 24>\", line 2\n    !ls\n    ^\nSyntaxError: invalid syntax"},
		{"return 5", "error in …\n  File \"<cell 25>\", line 1\n    return 5\n...\nSyntaxError: 'return' outside function"},
		{"    !echo all\n    3", "ok in …\nvalue: 3\n\nall"},
		{"n = 0\ndef f():\n    global n\n    n += 1\n%timeit -n 2 -r3 f()\nn", "ok in …\nvalue: 6\n\nbest … s, worst … s a loop (3 runs of 2)"},
		{"n = 0\nt = %timeit -o -n1 -r1 f()\nlen(t), n", "ok in …\nvalue: (1, 1)\n\nbest …"},
		{"# first\n%%timeit -n1 -r1\n!true\nf()", "ok in …\n\nbest … (1 run of 1)"},
		{"%%time\n1 / 0", "error in …\n...\n  File \"<cell 30>\", line 2, in <module>\n...\nZeroDivisionError: division by zero\n\nCPU …"},
		{"%%capture o\n!echo out\nprint('in')", "ok in …"},
		{"o.stdout", "ok in …\nvalue: 'out\\nin\\n'"},
		{"found = !echo 'it is' \\\n  there\nfound.s", "ok in …\nvalue: 'it is there'"},
		{"!echo 'it is' \\\n  here", "ok in …\n\nit is here"},
		{"%%nosuch\nx", "error in …\n...\nNameError: no magic is called %%nosuch here; there are …"},
		{"%", "error in …\n...\nSyntaxError: invalid syntax"},
		{"7 %% 3", "error in …\n...\nSyntaxError: invalid syntax"},
	} {
		b.run(h, c.code, strings.Replace(c.want, " in …", " in …; handle "+h, 1))
	}
}

// TestPlots wants matplotlib.
func TestPlots(t *testing.T) {
	b := newBench(t)
	if exec.Command("python3", "-c", "import matplotlib").Run() != nil {
		t.Skip("needs: matplotlib")
	}
	result, err := b.call(t.Context(), map[string]any{"code": "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"})
	if err != nil || len(result.Content) != 2 || result.Content[1].MIME != "image/png" {
		t.Errorf("%v: %s", err, tooltest.Text(result))
	}
}

func TestCrashes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.start()
	b.run(h, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "crashed after …: all variables are lost; action=restart starts again; handle "+h+"\n...")
	if _, err := b.call(t.Context(), map[string]any{"handle": h, "code": "x"}); err == nil || !strings.Contains(err.Error(), "action=restart") {
		t.Errorf("a crashed interpreter answers %v", err)
	}
	if _, err := b.call(t.Context(), map[string]any{"handle": h, "action": "restart"}); err != nil {
		t.Fatal(err)
	}
	b.run(h, "import os, time\nos.closerange(0, 64)\ntime.sleep(.2)\nos.abort()", "crashed after … (SIGABRT): all variables are lost; …") // the answers end before it does
	if _, err := b.call(t.Context(), map[string]any{"handle": h, "action": "restart"}); err != nil {
		t.Fatal(err)
	}
	b.run(h, "x", "error in …; new handle "+h+"\nthe interpreter is new: it has no variables of earlier cells\n...\nNameError: name 'x' is not defined")
	b.run(h, "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(60)", "ended: the cell took longer than 2s and did not obey an interrupt; …")
	if _, err := b.call(t.Context(), map[string]any{"handle": h, "action": "restart"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.call(t.Context(), map[string]any{"handle": h, "action": "restart"}); err != nil {
		t.Fatal(err)
	}
	cut, err := b.call(t.Context(), map[string]any{"handle": h, "code": "for i in range(1000): print(i)", "max_output": 200})
	if diff := tooltest.Match("ok in …\n\n0\n1\n...\n[... 3.7 kB left out ...]\n...\n999", tooltest.Text(cut)); err != nil || diff != "" {
		t.Error(err, diff)
	}
	b.run(h, "import sys\nsys.exit(3)", "the cell ended the interpreter with exit code 3 after …\n...")
	if _, err := b.call(t.Context(), map[string]any{"handle": h, "action": "restart"}); err != nil {
		t.Fatal(err)
	}
	b.run(h, "import sys\nsys.exit('over')", "the cell ended the interpreter with exit code 1 after …\n\nover")
	if _, err := b.call(t.Context(), map[string]any{"handle": h, "action": "end"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.call(t.Context(), map[string]any{"handle": h, "code": "1"}); err == nil || tools.AsError(err).Code != tools.NotFound {
		t.Errorf("an ended interpreter answers %v", err)
	}
}

// TestTurns has calls of one handle at the same time, of which one is cancelled.
func TestTurns(t *testing.T) {
	b := newBench(t)
	h := b.start()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := b.call(ctx, map[string]any{"handle": h, "code": "y = 5\nimport time\nopen('begun', 'w').close()\ntime.sleep(60)"})
		done <- err
	}()
	b.await("begun")
	if _, err := b.call(t.Context(), map[string]any{"handle": h, "code": "1"}); err == nil || tools.AsError(err).Code != tools.Conflict {
		t.Errorf("a second cell meanwhile: %v", err)
	}
	cancel()
	if err := <-done; err == nil || tools.AsError(err).Code != tools.Cancelled {
		t.Errorf("the cancelled call: %v", err)
	}
	for range 500 {
		result, err := b.call(t.Context(), map[string]any{"handle": h, "code": "y"})
		if err == nil {
			if diff := tooltest.Match("ok in …\n...\nvalue: 5", tooltest.Text(result)); diff != "" {
				t.Error(diff)
			}
			return
		}
		if tools.AsError(err).Code != tools.Conflict {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the cancelled cell goes on")
}

// TestMemory has cells take more memory than they may: by values, which they are told
// and survive, and in a library, which aborts.
func TestMemory(t *testing.T) {
	t.Parallel()
	b := openBench(t, sandbox.Options{Limits: sandbox.Limits{Memory: 300 << 20}}, new(code.Kernels))
	const told = "it has met the limit of 315 MB of memory: do with less, such as by working in parts; the user can raise programs.memory in the configuration of the server"
	h := b.start()
	for _, code := range []string{"big = []\nwhile True: big.append(bytearray(10_000_000))", "big = []\nwhile True: big.append(object())", "bytearray(1 << 40)"} {
		b.run(h, code, "error in …; handle "+h+"\n"+told+"\n...\nMemoryError")
		b.run(h, "big = None\nx", "ok in …\nvalue: 1")
	}
	h = b.start() // one that has met its limit may fail in its own ways
	b.run(h, "import os\nbig = b'x' * (240 << 20)\nos.abort()", "crashed after … (SIGABRT): all variables are lost; …\n"+told+"\n...")

	for _, tool := range code.Tools(code.Deps{Sandbox: b.engine}) {
		if tool.Name != "run_python" {
			continue
		}
		for code, want := range map[string]string{
			"big = []\nwhile True: big.append(object())":              "exit 1 in …\n" + told + "\n...\nMemoryError",
			"import os\nbig = b'x' * (240 << 20)\nos.abort()":         "crashed: ended by SIGABRT after …\n" + told + "\n...",
			"import os\nos.abort()":                                   "crashed: ended by SIGABRT after …\n\nFatal Python error: Aborted\n...",
			"import os, signal\nos.kill(os.getpid(), signal.SIGKILL)": "crashed: ended by SIGKILL after …",
		} {
			args, err := json.Marshal(map[string]string{"code": code, "timeout": "60s"})
			if err != nil {
				t.Fatal(err)
			}
			result, err := tooltest.Call(t.Context(), b.ws, tool, args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := tooltest.Match(want, tooltest.Text(result)); diff != "" {
				t.Errorf("%s\n%s", code, diff)
			}
		}
	}
}

// TestIdle lets an interpreter be for longer than it may.
func TestIdle(t *testing.T) {
	t.Parallel()
	b := openBench(t, sandbox.Options{}, &code.Kernels{Idle: 300 * time.Millisecond})
	h := b.start()
	b.run(h, "import time\ntime.sleep(.6)\nx", "ok in …\nvalue: 1") // it is not idle while it runs
	for begin := time.Now(); time.Since(begin) < 20*time.Second; time.Sleep(time.Second) {
		_, err := b.call(t.Context(), map[string]any{"handle": h, "code": "x"})
		if err == nil {
			continue
		}
		if e := tools.AsError(err); e.Code != tools.NotFound || !strings.Contains(e.Error(), "300ms without a cell") {
			t.Error(err)
		}
		return
	}
	t.Error("it goes on")
}

// TestSteered interrupts the cell of another call, and restarts and ends an interpreter
// that is busy.
func TestSteered(t *testing.T) {
	b := newBench(t)
	h := b.start()
	for _, c := range []struct{ action, said, ends string }{
		{"interrupt", "interrupted: its call tells how the cell ended; handle " + h, "error in …\n...\nKeyboardInterrupt"},
		{"restart", "restarted, with nothing kept; handle " + h, "crashed after …: all variables are lost; …\n..."},
		{"end", "ended: " + h, "crashed after …: all variables are lost; …\n..."},
	} {
		done := make(chan string, 1)
		begun := "begun-" + c.action
		go func() {
			result, err := b.call(t.Context(), map[string]any{"handle": h, "code": "import time\nopen('" + begun + "', 'w').close()\ntime.sleep(60)", "timeout": "2m"})
			if err != nil {
				t.Error(err)
			}
			done <- tooltest.Text(result)
		}()
		b.await(begun)
		result, err := b.call(t.Context(), map[string]any{"handle": h, "action": c.action})
		if err != nil || tooltest.Text(result) != c.said {
			t.Errorf("%s: %v %s", c.action, err, tooltest.Text(result))
		}
		begin := time.Now()
		if diff := tooltest.Match(c.ends, <-done); diff != "" {
			t.Errorf("%s:\n%s", c.action, diff)
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%s: its call ended after %v", c.action, took)
		}
		if c.action != "end" {
			b.run(h, "2 * 21", "ok in …\nvalue: 42")
		}
	}
}

// A cell without a handle goes on with the last live interpreter of its principal and client.
func TestLast(t *testing.T) {
	b := newBench(t)
	as := func(principal, client string, args string) string {
		t.Helper()
		bound, err := b.tool.Bind(json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		out, err := b.tool.Run(tools.WithSession(t.Context(), &tools.SessionInfo{Principal: principal, Client: tools.Client{Name: client}, Workspace: b.ws}), bound)
		if err != nil {
			return tools.AsError(err).Error()
		}
		result, err := b.tool.Render(out)
		if err != nil {
			t.Fatal(err)
		}
		return tooltest.Text(result)
	}
	one := handles.FindString(as("ada", "x", `{"code": "v = 1"}`))
	two := handles.FindString(as("ada", "x", `{"code": "v = 2", "handle": "new"}`))
	if one == two || len(one) != len("py-")+8 {
		t.Errorf("%s, %s", one, two)
	}
	for _, c := range []struct{ principal, client, args, want string }{
		{"ada", "x", `{"code": "v"}`, "ok in …; handle " + two + "\nvalue: 2"},
		{"ada", "x", `{"code": "v", "handle": "` + one + `"}`, "ok in …; handle " + one + "\nvalue: 1"},
		{"ada", "x", `{"code": "v"}`, "ok in …; handle " + one + "\nvalue: 1"},
		{"ada", "y", `{"code": "v"}`, "error in …; new handle py-…\nthe interpreter is new: …\n..."},
		{"ben", "x", `{"code": "v"}`, "error in …; new handle py-…\nthe interpreter is new: …\n..."},
		{"ada", "x", `{"code": "import os; os._exit(1)"}`, "crashed after …; handle " + one + "…"},
		{"ada", "x", `{"code": "v"}`, "ok in …; handle " + two + "\nvalue: 2"},
		{"ada", "x", `{"action": "end"}`, "ended: " + two},
		{"ada", "x", `{"action": "end"}`, "invalid_argument: action end wants a handle: no interpreter of yours is running …"},
		{"anonymous", "x", `{"code": "v = 3"}`, "ok in …; new handle py-…"},
		{"anonymous", "x", `{"code": "v"}`, "error in …; new handle py-…\n..."},
	} {
		text := as(c.principal, c.client, c.args)
		if diff := tooltest.Match(c.want, text); diff != "" {
			t.Errorf("%s %s %s: %s", c.principal, c.client, c.args, diff)
		}
		if h := handles.FindString(text); c.principal == "anonymous" && len(h) != len("py-")+26 {
			t.Errorf("the handle of anonymous is %s", h)
		}
	}
}

// TestPrincipals keeps handles to those who got them.
func TestPrincipals(t *testing.T) {
	b := newBench(t)
	h := b.start()
	bound, err := b.tool.Bind(json.RawMessage(`{"code":"x","handle":"` + h + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	ctx := tools.WithSession(t.Context(), &tools.SessionInfo{Principal: "another", Workspace: b.ws})
	if _, err := b.tool.Run(ctx, bound); err == nil || tools.AsError(err).Code != tools.NotFound {
		t.Errorf("another principal: %v", err)
	}
}

func TestCellProgress(t *testing.T) {
	needPython(t)
	progresses(t, "code_interpreter", printing)
}
