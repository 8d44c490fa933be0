package data_test

import (
	"encoding/json"
	"os"
	"testing"

	"toolcrib/tools/catalog"
	"toolcrib/tools/data"
	"toolcrib/tools/internal/services"
	"toolcrib/tools/internal/tooltest"
)

// TestMain lets the test's own binary run the filters of json_process.
func TestMain(m *testing.M) {
	if exit, was := data.Program(os.Args[1:]); was {
		os.Exit(exit)
	}
	os.Exit(m.Run())
}

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
