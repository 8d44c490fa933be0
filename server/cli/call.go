package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"toolcrib/server/app"
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
		args:  "TOOL JSON [DIR ...]",
		short: "call one tool and print its result",
		long: `
JSON is the arguments of the tool; - reads them from stdin. DIR is what serve
takes. The call goes the same way as a client's: the same checks, the same
limits. Programs end with the call: it waits for them, and keeps no jobs. Exit
code 1: the tool answered with an error, which is on stderr.

  toolcrib call ` + catalog.ShownRead + ` '{"path": "go.mod"}'
  toolcrib call --all ` + catalog.ShownFind + ` '{"pattern": ["*.go"]}'
  toolcrib call ` + catalog.ShownSearch + ` - src <arguments.json`,
		new: func() runner { return new(call) },
	}
}

func (c *call) run(ctx context.Context, p *Process, args []string) error {
	const usage = "toolcrib call TOOL JSON [DIR ...]; toolcrib show TOOL tells the arguments"
	if len(args) < 2 {
		return config.Usagef(usage, "call wants a tool and its arguments as JSON")
	}
	name, text := args[0], args[1]
	roots, selected, err := p.callIn(&c.Config, name, args[2:])
	if err != nil {
		return err
	}
	if text == "-" {
		data, err := io.ReadAll(p.Stdin)
		if err != nil {
			return fmt.Errorf("read the arguments from stdin: %w", err)
		}
		text = string(data)
	}
	p.app().TuneGC()
	e, err := p.app().Open(ctx, c.Config, selected, roots)
	if err != nil {
		return err
	}
	ctx, stop := app.UntilSignal(ctx, false)
	defer stop()
	asks := args[1] != "-" && p.IsTerminal(p.Stdin) && p.IsTerminal(p.Stderr)
	request := run.Call{
		Tool: name,
		Args: json.RawMessage(text),
		Session: tools.SessionInfo{
			Principal: tools.Local,
			Client:    tools.Client{Name: "toolcrib call", Version: moduleVersion(), Forms: asks},
			Workspace: e.Workspace,
			Once:      true,
		},
		Progress: p.progress(),
	}
	for {
		out := p.carry(ctx, e.Runner, request)
		if err := c.print(p, out); err != nil {
			return errors.Join(err, e.Close())
		}
		next, more := out.Result.Meta[tools.MetaNext].(map[string]any)
		if !more || !c.All {
			return e.Close()
		}
		if request.Args, err = withArguments(request.Args, next); err != nil {
			return errors.Join(err, e.Close())
		}
	}
}

// callIn settles the configuration for a call of a tool in directories, and returns the
// roots and the tools. It refuses a name that cannot be called.
func (p *Process) callIn(cfg *config.Config, tool string, dirs []string) (roots []string, selected tools.Selected, err error) {
	if roots, err = rootsOf(dirs); err != nil {
		return nil, selected, err
	}
	if err = p.settle(cfg, roots); err != nil {
		return nil, selected, err
	}
	if selected, err = p.app().Choose(*cfg); err != nil {
		return nil, selected, err
	}
	return roots, selected, callable(p.env.Catalog, selected, tool)
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
func callable(all []tools.Tool, selected tools.Selected, name string) error {
	tool, ok := catalog.Find(all, name)
	if !ok {
		return missingTool(all, name)
	}
	for _, o := range selected.Omitted {
		if o.Tool.Name == tool.Name {
			return config.Usagef("toolcrib list --all shows what can be called", "%s cannot be called: %s", name, o.Reason)
		}
	}
	return nil
}

// carry carries out a call, asking at the terminal as often as the tool does.
func (p *Process) carry(ctx context.Context, r *run.Runner, c run.Call) run.Outcome {
	var person *asker
	for {
		out := r.Run(ctx, c)
		if out.Ask == nil {
			return out
		}
		if person == nil {
			person = newAsker(p.Stdin, p.Stderr)
		}
		answers, err := person.answer(ctx, out.Ask.Forms)
		if err != nil {
			return run.Outcome{Err: tools.AsError(err)}
		}
		c.Reply = &run.Reply{State: out.Ask.State, Answers: answers}
	}
}

// progress returns what shows the progress of a call, nil where nobody looks.
func (p *Process) progress() func(tools.ProgressEvent) {
	if !p.IsTerminal(p.Stderr) {
		return nil
	}
	return func(e tools.ProgressEvent) {
		line := e.Message
		if e.Total > 0 {
			line = strings.TrimSpace(fmt.Sprintf("%3.0f%% %s", 100*e.Done/e.Total, line))
		}
		fmt.Fprintln(p.Stderr, line)
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
