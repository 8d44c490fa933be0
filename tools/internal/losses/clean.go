package losses

import (
	"context"
	"io"
	"path"
	"strings"

	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
	"toolcrib/workspace/repository"
)

// Clean adds the deletion of what git does not track at and below a path; with directories also of
// what is in directories without tracked files, and with ignored of what git ignores. It adds
// nothing where no index can be read.
func (t *Tally) Clean(ctx context.Context, p workspace.Path, directories, ignored bool) error {
	below, tracked := trackedAbove(p)
	if tracked == nil {
		return nil
	}
	info, exists, err := p.Find(false)
	if err != nil || !exists || info.Kind != workspace.KindDirectory {
		if tracked[below] {
			return nil
		}
		return t.Delete(ctx, p, false)
	}
	shown := map[string]bool{}
	if !ignored {
		entries, _, err := fileindex.Walk(ctx, p, fileindex.WalkOptions{Hidden: true})
		if err != nil {
			return err
		}
		for _, e := range entries {
			shown[e.Rel] = true
		}
	}
	with := map[string]bool{".": true} // directories with tracked files
	for name := range tracked {
		for dir := path.Dir(name); !with[dir]; dir = path.Dir(dir) {
			with[dir] = true
		}
	}
	return t.DeleteSome(ctx, p, "what git does not track", func(e fileindex.Entry) bool {
		name := path.Join(below, e.Rel)
		return e.Kind != workspace.KindDirectory && !tracked[name] && (ignored || shown[e.Rel]) && (directories || with[path.Dir(name)]) &&
			!strings.HasPrefix(name, ".git/") && !strings.Contains(name, "/.git/")
	})
}

// trackedAbove returns the names that the index of the work tree has that a path is in, and the path
// from the top of that tree; no names if there is no index that can be read.
func trackedAbove(p workspace.Path) (below string, tracked map[string]bool) {
	root := p.Root()
	rel := strings.TrimPrefix(p.String(), root.String()+"/")
	if p.IsRoot() {
		rel = "."
	}
	for top := rel; ; top = path.Dir(top) {
		name, err := root.Join(path.Join(top, ".git/index"))
		if err != nil {
			return "", nil
		}
		if f, err := name.Open(); err == nil {
			defer f.Close()
			data, err := io.ReadAll(io.LimitReader(f, repository.MaxIndex))
			if err == nil {
				tracked, _ = repository.Tracked(data)
			}
			if top != "." {
				rel = path.Clean(strings.TrimPrefix(rel[len(top):], "/"))
			}
			return rel, tracked
		}
		if top == "." {
			return "", nil
		}
	}
}
