package search

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/paging"
	"toolcrib/tools/internal/textfile"
	"toolcrib/workspace"
)

//go:embed glob.md
var globDoc string

// GlobIn says which entries to find.
type GlobIn struct {
	Pattern        []string `json:"pattern" jsonschema:"minItems=1,maxItems=50" jsonschema_description:"doublestar patterns relative to path; a name without a slash matches at any depth; several are alternatives; a leading ! excludes" alias:"patterns,glob"`
	Path           string   `json:"path,omitempty" jsonschema:"default=." jsonschema_description:"directory to search" path:"directory" alias:"directory,dir,root"`
	Exclude        []string `json:"exclude,omitempty" jsonschema:"maxItems=50" jsonschema_description:"patterns to leave out; a directory is left out with all in it"`
	Kind           string   `json:"kind,omitempty" jsonschema:"enum=file,enum=directory,enum=any,default=file" jsonschema_description:"what to list; any has symlinks and special files too"`
	Fresh          bool     `json:"fresh,omitempty" jsonschema:"default=false" jsonschema_description:"read every directory, whatever is known of them from earlier searches" alias:"no_cache"`
	Sort           string   `json:"sort,omitempty" jsonschema:"enum=path,enum=newest,default=path" jsonschema_description:"order: by path, or last modified first"`
	Hidden         bool     `json:"hidden,omitempty" jsonschema:"default=false" jsonschema_description:"also names that start with a dot; by itself on when a pattern names one"`
	IncludeIgnored bool     `json:"include_ignored,omitempty" jsonschema:"default=false" jsonschema_description:"also what git's ignore rules leave out, and .git" alias:"no_ignore"`
	FollowLinks    bool     `json:"follow_links,omitempty" jsonschema:"default=false" jsonschema_description:"enter symlinked directories that lead to a place inside the workspace"`
	Limit          int      `json:"limit,omitempty" jsonschema:"minimum=1,maximum=1000,default=200" jsonschema_description:"most paths in one result" alias:"max_results,head_limit"`
	Offset         int      `json:"offset,omitempty" jsonschema:"minimum=0,maximum=10000000,default=0" jsonschema_description:"how many paths to skip, 0 for the first page; the last result names the next"`
}

// GlobOut is a page of paths.
type GlobOut struct {
	Path    string   // the directory searched
	What    string   // "file", "directory" or "entry"
	Paths   []string // each can be given to any tool; a directory ends in "/"
	Offset  int
	Total   int
	Looked  int // entries that were looked at
	Ignored int // entries that ignore rules left out
	Hidden  int // entries left out because they are hidden
	// Unreadable are the directories that could not be read.
	Unreadable []string
	Freshness  string // see visit
}

func globTool(d Deps) tools.Tool {
	return tools.New(tools.Def[GlobIn, GlobOut]{
		Name: "glob", Title: "Find files by name", Doc: globDoc, Tags: []string{"files", "find"},
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Examples: []tools.Example[GlobIn]{
			{
				Say:   "all tests, but not those of vendored code",
				Files: map[string]string{"a_test.go": "", "cmd/b.go": "", "cmd/b_test.go": "", "vendor/x/x_test.go": ""},
				In:    GlobIn{Pattern: []string{"*_test.go"}, Exclude: []string{"vendor"}},
				Want:  "2 files\na_test.go\ncmd/b_test.go\n",
			},
			{
				Say:   "a page of a long list",
				Files: map[string]string{"docs/a.md": "", "docs/b.md": "", "docs/img/c.png": "", "docs/img/d.md": "", "e.md": ""},
				In:    GlobIn{Pattern: []string{"**/*.{md,png}"}, Path: "docs", Limit: 2, Offset: 1},
				Want:  "2 of 4 files; next: offset=3\ndocs/b.md\ndocs/img/c.png\n",
			},
			{
				Say:   "nothing there",
				Files: map[string]string{"src/a.go": "", ".env": "", "out/a.o": "", ".ignore": "out/\n"},
				In:    GlobIn{Pattern: []string{"*.o"}},
				Want:  "0 files match among the … below .; left out: 2 hidden, 1 ignored; hidden:true and include_ignored:true list these too\n",
			},
		},
		Run: func(ctx context.Context, in GlobIn) (GlobOut, error) { return glob(ctx, d, in) },
	})
}

func glob(ctx context.Context, d Deps, in GlobIn) (GlobOut, error) {
	page := in // what names the page: it may be asked for with another limit
	page.Limit = 0
	found, ok := begin[listing](ctx, d.pages, page)
	if !ok {
		var err error
		if found, err = list(ctx, d, in); err != nil {
			return GlobOut{}, err
		}
	}
	out := found.GlobOut
	out.Offset, out.Total = in.Offset, len(found.entries)
	for _, e := range found.entries[min(in.Offset, out.Total):min(in.Offset+in.Limit, out.Total)] {
		out.Paths = append(out.Paths, printed(e))
	}
	out = out.Trim(tools.MaxText)
	if next := in.Offset + len(out.Paths); next < out.Total && len(out.Paths) > 0 {
		page.Offset = next
		d.pages.keep(ctx, page, found, entryBytes*out.Total)
	}
	return out, nil
}

// listing is everything that a call finds, whatever page of it is asked for.
type listing struct {
	GlobOut
	entries []workspace.Entry
}

func list(ctx context.Context, d Deps, in GlobIn) (listing, error) {
	start, err := tools.Resolve(ctx, in.Path)
	if err != nil {
		return listing{}, err
	}
	f, err := newFilter("pattern", in.Pattern, in.Exclude, nil)
	if err != nil {
		return listing{}, err
	}
	l := listing{GlobOut: GlobOut{Path: start.String(), What: in.Kind}}
	if in.Kind == "any" {
		l.What = "entry"
	}
	known := false
	if !in.IncludeIgnored && !in.FollowLinks && !in.Fresh {
		if known, err = l.known(ctx, d, in, start, f); err != nil {
			return listing{}, err
		}
	}
	if !known {
		if err := l.walk(ctx, in, start, f); err != nil {
			return listing{}, err
		}
	}
	d.Library.want(start)
	if in.Sort == "newest" {
		if l.entries, err = newest(ctx, l.entries); err != nil {
			return listing{}, err
		}
	}
	return l, nil
}

// hidden reports whether hidden names are wanted.
func (in GlobIn) hidden(f *filter) bool { return in.Hidden || f.include.Hidden() }

// take takes an entry if it is of the kind that is wanted.
func (l *listing) take(in GlobIn, e workspace.Entry) {
	l.Looked++
	if in.Kind == "any" || string(e.Kind) == in.Kind {
		l.entries = append(l.entries, e)
	}
}

// walk finds the entries where they are.
func (l *listing) walk(ctx context.Context, in GlobIn, start workspace.Path, f *filter) error {
	f.left.Store(0)
	runs, result := f.walk(ctx, start, workspace.WalkOptions{
		Hidden:         in.hidden(f),
		IncludeIgnored: in.IncludeIgnored,
		FollowLinks:    in.FollowLinks,
		Directories:    in.Kind != "file",
	})
	l.entries, l.Looked = nil, 0
	for run := range runs {
		for _, e := range run {
			l.take(in, e)
		}
	}
	stats, err := result()
	l.Looked += int(f.left.Load())
	l.Ignored, l.Hidden, l.Unreadable = stats.Ignored, stats.Hidden, stats.Unreadable
	l.Freshness = visit{}.freshness()
	return err
}

// known takes the entries from a shelf; it reports whether there is one that knows them.
// It does not know how many hidden ones it leaves out, which matters where nothing is
// found or something is unreadable.
func (l *listing) known(ctx context.Context, d Deps, in GlobIn, start workspace.Path, f *filter) (bool, error) {
	v, err := d.Library.open(ctx, start)
	if v.table == nil || err != nil {
		return false, err
	}
	defer v.end()
	entries, ok := v.entries(start, f, in.Kind != "file")
	if !ok {
		return false, nil
	}
	hidden := in.hidden(f)
	for e := range entries {
		if hidden || e.Rel[0] != '.' && !strings.Contains(e.Rel, "/.") {
			l.take(in, e)
		}
	}
	stats := v.table.Stats(start)
	l.Looked += int(f.left.Load())
	l.Ignored, l.Hidden, l.Unreadable = stats.Ignored, stats.Hidden, stats.Unreadable
	l.Freshness = v.freshness()
	return hidden || len(l.entries) > 0 && len(l.Unreadable) == 0, nil
}

func printed(e workspace.Entry) string {
	if e.Kind == workspace.KindDirectory {
		return e.Path.String() + "/"
	}
	return e.Path.String()
}

// newest orders entries by their time of change, the latest first, equal ones by
// path. What is gone meanwhile is left out.
func newest(ctx context.Context, entries []workspace.Entry) ([]workspace.Entry, error) {
	type dated struct {
		workspace.Entry
		at time.Time
	}
	var list []dated
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		info, err := e.Path.Lstat() // without one the time is zero and the entry last
		if err == nil || tools.AsError(err).Code != tools.NotFound {
			list = append(list, dated{e, info.ModTime})
		}
	}
	slices.SortStableFunc(list, func(a, b dated) int { return cmp.Compare(b.at.UnixNano(), a.at.UnixNano()) })
	entries = entries[:0]
	for _, d := range list {
		entries = append(entries, d.Entry)
	}
	return entries, nil
}

// Text is a status line and a path a line.
func (o GlobOut) Text() string {
	var b strings.Builder
	b.WriteString(o.status())
	b.WriteByte('\n')
	for _, path := range o.Paths {
		b.WriteString(textfile.Path(path))
		b.WriteByte('\n')
	}
	b.WriteString(paging.Named(paging.Unreadable, o.Unreadable))
	return b.String()
}

func (o GlobOut) status() string {
	switch end := o.Offset + len(o.Paths); {
	case o.Total == 0:
		return o.nothing()
	case len(o.Paths) == 0:
		return paging.PastEnd("offset", int64(o.Offset), textfile.Count(o.Total, o.What), int64(o.Total-1))
	case end < o.Total:
		return fmt.Sprintf("%d of %s; next: offset=%d", len(o.Paths), textfile.Count(o.Total, o.What), end)
	case o.Offset > 0:
		return fmt.Sprintf("%d of %s; the last page", len(o.Paths), textfile.Count(o.Total, o.What))
	}
	return textfile.Count(o.Total, o.What)
}

func (o GlobOut) nothing() string {
	text := fmt.Sprintf("%s match among the %s below %s", textfile.Count(0, o.What), textfile.Count(o.Looked, "entry"), textfile.Path(o.Path))
	var ways []string
	if o.Hidden > 0 {
		ways = append(ways, "hidden:true")
	}
	if o.Ignored > 0 {
		ways = append(ways, "include_ignored:true")
	}
	switch {
	case ways != nil:
		text += paging.LeftOut(paging.Left{N: o.Hidden, Why: "hidden"}, paging.Left{N: o.Ignored, Why: "ignored"})
		text += fmt.Sprintf("; %s list these too", strings.Join(ways, " and "))
	case o.Looked == 0:
		text += "; it holds nothing"
	default:
		text += "; patterns are relative to path, and case counts"
	}
	return text
}

// Meta tells programs of the next page, and how the answer is known.
func (o GlobOut) Meta() map[string]any {
	next := o.Offset + len(o.Paths)
	if len(o.Paths) == 0 || next == o.Total {
		next = 0
	}
	return meta(next, o.Freshness, "")
}

// Trim keeps the first paths; the status names the offset of the next.
func (o GlobOut) Trim(budget int) GlobOut {
	for n := len(o.Text()); n > budget && len(o.Paths) > 1; n = len(o.Text()) {
		o.Paths = o.Paths[:max(1, min(len(o.Paths)-1, len(o.Paths)*budget/n))]
	}
	return o
}
