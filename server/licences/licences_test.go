package licences_test

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"toolcrib/server/licences"
)

// TestAll holds that the licence of every module is there that the program links on the platform
// of the test, in its version, and that of what it embeds.
func TestAll(t *testing.T) {
	all, err := licences.All()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	for _, l := range all {
		if l.Name == "" || len(l.Text) < 500 {
			t.Errorf("%s has the licence %q with %d bytes", l.Part, l.Name, len(l.Text))
		}
		have[l.Part] = l.Version
	}
	if have["Go"] == "" || !strings.HasPrefix(runtime.Version(), "go"+have["Go"][:4]) {
		t.Errorf("the licence of Go is that of %s", have["Go"])
	}
	if _, ok := have["PDFium"]; !ok {
		t.Error("the licence of PDFium is missing")
	}
	list, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if and .Version (not .Replace)}}{{.Path}} {{.Version}}{{end}}{{end}}", "toolcrib").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := 0
	for line := range strings.Lines(string(list)) {
		path, version, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		if modules++; have[path] != version {
			t.Errorf("%s %s: the licence is that of version %q; go run ./.ci/licences collects it", path, version, have[path])
		}
	}
	if modules < 10 {
		t.Errorf("the program links %d modules", modules)
	}
}
