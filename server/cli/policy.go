package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"toolcrib/server"
	"toolcrib/server/run"
	"toolcrib/tools"
)

// settingsOf returns what of a configuration the runner works by.
func settingsOf(cfg server.Config, selected tools.Selected, c checked) run.Settings {
	return run.Settings{
		Tools: selected.Enabled, ReadOnly: cfg.ReadOnly, AllowProtected: cfg.AllowProtected, Confirm: cfg.Confirm, Rules: c.rules,
		AuditFailure: cfg.AuditFailure,
		Hooks:        c.hooks,
	}
}

type policy struct {
	server.Config
	JSON      bool   `flag:"json" help:"print the explanation as JSON"`
	Principal string `flag:"principal" arg:"NAME" help:"judge the call as one of NAME (default local)"`
}

func policyCommand() command {
	return command{
		name:  "policy",
		args:  "explain TOOL JSON [DIR ...]",
		short: "say what would happen to a call, and by which rule",
		long:  "Nothing is called. JSON is the arguments of the tool, DIR what serve takes.",
		new:   func() runner { return new(policy) },
	}
}

func (c *policy) run(ctx context.Context, p *Process, args []string) error {
	const usage = "toolcrib policy explain TOOL JSON [DIR ...]; toolcrib help policy says how rules are written"
	if len(args) < 3 || args[0] != "explain" {
		return usagef(usage, "policy wants explain, a tool and its arguments as JSON")
	}
	roots, selected, err := p.callIn(&c.Config, args[1], args[3:])
	if err != nil {
		return err
	}
	cfg := c.Config
	cfg.Audit, cfg.AuditDir = false, "" // nothing is done that would be on record
	e, err := p.open(ctx, cfg, selected, roots)
	if err != nil {
		return err
	}
	principal := c.Principal
	if principal == "" {
		principal = tools.Local
	}
	x, err := e.runner.Explain(ctx, run.Call{
		Tool: args[1], Args: json.RawMessage(args[2]),
		Session: tools.SessionInfo{Principal: principal, Client: tools.Client{Name: "toolcrib policy", Forms: true}, Workspace: e.ws},
	})
	if err := errors.Join(err, e.close()); err != nil {
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
