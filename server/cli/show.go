package cli

import (
	"context"
	"io"

	"toolcrib/server/config"
	"toolcrib/tools/catalog"
)

type show struct{}

func showCommand() command {
	return command{
		name:  "show",
		args:  "TOOL",
		short: "print the manual page of a tool: arguments, limits, examples",
		new:   func() runner { return new(show) },
	}
}

func (*show) run(_ context.Context, p *Process, args []string) error {
	const usage = "toolcrib show TOOL; toolcrib list shows the names"
	if len(args) == 0 {
		return config.Usagef(usage, "no tool is named")
	}
	if err := atMost(args, 1, usage); err != nil {
		return err
	}
	tool, ok := catalog.Find(p.env.Catalog, args[0])
	if !ok {
		return missingTool(p.env.Catalog, args[0])
	}
	page, err := catalog.Manual(tool)
	if err != nil {
		return err
	}
	_, err = io.WriteString(p.Stdout, page)
	return err
}
