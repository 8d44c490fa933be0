package workspace_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"toolcrib/workspace"
)

// model describes the wanted tree: the contents of files by their paths; directories
// end in a slash.
type model map[string]string

// modelStep is an operation and its effect on a model.
type modelStep struct {
	kind                workspace.OpKind
	path, from, content string
}

func (m model) has(p string) bool {
	_, file := m[p]
	_, dir := m[p+"/"]
	return file || dir
}

// below lists the paths of p and of all entries below it, sorted.
func (m model) below(p string) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if name == p || strings.HasPrefix(name, p+"/") {
			list = append(list, name)
		}
	}
	return list
}

func (m model) parents(p string) {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		m[dir+"/"] = ""
	}
}

func (m model) do(steps []modelStep) {
	for _, s := range steps {
		m.one(s)
	}
}

func (m model) one(s modelStep) {
	m.parents(s.path)
	switch s.kind {
	case workspace.OpWrite:
		if s.from != "" {
			delete(m, s.from)
		}
		m[s.path] = s.content
	case workspace.OpAppend:
		m[s.path] += s.content
	case workspace.OpDirectory:
		m[s.path+"/"] = ""
	case workspace.OpDelete:
		for _, name := range m.below(s.path) {
			delete(m, name)
		}
	case workspace.OpMove, workspace.OpCopy:
		for _, name := range m.below(s.path) {
			delete(m, name)
		}
		for _, name := range m.below(s.from) {
			m[s.path+strings.TrimPrefix(name, s.from)] = m[name]
			if s.kind == workspace.OpMove {
				delete(m, name)
			}
		}
	}
}

// op is the operation for a workspace.
func (s modelStep) op(w *workspace.Workspace, before model) (workspace.Op, error) {
	op := workspace.Op{Kind: s.kind, Overwrite: before.has(s.path), Recursive: true}
	var err error
	if op.Path, err = w.Resolve(s.path); err != nil {
		return op, err
	}
	if s.from != "" {
		if op.From, err = w.Resolve(s.from); err != nil {
			return op, err
		}
	}
	switch s.kind {
	case workspace.OpAppend:
		op.Data = []byte(s.content)
	case workspace.OpWrite:
		want, there := before[s.path], before.has(s.path)
		if s.from != "" {
			want, there = before[s.from], true
		}
		op.New = func(old workspace.Old) ([]byte, error) {
			if old.Exists != there || string(old.Data) != want {
				return nil, fmt.Errorf("%s holds %.40q, want %.40q", s.path, old.Data, want)
			}
			return []byte(s.content), nil
		}
	}
	return op, nil
}

// draw makes up the n-th change of a tree below top. No two give the same tree.
func (m model) draw(rnd *rand.Rand, top string, n int) []modelStep {
	var files, dirs []string
	for _, name := range m.below(top) {
		if dir, ok := strings.CutSuffix(name, "/"); !ok {
			files = append(files, name)
		} else if path.Dir(dir) == top {
			dirs = append(dirs, dir)
		}
	}
	rnd.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	rnd.Shuffle(len(dirs), func(i, j int) { dirs[i], dirs[j] = dirs[j], dirs[i] })
	fresh := func() string {
		dir := path.Join(top, fmt.Sprintf("d%x", rnd.Uint32()))
		if len(dirs) > 0 && rnd.IntN(4) > 0 {
			dir = dirs[rnd.IntN(len(dirs))]
		}
		if rnd.IntN(3) == 0 {
			dir = path.Join(dir, fmt.Sprintf("e%x", rnd.Uint32()), "e")
		}
		return path.Join(dir, fmt.Sprintf("f%x", rnd.Uint32()))
	}
	content := func() string {
		return strings.Repeat(fmt.Sprintf("%d %x\n", n, rnd.Uint64()), 1+rnd.IntN(600))
	}
	if len(files) < 8 {
		return m.drawMany(rnd, nil, fresh, content)
	}
	if len(files) > 60 || len(dirs) > 10 {
		return []modelStep{{kind: workspace.OpDelete, path: dirs[0]}}
	}
	tree := path.Join(top, fmt.Sprintf("t%x", rnd.Uint32()))
	switch rnd.IntN(14) {
	case 0:
		return []modelStep{{kind: workspace.OpWrite, path: fresh(), content: content()}}
	case 1, 2:
		return []modelStep{{kind: workspace.OpWrite, path: files[0], content: content()}}
	case 3:
		return []modelStep{{kind: workspace.OpAppend, path: files[0], content: content()}}
	case 4:
		return []modelStep{{kind: workspace.OpDelete, path: files[0]}}
	case 5:
		return []modelStep{{kind: workspace.OpMove, path: fresh(), from: files[0]}}
	case 6:
		return []modelStep{{kind: workspace.OpMove, path: files[1], from: files[0]}}
	case 7:
		return []modelStep{{kind: workspace.OpMove, path: path.Join(tree, "x", "y"), from: dirs[0]}}
	case 8:
		if len(dirs) > 1 {
			return []modelStep{{kind: workspace.OpMove, path: dirs[1], from: dirs[0]}}
		}
		return []modelStep{{kind: workspace.OpDirectory, path: path.Join(tree, "x", "y")}}
	case 9:
		return []modelStep{{kind: workspace.OpCopy, path: tree, from: dirs[0]}}
	case 10:
		return []modelStep{{kind: workspace.OpDirectory, path: path.Join(tree, "x", "y")}}
	}
	return m.drawMany(rnd, files, fresh, content)
}

// drawMany makes up a change of many files at once.
func (m model) drawMany(rnd *rand.Rand, files []string, fresh, content func() string) []modelStep {
	var steps []modelStep
	for range 4 + rnd.IntN(8) {
		kind := 0
		if len(files) > 0 {
			kind = rnd.IntN(5)
		}
		var file string
		if kind > 0 {
			file, files = files[0], files[1:]
		}
		switch kind {
		case 0:
			steps = append(steps, modelStep{kind: workspace.OpWrite, path: fresh(), content: content()})
		case 1:
			steps = append(steps, modelStep{kind: workspace.OpDelete, path: file})
		case 2:
			steps = append(steps, modelStep{kind: workspace.OpWrite, path: fresh(), from: file, content: content()})
		default:
			steps = append(steps, modelStep{kind: workspace.OpWrite, path: file, content: content()})
		}
	}
	return steps
}
