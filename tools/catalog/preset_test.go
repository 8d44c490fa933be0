package catalog_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

// What the settings say decides which preset is shown, and to whom.
func TestSelection(t *testing.T) {
	all := all()
	preset := func(name string) []string {
		names, err := catalog.Preset(name, all)
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	for _, tt := range []struct {
		name string
		cfg  catalog.Selection
		want tools.Selection
	}{
		{"zero", catalog.Selection{}, tools.Selection{Preset: preset("default"), Tailored: catalog.Tailored(all)}},
		{"a preset is for everybody", catalog.Selection{Preset: "default"}, tools.Selection{Preset: preset("default")}},
		{"nothing leads to what is not listed", catalog.Selection{ExcludeTools: []string{"call_tool"}}, tools.Selection{Exclude: []string{"call_tool"}}},
		{"tools show all", catalog.Selection{Tools: []string{"grep"}}, tools.Selection{Tools: []string{"grep"}}},
		{"toolsets show all", catalog.Selection{Toolsets: []string{"files"}}, tools.Selection{Toolsets: []string{"files"}}},
		{"preset with tools", catalog.Selection{Tools: []string{"grep"}, Preset: "minimal"}, tools.Selection{Tools: []string{"grep"}, Preset: preset("minimal")}},
		{"exclude and read-only", catalog.Selection{ExcludeTools: []string{"grep"}, ReadOnly: true, Preset: "all"}, tools.Selection{Exclude: []string{"grep"}, ReadOnly: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.cfg.Choose(all, tools.Host{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := (catalog.Selection{Preset: "defalt"}).Choose(all, tools.Host{}); err == nil || !strings.Contains(err.Error(), `no preset is called "defalt"`) {
		t.Errorf("unknown preset: %v", err)
	}
	field, _ := reflect.TypeFor[catalog.Selection]().FieldByName("Preset")
	for name := range strings.SplitSeq(field.Tag.Get("values"), ",") {
		preset(name)
	}
}

// A description in the default list names no tool that is not in it, unless it says how that
// is called.
func TestListedNames(t *testing.T) {
	names, err := catalog.Preset("default", all())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range all() {
		if !slices.Contains(names, tool.Name) {
			continue
		}
		text, err := tool.Description()
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range all() {
			named := regexp.MustCompile(`\b` + other.Name + `\b( \(by call_(read_)?tool\))?`)
			for _, m := range named.FindAllStringSubmatch(text, -1) {
				if strings.Contains(other.Name, "_") && !slices.Contains(names, other.Name) && m[1] == "" {
					t.Errorf("%s names %s, which is not listed", tool.Name, other.Name)
				}
			}
		}
	}
}

// The handshakes that were recorded get what they are to get, and others do not.
func TestTailoredClients(t *testing.T) {
	tailored := catalog.Tailored(all())
	for client, want := range map[string]string{
		"claude-code": "deferred", "codex-mcp-client": "companion", "gemini-cli-mcp-client": "companion", "gemini-cli-mcp-client-toolcrib": "companion",
		"qwen-cli-mcp-client-toolcrib": "deferred", "opencode": "companion", "continue-cli-client": "companion",
		"claude-ai": "", "opencode2": "", "": "", "Visual Studio Code": "",
	} {
		got, is := tools.ForClient(tailored, client)
		if is != (want != "") {
			t.Errorf("%q has a preset of its own: %t", client, is)
		}
		if !is {
			continue
		}
		names, err := catalog.Preset(want, all())
		if diff := cmp.Diff(names, got); err != nil || diff != "" {
			t.Errorf("%q is not shown %s: %v\n%s", client, want, err, diff)
		}
	}
}

// A client whose model is shown the whole list gets a short one, and none of what it brings
// itself.
func TestCompanion(t *testing.T) {
	companion, err := catalog.Preset("companion", all())
	if err != nil {
		t.Fatal(err)
	}
	if len(companion) > 24 {
		t.Errorf("companion shows %d tools", len(companion))
	}
	for name, want := range map[string]bool{
		"read_files": true, "code_interpreter": true, "job_list": true, "search_tools": true, "call_tool": true, "parse_document": true,
		"read_file": false, "grep": false, "bash": false, "schedule_create": false,
	} {
		if slices.Contains(companion, name) != want {
			t.Errorf("companion shows %s: %t", name, !want)
		}
	}
}
