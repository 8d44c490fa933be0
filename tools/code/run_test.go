package code_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/code"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/tooltest"
)

// caller calls the tools of one server in one workspace.
func caller(t *testing.T) func(ctx context.Context, name string, args map[string]any) (string, error) {
	t.Helper()
	engine := sandbox.New()
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	list := code.Tools(code.Deps{Sandbox: engine, Scripts: true})
	ws, _ := tooltest.Tree(t, map[string]string{"own.py": "def fail():\n    raise ValueError('own')\n"})
	return func(ctx context.Context, name string, args map[string]any) (string, error) {
		raw, err := json.Marshal(args)
		if err != nil {
			return "", err
		}
		for _, tool := range list {
			if tool.Name == name {
				result, err := tooltest.Call(ctx, ws, tool, raw)
				return tooltest.Text(result), err
			}
		}
		t.Fatalf("no tool is called %q", name)
		return "", nil
	}
}

func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs: python3")
	}
}

func TestPython(t *testing.T) {
	needPython(t)
	call := caller(t)
	for _, c := range []struct{ name, code, want string }{
		{"nothing", "x = 1", "ok in …\n..."},
		{"none is not shown", "None", "ok in …\n..."},
		{"await", "import asyncio\nawait asyncio.sleep(0)\nawait asyncio.sleep(0, 'slept')", "ok in …\n...\nvalue: 'slept'"},
		{"exit code", "import sys\nprint('bye')\nsys.exit(3)", "exit 3 in …\n...\n\nbye"},
		{"exit with a word", "raise SystemExit('bad input')", "exit 1 in …\n...\n\nbad input"},
		{"order", "import sys, os\nprint('1')\nprint('2', file=sys.stderr)\nprint('3')\nos.system('echo 4')\nprint('5')", "ok in …\n...\n\n1\n2\n3\n4\n5"},
		{"syntax", "a = 1\nb = (", "exit 1 in …\n...\n  File \"<script>\", line 2\n    b = (\n        ^\nSyntaxError: '(' was never closed"},
		{"a module of the workspace", "import own\nown.fail()", "exit 1 in …\n...\n  File \"<script>\", line 2, in <module>\n    own.fail()\n  File \"…own.py\", line 2, in fail\n    raise ValueError('own')\nValueError: own"},
		{"causes", "try:\n    1/0\nexcept Exception as e:\n    raise KeyError('k') from e", "exit 1 in …\n...\nZeroDivisionError: division by zero\n\nThe above exception was the direct cause of the following exception:\n...\nKeyError: 'k'"},
		{"no input", "input('name? ')", "exit 1 in …\n...\nthere is no input: put the values into the code\n...\nEOFError: EOF when reading a line\n\nname?"},
		{"not UTF-8", "import sys\nsys.stdout.buffer.write(b'\\xff\\xfe\\x00ok\\n')\nsys.stdout.flush()", "ok in …\n...\n…ok"},
		{"a lone surrogate", "print('\\ud800')\n'\\ud800'", "ok in …\n...\nvalue: '\\ud800'\n\n\\ud800"},
		{"main", "import pickle\nclass A: pass\npickle.loads(pickle.dumps(A())).__class__.__name__, __name__", "ok in …\n...\nvalue: ('A', '__main__')"},
		{"recursion", "def f(): f()\nf()", "exit 1 in …\n...\n  [Previous line repeated … more times]\nRecursionError: maximum recursion depth exceeded"},
		{"a crash", "import os, signal\nprint('before')\nos.kill(os.getpid(), signal.SIGKILL)", "crashed: ended by …\n...\n\nbefore"},
		{"its report is not lost", "import os\nos.close(1)\nos.close(2)\n7", "…\n...\nvalue: 7"},
		{"a failing repr", "class A:\n    def __repr__(self): raise RuntimeError('no')\nA()", "exit 1 in …\n...\nRuntimeError: no"},
		{"colours", "print('\\x1b[31mred\\x1b[0m')", "ok in …\n...\n\nred"},
		{"written over", "print('10%\\r50%\\r100%')", "ok in …\n...\n\n100%"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := call(t.Context(), "run_python", map[string]any{"code": c.code})
			if err != nil {
				t.Fatal(err)
			}
			if diff := tooltest.Match(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFloods has scripts print more than is kept.
func TestFloods(t *testing.T) {
	needPython(t)
	call := caller(t)
	lost := map[string]string{"run_python": "\nwhat is left out is not kept: print less, or write it to a file and read that with read_file\n", "run_javascript": "\nwhat is left out is not kept: print less\n"}
	for _, c := range []struct{ tool, code, value string }{
		{"run_python", "import sys\nfor i in range(200): sys.stdout.write(('x' * 99 + '\\n') * 1000)\n'end'", "value: 'end'"},
		{"run_python", "print(('y' * 99 + '\\n') * 500_000)\n'end'", "value: 'end'"},
		{"run_python", "'z' * 1_000_000", "left out"},
		{"run_javascript", "for (let i = 0; i < 200; i++) console.log(('x'.repeat(99) + '\\n').repeat(1000)); 'end'", "value: \"end\""},
		{"run_javascript", "'z'.repeat(1e6)", "characters more"},
	} {
		got, err := call(t.Context(), c.tool, map[string]any{"code": c.code, "timeout": "60s"})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(got, "ok in") || !strings.Contains(got, c.value) || strings.HasPrefix(c.value, "value:") && !strings.Contains(got, lost[c.tool]) || len(got) > tools.MaxText {
			t.Errorf("%s: %d bytes: %.300s", c.code, len(got), got)
		}
	}
}

func TestTimeouts(t *testing.T) {
	needPython(t)
	call := caller(t)
	for _, c := range []struct{ tool, code, want string }{
		{"run_python", "import time\n\ndef wait():\n    time.sleep(60)\n\nwait()", "stopped: it took longer than 1s\n...\n  File \"<script>\", line 4, in wait\n...\nKeyboardInterrupt"},
		{"run_python", "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('deaf')\nfor _ in range(600): time.sleep(.1)", "stopped: it took longer than 1s\n...\n\ndeaf"},
		{"run_javascript", "let n = 0;\nwhile (true) n++;", "stopped: it took longer than 1s\n...\nInternalError: interrupted\n  at line …"},
		{"run_javascript", "console.log(1); [].indexOf.call({length: 2**53 - 1}, 1)", "stopped: it took longer than 1s\n...\n\n1"},
		{"run_javascript", "/(a+)+$/.test('a'.repeat(50) + 'b')", "stopped: it took longer than 1s\n..."},
		{"run_javascript", "(async () => { for (;;) await null })()", "stopped: it took longer than 1s\n..."},
		{"run_javascript", "setInterval(() => {}, 10)", "stopped: it took longer than 1s\n..."},
	} {
		begin := time.Now()
		got, err := call(t.Context(), c.tool, map[string]any{"code": c.code, "timeout": "1s"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := tooltest.Match(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", c.code, diff)
		}
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s: took %v", c.code, took)
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
			got, err := call(t.Context(), "run_javascript", map[string]any{"code": c.code, "timeout": "30s"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := tooltest.Match(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCancelled ends scripts with their call.
func TestCancelled(t *testing.T) {
	needPython(t)
	call := caller(t)
	for tool, code := range map[string]string{"run_python": "while True: pass", "run_javascript": "[].indexOf.call({length: 2**53 - 1}, 1)"} {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		begin := time.Now()
		_, err := call(ctx, tool, map[string]any{"code": code, "timeout": "60s"})
		cancel()
		if took := time.Since(begin); err == nil || took > 10*time.Second {
			t.Errorf("%s: %v after %v", tool, err, took)
		}
	}
}
