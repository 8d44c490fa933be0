package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDemo builds the program and has it show itself, as a newcomer would.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("needs: time to link the program")
	}
	t.Parallel()
	binary := built(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), binary, "demo", "--state-dir", t.TempDir(), dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"→ initialize", " tools: ", "← main.go", "← 3\tfunc main() {}", "is outside the workspace", `"mcpServers"`, binary,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the transcript lacks %q:\n%s", want, out)
		}
	}
}
