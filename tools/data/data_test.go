package data_test

import (
	"encoding/json"
	"testing"

	"toolcrib/tools/catalog"
	"toolcrib/tools/data"
	"toolcrib/tools/internal/services"
	"toolcrib/tools/internal/tooltest"
)

func TestMain(m *testing.M) { tooltest.Main(m, data.Program) }

// caller returns what calls a tool in a directory of files and returns its text or error.
func caller[In any](t *testing.T, name string, files map[string]string) func(In) string {
	t.Helper()
	tool, ok := catalog.Find(data.Category(&services.Services{Restarts: true}).Tools, name)
	if !ok {
		t.Fatal("there is no " + name)
	}
	ws, _ := tooltest.Tree(t, files)
	return func(in In) string {
		t.Helper()
		args, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		result, err := tooltest.Call(t.Context(), ws, tool, args)
		if err != nil {
			return err.Error()
		}
		return tooltest.Text(result)
	}
}
