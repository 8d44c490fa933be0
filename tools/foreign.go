package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolcrib/schema"
)

// Foreign is a name that another system has for what a tool does. Unlike an alias it may
// stand for several tools, which an argument tells apart, and its callers may mean something
// else by some arguments. It is for calls alone: no list and no configuration has it.
type Foreign struct {
	Name string
	// By is the argument that chooses the tool; "" = the name is that of this tool alone.
	// The call chooses this tool if the argument has one of Values, in any case; "" among
	// them is a call without the argument. By is not passed on.
	By     string
	Values []string
	// Several: the name is that of another tool, and the call chooses this one if By is a
	// list of several, which is passed on.
	Several bool
	// Implied are arguments that a call by this name leaves out.
	Implied map[string]any
	// Spellings are forms of arguments that only callers of this name use.
	Spellings []schema.Spelling
}

// Called returns names that stand for one tool alone.
func Called(names ...string) []Foreign {
	list := make([]Foreign, len(names))
	for i, name := range names {
		list[i].Name = name
	}
	return list
}

// chooses reports whether a value of By chooses the tool; nil is a call without it.
func (f *Foreign) chooses(v any) bool {
	if f.Several {
		list, ok := v.([]any)
		return ok && len(list) > 1
	}
	text := ""
	if v != nil {
		text = fmt.Sprint(v)
	}
	return slices.ContainsFunc(f.Values, func(value string) bool { return value == text || text != "" && schema.SameWord(text, value) })
}

// spellings returns the forms of arguments of callers by this name.
func (f *Foreign) spellings() []schema.Spelling {
	if f.By == "" || f.Several {
		return f.Spellings
	}
	return append([]schema.Spelling{schema.Dropped("", f.By)}, f.Spellings...)
}

// as returns the tool as callers by a foreign name mean it.
func (t Tool) as(f Foreign) Tool {
	t.spelled = append(f.spellings(), t.spelled...)
	t.implied = f.Implied
	return t
}

// Names finds tools by every name under which they can be called. Make one by [NameTools].
type Names struct {
	own     map[string]*Tool     // by name and alias
	foreign map[string][]claim   // by foreign name
	off     map[string][]absence // by name, alias and foreign name in lower case
	listed  []string             // the names and aliases, sorted
}

// absence is a tool that is off, as one of its names means it.
type absence struct {
	Foreign
	omission Omission
}

// claim is a tool that claims a foreign name.
type claim struct {
	Foreign
	tool *Tool
}

// NameTools returns the names of tools, and knows those that are off. Its error says which
// names are taken twice. It keeps the slice.
func NameTools(all []Tool, off ...Omission) (*Names, error) {
	n := &Names{own: map[string]*Tool{}, foreign: map[string][]claim{}, off: map[string][]absence{}}
	for _, o := range off {
		for _, name := range append([]string{o.Tool.Name}, o.Tool.Aliases...) {
			n.miss(Foreign{Name: name}, o)
		}
		for _, f := range o.Tool.Foreign {
			n.miss(f, o)
		}
	}
	for i := range all {
		t := &all[i]
		for _, name := range append([]string{t.Name}, t.Aliases...) {
			if other, taken := n.own[name]; taken {
				return nil, fmt.Errorf("tool %q: name %q is taken by %q", t.Name, name, other.Name)
			}
			n.own[name] = t
		}
	}
	for i := range all {
		t := &all[i]
		for _, f := range t.Foreign {
			if err := n.claim(t, f); err != nil {
				return nil, err
			}
		}
	}
	n.listed = slices.Sorted(maps.Keys(n.own))
	return n, nil
}

// claim adds a foreign name of a tool, unless a call by it could mean two tools.
func (n *Names) claim(t *Tool, f Foreign) error {
	bad := func(why string, args ...any) error {
		return fmt.Errorf("tool %q: name %q %s", t.Name, f.Name, fmt.Sprintf(why, args...))
	}
	switch other, taken := n.own[f.Name]; {
	case taken && !f.Several:
		return bad("is taken by %q", other.Name)
	case !taken && f.Several: // a tool that cannot be called does not lend its name
		return nil
	}
	for _, c := range n.foreign[f.Name] {
		switch {
		case f.By == "" || c.By == "":
			return bad("is taken by %q", c.tool.Name)
		case f.Several && c.Several && f.By != c.By && c.tool == t: // lists under one of these names
			continue
		case f.By != c.By:
			return bad("chooses by %s, and for %q by %s", f.By, c.tool.Name, c.By)
		case f.Several && c.Several:
			return bad("with several %s is taken by %q", f.By, c.tool.Name)
		}
		for _, value := range f.Values {
			if slices.ContainsFunc(c.Values, func(v string) bool { return v == value || schema.SameWord(v, value) }) {
				return bad("with %s %q is taken by %q", f.By, value, c.tool.Name)
			}
		}
	}
	n.foreign[f.Name] = append(n.foreign[f.Name], claim{f, t})
	return nil
}

// Has reports whether a tool can be called by a name.
func (n *Names) Has(name string) bool {
	name = bare(name)
	_, foreign := n.foreign[name]
	_, own := n.own[name]
	return own || foreign
}

// Near returns the name of the tool that an unknown name is with a slip; "" = of none.
func (n *Names) Near(name string) string {
	near := schema.Misspelt(bare(name), n.listed)
	if t, ok := n.own[near]; ok {
		return t.Name
	}
	return ""
}

// bare returns a name without the spaces around it and the prefix that some clients and models
// give it.
func bare(name string) string {
	name = strings.TrimSpace(name)
	for _, prefix := range [...]string{"mcp__toolcrib__", "functions."} {
		name = strings.TrimPrefix(name, prefix)
	}
	return name
}

// miss remembers a name of a tool that is off.
func (n *Names) miss(f Foreign, o Omission) {
	name := strings.ToLower(f.Name)
	n.off[name] = append(n.off[name], absence{f, o})
}

// Off says why the tool that a call by a name means is off; "" = none that it can mean is.
// Case does not count.
func (n *Names) Off(name string, args json.RawMessage) string {
	name = bare(name)
	absent := n.off[strings.ToLower(name)]
	for _, a := range absent {
		if a.By == "" || a.chooses(schema.Peek(args, a.By)) {
			return a.omission.String()
		}
	}
	_, partly := n.foreign[name]
	if len(absent) == 0 || partly {
		return ""
	}
	return absent[0].omission.String()
}

// Find returns the tool that a call by a name means, as its caller means it: its own name
// and forms of arguments come with the tool. The error says that there is none, that it is
// off, or how the arguments choose one.
func (n *Names) Find(name string, args json.RawMessage) (Tool, error) {
	given := name
	name = bare(name)
	claims := n.foreign[name]
	for _, c := range claims {
		if c.By == "" || c.chooses(schema.Peek(args, c.By)) {
			return c.tool.as(c.Foreign), nil
		}
	}
	if t, ok := n.own[name]; ok {
		return *t, nil
	}
	if why := n.Off(name, args); why != "" {
		return Tool{}, Errorf(Unavailable, "%s", why)
	}
	if len(claims) > 0 {
		return Tool{}, unchosen(name, claims)
	}
	unknown := Errorf(NotFound, "no tool is called %q", Clip(given))
	if near := n.Near(name); near != "" {
		return Tool{}, unknown.WithHint("did you mean %s", near)
	}
	return Tool{}, unknown
}

// unchosen is the error for a call whose arguments choose none of the tools of a name.
func unchosen(name string, claims []claim) error {
	var values, names []string
	for _, c := range claims {
		for _, v := range c.Values {
			if v != "" {
				values = append(values, v)
			}
		}
		if !slices.Contains(names, c.tool.Name) {
			names = append(names, c.tool.Name)
		}
	}
	return Errorf(InvalidArgument, "/%s: %s needs one of %s", claims[0].By, name, strings.Join(values, ", ")).
		WithHint("or call %s", strings.Join(names, ", "))
}

// check returns an error for a foreign name that is declared wrong.
func (f *Foreign) check() error {
	switch {
	case !isName(strings.ToLower(f.Name)):
		return fmt.Errorf("name %q does not match %s in any case", f.Name, nameRule)
	case f.By == "" && (f.Values != nil || f.Several):
		return fmt.Errorf("name %q has values, but no argument to choose by", f.Name)
	case f.By != "" && (len(f.Values) > 0) == f.Several:
		return fmt.Errorf("name %q chooses by %s, which needs values, or several", f.Name, f.By)
	}
	return nil
}
