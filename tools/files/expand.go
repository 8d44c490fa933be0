package files

import (
	"context"
	"path/filepath"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/paging"
	"toolcrib/tools/internal/text/pathglob"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/internal/unread"
	"toolcrib/workspace"
)

// expand returns the files that paths and globs name, each once, in their order.
// What is wrong with an entry stands in its place; notes name directories that
// could not be read, and count what the policy denies. read tells of entries that were
// read otherwise than they are written.
func expand(ctx context.Context, entries []string) (list []wanted, read, notes string, err error) {
	var closed []paging.Unread
	denied := 0
	known := map[string]bool{}
	add := func(f wanted) {
		if !known[f.name] {
			known[f.name] = true
			list = append(list, f)
		}
	}
	for _, text := range entries {
		found, stats, err := named(ctx, text)
		if err != nil {
			for _, r := range pathglob.Readings([]string{text}) {
				if other, ok := allNamed(ctx, r.Patterns); ok {
					found, err, read = other, nil, read+r.Note([]string{text})
					break
				}
			}
		}
		if ctx.Err() != nil {
			return nil, "", "", ctx.Err()
		}
		if err != nil {
			add(wanted{name: textfile.Path(text), err: err})
		}
		for _, f := range found {
			add(f)
		}
		closed = unread.Paths(ctx, closed, stats)
		denied += stats.Denied
	}
	return list, read, paging.NotRead(closed) + paging.Denied(denied), nil
}

// named returns the file of a path, or the files that a glob matches.
func named(ctx context.Context, text string) ([]wanted, workspace.WalkStats, error) {
	path, err := tools.Resolve(ctx, text)
	if err == nil {
		_, err = path.Lstat()
	}
	if err != nil && isGlob(text) {
		return matching(ctx, text)
	}
	if err != nil {
		return nil, workspace.WalkStats{}, err
	}
	return []wanted{{name: textfile.Path(path.String()), path: path}}, workspace.WalkStats{}, nil
}

// allNamed returns the files of several entries, all of which must be there. A directory
// is none.
func allNamed(ctx context.Context, entries []string) (found []wanted, ok bool) {
	for _, text := range entries {
		list, _, err := named(ctx, text)
		if err != nil || strings.HasSuffix(text, "/") {
			return nil, false
		}
		found = append(found, list...)
	}
	return found, true
}

func isGlob(text string) bool { return strings.ContainsAny(text, "*?[{") }

// matching returns the files that a glob matches, below the first root, or below
// the root that it begins with.
func matching(ctx context.Context, pattern string) ([]wanted, workspace.WalkStats, error) {
	root, rel := ".", pattern
	for _, name := range tools.Session(ctx).Workspace.Roots() {
		below, ok := strings.CutPrefix(pattern, filepath.ToSlash(name)+"/")
		if ok && len(below) < len(rel) {
			root, rel = name, below
		}
	}
	f, err := newFilter(rel)
	if err != nil {
		return nil, workspace.WalkStats{}, err
	}
	start, err := tools.Resolve(ctx, root)
	if err != nil {
		return nil, workspace.WalkStats{}, err
	}
	entries, stats, err := start.Walk(ctx, workspace.WalkOptions{Hidden: f.include.Hidden(), SkipDir: f.skips})
	if err != nil {
		return nil, stats, err
	}
	var found []wanted
	for _, e := range entries {
		if e.Kind == workspace.KindFile && !f.excludes(e) && f.wants(e) {
			found = append(found, wanted{name: textfile.Path(e.Path.String()), path: e.Path})
		}
	}
	if found == nil {
		left := paging.LeftOut(paging.Left{N: stats.Hidden, Why: "hidden"}, paging.Left{N: stats.Ignored, Why: "ignored"})
		return nil, stats, tools.Errorf(tools.NotFound, "no file matches%s", left).
			WithHint("glob finds files; a pattern without a slash matches at any depth")
	}
	return found, stats, nil
}
