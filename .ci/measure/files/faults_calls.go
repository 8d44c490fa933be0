package files

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// faultCase is a call that is made to fail.
type faultCase struct {
	name  string
	call  harness.Call
	first *harness.Call // made before, in peace
	large bool          // there is a large file
	swaps bool          // it replaces something, so that it is tried where nothing can be exchanged too
}

var faultCases = []faultCase{
	{name: "write_file, new", call: harness.Call{Tool: "write_file", Args: map[string]any{"path": "new/deep/x.txt", "content": lineOf("new", 300)}}},
	{name: "write_file, over", call: harness.Call{Tool: "write_file", Args: map[string]any{"path": "a.txt", "content": lineOf("new", 300)}}, swaps: true},
	{name: "write_file, append", call: harness.Call{Tool: "write_file", Args: map[string]any{"path": "a.txt", "content": "more\n", "mode": "append"}}},
	{name: "write_file, append to 9 MB", call: harness.Call{Tool: "write_file", Args: map[string]any{"path": "large.txt", "content": "more\n", "mode": "append"}}, large: true},
	{name: "edit_file", call: harness.Call{Tool: "edit_file", Args: map[string]any{"path": "a.txt", "edits": []map[string]any{{"old_text": "a 7 ", "new_text": "seven "}}}}, swaps: true},
	{name: "apply_patch, 5 files", call: faultPatch, swaps: true},
	{name: "make_directory", call: harness.Call{Tool: "make_directory", Args: map[string]any{"path": "p/q/r"}}},
	{name: "move_path, file", call: harness.Call{Tool: "move_path", Args: map[string]any{"source": "a.txt", "destination": "new/a.txt"}}},
	{name: "move_path, file over file", call: harness.Call{Tool: "move_path", Args: map[string]any{"source": "a.txt", "destination": "b.txt", "overwrite": true}}, swaps: true},
	{name: "move_path, tree", call: harness.Call{Tool: "move_path", Args: map[string]any{"source": "tree", "destination": "new/tree"}}},
	{name: "copy_path, tree", call: harness.Call{Tool: "copy_path", Args: map[string]any{"source": "tree", "destination": "copy"}}},
	{name: "copy_path, file over file", call: harness.Call{Tool: "copy_path", Args: map[string]any{"source": "a.txt", "destination": "b.txt", "overwrite": true}}, swaps: true},
	{name: "delete_path, file", call: harness.Call{Tool: "delete_path", Args: map[string]any{"path": "a.txt"}}},
	{name: "delete_path, tree", call: harness.Call{Tool: "delete_path", Args: map[string]any{"path": "tree", "recursive": true}}},
	{name: "restore_file, tree", call: harness.Call{Tool: "restore_file", Args: map[string]any{"undo": true}}, first: &harness.Call{Tool: "delete_path", Args: map[string]any{"path": "tree", "recursive": true}}},
	{name: "restore_file, 5 files", call: harness.Call{Tool: "restore_file", Args: map[string]any{"undo": true}}, first: &faultPatch, swaps: true},
}

var faultPatch = harness.Call{Tool: "apply_patch", Args: map[string]any{"patch": `*** Begin Patch
*** Update File: a.txt
@@
-a 7 is a line
+a 7 was a line
*** Update File: tree/d.txt
@@
-d 3 is a line
+d 3 was a line
*** Delete File: b.txt
*** Add File: new/n.txt
+new
*** Update File: c.txt
*** Move to: tree/moved.txt
@@
-c 5 is a line
+c 5 was a line
*** End Patch
`}}

func lineOf(word string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d is a line\n", word, i)
	}
	return b.String()
}

// plantFaults makes the tree that every case begins with, in the place of what is
// there.
func plantFaults(dir string, large bool) error {
	if err := harness.Empty(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "tree", "deep", "empty"), 0o755); err != nil {
		return err
	}
	for name, mode := range map[string]fs.FileMode{
		"a.txt": 0o640, "b.txt": 0o600, "c.txt": 0o644, "tree/d.txt": 0o755, "tree/deep/e.txt": 0o644, "tree/deep/f.txt": 0o644,
	} {
		text := lineOf(strings.TrimSuffix(filepath.Base(name), ".txt"), 200)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			return err
		}
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			return err
		}
	}
	if !large {
		return nil
	}
	return os.WriteFile(filepath.Join(dir, "large.txt"), []byte(strings.Repeat("fifteen bytes.\n", 9<<20/15)), 0o644)
}

// readFaults describes each entry below dir by its mode and content, and lists the
// temporary ones.
func readFaults(dir string) (tree map[string]string, strays []string, err error) {
	tree = map[string]string{}
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		if strings.HasPrefix(e.Name(), ".toolcrib-") {
			strays = append(strays, rel)
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		tree[rel] = info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(name)
			tree[rel] += " " + string(data)
			return err
		}
		return nil
	})
	return tree, strays, err
}
