package code_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
)

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
		{"no server", "import urllib.request as u\nu.urlopen('http://localhost:18307')", "exit 1 in …\n...\nnothing listens there: localhost is that of the programs of this workspace, …; bash with background=true starts a server\n...\nurllib.error.URLError: <urlopen error [Errno 111] Connection refused>"},
		{"no network", "import urllib.request as u\nu.urlopen('https://a.example')", "exit 1 in …\nthe network is off; it asked for a.example:443; network: true asks for it\nOSError: …\n..."},
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

func TestPythonFloods(t *testing.T) {
	needPython(t)
	floods(t, "run_python", "\nwhat is left out is not kept: print less, or write it to a file and read that with read_file\n", [][2]string{
		{"import sys\nfor i in range(200): sys.stdout.write(('x' * 99 + '\\n') * 1000)\n'end'", "value: 'end'"},
		{"print(('y' * 99 + '\\n') * 500_000)\n'end'", "value: 'end'"},
		{"'z' * 1_000_000", "left out"},
	})
}

func TestPythonTimeouts(t *testing.T) {
	t.Parallel()
	needPython(t)
	// On a busy machine it can take more than a second until Python runs the script.
	stops(t, "run_python", "4s", [][2]string{
		{"import time\n\ndef wait():\n    time.sleep(60)\n\nwait()", "stopped: it took longer than 4s\n...\n  File \"<script>\", line 4, in wait\n...\nKeyboardInterrupt"},
		{"import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('deaf')\nfor _ in range(600): time.sleep(.1)", "stopped: it took longer than 4s\n...\n\ndeaf"},
	})
}

func TestPythonCancelled(t *testing.T) {
	needPython(t)
	cancels(t, "run_python", "while True: pass")
}

func TestPythonProgress(t *testing.T) {
	needPython(t)
	progresses(t, "run_python", printing)
}

// The name on PATH may be a script that takes its time. What it says of the interpreter is no
// output of the caller's.
func TestPythonShim(t *testing.T) {
	needPython(t)
	dir, old := t.TempDir(), os.Getenv("PATH")
	shim := "#!/bin/sh\nPATH='" + old + "' python3 \"$@\"\nsleep 0.6\n"
	if err := os.WriteFile(filepath.Join(dir, "python3"), []byte(shim), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+old)
	call := caller(t, dir)
	ctx := tools.WithProgress(t.Context(), func(e tools.ProgressEvent) {
		if !strings.Contains(e.Message, "hello") {
			t.Errorf("heard %q", e.Message)
		}
	})
	if got, err := call(ctx, "run_python", map[string]any{"code": "print('hello')"}); err != nil || !strings.Contains(got, "hello") {
		t.Errorf("%v: %s", err, got)
	}
}
