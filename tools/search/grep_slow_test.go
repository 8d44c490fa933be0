package search_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
)

// A search says which file it gave up and answers with the matches in the others. One that
// has no time for the rest says how far it came.
func TestTooSlow(t *testing.T) {
	tooltest.Unraced(t) // it is about time
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	letters := make([]byte, 8<<20)
	for i := range letters {
		letters[i] = byte('a' + rnd.IntN(20))
	}
	files := map[string]string{"a.txt": "NEEDLE\n", "b.js": string(letters) + "NEEDLE\n", "c.txt": strings.Repeat("x", 900) + "NEEDLE\n"}
	ws, _ := tooltest.Tree(t, files)
	grep := func(limit time.Duration, args string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		result, err := tooltest.Call(ctx, ws, tool(t, "grep"), json.RawMessage(args))
		if err != nil {
			return "", err
		}
		return tooltest.Text(result), nil
	}
	const note = "1 path not searched to the end for lack of time (exclude it, pass it alone as path, or a simpler pattern): b.js\n"
	for _, tt := range []struct{ args, want string }{
		{`{"pattern":"[a-jx][^z]{899}NEEDLE","mode":"count"}`, "1 of 3 files, 1 match in all; not complete: 1 file took too long\n1\tc.txt\n" + note},
		{`{"pattern":"[a-jx][^z]{899}NEEDLE","mode":"count","path":"b.js"}`, "0 matches in b.js; not complete: 1 file took too long\n" + note},
	} {
		got, err := grep(5*time.Second, tt.args)
		if err != nil || got != tt.want {
			t.Errorf("%s: error %v, %q, want %q", tt.args, err, got, tt.want)
		}
	}
	for i := range 40 {
		files[strings.Repeat("d", i+1)] = files["b.js"][:1<<20] + "NEEDLE"
	}
	ws, _ = tooltest.Tree(t, files)
	_, err := grep(2*time.Second, `{"pattern":"[a-jx][^z]{899}NEEDLE"}`)
	if e := tools.AsError(err); e == nil || e.Code != tools.Timeout || !strings.Contains(e.Msg, "the time was over after ") || e.Hint == "" {
		t.Errorf("many slow files: %v", err)
	}
}
