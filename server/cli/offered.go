package cli

import (
	"context"

	"toolcrib/server/config"
	"toolcrib/tools"
)

// Offered is a command of a category.
type Offered struct {
	config.Config
	Root []string `flag:"root" arg:"DIR" help:"the root, the directory that the command is about (default the current one)"`

	command tools.UserCommand
}

// offeredJSON is one whose result programs may want to read.
type offeredJSON struct {
	Offered
	JSON bool `flag:"json" help:"print the result as JSON, one value a line"`
}

func newOffered(c tools.UserCommand) runner {
	if c.JSON {
		return &offeredJSON{Offered: Offered{command: c}}
	}
	return &Offered{command: c}
}

func (o *offeredJSON) run(ctx context.Context, p *Process, args []string) error {
	if o.JSON {
		args = append([]string{"--json"}, args...)
	}
	return o.Offered.run(ctx, p, args)
}

func (o *Offered) run(ctx context.Context, p *Process, args []string) error {
	roots, err := rootsOf(o.Root)
	if err != nil {
		return err
	}
	if err := p.settle(&o.Config, roots); err != nil {
		return err
	}
	return p.app().Offered(ctx, o.Config, roots, o.command, args)
}
