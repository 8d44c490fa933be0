package files

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/paging"
	"toolcrib/tools/internal/text/pathglob"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/internal/unread"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

//go:embed list_directory.md
var listDirectoryDoc string

// ListDirectoryIn says what to list and how.
type ListDirectoryIn struct {
	Path           string `json:"path,omitempty" jsonschema_description:"Directory to list." jsonschema:"default=." path:"directory" alias:"dir,directory,dir_path,directory_path,target_directory,search_directory,search_path,base_path,folder,folder_path,root_dir,relative_workspace_path,absolute_path,file_path,root,relative_path"`
	Depth          int    `json:"depth,omitempty" jsonschema_description:"Levels to go down; 1 lists the directory itself." jsonschema:"minimum=1,maximum=10,default=1" alias:"max_depth,levels"`
	Pattern        string `json:"pattern,omitempty" jsonschema_description:"Show only entries that match: *.go, cmd/**/*.go, !*.o." jsonschema:"maxLength=1000" alias:"glob,include,filter,file_pattern"`
	Sort           string `json:"sort,omitempty" jsonschema_description:"newest: last modified first; size: largest first." jsonschema:"enum=name,enum=newest,enum=size,default=name" alias:"sort_by,order_by"`
	Hidden         bool   `json:"hidden,omitempty" jsonschema_description:"Show names that start with a dot." jsonschema:"default=false" alias:"include_hidden,show_hidden,all,-a,-A"`
	IncludeIgnored bool   `json:"include_ignored,omitempty" jsonschema_description:"Show what git ignores." jsonschema:"default=false" alias:"ignored,no_ignore"`
	Offset         int    `json:"offset,omitempty" jsonschema_description:"Entries to skip, as the last result says." jsonschema:"minimum=0,maximum=100000000,default=0" alias:"skip"`
	Limit          int    `json:"limit,omitempty" jsonschema_description:"Most entries to show." jsonschema:"minimum=1,maximum=2000,default=500" alias:"max_entries,max_results,head_limit"`
}

// ListDirectoryOut is a part of a tree.
type ListDirectoryOut struct {
	// Status counts the shown and omitted entries and names the call for the next page.
	Status string
	// Tree has a line for each entry, indented by two spaces a level, and a line that names
	// the directories that could not be read.
	Tree string
	tools.More
}

// Text returns the result as text.
func (o ListDirectoryOut) Text() string {
	return strings.TrimSuffix(o.Status+"\n"+o.Tree, "\n")
}

func listDirectoryTool() tools.Tool {
	return tools.New(tools.Def[ListDirectoryIn, ListDirectoryOut]{
		Name: "list_directory", Title: "List a directory", Doc: listDirectoryDoc, Tags: []string{"files", "directories", "tree"},
		Foreign: append(tools.Called("LS", "ls", "list", "list_files", "list_directory_with_sizes"),
			tools.Foreign{Name: "list_dir", Implied: map[string]any{"hidden": true, "include_ignored": true}},
			tools.Foreign{Name: "directory_tree", Implied: map[string]any{"depth": 3}}),
		Aliases: []string{"file_list"},
		Access:  tools.Read, Effects: tools.None, Repeatable: true,
		Spellings: listSpellings(),
		Limits:    tools.Limits{Facts: map[string]any{"nested": nestedEntries}},
		Examples: []tools.Example[ListDirectoryIn]{{
			Say:   "What is in the project?",
			Files: map[string]string{"go.mod": "module m\n", "cmd/main.go": "package main\n", "cmd/doc.go": "package main\n", ".env": "A=1\n"},
			In:    ListDirectoryIn{},
			Want:  ".: 1 directory, 1 file; left out: 1 hidden\ncmd/ (2 entries)\ngo.mod 9 B",
		}, {
			Say:   "Where are the Go files?",
			Files: map[string]string{"go.mod": "module m\n", "cmd/main.go": "package main\n", "docs/a.md": "# A\n"},
			In:    ListDirectoryIn{Depth: 3, Pattern: "*.go"},
			Want:  ".: 1 directory, 1 file\ncmd/\n  main.go 13 B",
		}},
		Run: listDirectory,
	})
}

// listDirectory lists the entries that match the pattern. If there are none, it tries other
// readings of the pattern.
func listDirectory(ctx context.Context, in ListDirectoryIn) (ListDirectoryOut, error) {
	if in.Pattern == "" {
		out, _, err := listed(ctx, in)
		return out, err
	}
	out, found, err := listed(ctx, in, in.Pattern)
	if found || err != nil && tools.AsError(err).Code != tools.InvalidArgument {
		return out, err
	}
	written := []string{in.Pattern}
	for _, r := range pathglob.Readings(written) {
		other, found, err := listed(ctx, in, r.Patterns...)
		if found && err == nil {
			other.Status = r.Note(written) + other.Status
			return other, nil
		}
	}
	return out, err
}

// listed lists the entries that match the patterns, and reports whether there are any.
func listed(ctx context.Context, in ListDirectoryIn, patterns ...string) (_ ListDirectoryOut, found bool, _ error) {
	f, err := newFilter(patterns...)
	if err != nil {
		return ListDirectoryOut{}, false, err
	}
	path, err := tools.Resolve(ctx, in.Path)
	if err != nil {
		return ListDirectoryOut{}, false, err
	}
	entries, stats, err := fileindex.Walk(ctx, path, fileindex.WalkOptions{
		Hidden: in.Hidden || f.include.Hidden(), IncludeIgnored: in.IncludeIgnored,
		MaxDepth: in.Depth, Directories: true, SkipDir: f.skips,
	})
	if e, ok := errors.AsType[*workspace.Error](err); ok && e.Rule == workspace.RuleKind {
		return ListDirectoryOut{}, false, tools.AsError(err).WithHint("read_file or file_info take a file")
	}
	if err != nil {
		return ListDirectoryOut{}, false, err
	}
	root := grow(entries, f)
	if in.Sort != "name" {
		if err := root.order(ctx, in.Sort); err != nil {
			return ListDirectoryOut{}, false, err
		}
	}
	l := listing{path: textfile.Path(path.String()), in: in, rows: root.rows(), files: root.count(false), directories: root.count(true)}
	out, err := l.page(ctx, stats)
	return out, len(l.rows) > 0, err
}

// listing is a tree as rows, of which a page is shown.
type listing struct {
	path               string
	in                 ListDirectoryIn
	rows               []row
	files, directories int64
}

// page returns the rows that were asked for, as many as fit.
func (l *listing) page(ctx context.Context, stats fileindex.WalkStats) (ListDirectoryOut, error) {
	n := len(l.rows)
	first := min(l.in.Offset, n)
	if n > 0 && first == n {
		return ListDirectoryOut{Status: l.path + ": " + paging.PastEnd("offset", int64(l.in.Offset), textfile.Count(n, "entry"), int64(n-1))}, nil
	}
	budget := tools.MaxText - len(l.path) - 1000 - paging.MaxNamed
	var tree []byte
	next := first
	for _, r := range l.rows[first:min(first+l.in.Limit, n)] {
		if err := ctx.Err(); err != nil {
			return ListDirectoryOut{}, err
		}
		size := len(tree)
		if next == first {
			tree = appendAncestors(tree, r.node.parent)
		}
		if tree = r.append(tree, l); len(tree) > budget {
			tree = tree[:size]
			break
		}
		next++
	}
	tree = append(tree, paging.NotRead(unread.Paths(ctx, nil, stats))+paging.Denied(stats.Denied)...)
	out := ListDirectoryOut{Status: l.status(stats, first, next), Tree: string(tree)}
	if next < len(l.rows) {
		out.More = tools.NextAt("offset", next)
	}
	return out, nil
}

func (l *listing) status(stats fileindex.WalkStats, first, next int) string {
	b := fmt.Appendf(nil, "%s: ", l.path)
	switch {
	case len(l.rows) == 0 && l.in.Pattern != "":
		b = fmt.Appendf(b, "nothing matches %s in %s", textfile.Path(l.in.Pattern), textfile.Count(stats.Directories, "directory"))
	case len(l.rows) == 0:
		b = append(b, "empty"...)
	default:
		b = fmt.Appendf(b, "%s, %s", textfile.Count(l.directories, "directory"), textfile.Count(l.files, "file"))
	}
	if next-first < len(l.rows) {
		b = fmt.Appendf(b, "; entries %d-%d", first+1, next)
	}
	b = append(b, paging.LeftOut(paging.Left{N: stats.Hidden, Why: "hidden"}, paging.Left{N: stats.Ignored, Why: "ignored"})...)
	if next < len(l.rows) {
		b = fmt.Appendf(b, "; next: offset=%d", next)
	}
	return string(b)
}

// nestedEntries is the most entries shown of a directory below the listed one.
const nestedEntries = 200

// node is an entry of a tree; the root is the listed directory.
type node struct {
	entry    fileindex.Entry
	parent   *node
	children []*node
	info     workspace.Info // set by order
}

// grow makes a tree of the entries of a walk, in their order. It keeps the entries that the
// filter wants and the directories that lead to them.
func grow(entries []fileindex.Entry, f filter) *node {
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

// prune removes the entries that the filter does not select and that do not lead to a selected
// one. It reports whether n has entries left.
func (n *node) prune(f filter) bool {
	n.children = slices.DeleteFunc(n.children, func(c *node) bool {
		return f.excludes(c.entry) || !c.prune(f) && !f.wants(c.entry)
	})
	return len(n.children) > 0
}

// order sorts each directory by time of change or size, the newest or largest first; entries
// that are gone meanwhile come last.
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
	notes []note // printed after it
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

// append appends the row to dst: name/, name SIZE, name -> target.
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

// The most that a call may ask for, as the schema has it.
const (
	mostLevels = 10
	mostListed = 2000
)

// listSpellings are the forms in which other tools take the arguments of list_directory.
func listSpellings() []schema.Spelling {
	return []schema.Spelling{
		schema.Flag(map[string]any{"depth": mostLevels}, map[string]any{"depth": 1}, "recursive", "-R", "recurse"),
		{Names: []string{"depth"}, Read: func(given map[string]any) (map[string]any, error) {
			if n, ok := schema.Int(given["depth"]); ok && n != 0 { // 0 may mean the directory alone
				return map[string]any{"depth": mostLevels}, nil
			}
			return nil, nil
		}},
		schema.AtMost("limit", mostListed),
		{Names: []string{"ignore", "exclude", "excludes", "ignore_globs", "ignore_patterns", "exclude_patterns"}, Read: leavingOut},
		schema.Flag(schema.Same(), map[string]any{"include_ignored": true}, "respect_gitignore", "use_gitignore"),
		schema.Dropped("", "respect_gemini_ignore"),
		{Names: []string{"file_filtering_options"}, Read: func(given map[string]any) (map[string]any, error) {
			options, _ := given["file_filtering_options"].(map[string]any)
			if respects, ok := schema.Bool(options["respect_git_ignore"]); ok && !respects {
				return map[string]any{"include_ignored": true}, nil
			}
			return schema.Same(), nil
		}},
		schema.Values("sort", map[string]string{
			"modified": "newest", "mtime": "newest", "time": "newest", "date": "newest", "lastmodified": "newest", "path": "name", "alphabetical": "name",
		}),
		schema.Flag(schema.Same(), schema.Same(), "-l", "long", "details", "show_sizes"),
		schema.OnlyWith("list_directory lists; other tools do the rest", "command", "view"),
	}
}

// leavingOut reads patterns to exclude as one pattern that begins with !.
func leavingOut(given map[string]any) (map[string]any, error) {
	for _, v := range given {
		list, ok := schema.Strings(v)
		if text, one := v.(string); one {
			list, ok = []string{text}, true
		}
		switch {
		case !ok:
			return nil, nil
		case len(list) == 0:
			return schema.Same(), nil
		case len(list) == 1:
			return map[string]any{"pattern": "!" + list[0]}, nil
		case strings.Contains(strings.Join(list, ""), ","):
			return nil, errors.New("one pattern leaves out; write pattern: \"!{a,b}\"")
		}
		return map[string]any{"pattern": "!{" + strings.Join(list, ",") + "}"}, nil
	}
	return nil, nil
}

// appendCount appends the number of entries of a directory whose entries are not shown.
func (n *node) appendCount(dst []byte) []byte {
	entries, err := n.entry.Path.ReadDir()
	if err != nil {
		return append(dst, " (unreadable)"...)
	}
	return fmt.Appendf(dst, " (%s)", textfile.Count(len(entries), "entry"))
}

// append appends the call that lists the rest of a directory. With a pattern the call has no
// offset: at depth 1 the directory has other rows than here.
func (t note) append(dst []byte, l *listing) []byte {
	d := t.directory
	dst = fmt.Appendf(dst, "%s  … %d more: path=%s", d.indent(), len(d.children)-t.shown, textfile.Quoted(d.entry.Path.String()))
	if l.in.Pattern == "" {
		dst = fmt.Appendf(dst, " depth=1 offset=%d", t.shown)
	}
	return append(dst, '\n')
}

// appendAncestors appends the directories that the first entry of a page is in, when those are
// on an earlier page.
func appendAncestors(dst []byte, n *node) []byte {
	if n.parent == nil {
		return dst
	}
	dst = appendAncestors(dst, n.parent)
	return append(append(append(dst, n.indent()...), n.name()...), '\n')
}
