package bridge_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/catalog"
	"toolcrib/tools/internal/tooltest"
)

// outcome is the text of a result or of an error.
func outcome(res tools.Result, err error) string {
	if err != nil {
		return "error: " + tools.AsError(err).Error()
	}
	return tooltest.Text(res)
}

// grown is the catalog with the tools of testdata/foreign.json, but for those that
// it has itself by now.
func grown(t testing.TB) *tooltest.Caller {
	t.Helper()
	data, err := os.ReadFile("testdata/foreign.json")
	if err != nil {
		t.Fatal(err)
	}
	var foreign []struct {
		Name, Category, Title, Description string
		Arguments                          map[string]string
	}
	if err := json.Unmarshal(data, &foreign); err != nil {
		t.Fatal(err)
	}
	caller := new(tooltest.Caller)
	all := catalog.Tools(catalog.All(&catalog.Services{Caller: caller}))
	for _, f := range foreign {
		if _, there := catalog.Find(all, f.Name); there {
			continue
		}
		properties := map[string]any{}
		for name, description := range f.Arguments {
			properties[name] = map[string]any{"type": "string", "description": description}
		}
		raw, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "additionalProperties": false})
		if err != nil {
			t.Fatal(err)
		}
		tool, err := tools.Dynamic(tools.DynamicDef{
			Name: f.Name, Category: f.Category, Title: f.Title, Doc: f.Description, Schema: raw,
			Access: tools.External, Effects: tools.Network,
			Run: func(context.Context, json.RawMessage) (tools.Result, error) { return tools.Result{}, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tool)
	}
	caller.All = all
	return caller
}

func find(t testing.TB, all []tools.Tool, name string) tools.Tool {
	t.Helper()
	tool, ok := catalog.Find(all, name)
	if !ok {
		t.Fatalf("no tool is called %q", name)
	}
	return tool
}

// foreign is a tool that answers with res and the arguments that it got.
func foreign(t *testing.T, name string, res tools.Result) tools.Tool {
	t.Helper()
	tool, err := tools.Dynamic(tools.DynamicDef{
		Name: name, Category: "test", Title: "Test", Doc: "Tests.",
		Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"number","description":"a number"}},"additionalProperties":false}`),
		Access: tools.Read, Effects: tools.None,
		Run: func(_ context.Context, args json.RawMessage) (tools.Result, error) {
			res.Content = append(slices.Clone(res.Content), tools.Text(string(args)))
			return res, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}
