package shell

import (
	"context"
	_ "embed"
	"errors"
	"strings"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/secrets"
	"toolcrib/tools/shell/internal/command"
)

//go:embed powershell.md
var powershellDoc string

// PowerShellIn says what to run. It has the fields of [commandIn] and is converted to it.
type PowerShellIn struct {
	Command    string   `json:"command" jsonschema:"minLength=1,maxLength=100000" jsonschema_description:"PowerShell command line or script" alias:"cmd,script,code,command_line,bash_command"`
	Cwd        string   `json:"cwd,omitempty" jsonschema:"default=." jsonschema_description:"directory to run in" path:"directory" alias:"workdir,working_directory,directory,dir,path,working_dir,dir_path"`
	Env        []string `json:"env,omitempty" jsonschema:"maxItems=100" jsonschema_description:"variables, each KEY=VALUE" alias:"environment,env_vars,envs"`
	Timeout    string   `json:"timeout,omitempty" unit:"s,ms" jsonschema:"maxLength=20" jsonschema_description:"end it after, such as \"90s\"; default 30m, none in the background"`
	Background bool     `json:"background,omitempty" jsonschema:"default=false" jsonschema_description:"return at once with the handle of a job" alias:"run_in_background,is_background,detach"`
	Session    string   `json:"-"` // only bash has sessions
	Terminal   bool     `json:"terminal,omitempty" jsonschema:"default=false" jsonschema_description:"run on a terminal; job_input types" alias:"pty,tty"`
	Input      bool     `json:"input,omitempty" jsonschema:"default=false" jsonschema_description:"keep its input open, as a pipe, for job_input" alias:"interactive"`
	Network    bool     `json:"network,omitempty" jsonschema:"default=false" jsonschema_description:"let it reach the network; the user may be asked" alias:"allow_network,network_access"`
	Ports      []int    `json:"ports,omitempty" jsonschema:"maxItems=8,minimum=1,maximum=65535" jsonschema_description:"ports of a server to open for the user on 127.0.0.1; may ask"`
	MaxOutput  int      `json:"max_output,omitempty" jsonschema:"minimum=200,maximum=45000,default=20000" jsonschema_description:"bytes of output to show" alias:"max_output_length,max_output_bytes,max_output_chars"`
}

// PowerShellOut is the result of the command, or the job that it has become.
type PowerShellOut struct{ commandOut }

func powershellTool(d Deps) tools.Tool {
	return tools.New(tools.Def[PowerShellIn, PowerShellOut]{
		Name: "powershell", Title: "Run a PowerShell command", Doc: powershellDoc, Tags: []string{"shell", "run", "powershell"},
		Aliases: []string{"pwsh"},
		Access:  tools.Exec, Effects: tools.Workspace | tools.Outside | tools.Process | tools.Network | tools.State | tools.Destroys,
		Streams: true, Timeout: longest + 30*time.Second, Spellings: powershellSpellings(),
		Needs:  []tools.Need{{Binaries: []string{"pwsh"}, How: "install PowerShell 7"}},
		Limits: tools.Limits{Facts: map[string]any{"foreground": int(foreground.Seconds())}},
		Plan:   d.planPowershell, Confirm: d.powershellQuestion,
		Redact: redactPowershell,
		Examples: []tools.Example[PowerShellIn]{{
			Say:   "The exit code is that of exit.",
			Files: map[string]string{"docs/a.txt": "alpha\n"},
			In:    PowerShellIn{Command: "Get-Content a.txt; Write-Output $env:WHO; exit 3", Cwd: "docs", Env: []string{"WHO=me"}, Timeout: "60s"},
			Want:  "exit 3 in …; 2 lines, 9 B\n...\n\nalpha\nme\n",
		}, {
			Say:   "The changed files are listed.",
			Files: map[string]string{"a.txt": "one\n"},
			In:    PowerShellIn{Command: "Set-Content -Path b.txt -Value two; Remove-Item a.txt"},
			Want:  "exit 0 in …; no output\n...\nfiles: created b.txt; deleted a.txt (undo: restore_file undo=true)\n",
		}},
		Run: d.powershell,
	})
}

func (d Deps) powershell(ctx context.Context, in PowerShellIn) (PowerShellOut, error) {
	out, err := d.run(ctx, "powershell", commandIn(in), in.args())
	return PowerShellOut{out}, err
}

// args returns the command that runs the line. Without a terminal or input, prompts are
// errors.
func (in PowerShellIn) args() []string {
	args := []string{"pwsh", "-NoLogo", "-NoProfile"}
	if !in.Terminal && !in.Input {
		args = append(args, "-NonInteractive")
	}
	return append(args, "-Command", in.Command)
}

// planPowershell returns the effects of a command: it runs pwsh, and its line is not analysed.
func (d Deps) planPowershell(ctx context.Context, in PowerShellIn) (tools.Plan, error) {
	if err := d.honoured(ctx, commandIn(in)); err != nil {
		return tools.Plan{}, err
	}
	var words []tools.Word
	for _, arg := range in.args() {
		words = append(words, tools.Word{Text: arg})
	}
	return tools.Plan{
		Effects:  d.always(commandIn(in)),
		Commands: []tools.Command{{Words: words, Hides: "lines of PowerShell are not read"}},
		Ports:    len(in.Ports) > 0,
		Shows:    commandIn(in).shows(),
	}, nil
}

// powershellQuestion asks before a command loses what cannot be restored.
func (d Deps) powershellQuestion(ctx context.Context, in PowerShellIn) (tools.Question, error) {
	return d.question(ctx, command.PowerShell(in.Command, d.location(ctx, commandIn(in))))
}

// redactPowershell returns the arguments as records may have them. The line is not parsed.
func redactPowershell(_ context.Context, in PowerShellIn) PowerShellIn {
	in.Command, in.Env = secrets.Line(in.Command), redactedVariables(in.Env)
	return in
}

// powershellSpellings are the forms in which other tools take a command.
func powershellSpellings() []schema.Spelling {
	return append([]schema.Spelling{
		{Names: []string{"command"}, Read: powershellLine},
		schema.OnlyWith("commands are run by PowerShell; bash is another tool", "shell", "powershell", "pwsh", "powershell.exe"),
	}, commandSpellings()...)
}

// powershellLine reads a command that is a list of words.
func powershellLine(given map[string]any) (map[string]any, error) {
	words, ok := schema.Strings(given["command"])
	if !ok {
		return nil, nil
	}
	if n := len(words); n > 2 && strings.EqualFold(words[n-2], "-Command") || n == 1 {
		return map[string]any{"command": words[n-1]}, nil
	}
	return nil, errors.New("give the command line as one text")
}
