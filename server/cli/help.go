package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"toolcrib/schema"
	"toolcrib/server/config"
	"toolcrib/tools/catalog"
)

// help prints what toolcrib is, or what one command does.
func help(p *Process, cmds []command, args []string) error {
	switch len(args) {
	case 0:
		return overview(p, cmds)
	case 1:
		if cmd, ok := find(cmds, args[0]); ok {
			return page(p, cmd)
		}
		if tool, ok := catalog.Find(p.env.Catalog, args[0]); ok {
			return config.Usagef("toolcrib show "+tool.Name, "%q is no command but a tool", args[0])
		}
		return missingCommand(cmds, args[0])
	}
	return config.Usagef("toolcrib help COMMAND", "help takes one command, not %d", len(args))
}

func overview(p *Process, cmds []command) error {
	var b strings.Builder
	b.WriteString(`toolcrib serves typed tools (files, search ...) to MCP clients.

Usage: toolcrib [COMMAND] [FLAGS] [ARGUMENTS]

Commands (` + cmds[0].name + ` is what runs where none is named):
`)
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, c := range cmds {
		fmt.Fprintf(table, "  %s\t%s\n", c.name, c.short)
	}
	fmt.Fprintf(table, "  help\tsay what a command does and which flags it has\n")
	if err := table.Flush(); err != nil {
		return err
	}
	configuration(p, &b)
	b.WriteString("\nFlags may stand before or after other arguments; \"--\" ends them.\n")
	_, err := io.WriteString(p.Stdout, b.String())
	return err
}

// explains is the command whose page has the whole configuration, which others take too.
const explains = "serve"

func page(p *Process, cmd command) error {
	var b strings.Builder
	fmt.Fprintf(&b, "toolcrib %s: %s\n\nUsage: %s\n", cmd.name, cmd.short, cmd.usage(p))
	if cmd.long != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(cmd.long))
	}
	opts := slices.DeleteFunc(config.Options(cmd.make(p)), func(o config.Option) bool { return o.Hidden })
	own := slices.DeleteFunc(slices.Clone(opts), func(o config.Option) bool { return o.Env != "" })
	if len(own) > 0 {
		b.WriteString("\nFlags:\n")
		for _, o := range own {
			describe(&b, o)
		}
	}
	switch {
	case len(own) == len(opts):
	case cmd.name == explains:
		configuration(p, &b)
	default:
		names := make([]string, 0, len(opts))
		for _, o := range opts {
			if o.Env != "" && o.Name != "" {
				names = append(names, "--"+o.Name)
			}
		}
		fmt.Fprintf(&b, "\nConfiguration, as flags, as variables (TOOLCRIB_PRESET is --preset) or in a file;\ntoolcrib help %s explains it:\n", explains)
		for line := range strings.SplitSeq(wrap(strings.Join(names, " "), 84), "\n") {
			b.WriteString("  " + line + "\n")
		}
	}
	_, err := io.WriteString(p.Stdout, b.String())
	return err
}

func (c command) usage(p *Process) string {
	words := []string{"toolcrib", c.name}
	if len(config.Options(c.make(p))) > 0 {
		words = append(words, "[FLAGS]")
	}
	if c.args != "" {
		words = append(words, c.args)
	}
	return strings.Join(words, " ")
}

func configuration(p *Process, b *strings.Builder) {
	b.WriteString(`
Configuration, as flags, as variables of the environment or in a file in YAML: a
flag beats a variable, and both beat the file (read_only: true is --read-only).
What comes of these, the file .toolcrib.yaml of a directory can narrow.
SIGHUP has a server read its files again.
`)
	cfg := config.New(p.Categories)
	for _, o := range config.Options(&cfg) {
		describe(b, o)
	}
}

func describe(b *strings.Builder, o config.Option) {
	var ways []string
	if o.Name != "" {
		ways = append(ways, strings.TrimSpace("--"+o.Name+" "+o.Arg))
	}
	if o.Env != "" {
		ways = append(ways, o.Env)
	}
	fmt.Fprintf(b, "  %s\n", strings.Join(ways, ", "))
	for line := range strings.SplitSeq(wrap(o.Help, 84), "\n") {
		b.WriteString("        " + line + "\n")
	}
}

// wrap breaks a text at spaces into lines of at most width characters.
func wrap(text string, width int) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case column == 0:
		case column+1+len(word) > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

// missingCommand is the error for a name that no command has.
func missingCommand(cmds []command, name string) error {
	const hint = "toolcrib help lists the commands"
	if near := schema.Nearest(name, commandNames(cmds)); near != "" {
		return config.Usagef(hint, "no command is called %q; did you mean %q", name, near)
	}
	return config.Usagef(hint, "no command is called %q", name)
}

func commandNames(cmds []command) []string {
	names := make([]string, len(cmds))
	for i, c := range cmds {
		names[i] = c.name
	}
	return names
}
