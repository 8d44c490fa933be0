package edits

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"toolcrib/.ci/measure/harness"
)

//go:embed arguments.txt
var argumentCalls string

// Arguments makes the calls of arguments.txt, which are written as models write them that
// know other tools. Each must be read as it was meant, or refused with what to write.
func Arguments(ctx context.Context, env harness.Environment) error {
	calls, err := readArgumentCalls(argumentCalls)
	if err != nil {
		return err
	}
	if len(calls) < 200 {
		return fmt.Errorf("%d calls, want 200", len(calls))
	}
	server, dir, remove, err := env.UseScratch(ctx, "arguments")
	defer remove()
	if err != nil {
		return err
	}
	type count struct{ mended, refused, wrong, absent int }
	var clients []string
	counts := map[string]*count{}
	var failed error
	for _, c := range calls {
		n := counts[c.client]
		if n == nil {
			n = &count{}
			counts[c.client], clients = n, append(clients, c.client)
		}
		if err := harness.WriteTree(dir, argumentTree); err != nil {
			return err
		}
		if strings.Contains(c.args, "edit.txt") { // as it is now
			if _, err := server.Must("read_file", map[string]any{"path": "edit.txt"}); err != nil {
				return err
			}
		}
		answer, err := server.Use(c.tool, c.sent(dir))
		if err != nil {
			return fmt.Errorf("%s %s: %w", c.tool, c.args, err)
		}
		switch why := c.judge(dir, answer); {
		case why != "":
			n.wrong++
			if !answer.Failed && absence.MatchString(answer.Text) {
				n.absent++
			}
			failed = errors.Join(failed, fmt.Errorf("%s: %s %s: %s:\n%.600s", c.client, c.tool, c.args, why, answer.Text))
		case c.refused:
			n.refused++
		default:
			n.mended++
		}
	}
	fmt.Println("| calls as models send them | read as meant | refused with what to write | wrong | false absences |\n|---|---|---|---|---|")
	var all count
	for _, client := range clients {
		n := counts[client]
		fmt.Printf("| %s | %d | %d | %d | %d |\n", client, n.mended, n.refused, n.wrong, n.absent)
		all = count{all.mended + n.mended, all.refused + n.refused, all.wrong + n.wrong, all.absent + n.absent}
	}
	fmt.Printf("| %d in all | %d | %d | %d | %d |\n", len(calls), all.mended, all.refused, all.wrong, all.absent)
	return errors.Join(failed, server.Close())
}

// absence is an answer that says that there is nothing.
var absence = regexp.MustCompile(`(?m)^(0 |\S+: (empty|nothing matches))`)

// argumentTree is the workspace of each call, made anew.
var argumentTree = map[string]string{
	"README.md":              "# Demo\n",
	"src/main.py":            "import os\n\ndef Main():\n    return helper()\n\n\nif __name__ == '__main__':\n    Main()\n",
	"src/util.py":            "def helper():\n    return 42\n",
	"src/lib/a.ts":           "const foo = 1\n",
	"src/lib/b.js":           "const Foo = 2\n",
	"src/app/[id]/page.tsx":  "export default function Page() {}\n",
	"docs/guide.MD":          "# Guide\n\nfoo is here\n",
	"docs/long.txt":          longText(),
	"docs/my notes.txt":      "a note\n",
	".ignore":                "build/\n",
	"build/out.txt":          "foo, built\n",
	".env":                   "KEY=1\n",
	"data.bin":               "\x00\x01foo\n",
	"edit.txt":               "one\ntwo\nthree\n",
	"src/components/x/y.vue": "<template/>\n",
}

func longText() string {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

// argumentCall is a call and what is wanted of it.
type argumentCall struct {
	client, tool, args string
	refused            bool
	want               []string          // texts of the answer; one with "!" before it must not be in it
	files              map[string]string // after the call
}

// sent is the arguments, with DIR for the directory.
func (c argumentCall) sent(dir string) (args map[string]any) {
	_ = json.Unmarshal([]byte(strings.ReplaceAll(c.args, "DIR", filepath.ToSlash(dir))), &args) // it was read before
	return args
}

// judge says what is wrong with an answer, "" if nothing is.
func (c argumentCall) judge(dir string, answer harness.Answer) string {
	switch {
	case c.refused && !answer.Failed:
		return "not refused"
	case c.refused && answer.Code != "invalid_argument" && answer.Code != "not_found":
		return "refused with the code " + answer.Code
	case !c.refused && answer.Failed:
		return "refused"
	}
	for _, want := range c.want {
		text, not := strings.CutPrefix(want, "!")
		if strings.Contains(answer.Text, text) == not {
			return "want " + strconv.Quote(want)
		}
	}
	for name, want := range c.files {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			return fmt.Sprintf("%s is %q, want %q", name, got, want)
		}
	}
	return ""
}

// readArgumentCalls reads calls, a line each:
//
//	TOOL ARGUMENTS => what is wanted of the answer, texts with " & " between them
//	TOOL ARGUMENTS !> what is wanted of the error
//
// A text FILE:="content" is wanted of a file after the call. A line "= name" begins the
// calls of a client.
func readArgumentCalls(text string) (calls []argumentCall, err error) {
	client := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "= "); ok {
			client = name
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c := argumentCall{client: client, files: map[string]string{}}
		call, want, ok := strings.Cut(line, " => ")
		if !ok {
			call, want, c.refused = strings.Cut(line, " !> ")
		}
		c.tool, c.args, _ = strings.Cut(call, " ")
		if !ok && !c.refused || !json.Valid([]byte(c.args)) {
			return nil, fmt.Errorf("not a call: %s", line)
		}
		for part := range strings.SplitSeq(want, " & ") {
			name, content, ok := strings.Cut(part, ":=")
			if !ok {
				c.want = append(c.want, part)
				continue
			}
			if c.files[name], err = strconv.Unquote(content); err != nil {
				return nil, fmt.Errorf("%s: %w", line, err)
			}
		}
		calls = append(calls, c)
	}
	return calls, nil
}
