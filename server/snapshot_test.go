package server_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server"
	"toolcrib/tools/catalog"
)

// TestWireEqualsSnapshots holds what tools/list sends against the snapshots,
// which the catalog's own export has made.
func TestWireEqualsSnapshots(t *testing.T) {
	for _, tool := range catalog.Tools(catalog.All(new(catalog.Services))) {
		def, err := server.Define(tool)
		if err != nil {
			t.Fatal(err)
		}
		wire, err := json.Marshal(def)
		if err != nil {
			t.Fatal(err)
		}
		snapshot, err := os.ReadFile(filepath.Join("..", "testdata", "catalog", tool.Name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decode(t, snapshot), decode(t, wire)); diff != "" {
			t.Errorf("%s: -snapshot +wire:\n%s", tool.Name, diff)
		}
	}
}
