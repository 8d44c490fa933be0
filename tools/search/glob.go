package search

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/paging"
	"toolcrib/tools/internal/text/pathglob"
	"toolcrib/tools/internal/text/textfile"
)

//go:embed glob.md
var globDoc string

// GlobIn says which entries to find.
type GlobIn struct {
	Pattern        []string `json:"pattern" jsonschema:"minItems=1,maxItems=50" jsonschema_description:"doublestar patterns relative to path; at any depth without a slash; a leading ! excludes" alias:"patterns,glob,glob_pattern,globs,include,include_pattern,include_patterns,file_pattern,filename_pattern,name"`
	Path           string   `json:"path,omitempty" jsonschema:"default=." jsonschema_description:"directory to search" path:"directory" alias:"directory,dir,root,dir_path,directory_path,target_directory,search_directory,search_path,base_path,folder,folder_path,root_dir,relative_workspace_path,absolute_path,cwd,relative_path"`
	Exclude        []string `json:"exclude,omitempty" jsonschema:"maxItems=50" jsonschema_description:"patterns to leave out" alias:"excludes,exclude_pattern,exclude_patterns,exclude_dirs,ignore,ignore_patterns,ignore_globs"`
	Kind           string   `json:"kind,omitempty" jsonschema:"enum=file,enum=directory,enum=any,default=file" jsonschema_description:"any: symlinks and special files too" alias:"type,file_type,entry_type"`
	Fresh          bool     `json:"fresh,omitempty" jsonschema:"default=false" jsonschema_description:"read every directory anew" alias:"no_cache"`
	Sort           string   `json:"sort,omitempty" jsonschema:"enum=path,enum=newest,default=path" jsonschema_description:"newest: last modified first" alias:"sort_by,order_by"`
	Hidden         bool     `json:"hidden,omitempty" jsonschema:"default=false" jsonschema_description:"also names that start with a dot" alias:"include_hidden,show_hidden,dot"`
	IncludeIgnored bool     `json:"include_ignored,omitempty" jsonschema:"default=false" jsonschema_description:"also what git ignores, and .git" alias:"no_ignore,-u"`
	FollowLinks    bool     `json:"follow_links,omitempty" jsonschema:"default=false" jsonschema_description:"enter symlinked directories" alias:"-L,follow,follow_symlinks"`
	Limit          int      `json:"limit,omitempty" jsonschema:"minimum=1,maximum=1000,default=200" jsonschema_description:"most paths in one result" alias:"max_results,head_limit,max_count,num_results,result_limit"`
	Offset         int      `json:"offset,omitempty" jsonschema:"minimum=0,maximum=10000000,default=0" jsonschema_description:"paths to skip, as the last result says" alias:"skip"`
}

// GlobOut is a page of paths.
type GlobOut struct {
	Path    string // the directory searched
	What    string // "file", "directory" or "entry"
	Paths   string // a line each, each can be given to any tool; a directory ends in "/"
	Shown   int    // of them
	Offset  int
	Total   int
	Looked  int // entries that were looked at
	Ignored int // entries that ignore rules left out
	Hidden  int // entries left out because they are hidden
	// Unreadable are the directories that could not be read.
	Unreadable []paging.Unread
	Denied     int    // by the policy
	Freshness  string // see visit
	Read       string // how the pattern was read, if not as written; see reading
	Other      string // an entry similar to a pattern that matches nothing
}

func globTool(d Deps) tools.Tool {
	return tools.New(tools.Def[GlobIn, GlobOut]{
		Name: "glob", Title: "Find files by name", Doc: globDoc, Tags: []string{"files", "find", "extension", "name pattern"},
		Foreign: []tools.Foreign{{Name: "Glob"}, {
			Name: "file_search", Implied: map[string]any{"pattern": "*", "kind": "any", "hidden": true, "case_sensitive": false},
			Spellings: []schema.Spelling{{Names: []string{"max_depth"}, Read: anyDepth}},
		}},
		Access: tools.Read, Effects: tools.None, Repeatable: true, Cache: keptFor,
		Spellings: globSpellings(),
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

// glob finds the entries that the patterns match. If there are none, it tries other readings
// of the patterns.
func glob(ctx context.Context, d Deps, in GlobIn) (GlobOut, error) {
	out, err := find(ctx, d, in)
	if err == nil && out.Total > 0 || err != nil && tools.AsError(err).Code != tools.InvalidArgument {
		return out, err
	}
	ctx, cancel := aside(ctx)
	defer cancel()
	for _, r := range readings(ctx, in.Pattern, in.Path) {
		other := in
		other.Pattern, other.Path = r.Patterns, r.path
		found, err := find(ctx, d, other)
		if err == nil && found.Total > 0 {
			found.Read = r.Note(in.Pattern)
			return found, nil
		}
	}
	if err == nil {
		out.Other = near(ctx, d, in)
	}
	return out, err
}

// near names an entry that is similar to patterns that match none.
func near(ctx context.Context, d Deps, in GlobIn) string {
	kinds, anywhere := in, in
	kinds.Kind = "any"
	anywhere.Pattern = slices.Clone(in.Pattern)
	for i, pattern := range in.Pattern {
		if strings.Contains(pattern, "/") && !strings.HasPrefix(pattern, "!") {
			anywhere.Pattern[i] = "**/" + pattern
		}
	}
	folded := anywhere
	folded.Pattern = pathglob.AnyCase(anywhere.Pattern)
	for _, try := range []struct {
		in  GlobIn
		why string
	}{{kinds, "kind is " + in.Kind}, {anywhere, "patterns are relative to path"}, {folded, "case counts"}} {
		found, err := find(ctx, d, try.in)
		if first, _, ok := strings.Cut(found.Paths, "\n"); ok && err == nil {
			return try.why + ": " + first + " is there"
		}
	}
	return ""
}

// find finds the entries that the patterns match.
func find(ctx context.Context, d Deps, in GlobIn) (GlobOut, error) {
	page := in // the key of the page: it may be asked for with another limit
	page.Limit = 0
	start, err := tools.Resolve(ctx, in.Path)
	if err != nil {
		return GlobOut{}, err
	}
	v, err := d.Library.open(ctx, start, !in.IncludeIgnored && !in.FollowLinks && !in.Fresh)
	if err != nil {
		return GlobOut{}, err
	}
	found, ok := begin[*listing](ctx, d.pages, v.stamp, page)
	if !ok {
		if found, err = list(ctx, v, start, in); err != nil {
			return GlobOut{}, err
		}
		d.Library.want(start)
	}
	out := found.page(in)
	if out.next() > 0 {
		page.Offset = out.next()
		d.pages.keep(ctx, v.stamp, page, found, found.size())
	}
	return out, nil
}

// Text returns a status line and a line for each path.
func (o GlobOut) Text() string {
	return o.Read + o.status() + "\n" + o.Paths + paging.NotRead(o.Unreadable) + paging.Denied(o.Denied)
}

func (o GlobOut) status() string {
	switch end := o.Offset + o.Shown; {
	case o.Total == 0:
		return o.nothing()
	case o.Shown == 0:
		return paging.PastEnd("offset", int64(o.Offset), textfile.Count(o.Total, o.What), int64(o.Total-1))
	case end < o.Total:
		return fmt.Sprintf("%d of %s; next: offset=%d", o.Shown, textfile.Count(o.Total, o.What), end)
	case o.Offset > 0:
		return fmt.Sprintf("%d of %s; the last page", o.Shown, textfile.Count(o.Total, o.What))
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
	text += paging.LeftOut(paging.Left{N: o.Hidden, Why: "hidden"}, paging.Left{N: o.Ignored, Why: "ignored"})
	switch {
	case o.Other != "":
		text += "; " + o.Other
	case ways != nil:
		text += fmt.Sprintf("; %s list these too", strings.Join(ways, " and "))
	case o.Looked == 0:
		text += "; it holds nothing"
	}
	return text
}

// next returns the offset of the next page, 0 for the last.
func (o GlobOut) next() int {
	next := o.Offset + o.Shown
	if o.Shown == 0 || next == o.Total {
		return 0
	}
	return next
}

// Cacheable implements [tools.Cacheable].
func (o GlobOut) Cacheable() bool { return o.Freshness == watched }

// Meta tells programs of the next page, and how the answer is known.
func (o GlobOut) Meta() map[string]any { return meta(o.next(), o.Freshness, "") }

// Trim keeps the first paths; the status names the offset of the next.
func (o GlobOut) Trim(budget int) GlobOut {
	for n := len(o.Text()); n > budget && o.Shown > 1; n = len(o.Text()) {
		last := strings.LastIndexByte(o.Paths[:len(o.Paths)-1], '\n')
		o.Paths, o.Shown = o.Paths[:last+1], o.Shown-1
	}
	return o
}

// globSpellings are the forms in which other tools take the arguments of glob.
func globSpellings() []schema.Spelling {
	return append([]schema.Spelling{
		{Names: []string{"case_sensitive", "pattern"}, Read: func(given map[string]any) (map[string]any, error) {
			return anyCase(given, "case_sensitive", false)
		}, As: "a pattern for any case"},
		{Names: []string{"ignore_case", "pattern"}, Read: func(given map[string]any) (map[string]any, error) {
			return anyCase(given, "ignore_case", true)
		}, As: "a pattern for any case"},
		schema.Values("kind", map[string]string{
			"f": "file", "files": "file", "d": "directory", "dir": "directory", "dirs": "directory", "directories": "directory",
			"folder": "directory", "folders": "directory", "all": "any", "both": "any",
		}),
		schema.Flag(map[string]any{"kind": "any"}, schema.Same(), "include_directories", "include_dirs"),
		schema.Flag(map[string]any{"kind": "directory"}, schema.Same(), "only_directories", "directories_only"),
		schema.Flag(schema.Same(), nil, "recursive"),
		schema.OnlyWith("glob finds files by name; grep searches contents", "search_type", "files"),
		schema.Values("sort", newestFirst()),
		schema.AtMost("limit", 1000),
	}, walkSpellings()...)
}

// anyDepth reads the depth of a search that has a limit or, if it is negative, none.
func anyDepth(given map[string]any) (map[string]any, error) {
	if n, ok := schema.Int(given["max_depth"]); ok && n < 0 {
		return schema.Same(), nil
	}
	return nil, errors.New("the depth is that of the pattern: write */*.go for files in the directories of path")
}

// anyCase rewrites patterns to ignore case, if the named flag has the value want.
func anyCase(given map[string]any, name string, want bool) (map[string]any, error) {
	flag, ok := schema.Bool(given[name])
	patterns, list := schema.Strings(given["pattern"])
	if text, one := given["pattern"].(string); one {
		patterns, list = []string{text}, true
	}
	switch {
	case !ok || !list:
		return nil, nil
	case flag != want:
		return map[string]any{"pattern": given["pattern"]}, nil
	}
	return map[string]any{"pattern": pathglob.AnyCase(patterns)}, nil
}
