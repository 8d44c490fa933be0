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

// nextPages compares what results of a tool say to programs of the next page with what their
// status says, page by page. It is given the arguments of first pages with how many pages
// there are.
func nextPages(t *testing.T, tool string, calls map[string]int) {
	t.Helper()
	tree := map[string]string{
		"f": "1\n2\n3\n4\n5\n", "bin": "\x00" + strings.Repeat("x", 40), "d/a": "", "d/b": "", "d/c": "",
		"n.ipynb": `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[{"cell_type":"markdown","metadata":{},"source":"a\nb\nc\nd"}]}`,
	}
	for call, want := range calls {
		t.Run(call, func(t *testing.T) {
			c := newCaller(t, tool, tree)
			args := map[string]any{}
			if err := json.Unmarshal([]byte(call), &args); err != nil {
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
			if pages != want {
				t.Errorf("%d pages, want %d", pages, want)
			}
		})
	}
}
