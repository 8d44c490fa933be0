package tools_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
)

func toolbox() []tools.Tool {
	make := func(name, category string, access tools.Access, effects tools.Effects, needs ...tools.Need) tools.Tool {
		def := wordDef()
		def.Name, def.Access, def.Effects, def.Needs = name, access, effects, needs
		t := tools.New(def)
		t.Category = category
		return t
	}
	box := []tools.Tool{
		make("look", "files", tools.Read, tools.None),
		make("change", "files", tools.Write, tools.Workspace),
		make("ask_web", "web", tools.External, tools.Network, tools.Need{Env: "WEB_KEY", How: "set it"}),
		make("send_web", "web", tools.External, tools.Network|tools.Destroys, tools.Need{Env: "WEB_KEY", How: "set it"}),
		make("shell", "shell", tools.Exec, tools.Process, tools.Need{Binaries: []string{"bash", "sh"}, How: "install bash"}),
		make("any", "agents", tools.Delegates, tools.None),
		make("mac", "shell", tools.Read, tools.None, tools.Need{OS: []string{"darwin"}, How: "use a Mac"}),
	}
	box[0].Aliases = []string{"view"}
	return box
}

func host(env map[string]string, paths ...string) tools.Host {
	return tools.Host{
		OS:     "linux",
		Getenv: func(k string) string { return env[k] },
		LookPath: func(f string) (string, error) {
			if slices.Contains(paths, f) {
				return "/bin/" + f, nil
			}
			return "", errors.New("not found")
		},
	}
}

func TestSelect(t *testing.T) {
	full := host(map[string]string{"WEB_KEY": "k"}, "sh")
	for _, c := range []struct {
		name            string
		sel             tools.Selection
		enabled, listed string
	}{
		{"everything", tools.Selection{Host: full}, "look change ask_web send_web shell any", "look change ask_web send_web shell any"},
		{"a bare machine", tools.Selection{Host: host(nil)}, "look change any", "look change any"},
		{"toolset", tools.Selection{Toolsets: []string{"files"}, Host: full}, "look change", "look change"},
		{"toolset and tool", tools.Selection{Toolsets: []string{"files"}, Tools: []string{"shell"}, Host: full}, "look change shell", "look change shell"},
		{"only tools, by alias", tools.Selection{Tools: []string{"view"}, Host: full}, "look", "look"},
		{"all, without one", tools.Selection{Toolsets: []string{"all"}, Exclude: []string{"shell"}, Host: full}, "look change ask_web send_web any", "look change ask_web send_web any"},
		{"exclude beats tools", tools.Selection{Tools: []string{"look", "change"}, Exclude: []string{"view"}, Host: full}, "change", "change"},
		{"read-only beats tools", tools.Selection{Tools: []string{"look", "change", "any"}, ReadOnly: true, Host: full}, "look any", "look any"},
		{"read-only", tools.Selection{ReadOnly: true, Host: full}, "look ask_web any", "look ask_web any"},
		{"preset", tools.Selection{Preset: []string{"look", "mac"}, Host: full}, "look change ask_web send_web shell any", "look"},
	} {
		got, err := tools.Select(toolbox(), c.sel)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff([]string{c.enabled, c.listed}, []string{names(got.Enabled), names(got.Listed)}); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if len(got.Enabled)+len(got.Omitted) != len(toolbox()) {
			t.Errorf("%s: %d enabled and %d omitted of %d", c.name, len(got.Enabled), len(got.Omitted), len(toolbox()))
		}
		for _, o := range got.Omitted {
			if o.Reason == "" {
				t.Errorf("%s: %s is omitted without a reason", c.name, o.Tool.Name)
			}
		}
	}
}

func TestSelectRefusesUnknownNames(t *testing.T) {
	for _, c := range []struct {
		sel  tools.Selection
		want string
	}{
		{tools.Selection{Toolsets: []string{"file"}}, `no toolset is called "file"; did you mean "files"`},
		{tools.Selection{Tools: []string{"chnage"}}, `did you mean "change"`},
		{tools.Selection{Exclude: []string{"zzzzzzzz"}}, `there are: look, view, change`},
	} {
		if _, err := tools.Select(toolbox(), c.sel); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.sel, err, c.want)
		}
	}
}

func names(ts []tools.Tool) string {
	var out []string
	for _, t := range ts {
		out = append(out, t.Name)
	}
	return strings.Join(out, " ")
}
