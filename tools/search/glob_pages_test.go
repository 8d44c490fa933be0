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

func TestGlobKeptPagesEqualThoseFromTheStart(t *testing.T) {
	keptPages(t, "glob", []map[string]any{
		{"pattern": []string{"*"}, "limit": 7},
		{"pattern": []string{"*.txt"}, "limit": 5, "sort": "newest"},
		{"pattern": []string{"**"}, "kind": "any", "limit": 6},
	})
}
