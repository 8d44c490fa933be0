package cli

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"text/tabwriter"

	"toolcrib/server"
	"toolcrib/server/config/settings"
)

// aboutFiles are the words that stand in the place of a client: what toolcrib config
// does with the files of configuration of its own.
func (c *config) aboutFiles(p *Process, args []string) (done bool, err error) {
	what := map[string]func(*Process, []string) error{"show": c.show, "schema": c.schema, "check": c.check}[args[0]]
	if what == nil {
		return false, nil
	}
	if c.Write || c.Remove || c.Print || c.URL != "" || c.Scope != "" || c.Name != "" {
		return true, usagef("toolcrib help config", "config %s takes no flag of a client's set-up", args[0])
	}
	return true, what(p, args[1:])
}

// show prints each setting, its value and what has set it.
func (c *config) show(p *Process, args []string) error {
	roots, err := rootsOf(args)
	if err != nil && len(args) > 0 {
		return err
	}
	l, err := p.sources(c.Config, roots).read()
	if err != nil {
		return err
	}
	p.tell(l)
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KEY\tFROM\tVALUE")
	for _, f := range settings.Fields(&l.Config) {
		from, doc := l.from[f.Key], l.doc
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
	if len(l.files) == 0 && p.usualFile() != "" {
		_, err = fmt.Fprintf(p.Stderr, "no file of configuration is there; it would be %s\n", p.usualFile())
	}
	return err
}

// schema prints the JSON Schema of the files.
func (c *config) schema(p *Process, args []string) error {
	if err := atMost(args, 0, "toolcrib config schema"); err != nil {
		return err
	}
	text, err := settings.Schema(new(server.Config), "The configuration of toolcrib")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s\n", text)
	return err
}

// check says whether a file stands, as the user's or, by its name, as a workspace's.
func (c *config) check(p *Process, args []string) error {
	const usage = "toolcrib config check FILE"
	if len(args) == 0 {
		return usagef(usage, "no file is named")
	}
	if err := atMost(args, 1, usage); err != nil {
		return err
	}
	name, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	l := &loaded{from: map[string]string{}}
	if filepath.Base(name) == workspaceFile {
		err = (&sources{p: p}).workspace(l, filepath.Dir(name))
	} else if l.doc, err = p.decodeUser(name, &l.Config); l.doc != nil {
		for _, key := range l.doc.Keys() {
			l.from[key] = l.doc.Where(key)
		}
	}
	problems := problemsOf(err)
	if err != nil && (problems == nil || l.doc == nil) {
		return wrongFile(err)
	}
	if l.MetricsToken == "" {
		l.MetricsToken = c.MetricsToken // of the environment, from where a server has it too
	}
	_, faults := p.look(l.Config, p.redactor(l.Config), slog.New(slog.DiscardHandler))
	for _, fault := range faults {
		placed := problemsOf(l.place(fault))
		if placed == nil && len(problems) == 0 {
			return wrongFile(fmt.Errorf("%s: %w", name, fault))
		}
		problems = problems.With(placed)
	}
	if len(problems) > 0 {
		return wrongFile(problems)
	}
	_, err = fmt.Fprintf(p.Stdout, "%s is right\n", args[0])
	return err
}
