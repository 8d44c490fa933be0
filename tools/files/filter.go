package files

import (
	"errors"
	"fmt"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/pathglob"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// filter says which entries of a tree are shown, by their path below its root.
// The zero filter shows all.
type filter struct{ include, exclude pathglob.Set }

// newFilter prepares patterns; one that starts with ! leaves out what it matches.
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

// skips reports that nothing in a directory is wanted.
func (f filter) skips(dir string) bool {
	return f.exclude.Names(dir, true) || !f.include.Empty() && !f.include.Below(dir)
}

func (f filter) excludes(e workspace.Entry) bool {
	return f.exclude.Names(e.Rel, e.Kind == workspace.KindDirectory)
}

func (f filter) wants(e workspace.Entry) bool {
	return f.include.Empty() || f.include.Match(e.Rel, e.Kind == workspace.KindDirectory)
}

// deniedTarget is the denial of what a link leads to, of which its text would tell; nil
// where the policy denies nothing.
func deniedTarget(link workspace.Path) error {
	_, err := link.Stat()
	if e, ok := errors.AsType[*workspace.Error](err); ok && e.Rule == workspace.RuleDenied {
		return err
	}
	return nil
}

// appendCount appends how many entries a directory has that is not gone into, or
// of which nothing is shown.
func (n *node) appendCount(dst []byte) []byte {
	entries, err := n.entry.Path.ReadDir()
	if err != nil {
		return append(dst, " (unreadable)"...)
	}
	return fmt.Appendf(dst, " (%s)", textfile.Count(len(entries), "entry"))
}

// append says how to get the rest of a directory. With a pattern the directory
// is to be listed by itself: its rows at depth 1 are other ones than here.
func (t note) append(dst []byte, l *listing) []byte {
	d := t.directory
	dst = fmt.Appendf(dst, "%s  … %d more: path=%s", d.indent(), len(d.children)-t.shown, textfile.Quoted(d.entry.Path.String()))
	if l.in.Pattern == "" {
		dst = fmt.Appendf(dst, " depth=1 offset=%d", t.shown)
	}
	return append(dst, '\n')
}

// appendAncestors appends the directories that the first entry of a page is in,
// when they stand on an earlier page.
func appendAncestors(dst []byte, n *node) []byte {
	if n.parent == nil {
		return dst
	}
	dst = appendAncestors(dst, n.parent)
	return append(append(append(dst, n.indent()...), n.name()...), '\n')
}
