package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"toolcrib/.ci/measure/harness"
)

// Naughty puts the strings of the Big List of Naughty Strings into every string that
// a tool takes, one at a time, and then has each come back as a content and as a name.
func Naughty(ctx context.Context, env harness.Environment) error {
	strs, err := naughtyStrings(env)
	if err != nil {
		return err
	}
	base, dir, err := env.Scratch("naughty")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	if env.Scale < 1 {
		step := max(1, int(1/env.Scale)/10)
		kept := strs[:0:0]
		for i := 0; i < len(strs); i += step {
			kept = append(kept, strs[i])
		}
		strs = kept
	}
	n := &naughtiness{base: base, dir: dir, strings: strs}
	if err := harness.WriteTree(filepath.Join(base, "outside"), naughtyTree); err != nil {
		return err
	}
	if err := n.reset(); err != nil {
		return err
	}
	if n.server, err = harness.UseTools(ctx, env.Writer(dir, "--durable=false", "--preset=all")); err != nil {
		return err
	}
	fmt.Printf("| %d naughty strings | places | calls | refused | tree outside changed |\n|---|---|---|---|---|\n", len(strs))
	if err := n.everywhere(); err != nil {
		return err
	}
	fmt.Println("\n| each read back | written | byte for byte the same | refused | something else on disk |\n|---|---|---|---|---|")
	return errors.Join(n.contents(), n.names(), n.server.Close())
}

func naughtyStrings(env harness.Environment) ([]string, error) {
	data, err := os.ReadFile(env.NPM("blns/resources/blns.json"))
	if err != nil {
		return nil, err
	}
	var strs []string
	if err := json.Unmarshal(data, &strs); err != nil {
		return nil, err
	}
	if len(strs) < 480 {
		return nil, fmt.Errorf("%d naughty strings, want 480", len(strs))
	}
	return strs, nil
}

// naughtyTree is what calls can act on.
var naughtyTree = map[string]string{"a.txt": "alpha\nbeta\n", "b.txt": "beta\n", "d/c.txt": "gamma\n"}

type naughtiness struct {
	base, dir string
	strings   []string
	server    *harness.ToolUser
}

// reset makes the tree what it was.
func (n *naughtiness) reset() error {
	entries, err := os.ReadDir(n.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(n.dir, e.Name())); err != nil {
			return err
		}
	}
	return harness.WriteTree(n.dir, naughtyTree)
}

// treeOf returns the contents of all files below dir, and of directories "/".
func treeOf(dir string) (map[string]string, error) {
	tree := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			tree[name] = "/"
			return nil
		}
		data, err := os.ReadFile(path)
		tree[name] = string(data)
		return err
	})
	return tree, err
}

// untouched compares what lies outside the roots.
func (n *naughtiness) untouched() error {
	outside, err := treeOf(filepath.Join(n.base, "outside"))
	if err != nil {
		return err
	}
	delete(outside, "d")
	if !maps.Equal(outside, naughtyTree) {
		return fmt.Errorf("the tree outside is %.300v", outside)
	}
	entries, err := os.ReadDir(n.base)
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		if e.Name() != "files.state" { // of the server itself
			names = append(names, e.Name())
		}
	}
	if want := []string{"files", "outside"}; !slices.Equal(names, want) {
		return fmt.Errorf("the directory of the tree has %q, want %q", names, want)
	}
	for _, path := range []string{"/tmp/blns.fail", "/tmp/blns.shellshock1.fail", "/tmp/blns.shellshock2.fail"} { // what the strings try
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s has been made", path)
		}
	}
	return nil
}

// everywhere puts each string into each string argument of each tool.
func (n *naughtiness) everywhere() error {
	m, err := n.server.Call(int(n.server.Last.Add(1)), "tools/list", map[string]any{})
	if err != nil {
		return err
	}
	var list struct {
		Tools []struct {
			Name        string
			InputSchema json.RawMessage
			Annotations struct{ ReadOnlyHint bool }
		}
	}
	if err := json.Unmarshal(m.Result, &list); err != nil {
		return err
	}
	for _, tool := range list.Tools {
		if slices.Contains(naughtyAbroad, tool.Name) {
			continue
		}
		base, ok := naughtyBase[tool.Name]
		if !ok {
			return fmt.Errorf("%s: no call is known", tool.Name)
		}
		var s argumentSchema
		if err := json.Unmarshal(tool.InputSchema, &s); err != nil {
			return err
		}
		places, calls, refused := s.places(nil), 0, 0
		for _, place := range places {
			for _, str := range n.strings {
				a, err := n.server.Use(tool.Name, place.put(base, str))
				if err != nil {
					return fmt.Errorf("%s with %q at %v: %w", tool.Name, str, place, err)
				}
				if calls++; a.Failed {
					refused++
				}
				if !tool.Annotations.ReadOnlyHint {
					if err := n.reset(); err != nil {
						return err
					}
				}
			}
			if err := n.untouched(); err != nil {
				return fmt.Errorf("%s, %v: %w", tool.Name, place, err)
			}
		}
		fmt.Printf("| %s | %d | %d | %d | no |\n", tool.Name, len(places), calls, refused)
	}
	return nil
}
