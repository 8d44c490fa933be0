package search_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/search"
	"toolcrib/workspace"
)

// libraryTools returns the tools with a library that works until the test ends.
func libraryTools(t *testing.T) (grep, glob tools.Tool) {
	t.Helper()
	library := search.NewLibrary()
	t.Cleanup(library.Start(t.Context(), 1<<30, nil))
	for _, tl := range search.Tools(search.Deps{Library: library}) {
		switch tl.Name {
		case "grep":
			grep = tl
		case "glob":
			glob = tl
		}
	}
	return grep, glob
}

// indexed searches until the index is ready.
func indexed(t *testing.T, ws *workspace.Workspace, grep tools.Tool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		meta := answer(t, ws, grep, map[string]any{"pattern": "x"}).Meta
		if meta["toolcrib/index"] == "ready" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no index after a minute: %v", meta)
		}
	}
}

// A library saves time and must not change a byte: whatever has changed before a
// search, it answers as tools that know nothing.
func TestLibraryAnswersAsAScan(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	ws, dir := tooltest.Tree(t, map[string]string{
		"a/one.txt": "red green\nneedle\n", "a/two.go": "func needle() {\n\treturn\n}\n", "a/b/three.txt": "Needle\r\nred\r\n",
		"bin/x": "\x00needle", ".hidden/four.txt": "needle", "out/five.txt": "needle", ".ignore": "out/\n", "empty": "",
		"large.txt": strings.Repeat("a line\n", 30_000) + "needle\n" + strings.Repeat("a red line\n", 20_000) + "func needle() {\n\treturn",
		"wide.txt":  "\xff\xfen\x00e\x00e\x00d\x00l\x00e\x00\n\x00", "kelvin.txt": "see\u212aing needle\n",
	})
	grep, glob := libraryTools(t)
	indexed(t, ws, grep)
	greps := []map[string]any{
		{"pattern": "needle"}, {"pattern": "nothing like it"}, {"pattern": "seeking", "case": "insensitive"}, {"pattern": "red|func \\w+", "mode": "files"},
		{"pattern": "needle", "mode": "count", "sort": "newest"}, {"pattern": "needle\\(\\) \\{\n\treturn", "multiline": true}, {"pattern": "e", "limit": 2},
		{"pattern": "needle", "path": "a"}, {"pattern": "needle", "glob": []string{"*.txt"}}, {"pattern": "zzz", "glob": []string{"*.go"}},
		{"pattern": "needle", "exclude": []string{"a"}}, {"pattern": "zzz", "exclude": []string{"b", "*.go"}}, {"pattern": "needle", "hidden": false},
		{"pattern": "needle", "type": []string{"go"}}, {"pattern": "[[:upper:]]\\w{4}"}, {"pattern": `\x{fffd}`}, {"pattern": `\p{So} needle`}, {"pattern": "needle", "path": "out"},
	}
	globs := []map[string]any{
		{"pattern": []string{"*"}}, {"pattern": []string{"*"}, "hidden": true}, {"pattern": []string{"**"}, "kind": "any", "hidden": true},
		{"pattern": []string{"*.zzz"}}, {"pattern": []string{"*.txt"}, "exclude": []string{"b"}}, {"pattern": []string{"*"}, "kind": "directory"},
		{"pattern": []string{"*"}, "path": "a", "limit": 1}, {"pattern": []string{"*.txt"}, "sort": "newest"},
	}
	used := map[any]int{}
	check := func(used map[any]int, tl tools.Tool, args map[string]any) {
		got, want := answer(t, ws, tl, args), answer(t, ws, tool(t, tl.Name), args)
		if diff := cmp.Diff(tooltest.Text(want), tooltest.Text(got)); diff != "" {
			t.Fatalf("%s %v (-scan +library):\n%s", tl.Name, args, diff)
		}
		used[got.Meta["toolcrib/freshness"]]++
	}
	for range 150 {
		changeTree(t, rnd, dir)
		for range 3 {
			check(used, grep, greps[rnd.IntN(len(greps))])
			check(used, glob, globs[rnd.IntN(len(globs))])
		}
	}
	if used["watch"]+used["stat"] < used["scan"] {
		t.Errorf("answers by their freshness: %v", used)
	}
}

// changeTree makes one change.
func changeTree(t *testing.T, rnd *rand.Rand, dir string) {
	t.Helper()
	name := filepath.Join(dir, []string{"a", "a/b", "bin", "out", ".hidden", "new", "."}[rnd.IntN(7)], fmt.Sprintf("f%d.txt", rnd.IntN(5)))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	texts := []string{"needle\n", "red\n", "", "\x00", "see\xff red\n\ufffd needle\n", "Needles\r\n", strings.Repeat("line\n", 100) + "func needle() {\n\treturn\n"}
	var err error
	switch rnd.IntN(7) {
	case 0, 1, 2:
		err = os.WriteFile(name, []byte(texts[rnd.IntN(len(texts))]), 0o666)
	case 3:
		err = os.RemoveAll(name)
	case 4:
		err = os.RemoveAll(filepath.Join(dir, "new"))
	case 5:
		err = os.WriteFile(filepath.Join(dir, "a", ".ignore"), []byte([]string{"b/\n", "*.go\n", "", "!b\n"}[rnd.IntN(4)]), 0o666)
	case 6: // a directory goes and comes
		if at := filepath.Dir(name); at != dir {
			err = errors.Join(os.Rename(at, at+"-moved"), os.Rename(at+"-moved", at))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A page is one of what there is, whatever the pages before it have shown.
func TestPagesOfWhatHasChanged(t *testing.T) {
	ws, dir := tooltest.Tree(t, map[string]string{"a": "x\n", "b": "x\n", "c": "x\n", "d": "x\n", "e": "x\n"})
	grep, glob := libraryTools(t)
	indexed(t, ws, grep)
	for _, gone := range []string{"d", "a"} {
		for _, tt := range []struct {
			tool tools.Tool
			args map[string]any
		}{{grep, map[string]any{"pattern": "x", "limit": 2}}, {glob, map[string]any{"pattern": []string{"*"}, "limit": 2}}} {
			delete(tt.args, "offset")
			answer(t, ws, tt.tool, tt.args)
			if err := os.RemoveAll(filepath.Join(dir, gone)); err != nil {
				t.Fatal(err)
			}
			tt.args["offset"] = 2
			got, want := answer(t, ws, tt.tool, tt.args), answer(t, ws, tool(t, tt.tool.Name), tt.args)
			if diff := cmp.Diff(tooltest.Text(want), tooltest.Text(got)); diff != "" {
				t.Errorf("%s without %s (-scan +library):\n%s", tt.tool.Name, gone, diff)
			}
			if err := os.WriteFile(filepath.Join(dir, gone), []byte("x\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestFreshReadsTheFiles(t *testing.T) {
	ws, _ := tooltest.Tree(t, map[string]string{"a.txt": "x\n"})
	grep, glob := libraryTools(t)
	indexed(t, ws, grep)
	for _, tt := range []struct {
		tool  tools.Tool
		args  map[string]any
		fresh []any
	}{
		{grep, map[string]any{"pattern": "x"}, []any{"watch", "stat"}},
		{grep, map[string]any{"pattern": "x", "fresh": true}, []any{"scan"}},
		{grep, map[string]any{"pattern": "x", "include_ignored": true}, []any{"scan"}},
		{glob, map[string]any{"pattern": []string{"*"}}, []any{"watch", "stat"}},
		{glob, map[string]any{"pattern": []string{"*"}, "fresh": true}, []any{"scan"}},
	} {
		got := answer(t, ws, tt.tool, tt.args).Meta["toolcrib/freshness"]
		if got != tt.fresh[0] && got != tt.fresh[len(tt.fresh)-1] {
			t.Errorf("%s %v: %v, want one of %v", tt.tool.Name, tt.args, got, tt.fresh)
		}
	}
}
