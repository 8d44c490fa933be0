package executor_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/agents/internal/inside"
	"toolcrib/tools/internal/tooltest"
)

// TestMain makes the binary of the tests what the sandbox starts, and the agent in it.
func TestMain(m *testing.M) {
	if exit, was := inside.Program(os.Args[1:]); was {
		os.Exit(exit)
	}
	if at := slices.Index(os.Args, "fake"); at > 0 {
		(&fake{kind: os.Args[at+1]}).play(os.Args[at+2])
		os.Exit(0)
	}
	// A program that was built with the race detector sleeps for a second before it ends.
	_ = os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0")
	os.Exit(tooltest.Together(m))
}

// fake is a coding agent that plays a script in the language of a kind: steps separated by "; ".
type fake struct {
	kind    string
	in      io.Writer
	answers *bufio.Scanner
	calls   int
}

// say prints a line.
func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func quoted(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

func (f *fake) play(script string) {
	for step := range strings.SplitSeq(script, "; ") {
		what, rest, _ := strings.Cut(step, " ")
		switch what {
		case "turn":
			if f.kind == "claude" {
				say(`{"type":"stream_event","event":{"type":"message_start","message":{"model":"m","usage":{"input_tokens":100,"cache_read_input_tokens":7,"output_tokens":1}}}}`)
			}
		case "use":
			if f.kind == "claude" {
				say(`{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":42}}}`)
			}
		case "say", "think":
			f.speak(what, rest)
		case "call":
			name, args, _ := strings.Cut(rest, " ")
			f.call(name, args)
		case "begin": // a call whose result is not awaited
			name, args, _ := strings.Cut(rest, " ")
			f.ask(name, args)
		case "own":
			f.own(rest)
		case "read":
			data, err := os.ReadFile(rest)
			f.speak("say", fmt.Sprintf("%s %v", data, err))
		case "write":
			f.speak("say", fmt.Sprint(os.WriteFile(rest, []byte("own"), 0o666) == nil))
		case "input":
			data, _ := io.ReadAll(os.Stdin)
			f.speak("say", string(data))
		case "env":
			f.speak("say", os.Getenv(rest))
		case "print":
			say("%s", rest)
		case "stderr":
			fmt.Fprintln(os.Stderr, rest)
		case "done":
			f.done(rest)
		case "crash":
			os.Exit(3)
		case "hang":
			select {}
		case "flood":
			for {
				say(`{"type":"nothing"}`)
			}
		case "child": // holds the output open
			_ = exec.Command("/bin/sleep", "1000").Start()
		}
	}
}

func (f *fake) speak(what, text string) {
	switch f.kind {
	case "claude":
		field := map[string]string{"say": "text", "think": "thinking"}[what]
		say(`{"type":"assistant","message":{"content":[{"type":%q,%q:%s}]}}`, field, field, quoted(text))
	case "codex":
		say(`{"type":"item.completed","item":{"type":%q,"text":%s}}`, map[string]string{"say": "agent_message", "think": "reasoning"}[what], quoted(text))
	case "gemini":
		if what == "say" {
			say(`{"type":"message","role":"assistant","content":%s,"delta":true}`, quoted(text[:1]))
			say(`{"type":"message","role":"assistant","content":%s,"delta":true}`, quoted(text[1:]))
		}
	default:
		say(`{"type":%q,"text":%s}`, map[string]string{"say": "text", "think": "thinking"}[what], quoted(text))
	}
}

var server = regexp.MustCompile(`"executor-tools","([^"]+)","([^"]+)"`)

// ask sends a call to the server of the tools, which it starts as agents do.
func (f *fake) ask(name, args string) {
	if f.in == nil {
		at := server.FindStringSubmatch(strings.ReplaceAll(strings.Join(append(os.Args, os.Environ()...), "\n"), `\"`, `"`))
		if at == nil { // gemini has it in a file
			data, _ := os.ReadFile(os.Getenv("GEMINI_CLI_HOME") + "/.gemini/settings.json")
			at = server.FindStringSubmatch(string(data))
		}
		cmd := exec.Command(os.Args[0], inside.ToolsArgument, at[1], at[2])
		f.in, _ = cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		f.answers = bufio.NewScanner(out)
		f.answers.Buffer(nil, 16<<20)
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		fmt.Fprintln(f.in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`)
		f.answers.Scan()
	}
	f.calls++
	fmt.Fprintf(f.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", f.calls, name, args)
}

// call calls a tool, waits for its result, and says so as the kind does.
func (f *fake) call(name, args string) {
	switch f.kind {
	case "claude":
		say(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t%d","name":"mcp__toolcrib__%s","input":%s}]}}`, f.calls, name, args)
	case "codex":
		say(`{"type":"item.started","item":{"id":"i%d","type":"mcp_tool_call","server":"toolcrib","tool":%q,"arguments":%s}}`, f.calls, name, args)
	case "gemini":
		say(`{"type":"tool_use","tool_name":"mcp_toolcrib_%s","tool_id":"t%d","parameters":%s}`, name, f.calls, args)
	}
	f.ask(name, args)
	f.answers.Scan()
	var answer struct {
		Result struct{ Content []struct{ Text string } }
	}
	_ = json.Unmarshal(f.answers.Bytes(), &answer)
	if f.kind == "claude" && len(answer.Result.Content) > 0 {
		say(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t%d","content":%s}]}}`, f.calls-1, quoted(answer.Result.Content[0].Text))
	}
	if name == "echo" {
		f.speak("say", "got "+answer.Result.Content[0].Text)
	}
}

// own is a tool of its own.
func (f *fake) own(name string) {
	switch f.kind {
	case "claude":
		say(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"o","name":%q,"input":{"command":"ls"}}]}}`, name)
		say(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"o","content":[{"type":"text","text":"a.txt"}]}]}}`)
	case "codex":
		say(`{"type":"item.started","item":{"id":"o","type":"command_execution","command":"ls"}}`)
		say(`{"type":"item.completed","item":{"id":"o","type":"command_execution","command":"ls","aggregated_output":"a.txt","exit_code":0,"status":"completed"}}`)
	case "gemini":
		say(`{"type":"tool_use","tool_name":%q,"tool_id":"o","parameters":{"command":"ls"}}`, name)
		say(`{"type":"tool_result","tool_id":"o","status":"success","output":"a.txt"}`)
	default:
		say(`{"type":"tool_call","id":"o","name":%q,"arguments":{"command":"ls"}}`, name)
		say(`{"type":"tool_result","id":"o","text":"a.txt"}`)
	}
}

// done says that it is done; "failed WHY" that it failed, and "silent" leaves the use out.
func (f *fake) done(how string) {
	why, failed := strings.CutPrefix(how, "failed ")
	switch {
	case f.kind == "claude" && failed:
		say(`{"type":"result","subtype":"error_during_execution","is_error":true,"errors":[%q]}`, why)
	case f.kind == "claude" && how == "budget":
		say(`{"type":"result","subtype":"error_max_budget_usd","is_error":true}`)
	case f.kind == "claude":
		say(`{"type":"result","subtype":"success","result":"","total_cost_usd":0.25,"usage":{"input_tokens":200,"output_tokens":84}}`)
	case f.kind == "codex" && failed:
		say(`{"type":"turn.failed","error":{"message":%q}}`, why)
	case f.kind == "codex" && how == "silent":
		say(`{"type":"turn.completed"}`)
	case f.kind == "codex":
		say(`{"type":"turn.completed","usage":{"input_tokens":214,"cached_input_tokens":14,"output_tokens":84}}`)
	case f.kind == "gemini" && failed:
		say(`{"type":"result","status":"error","error":{"message":%q}}`, why)
	case f.kind == "gemini":
		say(`{"type":"result","status":"success","stats":{"input":200,"cached":14,"output_tokens":84}}`)
	case failed:
		say(`{"type":"error","text":%q}`, why)
	case how == "silent":
		say(`{"type":"done"}`)
	default:
		say(`{"type":"done","tokens":{"in":200,"cache_read":14,"out":84},"cost":0.25}`)
	}
	if how == "stays" {
		time.Sleep(time.Hour)
	}
}
