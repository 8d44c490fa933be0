package search_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
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

// A long list is cut into pages anywhere, by lines or by bytes.
func TestPagesOfALongList(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	files := map[string]string{}
	for len(files) < 2500 {
		files[fmt.Sprintf("%c/%05d%s", 'a'+rnd.IntN(3), len(files), strings.Repeat("x", rnd.IntN(90)))] = ""
	}
	want := slices.Sorted(maps.Keys(files))
	ws, _ := tooltest.Tree(t, files)
	for _, limit := range []int{1000, 200, 130} {
		glob := tool(t, "glob")
		var got []string
		for offset, more := 0, true; more; {
			page := answer(t, ws, glob, map[string]any{"pattern": []string{"**"}, "limit": limit, "offset": offset})
			text := page.Content[0].Text
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")[1:]
			if len(lines) > limit || len(text) > tools.MaxText {
				t.Errorf("limit %d, offset %d: a page of %d lines, %d bytes", limit, offset, len(lines), len(text))
			}
			got = append(got, lines...)
			var next map[string]any
			if next, more = page.Meta[tools.MetaNext].(map[string]any); more {
				offset = next["offset"].(int)
			}
			if more && len(lines) < limit && len(text) < tools.MaxText*9/10 {
				t.Errorf("limit %d: a page of %d lines, %d bytes, is not the last", limit, len(lines), len(text))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, diff)
		}
	}
}
