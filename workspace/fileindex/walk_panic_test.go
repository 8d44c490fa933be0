package fileindex_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"toolcrib/workspace/fileindex"
)

// TestWalkPanics has the callbacks of a walk panic: the caller of Walk must be able
// to recover from it.
func TestWalkPanics(t *testing.T) {
	reason := errors.New("the reason")
	dir := realTempDir(t)
	f := layout{}
	for i := range 50 {
		f[fmt.Sprintf("d%d/e/f", i)] = ""
	}
	f.write(t, dir)
	explode := func(at string) {
		if strings.HasSuffix(at, "e") || at == "HOME" {
			panic(reason)
		}
	}
	for name, opt := range map[string]fileindex.WalkOptions{
		"SkipDir": {Getenv: noEnv, Workers: 4, SkipDir: func(rel string) bool { explode(rel); return false }},
		"Getenv":  {Getenv: func(key string) string { explode(key); return "" }},
	} {
		p := walkStart(t, openWalk(t, false, dir), ".")
		before := descriptors(t)
		func() {
			defer func() {
				err, _ := recover().(error)
				if !errors.Is(err, reason) || !strings.Contains(err.Error(), "walk_panic_test.go") {
					t.Errorf("%s: the panic came back as %v", name, err)
				}
			}()
			entries, _, err := fileindex.Walk(t.Context(), p, opt)
			t.Errorf("%s: %d entries, %v", name, len(entries), err)
		}()
		if after := descriptors(t); after != before {
			t.Errorf("%s: %d descriptors before the walk, %d after", name, before, after)
		}
	}
}
