package code_test

import (
	"strings"
	"testing"

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

func TestJavascriptFloods(t *testing.T) {
	floods(t, "run_javascript", "\nwhat is left out is not kept: print less\n", [][2]string{
		{"for (let i = 0; i < 200; i++) console.log(('x'.repeat(99) + '\\n').repeat(1000)); 'end'", "value: \"end\""},
		{"'z'.repeat(1e6)", "characters more"},
	})
}

func TestJavascriptTimeouts(t *testing.T) {
	stops(t, "run_javascript", [][2]string{
		{"let n = 0;\nwhile (true) n++;", "stopped: it took longer than 1s\n...\nInternalError: interrupted\n  at line …"},
		{"console.log(1); [].indexOf.call({length: 2**53 - 1}, 1)", "stopped: it took longer than 1s\n...\n\n1"},
		{"/(a+)+$/.test('a'.repeat(50) + 'b')", "stopped: it took longer than 1s\n..."},
		{"(async () => { for (;;) await null })()", "stopped: it took longer than 1s\n..."},
		{"setInterval(() => {}, 10)", "stopped: it took longer than 1s\n..."},
	})
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
