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

// denied returns the restrictions for the denied paths, under each name that their root has
// in the sandbox. The directories above a denied path are pinned, because moving one would
// move the file away from the path that the rule names. described names some of the paths.
// At level landlock the list is empty, and described names the paths that it cannot deny.
func (z *zygote) denied(ctx context.Context) (list []sandboxinit.Restriction, described string, err error) {
	s := tools.Session(ctx)
	if s == nil || s.Workspace == nil || z.opt.Level == None {
		return nil, "", nil
	}
	denied, err := s.Workspace.DeniedPaths(ctx)
	if err != nil || len(denied) == 0 {
		return nil, "", err
	}
	if z.opt.Level != Full { // Landlock has no rule that takes away what another gives
		return nil, describeDenied(denied), nil
	}
	restrictions := map[string]sandboxinit.Restriction{}
	put := func(c sandboxinit.Restriction) {
		if old, ok := restrictions[c.Path]; !ok || old.Kind < c.Kind {
			restrictions[c.Path] = c
		}
	}
	for _, c := range denied {
		kind := sandboxinit.Masked
		if c.Readable {
			kind = sandboxinit.ReadOnly
		}
		for _, root := range z.names(c.Root) {
			at := filepath.Join(root, c.Rel)
			put(sandboxinit.Restriction{Path: at, Kind: kind, Directory: c.Directory})
			for dir := filepath.Dir(at); len(dir) > len(root); dir = filepath.Dir(dir) {
				put(sandboxinit.Restriction{Path: dir, Kind: sandboxinit.Pinned, Directory: true})
			}
		}
	}
	for path, c := range restrictions {
		if !maskedAbove(path, restrictions) {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b sandboxinit.Restriction) int {
		return cmp.Or(cmp.Compare(strings.Count(a.Path, "/"), strings.Count(b.Path, "/")), cmp.Compare(a.Path, b.Path))
	})
	return list, describeDenied(denied), nil
}

// names returns the names that a root has in the sandbox.
func (z *zygote) names(canonical string) []string {
	for _, d := range z.view.Roots {
		if d.Path == canonical {
			return d.Names()
		}
	}
	return nil
}

// maskedAbove reports whether a path lies in a masked directory.
func maskedAbove(path string, restrictions map[string]sandboxinit.Restriction) bool {
	for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
		if c, ok := restrictions[dir]; ok && c.Kind == sandboxinit.Masked {
			return true
		}
	}
	return false
}

// describeDenied names denied paths and the rules that deny them.
func describeDenied(denied []workspace.DeniedPath) string {
	const most = 3
	var names, rules []string
	for i, c := range denied {
		if i < most {
			names = append(names, c.Rel)
		}
		if !slices.Contains(rules, c.Rule) && len(rules) < most {
			rules = append(rules, c.Rule)
		}
	}
	if len(denied) > most {
		names = append(names, "...")
	}
	return strings.Join(names, ", ") + " (rule " + strings.Join(rules, ", ") + ")"
}
