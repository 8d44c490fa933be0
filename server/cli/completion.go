package cli

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"toolcrib/server/config"
)

type completion struct{}

func completionCommand() command {
	return command{
		name:  "completion",
		args:  "SHELL",
		short: "print the script that lets a shell complete commands, flags, tools and arguments",
		long: `
  source <(toolcrib completion bash)                    in ~/.bashrc
  source <(toolcrib completion zsh)                     in ~/.zshrc, after compinit
  toolcrib completion fish | source                     in config.fish
  toolcrib completion powershell | Out-String | iex     in $PROFILE

The scripts ask this command for the words: toolcrib completion SHELL -- WORD ...`,
		new: func() runner { return new(completion) },
	}
}

// completionScripts are by the name of the shell, which is the ending of the file. Each gives
// the words up to the cursor to the command, and names files where it answers nothing.
//
//go:embed completion
var completionScripts embed.FS

const completionScript = "completion/toolcrib."

// shells returns the names of the shells that have a script.
func shells() (names []string) {
	files, err := fs.Glob(completionScripts, completionScript+"*")
	if err != nil {
		panic(err) // the pattern is valid
	}
	for _, file := range files {
		names = append(names, strings.TrimPrefix(file, completionScript))
	}
	return names
}

func (*completion) run(_ context.Context, p *Process, args []string) error {
	usage := "toolcrib completion SHELL: " + strings.Join(shells(), ", ")
	if len(args) == 0 {
		return config.Usagef(usage, "completion wants a shell")
	}
	script, err := completionScripts.ReadFile(completionScript + args[0])
	if err != nil {
		return config.Usagef(usage, "there is no completion for %q", args[0])
	}
	if len(args) == 1 {
		_, err := p.Stdout.Write(script)
		return err
	}
	words, cut := unsplit(args[1:])
	for _, word := range p.complete(words) {
		fmt.Fprintln(p.Stdout, word[min(cut, len(word)):])
	}
	return nil
}

// unsplit joins words that bash has split at "=". cut is how much of the last one bash does
// not take for a part of it.
func unsplit(words []string) (joined []string, cut int) {
	for _, word := range words {
		last := len(joined) - 1
		switch {
		case last >= 0 && word == "=":
			joined[last] += word
			cut = len(joined[last])
		case last >= 0 && strings.HasSuffix(joined[last], "=") && cut == len(joined[last]):
			joined[last] += word
		default:
			joined, cut = append(joined, word), 0
		}
	}
	return joined, cut
}

// complete returns what the last of the words may become, with all of its text.
func (p *Process) complete(words []string) []string {
	last := strings.TrimSpace(words[len(words)-1])
	before := words[:len(words)-1]
	cmds := commands(p.Categories)
	cmd, named := cmds[0], false
	if len(before) > 0 {
		cmd, named = find(cmds, before[0])
		if before[0] == "help" {
			return having(last, append(commandNames(cmds), topicNames()...))
		}
	}
	if !named {
		cmd = cmds[0]
	}
	var candidates []string
	opts := slices.DeleteFunc(config.Options(cmd.make(p)), func(o config.Option) bool { return o.Hidden || o.Name == "" })
	for _, o := range opts {
		flag := "--" + o.Name
		if len(before) > 0 && before[len(before)-1] == flag && o.Arg != "" {
			return having(last, o.Values())
		}
		if value, ok := strings.CutPrefix(last, flag+"="); ok {
			var list []string
			for _, v := range having(value, o.Values()) {
				list = append(list, flag+"="+v)
			}
			return list
		}
		if strings.HasPrefix(last, "-") {
			candidates = append(candidates, flag)
		}
	}
	if !named && len(before) == 0 && !strings.HasPrefix(last, "-") {
		return having(last, append(commandNames(cmds), "help"))
	}
	if named && !strings.HasPrefix(last, "-") {
		candidates = p.arguments(cmd.name, last, slices.DeleteFunc(slices.Clone(before[1:]), func(w string) bool { return strings.HasPrefix(w, "-") }))
	}
	return having(last, candidates)
}

// arguments returns what the next argument of a command can be, which begins with last, after
// those before it.
func (p *Process) arguments(cmd, last string, before []string) []string {
	if cmd == "policy" {
		if len(before) == 0 {
			return []string{"explain"}
		}
		before = before[1:]
	}
	switch {
	case (cmd == "call" || cmd == "policy") && len(before) > 0:
		return p.argumentWords(before[0], last)
	case cmd == "call", cmd == "show", cmd == "policy":
		var names []string
		for _, t := range p.env.Catalog {
			names = append(names, t.Name)
		}
		return names
	case cmd == "config" && len(before) == 0:
		return append(clientIDs(), "show", "check", "schema")
	case cmd == "completion" && len(before) == 0:
		return shells()
	}
	return nil
}

// argumentWords returns the arguments of a tool, each with "=", or what the one that last names
// can be.
func (p *Process) argumentWords(tool, last string) (names []string) {
	in := p.input(tool, nil)
	if in == nil {
		return nil
	}
	if name, _, ok := strings.Cut(last, "="); ok {
		for _, value := range in.Values(name) {
			names = append(names, name+"="+value)
		}
		return names
	}
	for _, name := range in.Names() {
		names = append(names, name+"=")
	}
	return names
}

// having returns the words that begin with start, sorted.
func having(start string, words []string) []string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, start) })
	slices.Sort(words)
	return words
}
