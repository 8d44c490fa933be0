package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// nestedEntries is the most entries shown of a directory below the listed one.
const nestedEntries = 200

// node is an entry of a tree; the root stands for the listed directory.
type node struct {
	entry    workspace.Entry
	parent   *node
	children []*node
	info     workspace.Info // set by order
}

// grow makes a tree of what a walk found, in its order. It keeps the entries that
// the filter wants and the directories that lead to them.
func grow(entries []workspace.Entry, f filter) *node {
	root := &node{}
	directories := map[string]*node{".": root}
	for _, e := range entries {
		parent := directories[path.Dir(e.Rel)]
		n := &node{entry: e, parent: parent}
		parent.children = append(parent.children, n)
		if e.Kind == workspace.KindDirectory {
			directories[e.Rel] = n
		}
	}
	if !f.empty() {
		root.prune(f)
	}
	return root
}

// prune removes what is neither wanted nor leads to something wanted, and reports
// whether anything is left below n.
func (n *node) prune(f filter) bool {
	n.children = slices.DeleteFunc(n.children, func(c *node) bool {
		return f.excludes(c.entry) || !c.prune(f) && !f.wants(c.entry)
	})
	return len(n.children) > 0
}

// order sorts each directory by time of change or size, the newest or largest
// first; what is gone meanwhile comes last.
func (n *node) order(ctx context.Context, by string) error {
	for _, c := range n.children {
		if err := ctx.Err(); err != nil {
			return err
		}
		if info, err := c.entry.Path.Lstat(); err == nil {
			c.info = info
		}
		if c.entry.Kind != workspace.KindFile {
			c.info.Size = -1 // the size of a directory says nothing of its content
		}
		if err := c.order(ctx, by); err != nil {
			return err
		}
	}
	slices.SortStableFunc(n.children, func(a, b *node) int {
		if by == "size" {
			return cmp.Compare(b.info.Size, a.info.Size)
		}
		return b.info.ModTime.Compare(a.info.ModTime)
	})
	return nil
}

// count counts the directories or everything else below n.
func (n *node) count(directories bool) int64 {
	var total int64
	for _, c := range n.children {
		if (c.entry.Kind == workspace.KindDirectory) == directories {
			total++
		}
		total += c.count(directories)
	}
	return total
}

// row is one line of a listing.
type row struct {
	node  *node
	notes []note // to stand after it
}

// note says that entries of a directory are not shown.
type note struct {
	directory *node
	shown     int
}

// rows returns the lines below n in order.
func (n *node) rows() []row {
	var rows []row
	for i, c := range n.children {
		if n.parent != nil && i == nestedEntries {
			last := &rows[len(rows)-1]
			last.notes = append(last.notes, note{directory: n, shown: i})
			break
		}
		rows = append(append(rows, row{node: c}), c.rows()...)
	}
	return rows
}

func (n *node) indent() string {
	return strings.Repeat("  ", strings.Count(n.entry.Rel, "/"))
}

// name returns the name as printed, that of a directory with a slash.
func (n *node) name() string {
	name := path.Base(n.entry.Rel)
	if n.entry.Kind == workspace.KindDirectory {
		name += "/"
	}
	return textfile.Path(name)
}

// append words the row: name/, name SIZE, name -> target.
func (r row) append(dst []byte, l *listing) []byte {
	n := r.node
	dst = append(append(dst, n.indent()...), n.name()...)
	info, err := n.entry.Path.Lstat()
	switch {
	case n.entry.Kind == workspace.KindDirectory:
		if len(n.children) == 0 {
			dst = n.appendCount(dst)
		}
	case err != nil:
		dst = append(dst, " (gone or unreadable)"...)
	case n.entry.Kind == workspace.KindSymlink && info.Resolved == "" && deniedTarget(n.entry.Path) != nil:
		dst = append(dst, " (denied)"...)
	case n.entry.Kind == workspace.KindSymlink:
		dst = append(append(dst, " -> "...), textfile.Path(info.Target)...)
		if info.Resolved == "" {
			dst = append(dst, " (outside or missing)"...)
		}
	case n.entry.Kind == workspace.KindFile:
		dst = append(append(dst, ' '), textfile.Size(info.Size)...)
	default:
		dst = append(dst, " (FIFO, socket or device)"...)
	}
	if l.in.Sort == "newest" && err == nil {
		dst = append(append(dst, ' '), info.ModTime.UTC().Format(time.RFC3339)...)
	}
	dst = append(dst, '\n')
	for _, note := range r.notes {
		dst = note.append(dst, l)
	}
	return dst
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
