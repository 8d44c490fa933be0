package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"toolcrib/server/config"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

type policy struct {
	config.Config
	JSON      bool   `flag:"json" help:"print the explanation as JSON"`
	Principal string `flag:"principal" arg:"NAME" help:"judge the call as one of NAME (default local)"`
}

func policyCommand() command {
	return command{
		name:  "policy",
		args:  "explain TOOL JSON [DIR ...]",
		short: "say what would happen to a call, and by which rule",
		long: `
Nothing is called. JSON is the arguments of the tool, DIR what serve takes.

  toolcrib policy explain ` + catalog.ShownWrite + ` '{"path": "src/a.go", "content": ""}'
  toolcrib policy explain ` + catalog.ShownBash + ` '{"command": "git pull && make"}'

A rule of the configuration has a verdict, allow, ask or deny, and fits the calls
that match all of the lists it has: tool (names, or globs such as *_file), toolset,
access, effect, command, path and principal.

  policy:
    - {verdict: deny, path: ["secrets/**", "**/.env"], why: "keys stay here"}
    - {verdict: ask, access: [write], path: [deploy]}
    - {verdict: allow, tool: [` + catalog.ShownRead + `], path: [secrets/public]}
    - {verdict: ask, command: [git push, "docker * rm"], why: "others see it"}
    - {verdict: allow, command: ["npm test *"]}

A path covers what lies below it, in each root; * stands for a part of a name, **
for any directories. One rule beats another where it is more specific in what it
names (a tool, then a glob, a toolset, an effect, an access class), where (a longer
path), whom or which command (more words), and less in none of the four. Among
those that none beats, deny wins over ask, ask over allow, and the first of the
list over the next.

A call is judged at each of its paths, by their text and by where links lead; the
strictest verdict counts. What a tool opens or finds beside them (by a glob, a
search, a patch) is judged then: what is denied, or asked about and not named by
the call, stays closed, and a search says how much it has left out. At the level full
of the sandbox what is denied is closed to the programs that a tool runs as well.

A command line is read as its shell would read it, and judged at each command that
it runs, also by way of env, xargs, find -exec, sh -c, eval and the like, and at
the paths that these commands open for certain. A pattern is a program, by its base
name or its path, and words; a word may be a glob, * alone stands for any words. To
allow, it has to spell the whole command: npm test allows no npm test -- x, and
npm test * does. To ask or deny, it covers what follows, and options in any place:
git push covers git -C x push --force, and rm -rf covers rm -r -f. What cannot be
told, such as $x y, a script that a shell reads, or python -c, is asked about where
a rule for commands asks or denies; a rule that allows such a command by its words
settles that. What the line does beside its commands, by > file or by an eval of what
nobody can tell, the rules without a command decide. Builtins that do nothing by themselves, such as cd, and programs such
as env count only for the rules that name them. A pattern tells programs by their
names, no more: a guard rail, where the sandbox is the wall.

These rules beat the default table. Nothing beats read-only mode and, unless
--allow-protected is set, the protection of what programs run. An allow that names
a tool silences the question that the tool itself would ask.`,
		new: func() runner { return new(policy) },
	}
}

func (c *policy) run(ctx context.Context, p *Process, args []string) error {
	const usage = "toolcrib policy explain TOOL JSON [DIR ...]; toolcrib help policy says how rules are written"
	if len(args) < 3 || args[0] != "explain" {
		return config.Usagef(usage, "policy wants explain, a tool and its arguments as JSON")
	}
	roots, selected, err := p.callIn(&c.Config, args[1], args[3:])
	if err != nil {
		return err
	}
	cfg := c.Config
	cfg.Audit, cfg.AuditDir = false, "" // nothing is done that would be on record
	e, err := p.app().Open(ctx, cfg, selected, roots)
	if err != nil {
		return err
	}
	principal := c.Principal
	if principal == "" {
		principal = tools.Local
	}
	x, err := e.Runner.Explain(ctx, run.Call{
		Tool: args[1], Args: json.RawMessage(args[2]),
		Session: tools.SessionInfo{Principal: principal, Client: tools.Client{Name: "toolcrib policy", Forms: true}, Workspace: e.Workspace},
	})
	if err := errors.Join(err, e.Close()); err != nil {
		return err
	}
	if c.JSON {
		text, err := encode(x)
		if err != nil {
			return err
		}
		_, err = io.WriteString(p.Stdout, text)
		return err
	}
	_, err = io.WriteString(p.Stdout, x.String())
	return err
}
