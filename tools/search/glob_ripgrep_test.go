package search_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/tooltest"
)

// What rg lists is what glob finds.
func TestGlobEqualsRipgrep(t *testing.T) {
	rg := rgProgram(t)
	ws, dir := tooltest.Tree(t, corpus(t))
	for pattern, flag := range map[string]string{"**": "", "*.go": "*.go", "**/*_test.go": "*_test.go", "go/{regexp,strconv}/*.go": "/go/{regexp,strconv}/*.go", "[a-m]*": "[a-m]*"} {
		cmd := exec.CommandContext(t.Context(), rg, "--no-config", "--files")
		if flag != "" { // which beats ignore files
			cmd.Args = append(cmd.Args, "--glob="+flag, "--glob=!ignored/")
		}
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		slices.Sort(want)
		got := pages(t, ws, "glob", map[string]any{"pattern": pattern, "limit": 70})
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-rg +glob):\n%s", pattern, head(diff))
		}
	}
}
