package cli

import (
	"context"

	"toolcrib/server/config"
	"toolcrib/tools"
)

// offered is a command of a category.
type offered struct {
	config.Config
	Root []string `flag:"root" arg:"DIR" help:"the root, the directory that the command is about (default the current one)"`

	command tools.UserCommand
}

func (o *offered) run(ctx context.Context, p *Process, args []string) error {
	roots, err := rootsOf(o.Root)
	if err != nil {
		return err
	}
	if err := p.settle(&o.Config, roots); err != nil {
		return err
	}
	return p.app().Offered(ctx, o.Config, roots, o.command, args)
}
