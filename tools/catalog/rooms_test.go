package catalog_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// A package is a room: it has at most so many files, and lines in all of them, and a file
// has at most so many lines. Tests are not counted.
const (
	maxRoomFiles = 35
	maxRoomLines = 4000
	maxFileLines = 600
)

// largeRooms are the directories that have more, with the reason. A name that ends in ".go"
// is a file.
var largeRooms = map[string]string{}

// TestRooms counts every directory of the module that has Go files, those of the checks in
// .ci among them. An exception that is not needed any more fails too.
func TestRooms(t *testing.T) {
	type room struct{ files, lines int }
	rooms := map[string]room{}
	tooLong := map[string]string{}
	const root = "../.."
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if d.IsDir() {
			if d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && name != "." && name != ".ci" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		lines := bytes.Count(text, []byte("\n"))
		if lines > maxFileLines {
			tooLong[name] = fmt.Sprintf("has %d lines; at most %d", lines, maxFileLines)
		}
		r := rooms[path.Dir(name)]
		rooms[path.Dir(name)] = room{r.files + 1, r.lines + lines}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, r := range rooms {
		if r.files > maxRoomFiles || r.lines > maxRoomLines {
			tooLong[dir] = fmt.Sprintf("has %d files and %d lines; at most %d and %d", r.files, r.lines, maxRoomFiles, maxRoomLines)
		}
	}
	for name, why := range tooLong {
		if largeRooms[name] == "" {
			t.Errorf("%s %s", name, why)
		}
	}
	for name := range largeRooms {
		if tooLong[name] == "" {
			t.Errorf("%s needs no exception", name)
		}
	}
	if t.Failed() {
		t.Logf("packages counted: %d, above the limits: %d", len(rooms), len(tooLong))
	}
}
