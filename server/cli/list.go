package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"toolcrib/server/config"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

type list struct {
	config.Config
	All    bool   `flag:"all" help:"tools that cannot be called too, each with the reason"`
	Format string `flag:"format" arg:"FORMAT" values:"table,json,openai,anthropic,gemini,mcp" help:"table (default) of what can be called; or the definitions of what clients are shown (with --all of every tool): json with all that is known, mcp as tools/list has them, openai, anthropic or gemini for the API of that provider"`
}

func listCommand() command {
	return command{
		name:  "list",
		short: "list the tools, as a table or as definitions for an API",
		new:   func() runner { return new(list) },
	}
}

func (l *list) run(_ context.Context, p *Process, args []string) error {
	if err := atMost(args, 0, "toolcrib list [FLAGS]; toolcrib show TOOL describes one"); err != nil {
		return err
	}
	roots, err := impliedRoot()
	if err != nil {
		roots = nil // as it would be for a server that is started elsewhere
	}
	if err := p.settle(&l.Config, roots); err != nil {
		return err
	}
	selected, err := p.app().Choose(l.Config)
	if err != nil {
		return err
	}
	if l.Format == "" || l.Format == "table" {
		return l.table(p, selected)
	}
	shown := selected.Listed
	if l.All {
		shown = l.Tuned(p.env.Catalog)
	}
	return catalog.Export(p.Stdout, l.Format, shown)
}

func (l *list) table(p *Process, s tools.Selected) error {
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	row := func(t tools.Tool, listed string) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", t.Name, t.Title, t.Category, t.Classes(), listed)
	}
	fmt.Fprintln(w, "NAME\tTITLE\tCATEGORY\tACCESS\tLISTED")
	listed := names(s.Listed)
	for _, t := range s.Enabled {
		if slices.Contains(listed, t.Name) {
			row(t, "yes")
		} else {
			row(t, "no")
		}
	}
	if l.All {
		for _, o := range s.Omitted {
			row(o.Tool, "off: "+o.Reason)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(s.Omitted) > 0 && !l.All {
		fmt.Fprintf(p.Stderr, "%d more cannot be called here; toolcrib list --all says why\n", len(s.Omitted))
	}
	var others []string
	for _, client := range slices.Sorted(maps.Keys(s.Tailored)) {
		if !slices.Equal(names(s.Tailored[client]), listed) {
			others = append(others, client)
		}
	}
	if len(others) > 0 {
		fmt.Fprintf(p.Stderr, "clients that bring tools of their own are shown others (%s); toolcrib help clients says which\n", strings.Join(others, ", "))
	}
	return nil
}

func names(ts []tools.Tool) []string {
	list := make([]string, len(ts))
	for i, t := range ts {
		list[i] = t.Name
	}
	return list
}
