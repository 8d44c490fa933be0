package files

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"toolcrib/tools"
	"toolcrib/tools/internal/textfile"
	"toolcrib/workspace"
)

//go:embed list_directory.md
var listDirectoryDoc string

// ListDirectoryIn says what to list and how.
type ListDirectoryIn struct {
	Path    string `json:"path,omitempty" jsonschema_description:"Directory to list." jsonschema:"default=." path:"directory" alias:"dir,directory"`
	Depth   int    `json:"depth,omitempty" jsonschema_description:"Levels to go down; 1 lists the directory itself." jsonschema:"minimum=1,maximum=10,default=1"`
	Pattern string `json:"pattern,omitempty" jsonschema_description:"Show only entries whose name matches this glob (*.go); with a slash it is matched against the path below the directory (cmd/**/*.go)." alias:"glob"`
	Sort    string `json:"sort,omitempty" jsonschema_description:"Order inside each directory: name, mtime (newest first) or size (largest first)." jsonschema:"enum=name,enum=mtime,enum=size,default=name"`
	Hidden  bool   `json:"hidden,omitempty" jsonschema_description:"Show names that start with a dot." jsonschema:"default=false"`
	Ignored bool   `json:"ignored,omitempty" jsonschema_description:"Show what git ignores, and .git if hidden is true." jsonschema:"default=false"`
	Offset  int    `json:"offset,omitempty" jsonschema_description:"First entry to show, counted from 1." jsonschema:"minimum=1,maximum=100000000,default=1"`
	Limit   int    `json:"limit,omitempty" jsonschema_description:"Most entries to show; of a directory below the listed one at most 200." jsonschema:"minimum=1,maximum=2000,default=500"`
}

// ListDirectoryOut is a part of a tree.
type ListDirectoryOut struct {
	// Status counts the entries, what is left out, and says which call goes on.
	Status string
	// Tree is a line for each entry, two spaces a level.
	Tree string
}

// Text words the result.
func (o ListDirectoryOut) Text() string {
	return strings.TrimSuffix(o.Status+"\n"+o.Tree, "\n")
}

func listDirectoryTool() tools.Tool {
	return tools.New(tools.Def[ListDirectoryIn, ListDirectoryOut]{
		Name: "list_directory", Title: "List a directory", Doc: listDirectoryDoc, Tags: []string{"files"},
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Limits: tools.Limits{Facts: map[string]any{"nested": nestedEntries}},
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

func listDirectory(ctx context.Context, in ListDirectoryIn) (ListDirectoryOut, error) {
	if !doublestar.ValidatePattern(in.Pattern) {
		return ListDirectoryOut{}, tools.Errorf(tools.InvalidArgument, "pattern %q is not a glob", in.Pattern).
			WithHint("brackets and braces must be closed; a backslash takes a special character literally")
	}
	path, err := tools.Resolve(ctx, in.Path)
	if err != nil {
		return ListDirectoryOut{}, err
	}
	entries, stats, err := path.Walk(ctx, workspace.WalkOptions{
		Hidden: in.Hidden, IncludeIgnored: in.Ignored, MaxDepth: in.Depth, Directories: true,
	})
	if e, ok := errors.AsType[*workspace.Error](err); ok && e.Rule == workspace.RuleKind {
		return ListDirectoryOut{}, tools.AsError(err).WithHint("read_file or file_info take a file")
	}
	if err != nil {
		return ListDirectoryOut{}, err
	}
	root := grow(entries, in.Pattern)
	if in.Sort != "name" {
		if err := root.order(ctx, in.Sort); err != nil {
			return ListDirectoryOut{}, err
		}
	}
	l := listing{path: textfile.Visible(path.String()), in: in, rows: root.rows(), files: root.count(false), directories: root.count(true)}
	return l.page(ctx, stats)
}

// listing is a tree as rows, of which a page is shown.
type listing struct {
	path               string
	in                 ListDirectoryIn
	rows               []row
	files, directories int64
}

// page words the rows that were asked for, as many as fit.
func (l *listing) page(ctx context.Context, stats workspace.WalkStats) (ListDirectoryOut, error) {
	first := l.in.Offset - 1
	if first >= len(l.rows) && first > 0 {
		return ListDirectoryOut{}, tools.Errorf(tools.InvalidArgument, "entry %d is past the end: %s has %s", l.in.Offset, l.path, count(int64(len(l.rows)), "entry")).
			WithHint("offset counts from 1")
	}
	budget := tools.MaxText - len(l.path) - 2000
	var tree []byte
	next := first
	for _, r := range l.rows[first:min(first+l.in.Limit, len(l.rows))] {
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
	return ListDirectoryOut{Status: l.status(stats, first, next), Tree: string(tree)}, nil
}

func (l *listing) status(stats workspace.WalkStats, first, next int) string {
	b := fmt.Appendf(nil, "%s: ", l.path)
	switch {
	case len(l.rows) == 0 && l.in.Pattern != "":
		b = fmt.Appendf(b, "nothing matches %s in %s", textfile.Visible(l.in.Pattern), count(int64(stats.Directories), "directory"))
	case len(l.rows) == 0:
		b = append(b, "empty"...)
	default:
		b = fmt.Appendf(b, "%s, %s", count(l.directories, "directory"), count(l.files, "file"))
	}
	if next-first < len(l.rows) {
		b = fmt.Appendf(b, "; entries %s-%s", textfile.Number(int64(first+1)), textfile.Number(int64(next)))
	}
	var out []string
	if stats.Hidden > 0 {
		out = append(out, textfile.Number(int64(stats.Hidden))+" hidden")
	}
	if stats.Ignored > 0 {
		out = append(out, textfile.Number(int64(stats.Ignored))+" ignored")
	}
	if len(out) > 0 {
		b = fmt.Appendf(b, "; left out: %s", strings.Join(out, ", "))
	}
	if n := len(stats.Unreadable); n > 0 {
		b = fmt.Appendf(b, "; %d unreadable, such as %s", n, textfile.Visible(stats.Unreadable[0]))
	}
	if next < len(l.rows) {
		b = fmt.Appendf(b, "; next: offset=%d", next+1)
	}
	return string(b)
}
