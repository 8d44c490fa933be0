// Package rules judges calls by the rules of a configuration: by tool, effect, path,
// principal and command.
//
// Package run acts on the verdict. Start at [Rule], then [New] and [Applicable.Judge];
// command.go has the patterns of commands. The package must not import run.
package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/workspace/deny"
)

// Rule is a rule of the configuration. It concerns the calls that match all of its lists.
// A call matches a list if it matches one entry. A list that is left out matches every
// call; an empty list is an error.
//
// Of the rules that concern a call, one beats another if it is more specific in one of
// four respects and less specific in none:
//
//	what   a tool by name, then a glob of names (the more letters the more), no tool;
//	       among equals a rule with a toolset, then one with an effect, then with an
//	       access class; one with a command counts as with all three
//	where  the path whose pattern is longer before its first wildcard, then the one with
//	       more letters; a rule without a path is less specific than any with one
//	whom   a principal by name, then a glob, then none
//	doing  the command whose pattern has more words other than "*", then more letters
//
// Of the rules that no rule beats, deny wins over ask and ask over allow; then the first
// of the list wins. So "allow read_file" does not override "deny secrets/**", but "allow
// read_file in secrets/public" does.
//
// A call is judged once for each of its path arguments, by its text and by where its
// links lead, and the strictest verdict counts. Other paths are judged when the tool
// opens them.
//
// A call that runs commands is judged once for each of them, at the paths that it opens
// for certain. The pattern of a rule that allows must match the whole command; that of a
// rule that asks or denies also matches a longer command, and options at any position. If
// it cannot be known whether such a rule is about a command, or about one that the
// command hides, the user is asked.
type Rule struct {
	Name      string   `json:"name,omitempty" jsonschema_description:"name of the rule in denials and in the audit log; without it, its place: policy[1] is the first"`
	Why       string   `json:"why,omitempty" jsonschema_description:"what a denial or a question says as the reason"`
	Verdict   string   `json:"verdict" jsonschema:"enum=allow,enum=ask,enum=deny" jsonschema_description:"what happens to the calls that the rule decides on"`
	Tool      []string `json:"tool,omitempty" jsonschema:"minItems=1" jsonschema_description:"names of tools, or globs of names such as *_file"`
	Toolset   []string `json:"toolset,omitempty" jsonschema:"minItems=1" jsonschema_description:"categories of tools"`
	Access    []string `json:"access,omitempty" jsonschema:"minItems=1" jsonschema_description:"access classes: read, write, exec, external or delegates"`
	Effect    []string `json:"effect,omitempty" jsonschema:"minItems=1" jsonschema_description:"effects, of which a tool has one: none, workspace, outside, process, network, state or destroys"`
	Command   []string `json:"command,omitempty" jsonschema:"minItems=1" jsonschema_description:"commands that a tool is to run, such as git push or npm run *: a program, by its base name or its path, and words, each of which may be a glob, and * alone matches any words; to allow, the pattern has to spell the whole command, to ask or deny its beginning"`
	Path      []string `json:"path,omitempty" jsonschema:"minItems=1" jsonschema_description:"paths as results print them, or patterns with * and **; each covers all that is below it"`
	Principal []string `json:"principal,omitempty" jsonschema:"minItems=1" jsonschema_description:"who calls: local, anonymous, the name of a token, issuer and subject, or globs of these"`
}

// maxRules limits the work for each call.
const maxRules = 1000

// Compiled is a compiled rule.
type Compiled struct {
	Source     Rule
	index      int // in the configuration
	Name       string
	Effect     Verdict
	tools      []glob
	Effects    tools.Effects
	Commands   []CommandPattern
	Paths      []deny.Pattern
	principals []glob
}

// compile reads rule n. all are the tools of the catalog.
func compile(n int, r Rule, all []tools.Tool) (Compiled, error) {
	c := Compiled{Source: r, index: n, Name: r.Name}
	place := fmt.Sprintf("policy[%d]", n+1)
	if c.Name == "" {
		c.Name = place
	} else {
		place += " (" + r.Name + ")"
	}
	bad := func(field string, err error) (Compiled, error) {
		return Compiled{}, fmt.Errorf("%s: %s: %w", place, field, err)
	}
	i := slices.Index(verdictNames[Allow:], r.Verdict)
	if i < 0 {
		return bad("verdict", noSuch(r.Verdict, verdictNames[Allow:]))
	}
	c.Effect = Allow + Verdict(i)
	for _, f := range []struct {
		key  string
		list []string
	}{
		{"tool", r.Tool}, {"toolset", r.Toolset}, {"access", r.Access}, {"effect", r.Effect}, {"command", r.Command}, {"path", r.Path}, {"principal", r.Principal},
	} {
		if f.list != nil && len(f.list) == 0 { // who empties a list does not mean every call
			return bad(f.key, errors.New("the list names nothing; leave it out to fit every call"))
		}
	}
	names, toolsets := namesOf(all)
	for _, text := range r.Tool {
		g := newGlob(text)
		if t, ok := toolNamed(all, text); ok {
			g = newGlob(t.Name)
		}
		if !slices.ContainsFunc(names, g.matches) {
			return bad("tool", noSuch(text, names))
		}
		c.tools = append(c.tools, g)
	}
	for _, text := range r.Toolset {
		if !slices.Contains(toolsets, text) {
			return bad("toolset", noSuch(text, toolsets))
		}
	}
	for _, text := range r.Access {
		if known := accessNames(); !slices.Contains(known, text) {
			return bad("access", noSuch(text, known))
		}
	}
	for _, text := range r.Effect {
		known := effectNames()
		i := slices.Index(known, text)
		if i < 0 {
			return bad("effect", noSuch(text, known))
		}
		c.Effects |= 1 << i
	}
	for _, text := range r.Command {
		x, err := ParseCommandPattern(text)
		if err != nil {
			return bad("command", err)
		}
		c.Commands = append(c.Commands, x)
	}
	if len(c.Commands) > 0 && len(c.tools) > 0 && !slices.ContainsFunc(all, func(t tools.Tool) bool {
		_, ok := most(c.tools, t.Name)
		return ok && t.Plans()
	}) {
		return bad("command", errors.New("none of the tools of the rule runs commands"))
	}
	for _, text := range r.Path {
		p, err := deny.Parse(text)
		if err != nil {
			return bad("path", err)
		}
		c.Paths = append(c.Paths, p)
	}
	for _, text := range r.Principal {
		if strings.TrimSpace(text) == "" {
			return bad("principal", fmt.Errorf("a name is empty; leave the list out to mean everybody"))
		}
		c.principals = append(c.principals, newGlob(text))
	}
	return c, nil
}

func noSuch(text string, known []string) error {
	if near := schema.Nearest(text, known); near != "" {
		return fmt.Errorf("there is no %q; did you mean %q", text, near)
	}
	const most = 12
	if len(known) > most {
		return fmt.Errorf("there is no %q", text)
	}
	return fmt.Errorf("there is no %q; there are: %s", text, strings.Join(known, ", "))
}

// namesOf returns the names and toolsets of tools.
func namesOf(all []tools.Tool) (names, toolsets []string) {
	for _, t := range all {
		names = append(names, t.Name)
		if !slices.Contains(toolsets, t.Category) {
			toolsets = append(toolsets, t.Category)
		}
	}
	return names, toolsets
}

func toolNamed(all []tools.Tool, name string) (tools.Tool, bool) {
	i := slices.IndexFunc(all, func(t tools.Tool) bool { return t.Name == name || slices.Contains(t.Aliases, name) })
	if i < 0 {
		return tools.Tool{}, false
	}
	return all[i], true
}

func accessNames() (names []string) {
	for a := tools.Read; a <= tools.Delegates; a++ {
		names = append(names, a.String())
	}
	return names
}

func effectNames() (names []string) {
	for e := tools.None; e <= tools.Destroys; e <<= 1 {
		names = append(names, e.String())
	}
	return names
}

// glob is a pattern over a name: "*" matches any text, "?" one character.
type glob struct {
	text string
	rank int // how specific it is: of a name the most, of "*" 0
}

// named is the rank of a glob that is a name.
const named = 1 << 8

func newGlob(text string) glob {
	if !strings.ContainsAny(text, "*?") {
		return glob{text, named}
	}
	letters := len(text) - strings.Count(text, "*") - strings.Count(text, "?")
	return glob{text, min(letters, named-1)}
}

func (g glob) matches(name string) bool {
	if g.rank == named {
		return g.text == name
	}
	pattern, star, back := g.text, -1, 0
	i, j := 0, 0
	for i < len(name) {
		switch {
		case j < len(pattern) && pattern[j] == '*':
			star, back = j, i
			j++
		case j < len(pattern) && (pattern[j] == '?' || pattern[j] == name[i]):
			i++
			j++
		case star >= 0: // the last star takes one more
			back++
			i, j = back, star+1
		default:
			return false
		}
	}
	return strings.Trim(pattern[j:], "*") == ""
}

// most returns the rank of the most specific glob that matches, 0 for an empty list. ok
// is false if the list has globs and none matches.
func most(list []glob, name string) (rank int, ok bool) {
	ok = len(list) == 0
	for _, g := range list {
		if g.matches(name) {
			rank, ok = max(rank, g.rank), true
		}
	}
	return rank, ok
}

// NamesAllowed reports whether the rule allows tools by their full names.
func (r *Compiled) NamesAllowed() bool {
	return r.Effect == Allow && slices.ContainsFunc(r.tools, func(g glob) bool { return g.rank == named && g.text != "" })
}
