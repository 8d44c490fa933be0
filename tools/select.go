package tools

import (
	"fmt"
	"slices"
	"strings"

	"toolcrib/schema"
)

// Categories returns the categories of the tools, in their order.
func Categories(ts []Tool) []string {
	var names []string
	for _, t := range ts {
		if !slices.Contains(names, t.Category) {
			names = append(names, t.Category)
		}
	}
	return names
}

// Selection says which tools of a catalog can be called and which are listed.
type Selection struct {
	Toolsets []string // categories; empty or "all" = every one
	Tools    []string // names added to the toolsets; without toolsets, the only ones
	Exclude  []string // names removed; overrides Toolsets and Tools
	ReadOnly bool     // only tools that may read
	// Preset are the names of enabled tools that tools/list shows; nil = all of them.
	Preset []string
	// Tailored replaces Preset for particular clients, see [ForClient].
	Tailored map[string][]string
	Host     Host
}

// Omission is a tool that cannot be called, and why.
type Omission struct {
	Tool   Tool
	Reason string
}

// String says that the tool is off, and by what.
func (o Omission) String() string { return o.Tool.Name + " is off: " + o.Reason }

// Selected is the outcome of a Selection; each list keeps the catalog's order.
type Selected struct {
	Enabled []Tool // can be called
	Listed  []Tool // shown by tools/list
	// Tailored replaces Listed for particular clients, see [ForClient].
	Tailored map[string][]Tool
	Omitted  []Omission
}

// For returns the tools that are listed for a client.
func (s Selected) For(client string) []Tool {
	if own, tailored := ForClient(s.Tailored, client); tailored {
		return own
	}
	return s.Listed
}

// Select applies s to a catalog. A name that does not exist is an error, which suggests the
// nearest name. A tool that the selection names but the machine cannot run becomes an
// Omission.
func Select(all []Tool, s Selection) (Selected, error) {
	if err := s.check(all); err != nil {
		return Selected{}, err
	}
	out := Selected{Enabled: make([]Tool, 0, len(all))}
	for _, t := range all {
		if reason := s.omits(t); reason != "" {
			out.Omitted = append(out.Omitted, Omission{t, reason})
			continue
		}
		out.Enabled = append(out.Enabled, t)
	}
	out.Listed = shown(out.Enabled, s.Preset)
	for client, preset := range s.Tailored {
		if out.Tailored == nil {
			out.Tailored = map[string][]Tool{}
		}
		out.Tailored[client] = shown(out.Enabled, preset)
	}
	return out, nil
}

// ForClient returns what is tailored for a client, by the name that it gives. A key that ends
// with * is for every name that begins with the rest of it: some clients add the name of the
// server to theirs.
func ForClient[T any](tailored map[string]T, name string) (own T, ok bool) {
	if own, ok = tailored[name]; ok {
		return own, true
	}
	for key, value := range tailored {
		if begin, pattern := strings.CutSuffix(key, "*"); pattern && strings.HasPrefix(name, begin) {
			return value, true
		}
	}
	return own, false
}

// shown returns the tools that a preset names; nil names all.
func shown(enabled []Tool, preset []string) []Tool {
	if preset == nil {
		return enabled
	}
	list := make([]Tool, 0, min(len(preset), len(enabled)))
	for _, t := range enabled {
		if slices.Contains(preset, t.Name) {
			list = append(list, t)
		}
	}
	return list
}

func (s Selection) omits(t Tool) string {
	switch {
	case t.named(s.Exclude):
		return "excluded by --exclude-tools"
	case !t.named(s.Tools) && !s.inToolsets(t):
		return "not in --toolsets or --tools"
	case s.ReadOnly && !t.MayRead():
		return "the server is read-only (--read-only), and its access is " + t.Access.String()
	}
	return t.Missing(s.Host)
}

func (s Selection) inToolsets(t Tool) bool {
	if len(s.Toolsets) == 0 {
		return len(s.Tools) == 0
	}
	return slices.Contains(s.Toolsets, t.Category) || slices.Contains(s.Toolsets, "all")
}

func (t Tool) named(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return n == t.Name || slices.Contains(t.Aliases, n) })
}

// maxTold is how many names an error lists.
const maxTold = 20

func (s Selection) check(all []Tool) error {
	var names []string
	toolsets := []string{"all"}
	for _, t := range all {
		names = append(append(names, t.Name), t.Aliases...)
		if !slices.Contains(toolsets, t.Category) {
			toolsets = append(toolsets, t.Category)
		}
	}
	for _, c := range []struct {
		what         string
		given, known []string
	}{
		{"toolset", s.Toolsets, toolsets}, {"tool", s.Tools, names}, {"tool", s.Exclude, names},
	} {
		for _, n := range c.given {
			if slices.Contains(c.known, n) {
				continue
			}
			if near := schema.Nearest(n, c.known); near != "" {
				return fmt.Errorf("no %s is called %q; did you mean %q", c.what, n, near)
			}
			if len(c.known) > maxTold {
				return fmt.Errorf("no %s is called %q", c.what, n)
			}
			return fmt.Errorf("no %s is called %q; there are: %s", c.what, n, strings.Join(c.known, ", "))
		}
	}
	return nil
}
