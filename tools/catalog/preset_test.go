package catalog_test

import (
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
	if _, err := (catalog.Selection{Preset: "defalt"}).Choose(all, tools.Host{}); err == nil || !strings.Contains(err.Error(), `did you mean "default"`) {
		t.Errorf("unknown preset: %v", err)
	}
}
