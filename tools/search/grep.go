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
	"toolcrib/tools/internal/text/pathglob"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/internal/unread"
	"toolcrib/tools/search/internal/match"
	"toolcrib/tools/search/internal/scan"
)

//go:embed grep.md
var grepDoc string

// GrepIn says what to search for, and where.
type GrepIn struct {
	Pattern        string   `json:"pattern" jsonschema:"minLength=1,maxLength=10000" jsonschema_description:"RE2 regular expression, or with fixed the text itself" alias:"query,search_pattern,search_term,search_query,search_string,search,-e"`
	Path           string   `json:"path,omitempty" jsonschema:"default=." jsonschema_description:"directory or file to search" path:"any" alias:"directory,dir,file,file_path,dir_path,directory_path,target_directory,search_directory,search_path,base_path,folder,folder_path,root_dir,relative_workspace_path,absolute_path,root,filename,relative_path,paths"`
	Glob           []string `json:"glob,omitempty" jsonschema:"maxItems=50" jsonschema_description:"only files of these patterns; ! excludes" alias:"include,globs,-g,include_pattern,include_patterns,include_glob,includes,file_pattern,file_patterns,file_glob,glob_pattern,paths_include_glob"`
	Type           []string `json:"type,omitempty" jsonschema:"maxItems=20" jsonschema_description:"only these types: go, py, js, ts, java, rust, md ..." alias:"types,file_type,-t"`
	Exclude        []string `json:"exclude,omitempty" jsonschema:"maxItems=50" jsonschema_description:"patterns to leave out" alias:"exclude_pattern,exclude_patterns,excludes,exclude_glob,exclude_globs,exclude_dir,exclude_dirs,ignore,ignore_patterns,ignore_globs,paths_exclude_glob"`
	Fixed          bool     `json:"fixed,omitempty" jsonschema:"default=false" jsonschema_description:"pattern is plain text, not a regular expression" alias:"fixed_strings,literal,-F,fixed_string,literal_search,literal_text,is_literal,plain_text"`
	Word           bool     `json:"word,omitempty" jsonschema:"default=false" jsonschema_description:"whole words only" alias:"whole_word,-w,word_regexp,whole_words,match_whole_word,words"`
	Case           string   `json:"case,omitempty" jsonschema:"enum=smart,enum=sensitive,enum=insensitive,default=smart" jsonschema_description:"smart ignores case unless the pattern has an upper-case letter"`
	Multiline      bool     `json:"multiline,omitempty" jsonschema:"default=false" jsonschema_description:"a match may span lines" alias:"-U,multiline_dotall,dotall"`
	Mode           string   `json:"mode,omitempty" jsonschema:"enum=content,enum=files,enum=count,default=content" jsonschema_description:"lines, only their files, or their numbers" alias:"output_mode"`
	Context        int      `json:"context,omitempty" jsonschema:"minimum=-1,maximum=30,default=-1" jsonschema_description:"lines around each match; -1: 2 if at most 3 match" alias:"context_lines,-C,context_size,lines_of_context,num_context_lines,surrounding_lines"`
	Before         int      `json:"before,omitempty" jsonschema:"minimum=0,maximum=30,default=0" jsonschema_description:"lines before each match" alias:"before_context,-B,lines_before,before_lines,context_before,context_lines_before"`
	After          int      `json:"after,omitempty" jsonschema:"minimum=0,maximum=30,default=0" jsonschema_description:"lines after each match" alias:"after_context,-A,lines_after,after_lines,context_after,context_lines_after"`
	MaxPerFile     int      `json:"max_per_file,omitempty" jsonschema:"minimum=0,maximum=100000,default=0" jsonschema_description:"most lines of one file; 0 = no limit" alias:"max_matches_per_file,max_count,-m,max_matches"`
	Hidden         bool     `json:"hidden,omitempty" jsonschema:"default=true" jsonschema_description:"also names that start with a dot" alias:"include_hidden,show_hidden,search_hidden"`
	IncludeIgnored bool     `json:"include_ignored,omitempty" jsonschema:"default=false" jsonschema_description:"also what git ignores, and .git" alias:"no_ignore,-u"`
	FollowLinks    bool     `json:"follow_links,omitempty" jsonschema:"default=false" jsonschema_description:"enter symlinked directories" alias:"-L,follow,follow_symlinks"`
	Fresh          bool     `json:"fresh,omitempty" jsonschema:"default=false" jsonschema_description:"read every file anew" alias:"no_cache,no_index"`
	Sort           string   `json:"sort,omitempty" jsonschema:"enum=path,enum=newest,default=path" jsonschema_description:"newest: last modified first" alias:"sort_by,order_by"`
	Limit          int      `json:"limit,omitempty" jsonschema:"minimum=1,maximum=1000,default=100" jsonschema_description:"most lines or files in one result" alias:"max_results,head_limit,total_max_matches,max_total_results,max_total_matches,num_results,result_limit"`
	Offset         int      `json:"offset,omitempty" jsonschema:"minimum=0,maximum=10000000,default=0" jsonschema_description:"lines or files to skip, as the last result says" alias:"skip"`
}

func grepTool(d Deps) tools.Tool {
	return tools.New(tools.Def[GrepIn, GrepOut]{
		Name: "grep", Title: "Search file contents", Doc: grepDoc, Tags: []string{"files", "search", "regex", "occurrences in code"},
		Foreign: tools.Called("Grep", "grep_search", "search_file_content", "ripgrep"),
		Access:  tools.Read, Effects: tools.None, Repeatable: true, Cache: keptFor,
		Spellings: grepSpellings(),
		Limits:    tools.Limits{Facts: map[string]any{"line": scan.MaxLine, "types": typeList(), "held": textfile.Size(scan.MaxText)}},
		Examples:  grepExamples(),
		Run:       func(ctx context.Context, in GrepIn) (GrepOut, error) { return grep(ctx, d, in) },
	})
}

// The share of the remaining time that a file may take: one of many leaves time for the files
// after it, a single one leaves time for the answer.
const (
	partOfMany = 0.25
	partOfOne  = 0.9
)

// ended returns the error of a search that ended early: how far it came and how to go on. last
// is the last searched file, if there was one.
func ended(err error, searched int, last source) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	came := "some of the first files"
	if last != (source{}) {
		came = fmt.Sprintf("%s, the last %s", textfile.Count(searched, "file"), textfile.Path(last.String()))
	}
	e := tools.Errorf(tools.Timeout, "the time was over after %s", came).
		WithHint("search less at once, by path, glob or exclude, or for a simpler pattern")
	e.Err = err
	return e
}

// grep searches for the pattern in the selected files. If nothing matches, it tries other
// readings of the pattern and the filters.
func grep(ctx context.Context, d Deps, in GrepIn) (GrepOut, error) {
	out, err := search(ctx, d, in)
	read := ""
	ctx, cancel := aside(ctx)
	defer cancel()
	if misread := err != nil && tools.AsError(err).Code == tools.InvalidArgument || out.unfiltered(); misread && in.Glob != nil {
		for _, r := range readings(ctx, in.Glob, in.Path) {
			other := in
			other.Glob, other.Path = r.Patterns, r.path
			if found, e := search(ctx, d, other); e == nil && !found.unfiltered() {
				in, out, err, read = other, found, nil, r.Note(in.Glob)
				break
			}
		}
	}
	if out.Read = read; err != nil || out.found() {
		return out, err
	}
	for _, r := range pattern(in).Readings() {
		other := in
		other.Pattern, other.Case, other.Word = r.Text, cases[r.Case], r.Word
		found, err := search(ctx, d, other)
		switch {
		case err != nil || !found.found():
		case r.Doubtful:
			out.Dialect = fmt.Sprintf("%s, which is there", r.Why)
		default:
			found.Read = read + pathglob.Reading{Patterns: []string{r.Text}, Why: r.Why}.Note([]string{in.Pattern})
			return found, nil
		}
	}
	return out, nil
}

// cases are the values of the argument.
var cases = map[match.Case]string{match.Smart: "smart", match.Sensitive: "sensitive", match.Insensitive: "insensitive"}

func pattern(in GrepIn) match.Pattern {
	return match.Pattern{
		Text: in.Pattern, Fixed: in.Fixed, Word: in.Word, Multiline: in.Multiline,
		Case: map[string]match.Case{"sensitive": match.Sensitive, "insensitive": match.Insensitive}[in.Case],
	}
}

// search searches for the pattern in the selected files.
func search(ctx context.Context, d Deps, in GrepIn) (GrepOut, error) {
	if in.Sort == "newest" && in.Mode == "content" {
		return GrepOut{}, tools.Errorf(tools.InvalidArgument, `sort: "newest" orders files, not lines`).WithHint(`pass mode "files" or "count" with it`)
	}
	m, err := match.Compile(pattern(in))
	if e, ok := errors.AsType[*match.Error](err); ok {
		return GrepOut{}, tools.Errorf(tools.InvalidArgument, "pattern: %s", e).WithHint("%s", e.Hint)
	} else if err != nil {
		return GrepOut{}, err
	}
	page := in // the key of the page: it may be asked for with another limit
	page.Limit = 0
	start, err := tools.Resolve(ctx, in.Path)
	if err != nil {
		return GrepOut{}, err
	}
	v, err := d.Library.open(ctx, start, in.Hidden && !in.IncludeIgnored && !in.FollowLinks && !in.Fresh)
	if err != nil {
		return GrepOut{}, err
	}
	from, _ := begin[progress](ctx, d.pages, v.stamp, page)
	s, err := newScope(ctx, v, start, in, m, from)
	if err != nil {
		return GrepOut{}, err
	}
	p := newPager(in, s, from)
	opt := p.options()
	opt.Buffers, opt.Part = d.buffers, partOfMany
	if s.single {
		opt.Part, opt.Binary = partOfOne, true
	}
	var last source
	whole := true
	for f := range scan.Files(ctx, s.runs, m, opt) {
		if s.single && f.Err != nil {
			return GrepOut{}, f.Err
		}
		last = f.Source
		if whole = p.add(f); !whole {
			break
		}
	}
	if whole {
		p.skip(s.tail)
	}
	if err := ctx.Err(); err != nil {
		return GrepOut{}, ended(err, p.searched, last)
	}
	stats, err := s.result()
	if err != nil {
		return GrepOut{}, err
	}
	out := p.page(ctx, stats, int(s.filter.left.Load()))
	if err := unread.Starved(out.Searched, out.Unreadable); err != nil {
		return GrepOut{}, err
	}
	if !out.found() {
		out.Dialect = pattern(in).Dialect()
		out.Relative = slices.ContainsFunc(slices.Concat(in.Glob, in.Exclude), func(p string) bool { return strings.Contains(p, "/") })
	}
	out.Freshness, out.Index = s.visit.freshness(), s.visit.state()
	d.Library.want(s.start)
	if out.More && in.Sort != "newest" {
		page.Offset = out.Offset + out.Shown
		d.pages.keep(ctx, v.stamp, page, p.next, p.next.size())
	}
	return out, nil
}

// grepSpellings are the forms in which other tools and rg take the arguments of grep.
func grepSpellings() []schema.Spelling {
	files, count := map[string]any{"mode": "files"}, map[string]any{"mode": "count"}
	insensitive, sensitive := map[string]any{"case": "insensitive"}, map[string]any{"case": "sensitive"}
	return append([]schema.Spelling{
		{Names: []string{"pattern"}, Read: onePattern},
		{Names: []string{"regex", "regexp", "is_regex", "use_regex"}, Read: regex},
		schema.Flag(insensitive, sensitive, "ignore_case", "case_insensitive", "-i"),
		schema.Flag(sensitive, insensitive, "case_sensitive", "match_case", "-s"),
		schema.Flag(map[string]any{"case": "smart"}, schema.Same(), "smart_case", "-S"),
		schema.Flag(sensitive, insensitive, "case"),
		schema.Values("case", map[string]string{"ignore": "insensitive", "ignorecase": "insensitive", "caseinsensitive": "insensitive", "casesensitive": "sensitive", "respect": "sensitive"}),
		schema.Flag(files, schema.Same(), "files_with_matches", "files_only", "names_only", "filenames_only", "list_files", "-l"),
		schema.Flag(count, schema.Same(), "count", "count_only", "count_matches", "-c"),
		schema.Values("mode", map[string]string{
			"fileswithmatches": "files", "filesonly": "files", "filenames": "files", "names": "files", "paths": "files", "list": "files",
			"counts": "count", "countmatches": "count", "lines": "content", "matches": "content", "text": "content", "full": "content",
		}),
		schema.OnlyWith("grep searches contents; glob finds files by name", "search_type", "content", "contents"),
		schema.Refused("lines without a match are not listed here; in bash grep -v does", "invert_match", "invert", "-v"),
		schema.Dropped("", "-n", "-H", "-E", "line_number", "line_numbers", "show_line_numbers", "with_filename", "extended_regexp"),
		schema.Flag(schema.Same(), nil, "-r", "-R", "recursive"),
		schema.Dropped("patterns are in RE2 syntax", "-P", "pcre", "pcre2", "perl_regexp"),
		schema.Dropped("whole lines are shown", "-o", "only_matching"),
		schema.Dropped("a binary file is searched where it is the path itself", "-a", "text", "binary"),
		schema.Values("sort", newestFirst()),
		schema.AtMost("limit", 1000),
	}, walkSpellings()...)
}

// onePattern reads a list of one pattern as the pattern.
func onePattern(given map[string]any) (map[string]any, error) {
	list, ok := schema.Strings(given["pattern"])
	switch {
	case !ok:
		return nil, nil
	case len(list) == 1:
		return map[string]any{"pattern": list[0]}, nil
	}
	return nil, errors.New("one pattern is searched for; write a|b for either of two")
}

// regex reads an argument that is the pattern in some tools and a flag in others.
func regex(given map[string]any) (map[string]any, error) {
	for _, v := range given {
		if on, ok := schema.Bool(v); ok && on {
			return schema.Same(), nil
		} else if ok {
			return map[string]any{"fixed": true}, nil
		}
		if text, ok := v.(string); ok {
			return map[string]any{"pattern": text}, nil
		}
	}
	return nil, nil
}

func grepExamples() []tools.Example[GrepIn] {
	return []tools.Example[GrepIn]{
		{
			Say: "where a function is defined; few matches bring their context",
			Files: map[string]string{
				"a.go":      "package a\n\n// Open opens.\nfunc Open() error {\n\treturn nil\n}\n",
				"b.go":      "package a\n\nvar x = Open()\n",
				"notes.txt": "func Open\n",
			},
			In:   GrepIn{Pattern: `func Open\(`, Type: []string{"go"}},
			Want: "1 match in 1 of 2 files\na.go\n2-\t\n3-\t// Open opens.\n4\tfunc Open() error {\n5-\t\treturn nil\n6-\t}\n",
		},
		{
			Say: "a page of matches",
			Files: map[string]string{
				"a.txt":     "red\ngreen\nred\n",
				"sub/b.txt": "red\nRed\nblue\n",
			},
			In:   GrepIn{Pattern: "red", Limit: 2, Offset: 1},
			Want: "matches 2-3, more follow; 2 files searched; next: offset=3\na.txt\n3\tred\n\nsub/b.txt\n1\tred\n… 1 more in this file\n",
		},
		{
			Say: "which files match, and how often",
			Files: map[string]string{
				"a.txt":     "red\ngreen\nred\n",
				"sub/b.txt": "red\n",
				"c.txt":     "blue\n",
			},
			In:   GrepIn{Pattern: "red", Mode: "count"},
			Want: "2 of 3 files, 3 matches in all\n2\ta.txt\n1\tsub/b.txt\n",
		},
		{
			Say: "nothing found",
			Files: map[string]string{
				"a.go":       "package a\n",
				"build/b.go": "package needle\n",
				"b.bin":      "\x00needle",
				".ignore":    "build/\n",
			},
			In:   GrepIn{Pattern: "needle"},
			Want: "0 matches in 2 files searched below .; left out: 1 ignored, 1 binary; include_ignored:true searches the ignored ones too\n",
		},
	}
}
