package cli

import (
	"context"
	"os"

	"toolcrib/server/config"
	"toolcrib/tools/catalog"
)

type docs struct{}

func docsCommand() command {
	return command{
		name:  "docs",
		args:  "[DIR]",
		short: "write the manual pages, one a category: DIR/CATEGORY/README.md",
		long:  "Without DIR it is the directory tools, where toolcrib's own source keeps them.",
		new:   func() runner { return new(docs) },
	}
}

func (*docs) run(_ context.Context, p *Process, args []string) error {
	const usage = "toolcrib docs [DIR]"
	if err := atMost(args, 1, usage); err != nil {
		return err
	}
	if len(args) == 1 {
		return catalog.Docs(args[0], p.env.Catalog, true)
	}
	const dir = "tools"
	if _, err := os.Stat(dir); err != nil {
		return config.Usagef(usage, "no directory is given, and there is no %s here", dir)
	}
	return catalog.Docs(dir, p.env.Catalog, true)
}
