package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
)

// What is kept between pages may save time and must not change a byte: each page is
// asked for of tools that have given the pages before it, and of new ones.
func TestKeptPagesEqualThoseFromTheStart(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	files := map[string]string{"big.bin": "a\x00a", "bad/.ignore": "left\n", "bad/left": "a\n"}
	for range 60 {
		name := fmt.Sprintf("%c/%c-%d.txt", 'a'+rnd.IntN(4), 'a'+rnd.IntN(4), rnd.IntN(9))
		files[name] = strings.Repeat("a line\nanother\nb\n", rnd.IntN(9))
	}
	ws, _ := tooltest.Tree(t, files)
	for _, tt := range []struct {
		tool string
		args map[string]any
	}{
		{"grep", map[string]any{"pattern": "a", "limit": 7}},
		{"grep", map[string]any{"pattern": "a", "limit": 7, "max_per_file": 3}},
		{"grep", map[string]any{"pattern": "a", "limit": 1, "context": 1}},
		{"grep", map[string]any{"pattern": "a", "limit": 3, "mode": "files"}},
		{"grep", map[string]any{"pattern": "a", "limit": 4, "mode": "count"}},
		{"grep", map[string]any{"pattern": "a", "limit": 4, "mode": "count", "sort": "newest"}},
		{"grep", map[string]any{"pattern": "^b$", "limit": 5, "glob": []string{"!*-3.txt"}, "path": "b"}},
		{"grep", map[string]any{"pattern": "line", "limit": 9, "hidden": false, "multiline": true}},
		{"glob", map[string]any{"pattern": []string{"*"}, "limit": 7}},
		{"glob", map[string]any{"pattern": []string{"*.txt"}, "limit": 5, "sort": "newest"}},
		{"glob", map[string]any{"pattern": []string{"**"}, "kind": "any", "limit": 6}},
	} {
		used := tool(t, tt.tool)
		for offset, more := 0, true; more; {
			tt.args["offset"] = offset
			got, want := answer(t, ws, used, tt.args), answer(t, ws, tool(t, tt.tool), tt.args)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s %v (-from the start +kept):\n%s", tt.tool, tt.args, diff)
			}
			var next map[string]any
			if next, more = got.Meta[tools.MetaNext].(map[string]any); more {
				offset = next["offset"].(int)
			}
		}
	}
}
