package search_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
	"toolcrib/tools/internal/filelists"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/search"
	"toolcrib/workspace"
)

// libraryTool returns a tool with a library that works until the test ends.
func libraryTool(t *testing.T, name string) tools.Tool {
	t.Helper()
	library := search.NewLibrary(new(filelists.Lists))
	t.Cleanup(library.Start(t.Context(), 1<<30, nil))
	for _, tl := range search.Tools(search.Deps{Library: library}) {
		if tl.Name == name {
			return tl
		}
	}
	t.Fatalf("no tool %q", name)
	return tools.Tool{}
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

// asAScan checks that a library saves time and does not change a byte: whatever has changed
// before a search, it answers as a tool that knows nothing. The library works on the workspace
// when ready has returned.
func asAScan(t *testing.T, name string, ready func(*workspace.Workspace, tools.Tool), calls []map[string]any) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(7, 8))
	ws, dir := tooltest.Tree(t, map[string]string{
		"a/one.txt": "red green\nneedle\n", "a/two.go": "func needle() {\n\treturn\n}\n", "a/b/three.txt": "Needle\r\nred\r\n",
		"bin/x": "\x00needle", ".hidden/four.txt": "needle", "out/five.txt": "needle", ".ignore": "out/\n", "empty": "",
		"large.txt": strings.Repeat("a line\n", 30_000) + "needle\n" + strings.Repeat("a red line\n", 20_000) + "func needle() {\n\treturn",
		"wide.txt":  "\xff\xfen\x00e\x00e\x00d\x00l\x00e\x00\n\x00", "kelvin.txt": "see\u212aing needle\n",
	})
	library := libraryTool(t, name)
	ready(ws, library)
	used := map[any]int{}
	for range 150 {
		changeTree(t, rnd, dir)
		for range 3 {
			args := calls[rnd.IntN(len(calls))]
			got, want := answer(t, ws, library, args), answer(t, ws, tool(t, name), args)
			if diff := cmp.Diff(tooltest.Text(want), tooltest.Text(got)); diff != "" {
				t.Fatalf("%v (-scan +library):\n%s", args, diff)
			}
			used[got.Meta["toolcrib/freshness"]]++
		}
	}
	if used["watch"]+used["stat"] < used["scan"] {
		t.Errorf("answers by their freshness: %v", used)
	}
}

// changedPages checks that a page is one of what there is, whatever the pages before it have
// shown.
func changedPages(t *testing.T, name string, ready func(*workspace.Workspace, tools.Tool), pattern any) {
	t.Helper()
	ws, dir := tooltest.Tree(t, map[string]string{"a": "x\n", "b": "x\n", "c": "x\n", "d": "x\n", "e": "x\n"})
	library := libraryTool(t, name)
	ready(ws, library)
	for _, gone := range []string{"d", "a"} {
		args := map[string]any{"pattern": pattern, "limit": 2}
		answer(t, ws, library, args)
		if err := os.RemoveAll(filepath.Join(dir, gone)); err != nil {
			t.Fatal(err)
		}
		args["offset"] = 2
		got, want := answer(t, ws, library, args), answer(t, ws, tool(t, name), args)
		if diff := cmp.Diff(tooltest.Text(want), tooltest.Text(got)); diff != "" {
			t.Errorf("without %s (-scan +library):\n%s", gone, diff)
		}
		if err := os.WriteFile(filepath.Join(dir, gone), []byte("x\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// freshness checks how answers of a library are known to be up to date.
func freshness(t *testing.T, name string, ready func(*workspace.Workspace, tools.Tool), pattern any, scans ...string) {
	t.Helper()
	ws, _ := tooltest.Tree(t, map[string]string{"a.txt": "x\n"})
	library := libraryTool(t, name)
	ready(ws, library)
	args := map[string]any{"pattern": pattern}
	if got := answer(t, ws, library, args).Meta["toolcrib/freshness"]; got != "watch" && got != "stat" {
		t.Errorf("%v: %v", args, got)
	}
	for _, argument := range scans {
		args := map[string]any{"pattern": pattern, argument: true}
		if got := answer(t, ws, library, args).Meta["toolcrib/freshness"]; got != "scan" {
			t.Errorf("%v: %v", args, got)
		}
	}
}
