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

// help prints what toolcrib is, what one command does, or a topic. A command and
// a topic of one name are one page.
func help(p *Process, cmds []command, args []string) error {
	switch len(args) {
	case 0:
		return overview(p, cmds)
	case 1:
		cmd, isCommand := find(cmds, args[0])
		about, isTopic := findTopic(args[0])
		switch {
		case isCommand && isTopic:
			if err := page(p, cmd); err != nil {
				return err
			}
			_, err := io.WriteString(p.Stdout, "\n"+about.text)
			return err
		case isCommand:
			return page(p, cmd)
		case isTopic:
			text, err := about.whole()
			if err == nil {
				_, err = io.WriteString(p.Stdout, text)
			}
			return err
		}
		if tool, ok := catalog.Find(p.env.Catalog, args[0]); ok {
			return config.Usagef("toolcrib show "+tool.Name, "%q is no command but a tool", args[0])
		}
		return missingPage(cmds, args[0])
	}
	return config.Usagef("toolcrib help COMMAND; toolcrib help TOPIC", "help takes one command or topic, not %d", len(args))
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
	fmt.Fprintf(table, "  help\tsay what a command does and which flags it has, or explain a topic\n")
	fmt.Fprintf(table, "\nTopics (toolcrib help TOPIC), with their flags (toolcrib help "+explains+" explains them all):\n")
	cfg := config.New(p.Categories)
	flags := map[string][]string{}
	for _, o := range config.Options(&cfg) {
		if o.Name != "" {
			flags[o.Topic] = append(flags[o.Topic], "--"+o.Name)
		}
	}
	var others []string
	for _, t := range topics() {
		if len(flags[t.name]) == 0 {
			others = append(others, t.name)
			continue
		}
		fmt.Fprintf(table, "  %s\t%s\n", t.name, t.summary)
		for line := range strings.SplitSeq(wrap(strings.Join(flags[t.name], " "), 80), "\n") {
			if line != "" {
				fmt.Fprintf(table, "\t%s\n", line)
			}
		}
	}
	for i, line := range strings.Split(wrap(strings.Join(others, " "), 80), "\n") {
		fmt.Fprintf(table, "  %s\t%s\n", []string{"more", ""}[min(i, 1)], line)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	b.WriteString("\nA flag is also a variable (TOOLCRIB_PRESET is --preset) and a key of the file of configuration.\n")
	b.WriteString("Flags may stand before or after other arguments; \"--\" ends them.\n")
	_, err := io.WriteString(p.Stdout, b.String())
	return err
}

// explains is the command whose page has the whole configuration, which others take too.
const explains = "serve"

func page(p *Process, cmd command) error {
	var b strings.Builder
	fmt.Fprintf(&b, "toolcrib %s: %s\n\nUsage: %s\n", cmd.name, cmd.short, cmd.usage(p))
	if cmd.long != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.Trim(cmd.long, "\n"))
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

const configurationIntro = `
Configuration, as flags, as variables of the environment or in a file in YAML: a
flag beats a variable, and both beat the file (read_only: true is --read-only).
What comes of these, the file .toolcrib.yaml of a directory can narrow.
SIGHUP has a server read its files again.
`

func configuration(p *Process, b *strings.Builder) {
	b.WriteString(configurationIntro)
	cfg := config.New(p.Categories)
	for _, o := range config.Options(&cfg) {
		describe(b, o)
	}
}

func describe(b *strings.Builder, o config.Option) {
	fmt.Fprintf(b, "  %s\n", ways(o))
	for line := range strings.SplitSeq(wrap(o.Help, 84), "\n") {
		b.WriteString("        " + line + "\n")
	}
}

// ways says how an option is set.
func ways(o config.Option) string {
	var list []string
	if o.Name != "" {
		list = append(list, strings.TrimSpace("--"+o.Name+" "+o.Arg))
	}
	if o.Env != "" {
		list = append(list, o.Env)
	}
	return strings.Join(list, ", ")
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

// missingPage is the error for a name that neither a command nor a topic has.
func missingPage(cmds []command, name string) error {
	about := topicNames()
	hint := "toolcrib help lists the commands; topics: " + strings.Join(about, ", ")
	if near := schema.Nearest(name, append(commandNames(cmds), about...)); near != "" {
		return config.Usagef(hint, "no command or topic is called %q; did you mean %q", name, near)
	}
	return config.Usagef(hint, "no command or topic is called %q", name)
}

func commandNames(cmds []command) []string {
	names := make([]string, len(cmds))
	for i, c := range cmds {
		names[i] = c.name
	}
	return names
}
