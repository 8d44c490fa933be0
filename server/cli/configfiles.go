package cli

import (
	"fmt"
	"path/filepath"
	"text/tabwriter"

	"toolcrib/server/config"
	"toolcrib/server/config/settings"
)

// aboutFiles carries out the subcommands about toolcrib's own configuration files. done
// is false if args name a client instead.
func (c *configure) aboutFiles(p *Process, args []string) (done bool, err error) {
	what := map[string]func(*Process, []string) error{"show": c.show, "schema": c.schema, "check": c.check}[args[0]]
	if what == nil {
		return false, nil
	}
	if c.Write || c.Remove || c.Print || c.URL != "" || c.Scope != "" || c.Name != "" {
		return true, config.Usagef("toolcrib help config", "config %s takes no flag of a client's set-up", args[0])
	}
	return true, what(p, args[1:])
}

// show prints each setting, its source and its value.
func (c *configure) show(p *Process, args []string) error {
	roots, err := rootsOf(args)
	if err != nil && len(args) > 0 {
		return err
	}
	l, err := p.env.Sources(c.Config, roots).Read()
	if err != nil {
		return err
	}
	p.tell(l)
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KEY\tFROM\tVALUE")
	for _, f := range settings.Fields(&l.Config) {
		from, doc := l.From[f.Key], l.Doc
		if doc != nil && from != doc.Where(f.Key) {
			doc = nil // it has no say in this value
		}
		if from == "" {
			from = "default"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", f.Key, from, f.Show(doc))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(l.Files) == 0 && p.env.UsualFile() != "" {
		_, err = fmt.Fprintf(p.Stderr, "there is no configuration file; it would be %s\n", p.env.UsualFile())
	}
	return err
}

// schema prints the JSON Schema of the files.
func (c *configure) schema(p *Process, args []string) error {
	if err := atMost(args, 0, "toolcrib config schema"); err != nil {
		return err
	}
	cfg := config.New(p.Categories)
	text, err := settings.Schema(&cfg, "The configuration of toolcrib")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s\n", text)
	return err
}

// check reports whether a file is valid, as the user's or, by its name, as a workspace's.
func (c *configure) check(p *Process, args []string) error {
	const usage = "toolcrib config check FILE"
	if len(args) == 0 {
		return config.Usagef(usage, "no file is named")
	}
	if err := atMost(args, 1, usage); err != nil {
		return err
	}
	name, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	l, err := p.env.ReadFile(name)
	problems := config.ProblemsOf(err)
	if err != nil && (problems == nil || l.Doc == nil) {
		return config.WrongFile(err)
	}
	if l.MetricsToken == "" {
		l.MetricsToken = c.MetricsToken // of the environment, from where a server has it too
	}
	for _, fault := range p.app().Faults(l.Config) {
		placed := config.ProblemsOf(l.Locate(fault))
		if placed == nil && len(problems) == 0 {
			return config.WrongFile(fmt.Errorf("%s: %w", name, fault))
		}
		problems = problems.With(placed)
	}
	if len(problems) > 0 {
		return config.WrongFile(problems)
	}
	_, err = fmt.Fprintf(p.Stdout, "%s is right\n", args[0])
	return err
}
