package files

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// killedStep is a call that changes a tree, and what the tree is after it.
type killedStep struct {
	call  harness.Call
	after killedTree
	// path is a file of the step, "" = its undo is not tried.
	path string
	many bool // files at once
}

// killedWorker makes calls on a tree of its own, one after another.
type killedWorker struct {
	top  string // its directory below the root of the server
	rnd  *rand.Rand
	n    int
	tree killedTree  // what was acknowledged
	last *killedStep // that can be undone, with what was before it
	was  killedTree

	plain   bool        // the server can only write files
	pending *killedStep // not answered yet
	killed  bool        // the server was, since the last answer
}

func (w *killedWorker) full(name string) string { return path.Join(w.top, name) }

// plant makes the files that the worker begins with.
func (w *killedWorker) plant(base string) error {
	for range 45 {
		name := w.fresh()
		w.tree[name] = killedText(w.rnd, 0)
		file := filepath.Join(base, w.top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(w.tree[name]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// fresh is a name that no file has; its directory may be new.
func (w *killedWorker) fresh() string {
	dirs := w.tree.dirs()
	dir := fmt.Sprintf("d%x", w.rnd.Uint32())
	if len(dirs) > 0 && w.rnd.IntN(4) > 0 {
		dir = dirs[w.rnd.IntN(len(dirs))]
	}
	if w.rnd.IntN(4) == 0 {
		dir = path.Join(dir, fmt.Sprintf("e%x", w.rnd.Uint32()), "e")
	}
	return path.Join(dir, fmt.Sprintf("f%x", w.rnd.Uint32()))
}

// step makes up the next call.
func (w *killedWorker) step() killedStep {
	w.n++
	files, dirs := w.tree.names(""), w.tree.dirs()
	w.rnd.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	w.rnd.Shuffle(len(dirs), func(i, j int) { dirs[i], dirs[j] = dirs[j], dirs[i] })
	after := maps.Clone(w.tree)
	if w.plain {
		name := w.fresh()
		if len(files) > 30 {
			name = files[0]
		}
		after[name] = killedText(w.rnd, w.n)
		return killedStep{harness.Call{Tool: "write_file", Args: map[string]any{"path": w.full(name), "content": after[name]}}, after, "", false}
	}
	switch {
	case len(files) < 30:
		return w.patch(after, nil, 20)
	case len(files) > 60 || len(dirs) > 12:
		return w.deleteTree(after, dirs[0])
	case w.last != nil && w.rnd.IntN(6) == 0:
		return killedStep{harness.Call{Tool: "restore_file", Args: map[string]any{"path": w.top, "undo": true}}, w.was, "", w.last.many}
	}
	file := files[0]
	switch w.rnd.IntN(12) {
	case 0:
		name := w.fresh()
		after[name] = killedText(w.rnd, w.n)
		return killedStep{harness.Call{Tool: "write_file", Args: map[string]any{"path": w.full(name), "content": after[name], "mode": "create"}}, after, name, false}
	case 1, 2:
		after[file] = killedText(w.rnd, w.n)
		return killedStep{harness.Call{Tool: "write_file", Args: map[string]any{"path": w.full(file), "content": after[file]}}, after, file, false}
	case 3, 4:
		after[file] = next(w.rnd, after[file], w.n)
		return killedStep{harness.Call{Tool: "edit_file", Args: map[string]any{"path": w.full(file), "edits": replaced(w.tree[file], after[file])}}, after, file, false}
	case 5:
		return w.move(after, file, w.fresh())
	case 6:
		return w.move(after, file, files[1])
	case 7:
		return w.move(after, dirs[0], fmt.Sprintf("t%x", w.rnd.Uint32()))
	case 8:
		return w.copyTree(after, dirs[0])
	case 9:
		delete(after, file)
		return killedStep{harness.Call{Tool: "delete_path", Args: map[string]any{"path": w.full(file)}}, after, file, false}
	}
	return w.patch(after, files, 20)
}

// replaced is the edit of the first and the last line.
func replaced(from, to string) []map[string]any {
	first := func(text string) string { line, _, _ := strings.Cut(text, "\n"); return line }
	last := func(text string) string { _, line, _ := splitSum(text); return strings.TrimSuffix(line, "\n") }
	return []map[string]any{{"old_text": first(from), "new_text": first(to)}, {"old_text": last(from), "new_text": last(to)}}
}

func (w *killedWorker) move(after killedTree, from, to string) killedStep {
	args := map[string]any{"source": w.full(from), "destination": w.full(to), "overwrite": w.tree[to] != ""}
	if text, ok := after[from]; ok {
		delete(after, from)
		after[to] = text
		return killedStep{harness.Call{Tool: "move_path", Args: args}, after, to, false}
	}
	for _, name := range w.tree.names(from) {
		after[to+strings.TrimPrefix(name, from)] = after[name]
		delete(after, name)
	}
	return killedStep{harness.Call{Tool: "move_path", Args: args}, after, "", true}
}

func (w *killedWorker) copyTree(after killedTree, from string) killedStep {
	to := fmt.Sprintf("c%x", w.rnd.Uint32())
	for _, name := range w.tree.names(from) {
		after[to+strings.TrimPrefix(name, from)] = after[name]
	}
	return killedStep{harness.Call{Tool: "copy_path", Args: map[string]any{"source": w.full(from), "destination": w.full(to)}}, after, "", true}
}

func (w *killedWorker) deleteTree(after killedTree, dir string) killedStep {
	names := w.tree.names(dir)
	for _, name := range names {
		delete(after, name)
	}
	return killedStep{harness.Call{Tool: "delete_path", Args: map[string]any{"path": w.full(dir), "recursive": true}}, after, names[0], true}
}

// patch changes, adds, deletes and moves n files.
func (w *killedWorker) patch(after killedTree, files []string, n int) killedStep {
	var b strings.Builder
	name := ""
	b.WriteString("*** Begin Patch\n")
	for range n {
		kind := 0
		if len(files) > 0 {
			kind = w.rnd.IntN(8)
			name, files = files[0], files[1:]
		}
		switch kind {
		case 0:
			name = w.fresh()
			after[name] = killedText(w.rnd, w.n)
			fmt.Fprintf(&b, "*** Add File: %s\n", w.full(name))
			for line := range strings.Lines(after[name]) {
				b.WriteString("+" + line)
			}
		case 1:
			fmt.Fprintf(&b, "*** Delete File: %s\n", w.full(name))
			delete(after, name)
		default:
			fmt.Fprintf(&b, "*** Update File: %s\n", w.full(name))
			text := next(w.rnd, w.tree[name], w.n)
			if kind == 2 {
				to := w.fresh()
				fmt.Fprintf(&b, "*** Move to: %s\n", w.full(to))
				delete(after, name)
				after[to] = text
			} else {
				after[name] = text
			}
			for _, e := range replaced(w.tree[name], text) {
				fmt.Fprintf(&b, "@@\n-%s\n+%s\n", e["old_text"], e["new_text"])
			}
		}
	}
	b.WriteString("*** End Patch\n")
	return killedStep{harness.Call{Tool: "apply_patch", Args: map[string]any{"patch": b.String()}}, after, name, true}
}
