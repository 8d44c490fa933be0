package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

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
		fmt.Fprintf(&b, ".SS %s\n%s.\n", roff(c.usage(p)), roff(c.short))
		roffText(&b, c.long)
		for _, o := range config.Options(c.make(p)) {
			if o.Env == "" && !o.Hidden {
				roffOption(&b, o)
			}
		}
	}
	b.WriteString(".SH CONFIGURATION\n")
	roffText(&b, configurationIntro)
	cfg := config.New(p.Categories)
	opts := config.Options(&cfg)
	slices.SortStableFunc(opts, func(a, b config.Option) int { return strings.Compare(a.Topic, b.Topic) })
	topic := ""
	for _, o := range opts {
		if o.Topic != topic {
			topic = o.Topic
			fmt.Fprintf(&b, ".SS %s\n", roff(topic))
		}
		roffOption(&b, o)
	}
	b.WriteString(".SH TOPICS\n.B toolcrib help\nTOPIC explains them.\n")
	for _, t := range topics() {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(t.name), roff(t.summary))
	}
	b.WriteString(".SH EXIT STATUS\n0: done; 1: the command failed; 2: the command line or the configuration is wrong.\n.B toolcrib call\nends as the program that the tool has run.\n")
	_, err := io.WriteString(p.Stdout, b.String())
	return err
}

func roffOption(b *strings.Builder, o config.Option) {
	fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(ways(o)), roff(o.Help))
}

// roffText writes paragraphs; indented lines are examples.
func roffText(b *strings.Builder, text string) {
	example := false
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		indented := strings.HasPrefix(line, " ")
		switch {
		case indented && !example:
			b.WriteString(".EX\n")
		case !indented && example:
			b.WriteString(".EE\n")
		}
		example = indented
		if line == "" {
			b.WriteString(".PP\n")
			continue
		}
		b.WriteString(roff(line) + "\n")
	}
	if example {
		b.WriteString(".EE\n")
	}
}

// roff escapes a text for one line of a man page.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
