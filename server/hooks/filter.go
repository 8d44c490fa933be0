package hooks

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"toolcrib/server/rules"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/workspace"
	"toolcrib/workspace/deny"
)

// filter says which calls a hook sees.
type filter struct {
	tools     []string // globs
	access    []string
	effects   tools.Effects // of which one is enough; 0: all tools
	commands  []rules.CommandPattern
	paths     []deny.Pattern
	arguments map[string]*regexp.Regexp
}

// newFilter reads the filters of a Spec. The error begins with the key.
func newFilter(spec Spec, all []tools.Tool) (filter, error) {
	f := filter{tools: spec.Tool, access: spec.Access, arguments: map[string]*regexp.Regexp{}}
	var names []string
	for _, t := range all {
		names = append(append(names, t.Name), t.Aliases...)
	}
	for _, glob := range spec.Tool {
		if _, err := path.Match(glob, ""); err != nil {
			return f, at("tool", err)
		}
		if !slices.ContainsFunc(names, func(name string) bool { return globs(glob, name) }) {
			return f, at("tool", noSuch(glob, names))
		}
	}
	var classes []string
	for a := tools.Read; a <= tools.Delegates; a++ {
		classes = append(classes, a.String())
	}
	for _, text := range spec.Access {
		if !slices.Contains(classes, text) {
			return f, at("access", noSuch(text, classes))
		}
	}
	var effects []string
	for e := tools.None; e <= tools.Destroys; e <<= 1 {
		effects = append(effects, e.String())
	}
	for _, text := range spec.Effect {
		i := slices.Index(effects, text)
		if i < 0 {
			return f, at("effect", noSuch(text, effects))
		}
		f.effects |= tools.None << i
	}
	for _, text := range spec.Runs {
		pattern, err := rules.ParseCommandPattern(text)
		if err != nil {
			return f, at("runs", err)
		}
		f.commands = append(f.commands, pattern)
	}
	for _, text := range spec.Path {
		pattern, err := deny.Parse(text)
		if err != nil {
			return f, at("path", err)
		}
		f.paths = append(f.paths, pattern)
	}
	for name, text := range spec.Argument {
		re, err := regexp.Compile(text)
		if err != nil {
			return f, at("argument "+name, err)
		}
		f.arguments[name] = re
	}
	return f, nil
}

func globs(glob, name string) bool {
	ok, err := path.Match(glob, name)
	return ok && err == nil
}

// fits reports whether the hook sees a call.
func (f *filter) fits(v run.View) bool {
	named := func(glob string) bool {
		return globs(glob, v.Tool.Name) || slices.Contains(v.Tool.Aliases, glob) || v.Tool.SameAs != "" && globs(glob, v.Tool.SameAs)
	}
	if len(f.tools) > 0 && !slices.ContainsFunc(f.tools, named) ||
		len(f.access) > 0 && !slices.Contains(f.access, v.Tool.Access.String()) ||
		f.effects != 0 && v.Tool.Effects&f.effects == 0 ||
		len(f.commands) > 0 && !f.runs(v.Plan) ||
		len(f.paths) > 0 && !slices.ContainsFunc(opened(v), func(text string) bool { return f.concerns(v.Session.Workspace, text) }) {
		return false
	}
	if len(f.arguments) == 0 {
		return true
	}
	var args map[string]json.RawMessage
	if json.Unmarshal(v.Args, &args) != nil {
		return false
	}
	for name, re := range f.arguments {
		if !slices.ContainsFunc(textsOf(args[name]), re.MatchString) {
			return false
		}
	}
	return true
}

// runs reports whether a call runs a command that the hook looks at, or may.
func (f *filter) runs(plan tools.Plan) bool {
	return plan.Unknown != "" || slices.ContainsFunc(plan.Commands, func(c tools.Command) bool {
		return c.Hides != "" || slices.ContainsFunc(f.commands, func(x rules.CommandPattern) bool { return x.Matches(&c) })
	})
}

// opened are the paths of a call: its arguments, and what its commands open for certain.
func opened(v run.View) []string {
	paths := slices.Clone(v.Paths)
	add := func(list []tools.Touch) {
		for _, t := range list {
			paths = append(paths, t.Path)
		}
	}
	add(v.Plan.Touches)
	for i := range v.Plan.Commands {
		add(v.Plan.Commands[i].Touches)
	}
	return paths
}

// concerns reports whether a path argument leads to a path of the filter. An argument
// that cannot be resolved may lead anywhere, so it does.
func (f *filter) concerns(ws *workspace.Workspace, text string) bool {
	if ws == nil {
		return true
	}
	at, err := ws.Resolve(text)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(f.paths, func(x deny.Pattern) bool {
		return x.Matches(at) || x.Matches(at.Landing())
	})
}

// textsOf returns the texts of a value that are compared with a pattern: a string as it
// is, those of a list one by one, anything else as JSON.
func textsOf(raw json.RawMessage) []string {
	var one string
	var list []json.RawMessage
	switch {
	case len(raw) == 0:
		return nil
	case json.Unmarshal(raw, &one) == nil:
		return []string{one}
	case json.Unmarshal(raw, &list) == nil:
		var texts []string
		for _, item := range list {
			texts = append(texts, textsOf(item)...)
		}
		return texts
	}
	return []string{strings.TrimSpace(string(raw))}
}
