package identity

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolcrib/schema"
	"toolcrib/tools"
)

// Scope selects the tools that a token with this scope may call: those that are in one of
// the toolsets, or lead to these, and have one of the access classes.
type Scope struct {
	Toolsets []string `json:"toolsets,omitempty" jsonschema:"minItems=1" jsonschema_description:"categories of tools (default all)"`
	Access   []string `json:"access,omitempty" jsonschema:"minItems=1" jsonschema_description:"access classes of tools: read, write, exec, external (default all)"`
}

// Scopes are all scopes by their names; none means those of [DefaultScopes].
type Scopes map[string]Scope

// DefaultScopes are the scopes where the configuration names none: one for each
// access class, and one for everything.
func DefaultScopes() Scopes {
	return Scopes{
		"tools:read":     {Access: []string{"read"}},
		"tools:write":    {Access: []string{"write"}},
		"tools:exec":     {Access: []string{"exec"}},
		"tools:external": {Access: []string{"external"}},
		"tools:all":      {},
	}
}

// compiled are scopes whose words were checked.
type compiled map[string]clause

// clause matches tools; a nil list matches all.
type clause struct {
	toolsets []string
	access   []tools.Access
}

func (c clause) matches(t *tools.Tool) bool {
	return (c.toolsets == nil || t.Leads() || slices.Contains(c.toolsets, t.Category)) &&
		(c.access == nil || t.Access == tools.Delegates || slices.Contains(c.access, t.Access) || slices.Contains(c.access, t.Least))
}

// narrower orders clauses: those that match less come first.
func (c clause) narrower(d clause) int {
	width := func(n int) int {
		if n == 0 {
			return 1 << 10 // all
		}
		return n
	}
	return width(len(c.access))*width(len(c.toolsets)) - width(len(d.access))*width(len(d.toolsets))
}

func (s Scopes) compile() (compiled, error) {
	if len(s) == 0 {
		s = DefaultScopes()
	}
	all := compiled{}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if strings.IndexFunc(name, func(r rune) bool { return r < '!' || r > '~' || r == '"' || r == '\\' }) >= 0 || name == "" {
			return nil, &SettingError{Key: "scopes", At: "scopes." + name, Err: fmt.Errorf("scope %q: the name of a scope is printable ASCII without spaces and quotes", name)}
		}
		c := clause{toolsets: s[name].Toolsets}
		for _, word := range s[name].Access {
			a, err := accessOf(word)
			if err != nil {
				return nil, &SettingError{Key: "scopes", At: "scopes." + name + ".access", Err: fmt.Errorf("scope %s: %w", name, err)}
			}
			c.access = append(c.access, a)
		}
		all[name] = c
	}
	return all, nil
}

// accessOf returns the access class of a name. Delegates is none to grant: the
// calls inside are judged by themselves.
func accessOf(word string) (tools.Access, error) {
	classes := []tools.Access{tools.Read, tools.Write, tools.Exec, tools.External}
	words := make([]string, len(classes))
	for i, a := range classes {
		if words[i] = a.String(); words[i] == word {
			return a, nil
		}
	}
	if near := schema.Nearest(word, words); near != "" {
		return 0, fmt.Errorf("no access class is called %q; did you mean %q", word, near)
	}
	return 0, fmt.Errorf("no access class is called %q; there are: %s", word, strings.Join(words, ", "))
}

// grantOf returns the grant of a static token.
func (all compiled) grantOf(t Token) (*Grant, error) {
	for _, name := range t.Scopes {
		if _, ok := all[name]; ok {
			continue
		}
		if near := schema.Nearest(name, slices.Collect(maps.Keys(all))); near != "" {
			return nil, fmt.Errorf("no scope is called %q; did you mean %q", name, near)
		}
		return nil, fmt.Errorf("no scope is called %q; there are: %s", name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	if t.Scopes == nil && t.Toolsets == nil && !t.ReadOnly {
		return nil, nil
	}
	g := all.grant(t.Scopes)
	if t.Scopes == nil {
		g.clauses = []clause{{}}
	}
	if t.Toolsets != nil || t.ReadOnly {
		g.within = &clause{toolsets: t.Toolsets}
		if t.ReadOnly {
			g.within.access = []tools.Access{tools.Read}
		}
	}
	return g, nil
}

// grant is what scopes let be called; those that do not exist let nothing.
func (all compiled) grant(scopes []string) *Grant {
	g := &Grant{all: all}
	for _, name := range scopes {
		if c, ok := all[name]; ok {
			g.clauses = append(g.clauses, c)
		}
	}
	return g
}

// Grant is the set of tools that a principal may call. A nil Grant allows all.
type Grant struct {
	all     compiled
	clauses []clause // one that matches is enough
	within  *clause  // must match too; nil = does
}

// Allows reports whether a tool may be called. A principal that may call any tool may
// also call tools that call others.
func (g *Grant) Allows(t *tools.Tool) bool {
	if g == nil {
		return true
	}
	return (g.within == nil || g.within.matches(t)) &&
		slices.ContainsFunc(g.clauses, func(c clause) bool { return c.matches(t) })
}

// Needed returns the narrowest scope with which a tool may be called, nil where none
// would help.
func (g *Grant) Needed(t *tools.Tool) []string {
	if g == nil || g.within != nil && !g.within.matches(t) {
		return nil
	}
	return g.all.narrowest(func(c clause) bool { return c.matches(t) })
}

// narrowest returns the name of the narrowest scope that fits, nil if none does.
func (all compiled) narrowest(fits func(clause) bool) []string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool { return !fits(all[name]) })
	if len(names) == 0 {
		return nil
	}
	return []string{slices.MinFunc(names, func(a, b string) int { return all[a].narrower(all[b]) })}
}

// basic are the scopes that a client should begin with: to read.
func (all compiled) basic() []string {
	return all.narrowest(func(c clause) bool { return c.access == nil || slices.Contains(c.access, tools.Read) })
}
