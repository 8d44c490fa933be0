package sandbox

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/sandbox/internal/sandboxinit"
	"toolcrib/workspace"
)

// covers are the places that the policy keeps a program from, under each name that their
// root has inside. The directories above them are kept where they are: what is judged by
// its place must not get another one. told names some of the places. At a level that cannot
// keep from them there are none, and told says which these would be.
func (h *holder) covers(ctx context.Context) (list []sandboxinit.Cover, told string, err error) {
	s := tools.Session(ctx)
	if s == nil || s.Workspace == nil || h.opt.Level == None {
		return nil, "", nil
	}
	closed, err := s.Workspace.Closed(ctx)
	if err != nil || len(closed) == 0 {
		return nil, "", err
	}
	if h.opt.Level != Full { // Landlock has no rule that takes away what another gives
		return nil, wordClosed(closed), nil
	}
	how := map[string]sandboxinit.Cover{}
	put := func(c sandboxinit.Cover) {
		if old, ok := how[c.Path]; !ok || old.How < c.How {
			how[c.Path] = c
		}
	}
	for _, c := range closed {
		kind := sandboxinit.CoverShut
		if c.Readable {
			kind = sandboxinit.CoverReadOnly
		}
		for _, root := range h.names(c.Root) {
			at := filepath.Join(root, c.Rel)
			put(sandboxinit.Cover{Path: at, How: kind, Directory: c.Directory})
			for dir := filepath.Dir(at); len(dir) > len(root); dir = filepath.Dir(dir) {
				put(sandboxinit.Cover{Path: dir, How: sandboxinit.CoverKeep, Directory: true})
			}
		}
	}
	for path, c := range how {
		if !shutAbove(path, how) {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b sandboxinit.Cover) int {
		return cmp.Or(cmp.Compare(strings.Count(a.Path, "/"), strings.Count(b.Path, "/")), cmp.Compare(a.Path, b.Path))
	})
	return list, wordClosed(closed), nil
}

// names are the names inside of a root.
func (h *holder) names(canonical string) []string {
	for _, d := range h.view.Roots {
		if d.Path == canonical {
			return append([]string{d.Path}, d.At...)
		}
	}
	return nil
}

// shutAbove tells whether a place lies in one that nobody can look into.
func shutAbove(path string, how map[string]sandboxinit.Cover) bool {
	for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
		if c, ok := how[dir]; ok && c.How == sandboxinit.CoverShut {
			return true
		}
	}
	return false
}

// wordClosed names places that are closed, and what closes them.
func wordClosed(closed []workspace.Closed) string {
	const most = 3
	var names, rules []string
	for i, c := range closed {
		if i < most {
			names = append(names, c.Rel)
		}
		if !slices.Contains(rules, c.Rule) && len(rules) < most {
			rules = append(rules, c.Rule)
		}
	}
	if len(closed) > most {
		names = append(names, "...")
	}
	return strings.Join(names, ", ") + " (rule " + strings.Join(rules, ", ") + ")"
}
