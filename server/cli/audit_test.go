package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/tools/catalog"
)

// TestAudit takes a call from the command line to the line that tells of it.
func TestAudit(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	file := filepath.Join(other, "audit.jsonl")
	call := func(audit string) (stderr string, code int) {
		_, stderr, code = invocation{
			args:    []string{"call", "file_info", `{"paths":["a-name.txt"]}`, root, "--audit", audit},
			catalog: catalog.All(catalog.Deps{}),
		}.start(t)
		return stderr, code
	}
	if stderr, code := call(file); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rec struct {
		Event, Tool, Principal, Code string
		Paths                        []string
	}
	if err := json.Unmarshal(data, &rec); err != nil {
		t.Fatalf("%v in %q", err, data)
	}
	if rec.Event != "end" || rec.Tool != "file_info" || rec.Principal != "local" || rec.Code != "ok" || strings.Join(rec.Paths, " ") != "a-name.txt" {
		t.Errorf("got %s", data)
	}
	if stderr, code := call(filepath.Join(root, "audit.jsonl")); code != 2 || !strings.Contains(stderr, "inside a root") {
		t.Errorf("an audit file inside a root: exit %d, %s", code, stderr)
	}
}
