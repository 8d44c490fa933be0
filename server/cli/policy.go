package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"toolcrib/server/config"
	"toolcrib/server/run"
	"toolcrib/tools"
)

type policy struct {
	config.Config
	JSON      bool   `flag:"json" help:"print the explanation as JSON"`
	Principal string `flag:"principal" arg:"NAME" help:"judge the call as one of NAME (default local)"`
}

func policyCommand() command {
	return command{
		name:  "policy",
		args:  "explain TOOL [JSON | KEY=VALUE ...] [DIR ...]",
		short: "say what would happen to a call, and by which rule",
		long:  "The tool is not called; hooks before a call are asked. The arguments are those of call.",
		new:   func() runner { return new(policy) },
	}
}

func (c *policy) run(ctx context.Context, p *Process, args []string) error {
	const usage = "toolcrib policy explain TOOL [JSON | KEY=VALUE ...] [DIR ...]; toolcrib help policy says how rules are written"
	if len(args) < 2 || args[0] != "explain" {
		return config.Usagef(usage, "policy wants explain, a tool and its arguments")
	}
	text, dirs := p.argumentsOf(args[1], args[2:])
	if text == "-" {
		return config.Usagef(usage, "policy reads no arguments from stdin")
	}
	roots, selected, err := p.callIn(&c.Config, args[1], json.RawMessage(text), dirs)
	if err != nil {
		return err
	}
	cfg := c.Config
	cfg.Audit, cfg.AuditDir = false, "" // nothing is done that would be on record
	e, err := p.app().Open(ctx, cfg, selected, roots)
	if err != nil {
		return err
	}
	principal := c.Principal
	if principal == "" {
		principal = tools.Local
	}
	x, err := e.Runner.Explain(ctx, run.Call{
		Tool: args[1], Args: json.RawMessage(text),
		Session: tools.SessionInfo{Principal: principal, Client: tools.Client{Name: "toolcrib policy", Forms: true}, Workspace: e.Workspace},
	})
	if err := errors.Join(err, e.Close()); err != nil {
		return err
	}
	if c.JSON {
		text, err := encode(x)
		if err != nil {
			return err
		}
		_, err = io.WriteString(p.Stdout, text)
		return err
	}
	_, err = io.WriteString(p.Stdout, x.String())
	return err
}
