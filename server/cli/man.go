package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"toolcrib/server/cli/internal/roff"
	"toolcrib/server/config"
)

type man struct{}

func manCommand() command {
	return command{
		name:  "man",
		short: "print a page for the program man: commands, flags, settings, topics",
		long: `
  toolcrib man | man -l -
  toolcrib man >/usr/local/share/man/man1/toolcrib.1`,
		new: func() runner { return new(man) },
	}
}

// run prints the page, made of what help prints.
func (*man) run(_ context.Context, p *Process, args []string) error {
	if err := atMost(args, 0, "toolcrib man"); err != nil {
		return err
	}
	cmds := commands(p.Categories)
	var b strings.Builder
	b.WriteString(`.TH TOOLCRIB 1
.SH NAME
toolcrib \- serve typed tools to MCP clients
.SH SYNOPSIS
.B toolcrib
[COMMAND] [FLAGS] [ARGUMENTS]
.SH COMMANDS
`)
	for _, c := range cmds {
		fmt.Fprintf(&b, ".SS %s\n%s.\n", roff.Line(c.usage(p)), roff.Line(c.short))
		roff.Text(&b, c.long)
		for _, o := range config.Options(c.make(p)) {
			if o.Env == "" && !o.Hidden {
				roffOption(&b, o)
			}
		}
	}
	b.WriteString(".SH CONFIGURATION\n")
	roff.Text(&b, configurationIntro)
	cfg := config.New(p.Categories)
	opts := config.Options(&cfg)
	slices.SortStableFunc(opts, func(a, b config.Option) int { return strings.Compare(a.Topic, b.Topic) })
	topic := ""
	for _, o := range opts {
		if o.Topic != topic {
			topic = o.Topic
			fmt.Fprintf(&b, ".SS %s\n", roff.Line(topic))
		}
		roffOption(&b, o)
	}
	b.WriteString(".SH TOPICS\n.B toolcrib help\nTOPIC explains them.\n")
	for _, t := range topics() {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff.Line(t.name), roff.Line(t.summary))
	}
	b.WriteString(".SH EXIT STATUS\n0: done; 1: the command failed; 2: the command line or the configuration is wrong.\n.B toolcrib call\nends as the program that the tool has run.\n")
	_, err := io.WriteString(p.Stdout, b.String())
	return err
}

func roffOption(b *strings.Builder, o config.Option) {
	fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff.Line(ways(o)), roff.Line(o.Help))
}
