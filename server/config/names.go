package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"toolcrib/schema"
	"toolcrib/server/config/settings"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

// checkTools returns a problem for each name in a file that no tool or toolset has, and
// for each setting that its tool cannot have.
func (e *Env) checkTools(doc *settings.Document, file Config) (problems settings.Problems) {
	var names []string
	toolsets := []string{"all"}
	for _, t := range e.Catalog {
		names = append(append(names, t.Name), t.Aliases...)
		toolsets = append(toolsets, t.Category)
	}
	check := func(at, what, name string, known []string) bool {
		if slices.Contains(known, name) {
			return true
		}
		problem := doc.Problem(at, "no %s is called %q", what, name)
		if near := schema.Nearest(name, known); near != "" {
			problem.Msg += fmt.Sprintf("; did you mean %s", near)
		}
		problems = append(problems, problem)
		return false
	}
	for _, list := range []struct {
		key, what    string
		given, known []string
	}{
		{"toolsets", "toolset", file.Toolsets, toolsets}, {"tools", "tool", file.Tools, names}, {"exclude_tools", "tool", file.ExcludeTools, names},
	} {
		for i, name := range list.given {
			check(fmt.Sprintf("%s[%d]", list.key, i+1), list.what, name, list.known)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(file.Tool)) {
		at := "tool." + name
		if !check(at, "tool", name, names) {
			continue
		}
		t, _ := catalog.Find(e.Catalog, name)
		switch set := file.Tool[name]; {
		case t.Name != name:
			problems = append(problems, doc.Problem(at, "this is an old name; write %s", t.Name))
		case set.Cache > 0 && (t.Least != tools.Read || !t.Repeatable):
			problems = append(problems, doc.Problem(at+".cache", "only results of tools that read, and give the same twice, can be kept"))
		case set.Timeout > time.Hour:
			problems = append(problems, doc.Problem(at+".timeout", "%s is more than 1h", set.Timeout))
		}
	}
	return problems
}

// fillTools gives the tools that a workspace's file sets something of the settings that
// they have by themselves, so that it can only narrow these.
func (e *Env) fillTools(cfg *Config, file Config) {
	filled := map[string]ToolSettings{}
	maps.Copy(filled, cfg.Tool)
	for name := range file.Tool {
		if t, ok := catalog.Find(cfg.Tuned(e.Catalog), name); ok {
			filled[name] = ToolSettings{Timeout: t.Timeout, Cache: t.Cache, MaxText: t.Limits.Text}
		}
	}
	if len(filled) > 0 {
		cfg.Tool = filled
	}
}

// narrowTools excludes the tools that the selection of a workspace's file leaves out. A
// selection narrows another only tool by tool: a tool that both leave out of their
// toolsets might be in by the tools of either.
func (e *Env) narrowTools(cfg *Config, file Config) error {
	selected, err := tools.Select(e.Catalog, tools.Selection{Toolsets: file.Toolsets, Tools: file.Tools, Host: e.Machine()})
	if err != nil {
		return err
	}
	cfg.ExcludeTools = slices.Clone(cfg.ExcludeTools)
	for _, o := range selected.Omitted {
		if o.Reason != o.Tool.Missing(e.Machine()) && !slices.Contains(cfg.ExcludeTools, o.Tool.Name) {
			cfg.ExcludeTools = append(cfg.ExcludeTools, o.Tool.Name)
		}
	}
	return nil
}

// ToolSettings are the settings of one tool; the zero value keeps the tool's own.
type ToolSettings struct {
	Timeout time.Duration `json:"timeout,omitempty" narrow:"least" jsonschema_description:"how long one attempt may take, such as 30s; an hour at most"`
	Cache   time.Duration `json:"cache,omitempty" narrow:"least" jsonschema_description:"how long a result may be given again while nothing has changed; for tools that only read and give the same twice"`
	MaxText int           `json:"max_text,omitempty" narrow:"least" jsonschema:"minimum=1000,maximum=50000" jsonschema_description:"the most bytes of text in a result"`
}

// Tuned returns the catalog with the settings of single tools put to work.
func (c Config) Tuned(all []tools.Tool) []tools.Tool {
	if len(c.Tool) == 0 {
		return all
	}
	all = slices.Clone(all)
	for i := range all {
		t := &all[i]
		set := c.Tool[t.Name]
		t.Timeout = cmp.Or(set.Timeout, t.Timeout)
		t.Cache = cmp.Or(set.Cache, t.Cache)
		t.Limits.Text = cmp.Or(set.MaxText, t.Limits.Text)
	}
	return all
}
