package files_test

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// hintDir names where a directory goes on.
var hintDir = regexp.MustCompile(`^ *… (\d+) more: path=(".*") depth=1 offset=(\d+)$`)

func TestHintsOfListDirectory(t *testing.T) {
	tree := map[string]string{}
	for i := range 250 {
		tree[fmt.Sprintf("a/wide/%03d-%s", i, strings.Repeat("n", 150))] = ""
		tree[fmt.Sprintf("b%03d/f", i)] = ""
	}
	l := newCaller(t, "list_directory", tree)
	found := map[string]bool{}
	l.listing(found, ".", map[string]any{"depth": 3, "limit": 90})
	for name := range tree {
		if !found[name] {
			t.Errorf("%s is not listed", name)
		}
	}
}

// listing follows the hints of a listing and of each directory that is cut in it.
func (c caller) listing(found map[string]bool, dir string, args map[string]any) {
	c.Helper()
	args["path"] = dir
	for range 1000 {
		status, body, _ := strings.Cut(c.call(args), "\n")
		var above []string
		for line := range strings.SplitSeq(body, "\n") {
			if m := hintDir.FindStringSubmatch(line); m != nil {
				sub, err := strconv.Unquote(m[2])
				if err != nil {
					c.Fatal(err)
				}
				c.listing(found, sub, map[string]any{"depth": 1, "offset": number(c, m[3])})
				continue
			}
			name := strings.TrimLeft(line, " ")
			depth := (len(line) - len(name)) / 2
			name, _, _ = strings.Cut(name, " ")
			above = append(above[:depth], strings.TrimSuffix(name, "/"))
			found[path.Join(append([]string{dir}, above...)...)] = true
		}
		m := hintOffset.FindStringSubmatch(status)
		if m == nil {
			return
		}
		args["offset"] = number(c, m[1])
	}
	c.Fatalf("%s: the hints do not end", dir)
}
