package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"toolcrib/schema"
	"toolcrib/server/app"
	"toolcrib/server/cli/internal/prompt"
	"toolcrib/server/config"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

type call struct {
	config.Config
	JSON bool `flag:"json" help:"print the result as JSON, with everything that is in it, an error too"`
	All  bool `flag:"all" help:"print the pages that follow too, each as a result of its own"`
}

func callCommand() command {
	return command{
		name:  "call",
		args:  "TOOL [JSON | KEY=VALUE ...] [DIR ...]",
		short: "call one tool and print its result",
		long: `
JSON is the arguments of the tool; - reads them from stdin. KEY=VALUE is one of
them; given twice, it is a list. DIR is what serve takes. The call goes the same
way as a client's: the same checks, the same limits. Programs end with the call:
it waits for them, and keeps no jobs. The exit code is that of the program that
the tool has run, 128 and the signal if one ended it; 1 if the tool answered with
an error, which is on stderr; 2 if the command line is wrong.

  toolcrib call ` + catalog.ShownRead + ` path=go.mod
  toolcrib call ` + catalog.ShownRead + ` '{"path": "go.mod"}'
  toolcrib call --all ` + catalog.ShownFind + ` '{"pattern": ["*.go"]}'
  toolcrib call ` + catalog.ShownSearch + ` - src <arguments.json`,
		new: func() runner { return new(call) },
	}
}

func (c *call) run(ctx context.Context, p *Process, args []string) error {
	const usage = "toolcrib call TOOL [JSON | KEY=VALUE ...] [DIR ...]; toolcrib show TOOL tells the arguments"
	if len(args) == 0 {
		return config.Usagef(usage, "call wants a tool")
	}
	name := args[0]
	text, dirs := p.argumentsOf(name, args[1:])
	typed := text != "-"
	if !typed {
		data, err := io.ReadAll(p.Stdin)
		if err != nil {
			return fmt.Errorf("read the arguments from stdin: %w", err)
		}
		text = string(data)
	}
	roots, selected, err := p.callIn(&c.Config, name, json.RawMessage(text), dirs)
	if err != nil {
		return err
	}
	p.app().TuneGC()
	e, err := p.app().Open(ctx, c.Config, selected, roots)
	if err != nil {
		return err
	}
	ctx, stop := app.UntilSignal(ctx, false)
	defer stop()
	asks := typed && p.IsTerminal(p.Stdin) && p.IsTerminal(p.Stderr)
	request := run.Call{
		Tool: name,
		Args: json.RawMessage(text),
		Session: tools.SessionInfo{
			Principal: tools.Local,
			Client:    tools.Client{Name: "toolcrib call", Version: moduleVersion(), Forms: asks},
			Workspace: e.Workspace,
			Once:      true,
		},
	}
	show := p.progress()
	if show != nil {
		request.Progress = show.event
	}
	for {
		out := p.carry(ctx, e.Runner, request, show)
		if err := c.print(p, out); err != nil {
			return errors.Join(err, e.Close())
		}
		next, more := out.Result.Meta[tools.MetaNext].(map[string]any)
		if !more || !c.All {
			return errors.Join(e.Close(), exitOf(out))
		}
		if request.Args, err = withArguments(request.Args, next); err != nil {
			return errors.Join(err, e.Close())
		}
	}
}

// exitOf returns the exit code of the program that a call has run, nil if it is 0 or there
// was none.
func exitOf(out run.Outcome) error {
	if code, ok := out.Result.Meta[tools.MetaExit].(int); ok && code != 0 {
		return silentError{code}
	}
	return nil
}

// argumentsOf returns the arguments for a tool at the start of args, as JSON or as "-" for
// those on stdin, and the directories after them.
func (p *Process) argumentsOf(tool string, args []string) (text string, dirs []string) {
	if len(args) == 0 {
		return "{}", nil
	}
	if first := strings.TrimSpace(args[0]); first == "-" || strings.HasPrefix(first, "{") || strings.HasPrefix(first, `"`) {
		return first, args[1:]
	}
	all := map[string]any{}
	for i, arg := range args {
		key, value, ok := schema.Pair(arg)
		if !ok {
			return p.typed(tool, all), args[i:]
		}
		schema.AddPair(all, key, value)
	}
	return p.typed(tool, all), nil
}

// typed returns texts as the JSON of arguments of a tool: numbers and booleans are what they
// say, where the tool takes such.
func (p *Process) typed(tool string, args map[string]any) string {
	if in := p.input(tool, json.RawMessage(compact(args))); in != nil {
		for key, v := range args {
			text, _ := v.(string)
			kind, _ := in.Keyword(key, "type")
			if slices.Contains([]any{"integer", "number", "boolean"}, kind) && json.Valid([]byte(text)) {
				args[key] = json.RawMessage(text)
			}
		}
	}
	return compact(args)
}

// input returns the schema of the arguments of a tool, nil if no tool has the name.
func (p *Process) input(tool string, args json.RawMessage) *schema.Type {
	names, err := tools.NameTools(p.env.Catalog)
	if err != nil {
		return nil
	}
	t, err := names.Find(tool, args)
	if err != nil {
		return nil
	}
	in, err := t.Input()
	if err != nil {
		return nil
	}
	return in
}

// callIn settles the configuration for a call of a tool in directories, and returns the
// roots and the tools. It refuses a name that cannot be called.
func (p *Process) callIn(cfg *config.Config, tool string, args json.RawMessage, dirs []string) (roots []string, selected tools.Selected, err error) {
	if roots, err = rootsOf(dirs); err != nil {
		if in, u := p.input(tool, args), (*config.UsageError)(nil); in != nil && len(in.Names()) > 0 && len(dirs) > 0 && errors.As(err, &u) {
			u.Hint = fmt.Sprintf("an argument has its name, as in toolcrib call %s %s=%s; a directory comes after the arguments", tool, in.Names()[0], dirs[0])
		}
		return nil, selected, err
	}
	if err = p.settle(cfg, roots); err != nil {
		return nil, selected, err
	}
	if selected, err = p.app().Choose(*cfg); err != nil {
		return nil, selected, err
	}
	return roots, selected, callable(p.env.Catalog, selected, tool, args)
}

// withArguments returns the arguments of a call with some of them changed.
func withArguments(args json.RawMessage, changed map[string]any) (json.RawMessage, error) {
	all := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber() // a number stays as it was written
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("read the arguments for the next page: %w", err)
	}
	maps.Copy(all, changed)
	return json.Marshal(all)
}

// callable refuses the name of a tool that does not exist or is switched off.
func callable(all []tools.Tool, selected tools.Selected, name string, args json.RawMessage) error {
	names, err := tools.NameTools(all)
	if err != nil {
		return err
	}
	tool, err := names.Find(name, args)
	switch e := tools.AsError(err); {
	case err != nil && e.Code == tools.NotFound:
		return missingTool(all, name)
	case err != nil:
		return config.Usagef(e.Hint, "%s", e.Msg)
	}
	for _, o := range selected.Omitted {
		if o.Tool.Name == tool.Name {
			return config.Usagef("toolcrib list --all shows what can be called", "%s cannot be called: %s", name, o.Reason)
		}
	}
	return nil
}

// carry carries out a call, asking at the terminal as often as the tool does.
func (p *Process) carry(ctx context.Context, r *run.Runner, c run.Call, show *progressLine) run.Outcome {
	var person *prompt.Asker
	for {
		out := r.Run(ctx, c)
		show.clear()
		if out.Ask == nil {
			return out
		}
		if person == nil {
			person = prompt.New(p.Stdin, p.Stderr)
		}
		answers, err := person.Answer(ctx, out.Ask.Forms)
		if err != nil {
			return run.Outcome{Err: tools.AsError(err)}
		}
		c.Reply = &run.Reply{State: out.Ask.State, Answers: answers}
	}
}

// progressLine shows the progress of a call on one line of a terminal, until there is more
// to show: a program tells its output as progress, and the result has it too.
type progressLine struct {
	out   io.Writer
	shown bool
}

// progress returns what shows the progress of a call, nil where nobody looks.
func (p *Process) progress() *progressLine {
	if !p.IsTerminal(p.Stderr) || slices.Contains(p.Environ, "TERM=dumb") {
		return nil
	}
	return &progressLine{out: p.Stderr}
}

// Of a terminal: to the start of the line, which is erased.
const eraseLine = "\r\x1b[K"

const progressWidth = 78

func (l *progressLine) event(e tools.ProgressEvent) {
	line := e.Message
	if e.Total > 0 {
		line = fmt.Sprintf("%3.0f%% %s", 100*e.Done/e.Total, line)
	}
	line = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.TrimSpace(line))
	if runes := []rune(line); len(runes) > progressWidth {
		line = string(runes[:progressWidth]) + "…"
	}
	l.shown = true
	fmt.Fprint(l.out, eraseLine+line)
}

// clear takes the line away.
func (l *progressLine) clear() {
	if l != nil && l.shown {
		l.shown = false
		fmt.Fprint(l.out, eraseLine)
	}
}

func (c *call) print(p *Process, out run.Outcome) error {
	if c.JSON {
		return printJSON(p.Stdout, out)
	}
	if out.Err != nil {
		fmt.Fprintln(p.Stderr, out.Err)
		return silentError{}
	}
	for _, b := range out.Result.Content {
		if _, err := fmt.Fprintln(p.Stdout, strings.TrimSuffix(plain(b), "\n")); err != nil {
			return err
		}
	}
	return nil
}

func plain(b tools.Block) string {
	switch b.Kind {
	case tools.ImageBlock, tools.AudioBlock:
		return fmt.Sprintf("[%s, %d bytes; --json prints them]", b.MIME, len(b.Data))
	case tools.LinkBlock:
		return fmt.Sprintf("[%s: %s]", b.Name, b.URI)
	default:
		return b.Text
	}
}
