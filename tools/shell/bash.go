package shell

import (
	"context"
	_ "embed"
	"path"
	"slices"
	"strings"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/shell/internal/command"
	"toolcrib/workspace"
)

//go:embed bash.md
var bashDoc string

// BashIn says what to run.
type BashIn struct {
	Command    string   `json:"command" jsonschema:"minLength=1,maxLength=100000" jsonschema_description:"bash command line or script" alias:"cmd,script,code,command_line,bash_command"`
	Cwd        string   `json:"cwd,omitempty" jsonschema_description:"directory; default the root, or the session's" path:"directory" alias:"workdir,working_directory,directory,dir,path,working_dir,dir_path"`
	Env        []string `json:"env,omitempty" jsonschema:"maxItems=100" jsonschema_description:"variables, each KEY=VALUE" alias:"environment,env_vars,envs"`
	Timeout    string   `json:"timeout,omitempty" unit:"s,ms" jsonschema:"maxLength=20" jsonschema_description:"end it after, such as \"90s\"; default 30m, none in the background"`
	Background bool     `json:"background,omitempty" jsonschema:"default=false" jsonschema_description:"return at once with a job's handle: servers, watchers, long builds" alias:"run_in_background,is_background,detach"`
	Session    string   `json:"session,omitempty" jsonschema:"maxLength=40" jsonschema_description:"name of a shell that keeps directory and variables between calls" alias:"session_id,shell_id"`
	Terminal   bool     `json:"terminal,omitempty" jsonschema:"default=false" jsonschema_description:"run on a terminal, for interactive programs; job_input types" alias:"pty,tty"`
	Input      bool     `json:"input,omitempty" jsonschema:"default=false" jsonschema_description:"keep its input open, as a pipe, for job_input" alias:"interactive"`
	Network    bool     `json:"network,omitempty" jsonschema:"default=false" jsonschema_description:"let it reach the network; the user may be asked" alias:"allow_network,network_access"`
	Ports      []int    `json:"ports,omitempty" jsonschema:"maxItems=8,minimum=1,maximum=65535" jsonschema_description:"ports of a server to open for the user on 127.0.0.1; may ask"`
	MaxOutput  int      `json:"max_output,omitempty" jsonschema:"minimum=200,maximum=45000,default=20000" jsonschema_description:"bytes of output to show" alias:"max_output_length,max_output_bytes,max_output_chars"`
}

// BashOut is the result of the command, or the job that it has become.
type BashOut struct{ commandOut }

func bashTool(d Deps) tools.Tool {
	return tools.New(tools.Def[BashIn, BashOut]{
		Name: "bash", Title: "Run a command", Doc: bashDoc, Tags: []string{"shell", "run", "build", "test", "packages", "version control"},
		Aliases: []string{"shell", "run_command", "execute_command"}, Foreign: bashForeign(),
		Access: tools.Exec, Effects: tools.Workspace | tools.Outside | tools.Process | tools.Network | tools.State | tools.Destroys,
		Streams: true, Timeout: longest + 30*time.Second, Spellings: bashSpellings(),
		Needs:   []tools.Need{{Binaries: []string{"bash"}, How: "install bash"}},
		Limits:  tools.Limits{Facts: map[string]any{"foreground": int(foreground.Seconds()), "line": textfile.LineChars, "whole": shownWhole, "kept": textfile.Size(workspace.MaxKept)}},
		Plan:    d.plan,
		Confirm: d.bashQuestion,
		Redact:  redactBash,
		Examples: []tools.Example[BashIn]{{
			Say:   "Count the lines of the Go files.",
			Files: map[string]string{"a.go": "package a\n", "b/b.go": "package b\n\nvar B = 1\n"},
			In:    BashIn{Command: "cat $(find . -name '*.go') | wc -l"},
			Want:  "exit 0 in …; 1 line, 2 B\n...\n\n4\n",
		}, {
			Say:   "A command that fails has its exit code in the first line.",
			Files: map[string]string{"docs/a.txt": "alpha\n"},
			In:    BashIn{Command: "echo $WHO; grep -n beta a.txt", Cwd: "docs", Env: []string{"WHO=me"}, Timeout: "20s"},
			Want:  "exit 1 in …; 1 line, 3 B\n...\n\nme\n",
		}, {
			Say:   "The changed files are listed.",
			Files: map[string]string{"a.txt": "one\n", "b.txt": "two\n"},
			In:    BashIn{Command: "echo more >> a.txt; rm b.txt; echo new > c.txt"},
			Want:  "exit 0 in …; no output\n...\nfiles: created c.txt; changed a.txt; deleted b.txt (undo: restore_file undo=true)\n",
			After: map[string]string{"a.txt": "one\nmore\n", "c.txt": "new\n"},
		}},
		Run: d.bash,
	})
}

func (d Deps) bash(ctx context.Context, in BashIn) (BashOut, error) {
	out, err := d.run(ctx, "bash", commandIn(in), bashArgs(in.Command))
	return BashOut{out}, err
}

// plan returns the effects that a command would have.
func (d Deps) plan(ctx context.Context, in BashIn) (tools.Plan, error) {
	if err := d.honoured(ctx, commandIn(in)); err != nil {
		return tools.Plan{}, err
	}
	plan := planLine(tools.Session(ctx).Workspace, in.Command, d.location(ctx, commandIn(in)), d.always(commandIn(in)))
	plan.Ports, plan.Shows = len(in.Ports) > 0, commandIn(in).shows()
	return plan, nil
}

// bashQuestion asks before a command loses what cannot be restored.
func (d Deps) bashQuestion(ctx context.Context, in BashIn) (tools.Question, error) {
	return d.losing(ctx, commandIn(in))
}

// redactBash returns the arguments as records may have them: without secrets.
func redactBash(_ context.Context, in BashIn) BashIn {
	in.Command, in.Env = command.Redacted(in.Command), redactedVariables(in.Env)
	return in
}

// bashSpellings are the forms in which other tools take a command.
func bashSpellings() []schema.Spelling {
	return append([]schema.Spelling{
		{Names: []string{"command", "args", "arguments"}, Read: bashLine},
		schema.OnlyWith("commands are run by bash; write SHELL -c '...' in the command", "shell", "bash", "/bin/bash", "/usr/bin/bash", "sh", "/bin/sh"),
		schema.Dropped("bash is no login shell here", "login"),
	}, commandSpellings()...)
}

// bashLine reads a command that is a list of words. If the words start a shell with a line, it
// returns that line.
func bashLine(given map[string]any) (map[string]any, error) {
	words, ok := schema.Strings(given["command"])
	line, isText := given["command"].(string)
	more := given["args"]
	if more == nil {
		more = given["arguments"]
	}
	rest, restOK := schema.Strings(more)
	switch {
	case !ok && !isText || more != nil && !restOK:
		return nil, nil
	case isText:
		return joined([]string{line}, rest)
	}
	words = append(words, rest...)
	if len(words) == 3 && isShell(words[0]) && slices.Contains([]string{"-c", "-lc", "-cl", "-l -c"}, words[1]) {
		return map[string]any{"command": words[2]}, nil
	}
	return joined(nil, words)
}

func isShell(name string) bool { return slices.Contains([]string{"bash", "sh"}, path.Base(name)) }

// joined appends words to a line.
func joined(line, words []string) (map[string]any, error) {
	for _, word := range words {
		quoted, err := command.Quote(word)
		if err != nil {
			return nil, err
		}
		line = append(line, quoted)
	}
	return map[string]any{"command": strings.Join(line, " ")}, nil
}
