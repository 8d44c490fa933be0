package cli_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server/cli"
)

func TestCall(t *testing.T) {
	inProject(t)
	for _, tt := range []struct {
		name   string
		args   []string
		stdin  string
		stdout string
		stderr string
		code   int
	}{
		{"text", []string{"call", "echo", `{"text":"hello"}`}, "", "hello\n", "", 0},
		{"alias, directory, flag behind", []string{"call", "say", `{"text":"hello"}`, ".", "--read-only"}, "", "hello\n", "", 0},
		{"arguments from stdin", []string{"call", "echo", "-"}, `{"text":"hello"}`, "hello\n", "", 0},
		{"arguments like a flag", []string{"call", "--", "echo", `{"text":"--x"}`}, "", "--x\n", "", 0},
		{
			"blocks", []string{"call", "dot", "{}"}, "",
			"a dot\n[image/png, 3 bytes; --json prints them]\n[dot: toolcrib://dot]\n", "", 0,
		},
		{"first page", []string{"call", "echo", `{"text":"one\ftwo\fthree"}`}, "", "one\n", "", 0},
		{"all pages", []string{"call", "--all", "echo", `{"text":"one\ftwo\fthree"}`}, "", "one\ntwo\nthree\n", "", 0},
		{"error", []string{"call", "echo", `{"text":""}`}, "", "", "invalid_argument: nothing to say (give a text)\n", 1},
		{
			"json", []string{"call", "--json", "dot", "{}"}, "", `{
  "content": [
    {
      "type": "text",
      "text": "a dot"
    },
    {
      "type": "image",
      "data": "AQID",
      "mimeType": "image/png"
    },
    {
      "type": "resource_link",
      "uri": "toolcrib://dot",
      "name": "dot"
    }
  ]
}
`, "", 0,
		},
		{
			"json of an error", []string{"call", "--json", "echo", `{"text":""}`}, "", `{
  "error": {
    "code": "invalid_argument",
    "message": "nothing to say",
    "hint": "give a text"
  }
}
`, "", 1,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stdout, stderr, code := invocation{args: tt.args, stdin: strings.NewReader(tt.stdin)}.start(t)
			if code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if diff := cmp.Diff(tt.stdout, stdout); diff != "" {
				t.Errorf("stdout (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.stderr, stderr); diff != "" {
				t.Errorf("stderr (-want +got):\n%s", diff)
			}
		})
	}
}

// A tool that asks gets its answer at a terminal, and is refused elsewhere.
func TestCallAsks(t *testing.T) {
	inProject(t)
	erase := []string{"call", "erase", `{"path":"x"}`}
	for _, tt := range []struct {
		name     string
		args     []string
		typed    string
		terminal bool
		stdout   string
		stderr   string // a part of it
		code     int
	}{
		{"yes", erase, "y\n", true, "erased x\n", "erase x [y/N] ", 0},
		{"no", erase, "n\n", true, "", "declined", 1},
		{"nothing", erase, "\n", true, "", "declined", 1},
		{"end of input", erase, "", true, "", "erase x [y/N] \n", 1},
		{"no terminal", erase, "y\n", false, "", "denied: ", 1},
		{"client", append(slices.Clone(erase), "--confirm=client"), "", false, "erased x\n", "", 0},
		{"arguments on stdin", []string{"call", "erase", "-"}, `{"path":"x"}`, true, "", "denied: ", 1},
		{
			"a form, with slips", []string{"call", "quiz", "{}"}, "green\nblue\n\nmany\n3\n\n", true,
			"accept {\"color\":\"blue\",\"count\":3}\n",
			"a quiz\nColour (red, blue): one of these is wanted: red, blue\nColour (red, blue): count: a value is wanted\n" +
				"count: a number is wanted, of type integer\ncount: sure (true, false) [may be empty]: ", 0,
		},
		{"a form, to its end", []string{"call", "quiz", "{}"}, "red\n1\ntrue\n", true, "accept {\"color\":\"red\",\"count\":1,\"sure\":true}\n", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var erased []string
			in := invocation{args: tt.args, stdin: strings.NewReader(tt.typed), terminal: tt.terminal, catalog: fixtures(&erased)}
			stdout, stderr, code := in.start(t)
			if code != tt.code || stdout != tt.stdout || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
			}
			if done := len(erased) == 1; done != (tt.stdout == "erased x\n") {
				t.Errorf("erased: %q", erased)
			}
		})
	}
}

// A question that nobody answers does not outlive the call.
func TestCallAskEnds(t *testing.T) {
	inProject(t)
	typed, keyboard := io.Pipe()
	defer keyboard.Close()
	asked, screen := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() {
		defer screen.Close()
		done <- cli.Main(ctx, cli.Process{
			Args:       []string{"call", "erase", `{"path":"x"}`, "--state-dir", t.TempDir()},
			Stdin:      typed,
			Stdout:     io.Discard,
			Stderr:     screen,
			IsTerminal: func(any) bool { return true },
			Categories: offering(fixtures(new([]string))...),
		})
	}()
	buf := make([]byte, 1)
	for {
		if _, err := asked.Read(buf); err != nil {
			t.Fatal(err)
		}
		if buf[0] == ']' {
			break
		}
	}
	cancel()
	rest, err := io.ReadAll(asked)
	if code := <-done; err != nil || code != 1 || !strings.Contains(string(rest), "cancelled") {
		t.Errorf("%v, exit code %d, stderr %q", err, code, rest)
	}
}
