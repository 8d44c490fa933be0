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

// keptPages checks that what is kept between pages saves time and does not change a byte: each
// page is asked for of a tool that has given the pages before it, and of a new one.
func keptPages(t *testing.T, name string, calls []map[string]any) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(5, 6))
	files := map[string]string{"big.bin": "a\x00a", "bad/.ignore": "left\n", "bad/left": "a\n"}
	for range 60 {
		name := fmt.Sprintf("%c/%c-%d.txt", 'a'+rnd.IntN(4), 'a'+rnd.IntN(4), rnd.IntN(9))
		files[name] = strings.Repeat("a line\nanother\nb\n", rnd.IntN(9))
	}
	ws, _ := tooltest.Tree(t, files)
	for _, args := range calls {
		used := tool(t, name)
		for offset, more := 0, true; more; {
			args["offset"] = offset
			got, want := answer(t, ws, used, args), answer(t, ws, tool(t, name), args)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%v (-from the start +kept):\n%s", args, diff)
			}
			var next map[string]any
			if next, more = got.Meta[tools.MetaNext].(map[string]any); more {
				offset = next["offset"].(int)
			}
		}
	}
}
