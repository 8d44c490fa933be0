package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"unicode/utf8"

	"toolcrib/server"
	"toolcrib/server/cli/internal/clientfile"
	"toolcrib/server/config"
)

// defaultName is the name of this server's entry in configurations.
const defaultName = "toolcrib"

type configure struct {
	config.Config
	Name   string `flag:"name" arg:"NAME" help:"the name of the entry (default toolcrib)"`
	URL    string `flag:"url" arg:"URL" help:"let the client use the server at URL over HTTP, in the place of starting one"`
	Scope  string `flag:"scope" arg:"SCOPE" values:"user,project" help:"user for all your projects; project for a file in the first DIR (default user)"`
	Print  bool   `flag:"print" help:"show the set-up and change nothing (the default)"`
	Write  bool   `flag:"write" help:"put the entry into the client's file, after a backup"`
	Remove bool   `flag:"remove" help:"take the entry out of the client's file, after a backup"`
}

func configCommand() command {
	return command{
		name:  "config",
		args:  "[CLIENT [DIR ...] | show [DIR ...] | check FILE | schema]",
		short: "set clients up; show and check the settings of the server",
		long: `
show prints each setting of a server for DIR, its value and its source: a flag, a
variable, a line of a file; secrets are masked. check lists the mistakes in a
configuration file, schema prints its JSON Schema for editors.

CLIENT is claude-desktop, claude-code, vscode, cursor, codex or gemini; without
one it lists where each keeps its configuration and whether it has an entry. The flags
and directories of serve go into the entry, and so do variables of the
environment that set the same; configuration files are read when the server starts.
Everything else in the file keeps its bytes. A token is never written: the entry refers
to TOOLCRIB_TOKEN. --remove with the same command line removes the entry that --write
has written.`,
		new: func() runner { return new(configure) },
	}
}

func (c *configure) run(_ context.Context, p *Process, args []string) error {
	if len(args) > 0 {
		if done, err := c.aboutFiles(p, args); done {
			return err
		}
	}
	where, err := p.env.Home()
	if err != nil {
		return err
	}
	if c.Name == "" {
		c.Name = defaultName
	}
	if !entryName().MatchString(c.Name) {
		return config.Usagef("letters, digits, - and _, at most 64", "--name: %q cannot be the name of an entry", c.Name)
	}
	if len(args) == 0 {
		if c.Write || c.Remove || c.Print {
			return config.Usagef("toolcrib config CLIENT; toolcrib config lists them", "no client is named")
		}
		return c.list(p, where)
	}
	which, err := findClient(args[0])
	if err != nil {
		return err
	}
	t := target{client: which, home: where, scope: scope(c.Scope), name: c.Name}
	if t.scope == "" {
		t.scope = userScope
	}
	if !slices.Contains(which.scopes(), t.scope) {
		return config.Usagef("leave --scope out", "%s has no configuration of a project", which.name)
	}
	switch {
	case c.Write && c.Remove, c.Print && (c.Write || c.Remove):
		return config.Usagef("toolcrib help config", "only one of --print, --write and --remove at a time")
	case c.Remove:
		if t.scope == projectScope {
			if err := t.settleDir(args[1:]); err != nil {
				return err
			}
		}
		return t.remove(p.Stdout)
	}
	if err := c.settle(p, &t, args[1:]); err != nil {
		return err
	}
	if c.Write {
		err := t.write(p.Stdout)
		if say := p.offPath(); err == nil && c.URL == "" && say != "" {
			_, err = fmt.Fprintln(p.Stdout, say)
		}
		return err
	}
	return t.print(p.Stdout, c.URL == "" && len(args) == 1)
}

var entryName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`) })

// settle finds the contents of the entry and its file.
func (c *configure) settle(p *Process, t *target, dirs []string) error {
	given := new(configure)
	given.Add(p.Categories)
	if _, _, err := config.Parse(given, p.Args[1:], nil); err != nil {
		return err
	}
	if given.HTTP != "" {
		return config.Usagef("toolcrib config CLIENT --url=http://ADDR"+server.Endpoint, "--http is for serve; a client is told a URL")
	}
	if c.URL != "" {
		return c.settleURL(t, given, dirs)
	}
	if _, err := p.app().Choose(c.Config); err != nil {
		return err
	}
	roots, err := rootsOf(dirs)
	if err != nil && (len(dirs) > 0 || c.Write) {
		return err
	}
	if err != nil { // run in a directory that cannot be a root, just to look
		roots = someRoot()
	}
	t.dir, t.reach = roots[0], reach{launch: launchOf(c.Config, roots)}
	for _, word := range append([]string{t.reach.Command}, t.reach.Args...) {
		if !utf8.ValidString(word) {
			return config.Usagef("", "%q is not UTF-8, and a configuration holds nothing else", word)
		}
	}
	return nil
}

func (c *configure) settleURL(t *target, given *configure, dirs []string) error {
	for _, o := range config.Options(&given.Config) {
		if !o.Field.IsZero() && o.Name != "auth" {
			return config.Usagef("give it to toolcrib serve", "--%s is for the server, which --url says is running already", o.Name)
		}
	}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil:
		return config.Usagef("--url=http://127.0.0.1:8080"+server.Endpoint, "--url: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return config.Usagef("--url=http://127.0.0.1:8080"+server.Endpoint, "--url: %q is not the URL of a server over HTTP", c.URL)
	case u.User != nil:
		return config.Usagef("the entry refers to "+tokenVariable+" by itself", "--url: a URL with a password is not written into a file")
	case u.Path == "":
		return config.Usagef("--url="+c.URL+server.Endpoint+" is where toolcrib serves", "--url: %s has no path", c.URL)
	}
	t.reach = reach{url: c.URL, token: c.Auth != "none"}
	if t.client.entry(t.reach) == nil {
		return config.Usagef("let it start the server: leave --url out; or add the URL in its settings, under connectors",
			"%s takes no URL from its configuration file", t.client.name)
	}
	if t.scope == userScope && len(dirs) > 0 {
		return config.Usagef("leave it out", "%s: the server at --url has its own directories", dirs[0])
	}
	return t.settleDir(dirs)
}

// settleDir finds out which project the file is of, where that alone matters.
func (t *target) settleDir(dirs []string) error {
	if len(dirs) == 0 {
		dir, err := os.Getwd()
		t.dir = dir
		return err
	}
	roots, err := rootsOf(dirs)
	if err == nil {
		t.dir = roots[0]
	}
	return err
}

// list prints each client's files, and whether the entry is there.
func (c *configure) list(p *Process, where config.Home) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	for _, which := range clients() {
		for _, s := range which.scopes() {
			name := which.file(s, where, dir)
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", which.id, s, p.entryState(name, which.place(c.Name)), name)
		}
	}
	return table.Flush()
}

// entryState describes in few words whether a file has an entry that works.
func (p *Process) entryState(name string, place clientfile.Entry) string {
	f, err := clientfile.Read(name)
	if err != nil {
		return err.Error()
	}
	switch entry, found, err := place.Find(f.Data()); {
	case !f.Exists():
		return "no file"
	case err != nil:
		if wrong, ok := errors.AsType[*clientfile.SyntaxError](err); ok {
			return fmt.Sprintf("broken in line %d", wrong.Line)
		}
		return err.Error()
	case found:
		if gone := p.goneCommand(entry); gone != "" {
			return "broken: no program " + gone
		}
		return "set up"
	}
	return "not set up"
}

// goneCommand returns the command of an entry if there is no such program, else "".
func (p *Process) goneCommand(entry any) string {
	fields, _ := entry.(map[string]any)
	command, _ := fields["command"].(string)
	if command == "" || strings.Contains(command, "$") { // a URL, or a variable that the client replaces
		return ""
	}
	if filepath.IsAbs(command) {
		if info, err := os.Stat(command); err == nil && !info.IsDir() {
			return ""
		}
		return command
	}
	if _, err := p.LookPath(command); err != nil {
		return command
	}
	return ""
}
