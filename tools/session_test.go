package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/workspace"
)

// TestResolveOutside resolves paths at which a command may have left a file.
func TestResolveOutside(t *testing.T) {
	here, err := os.MkdirTemp(".", "temp") // not where the system has temporary files
	if err != nil {
		t.Skip("needs: a writable directory: " + err.Error())
	}
	t.Cleanup(func() { _ = os.RemoveAll(here) })
	dir, err := filepath.Abs(here)
	if err != nil {
		t.Fatal(err)
	}
	root, temp, link := filepath.Join(dir, "root"), filepath.Join(dir, "temp"), filepath.Join(dir, "link")
	for _, name := range []string{root, temp} {
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(temp, link); err != nil {
		t.Skip("needs: symlinks: " + err.Error())
	}
	for _, name := range []string{"TMPDIR", "TMP"} {
		t.Setenv(name, link)
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(name, filepath.Join(dir, "home"))
	}
	ws, err := workspace.Open([]string{root}, workspace.Options{StateBase: filepath.Join(dir, "state")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	ctx := tools.WithSession(t.Context(), &tools.SessionInfo{Workspace: ws})
	other := filepath.Join(filepath.VolumeName(dir)+string(filepath.Separator), "elsewhere", "f")
	for path, want := range map[string]bool{filepath.Join(temp, "f"): true, filepath.Join(link, "f"): true, filepath.Join(dir, "home", "f"): true, other: false} {
		_, err := tools.Resolve(ctx, path)
		e := tools.AsError(err)
		if e == nil || e.Code != tools.Denied || strings.Contains(e.Hint, "if a command has made it") != want {
			t.Errorf("%s: %v; hint of commands wanted: %t", path, err, want)
		}
	}
}
