package files_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
)

// TestNextPage compares what a result says to programs of its next page with what its
// status says, page by page.
func TestNextPage(t *testing.T) {
	tree := map[string]string{
		"f": "1\n2\n3\n4\n5\n", "bin": "\x00" + strings.Repeat("x", 40), "d/a": "", "d/b": "", "d/c": "",
		"n.ipynb": `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[{"cell_type":"markdown","metadata":{},"source":"a\nb\nc\nd"}]}`,
	}
	for _, tt := range []struct {
		tool, args string
		pages      int
	}{
		{"read_file", `{"path": "f", "limit": 2}`, 3},
		{"read_file", `{"path": "f", "limit": 2, "offset": -5}`, 3},
		{"read_file", `{"path": "f", "byte_offset": 0, "byte_limit": 4}`, 3},
		{"read_file", `{"path": "bin", "byte_offset": 0, "byte_limit": 16}`, 3},
		{"read_file", `{"path": "n.ipynb", "limit": 2}`, 3},
		{"read_files", `{"paths": ["d/*"]}`, 1},
		{"list_directory", `{"path": "d", "limit": 2}`, 2},
	} {
		t.Run(tt.tool+tt.args, func(t *testing.T) {
			c := newCaller(t, tt.tool, tree)
			args := map[string]any{}
			if err := json.Unmarshal([]byte(tt.args), &args); err != nil {
				t.Fatal(err)
			}
			pages := 0
			for more := true; more; pages++ {
				raw, err := json.Marshal(args)
				if err != nil {
					t.Fatal(err)
				}
				res, err := tooltest.Call(t.Context(), c.ws, c.tool, raw)
				if err != nil {
					t.Fatal(err)
				}
				status, _, _ := strings.Cut(tooltest.Text(res), "\n")
				said := regexp.MustCompile(`next: (\w+=\d+)|$`).FindStringSubmatch(status)[1]
				var next map[string]any
				next, more = res.Meta[tools.MetaNext].(map[string]any)
				meta := ""
				for _, name := range slices.Sorted(maps.Keys(next)) {
					meta += fmt.Sprintf("%s=%v", name, next[name])
				}
				if meta != said {
					t.Errorf("the status says %q, _meta %q: %s", said, meta, status)
				}
				maps.Copy(args, next)
			}
			if pages != tt.pages {
				t.Errorf("%d pages, want %d", pages, tt.pages)
			}
		})
	}
}
