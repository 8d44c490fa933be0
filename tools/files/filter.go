package files

import (
	"errors"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/pathglob"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// filter selects the entries of a tree to show, by their path below its root. The zero filter
// shows all.
type filter struct{ include, exclude pathglob.Set }

// newFilter compiles patterns. A pattern that starts with ! excludes its matches.
func newFilter(patterns ...string) (f filter, err error) {
	include, exclude := pathglob.Negated(patterns, nil)
	f.include, err = pathglob.Compile(include)
	if err == nil {
		f.exclude, err = pathglob.Compile(exclude)
	}
	if e, ok := errors.AsType[*pathglob.Error](err); ok {
		return filter{}, tools.Errorf(tools.InvalidArgument, "pattern: %s", e).WithHint("%s", e.Hint)
	}
	return f, err
}

func (f filter) empty() bool { return f.include.Empty() && f.exclude.Empty() }

// skips reports whether the filter selects nothing in a directory.
func (f filter) skips(dir string) bool {
	return f.exclude.Names(dir, true) || !f.include.Empty() && !f.include.Below(dir)
}

func (f filter) excludes(e fileindex.Entry) bool {
	return f.exclude.Names(e.Rel, e.Kind == workspace.KindDirectory)
}

func (f filter) wants(e fileindex.Entry) bool {
	return f.include.Empty() || f.include.Match(e.Rel, e.Kind == workspace.KindDirectory)
}

// deniedTarget returns the error of a link whose target the policy denies, nil for any other.
// The text of such a link would reveal its target.
func deniedTarget(link workspace.Path) error {
	_, err := link.Stat()
	if e, ok := errors.AsType[*workspace.Error](err); ok && e.Rule == workspace.RuleDenied {
		return err
	}
	return nil
}
