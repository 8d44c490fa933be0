package documents

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/paging"
	"toolcrib/tools/internal/text/pathglob"
	"toolcrib/tools/internal/unread"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// collection is the files that a call searches.
type collection struct {
	files  []member
	whole  bool // they are all documents of all roots
	listed bool // a walk with the ignore rules finds all of them
	closed []paging.Unread
	denied int

	known map[string]bool
}

// member is a file of a collection.
type member struct {
	workspace.Path
	name string // as it is printed and as the index has it
	// named says that the call names the file itself, so that it is searched whatever it is
	// and an error about it is told.
	named bool
}

// documentKinds are the extensions of files that are searched where a call names none.
var documentKinds = []string{
	"adoc", "asciidoc", "atom", "csv", "doc", "docm", "docx", "eml", "epub", "htm", "html", "ipynb", "markdown", "md", "mdx", "msg",
	"odp", "ods", "odt", "org", "pdf", "ppt", "pptm", "pptx", "rss", "rst", "rtf", "tex", "text", "tsv", "txt", "xhtml", "xls", "xlsb", "xlsm", "xlsx",
}

// isDocument reports whether a name is that of a document.
func isDocument(name string) bool {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	_, found := slices.BinarySearch(documentKinds, ext)
	return found || ext == "" && strings.HasPrefix(name, "README")
}

// collect finds the files that paths and globs name; without any, the documents of all roots.
func collect(ctx context.Context, entries []string) (*collection, error) {
	c := &collection{known: map[string]bool{}, listed: true}
	if len(entries) == 0 {
		c.whole = true
		for _, root := range tools.Session(ctx).Workspace.Roots() {
			start, err := tools.Resolve(ctx, root)
			if err != nil {
				return nil, err
			}
			if err := c.walk(ctx, start, pathglob.Set{}, pathglob.Set{}); err != nil {
				return nil, err
			}
			c.whole = c.whole && !start.HasDenyRules()
		}
		c.listed = c.whole
		return c, nil
	}
	for _, entry := range entries {
		if err := c.add(ctx, entry); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// add adds the files of a path or glob.
func (c *collection) add(ctx context.Context, entry string) error {
	p, err := tools.Resolve(ctx, entry)
	var info workspace.Info
	if err == nil {
		info, err = p.Stat()
	}
	switch {
	case err != nil && strings.ContainsAny(entry, "*?[{"):
		return c.glob(ctx, entry)
	case err != nil:
		return err
	}
	c.listed = false
	if info.Kind == workspace.KindDirectory {
		return c.walk(ctx, p, pathglob.Set{}, pathglob.Set{})
	}
	c.take(member{p, p.String(), true})
	return nil
}

// glob adds the files that a pattern matches, below the first root, or below the root that
// it begins with.
func (c *collection) glob(ctx context.Context, pattern string) error {
	root, rel := ".", pattern
	for _, name := range tools.Session(ctx).Workspace.Roots() {
		if below, ok := strings.CutPrefix(pattern, filepath.ToSlash(name)+"/"); ok && len(below) < len(rel) {
			root, rel = name, below
		}
	}
	included, excluded := pathglob.Negated([]string{rel}, nil)
	include, err := compile(included)
	if err != nil {
		return err
	}
	exclude, err := compile(excluded)
	if err != nil {
		return err
	}
	start, err := tools.Resolve(ctx, root)
	if err != nil {
		return err
	}
	c.listed = c.listed && !start.HasDenyRules()
	before := len(c.files)
	if err := c.walk(ctx, start, include, exclude); err != nil {
		return err
	}
	if len(c.files) == before {
		return tools.Errorf(tools.NotFound, "no file matches %q", tools.Clip(pattern)).
			WithHint("a pattern without a slash matches at any depth; hidden and ignored files are left out")
	}
	return nil
}

func compile(patterns []string) (pathglob.Set, error) {
	set, err := pathglob.Compile(patterns)
	if e, ok := errors.AsType[*pathglob.Error](err); ok {
		return set, tools.Errorf(tools.InvalidArgument, "paths: %s", e).WithHint("%s", e.Hint)
	}
	return set, err
}

// walk adds the files below a directory that include matches, or if that is empty, the
// documents.
func (c *collection) walk(ctx context.Context, start workspace.Path, include, exclude pathglob.Set) error {
	stream := fileindex.NewStream(ctx, start, fileindex.WalkOptions{
		Hidden: include.Hidden(),
		SkipDir: func(dir string) bool {
			return exclude.Names(dir, true) || !include.Empty() && !include.Below(dir)
		},
	})
	for run := range stream.Runs() {
		for _, e := range run {
			wanted := include.Match(e.Rel, false)
			if include.Empty() {
				wanted = isDocument(path.Base(e.Rel))
			}
			if e.Kind == workspace.KindFile && wanted && !exclude.Names(e.Rel, false) {
				c.take(member{e.Path, e.Path.String(), false})
			}
		}
	}
	stats, err := stream.Result()
	c.closed = unread.Paths(ctx, c.closed, stats)
	c.denied += stats.Denied
	return err
}

func (c *collection) take(m member) {
	if !c.known[m.name] {
		c.known[m.name] = true
		c.files = append(c.files, m)
	}
}

// notRead adds a file that could not be read.
func (c *collection) notRead(name, why string) {
	c.closed = append(c.closed, paging.Unread{Path: withoutSecrets(name), Why: why})
}

// notes are lines about files that are not searched.
func (c *collection) notes() string {
	closed := slices.Clone(c.closed)
	slices.SortStableFunc(closed, func(a, b paging.Unread) int { return strings.Compare(a.Path, b.Path) })
	return paging.NotRead(closed) + paging.Denied(c.denied)
}
