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
		args:  "explain TOOL JSON [DIR ...]",
		short: "say what would happen to a call, and by which rule",
		long:  "The tool is not called; hooks before a call are asked. JSON is the arguments of the tool, DIR what serve takes.",
		new:   func() runner { return new(policy) },
	}
}

func (c *policy) run(ctx context.Context, p *Process, args []string) error {
	const usage = "toolcrib policy explain TOOL JSON [DIR ...]; toolcrib help policy says how rules are written"
	if len(args) < 3 || args[0] != "explain" {
		return config.Usagef(usage, "policy wants explain, a tool and its arguments as JSON")
	}
	roots, selected, err := p.callIn(&c.Config, args[1], args[3:])
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
		Tool: args[1], Args: json.RawMessage(args[2]),
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
