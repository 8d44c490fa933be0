package search

import (
	"errors"

	"toolcrib/schema"
	"toolcrib/tools/internal/text/pathglob"
)

// means is what a spelling stands for.
type means = map[string]any

// grepSpellings are the forms that other tools and rg have for what grep takes.
func grepSpellings() []schema.Spelling {
	files, count := means{"mode": "files"}, means{"mode": "count"}
	insensitive, sensitive := means{"case": "insensitive"}, means{"case": "sensitive"}
	return append([]schema.Spelling{
		{Names: []string{"pattern"}, Read: onePattern},
		{Names: []string{"regex", "regexp", "is_regex", "use_regex"}, Read: regex},
		schema.Flag(insensitive, sensitive, "ignore_case", "case_insensitive", "-i"),
		schema.Flag(sensitive, insensitive, "case_sensitive", "match_case", "-s"),
		schema.Flag(means{"case": "smart"}, schema.Same(), "smart_case", "-S"),
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

// walkSpellings are those of every search of a tree.
func walkSpellings() []schema.Spelling {
	ignored := func(on bool) means { return means{"include_ignored": on} }
	return []schema.Spelling{
		schema.Flag(schema.Same(), ignored(true), "respect_gitignore", "use_gitignore", "gitignore"),
		schema.Dropped("", "respect_gemini_ignore"),
		{Names: []string{"file_filtering_options"}, Read: func(given map[string]any) (map[string]any, error) {
			options, ok := given["file_filtering_options"].(map[string]any)
			if respects, isBool := schema.Bool(options["respect_git_ignore"]); ok && isBool && !respects {
				return ignored(true), nil
			}
			return schema.Same(), nil
		}},
		schema.Dropped("a search ends in time by itself", "timeout", "timeout_ms", "early_termination"),
	}
}

func newestFirst() map[string]string {
	return map[string]string{
		"modified": "newest", "mtime": "newest", "time": "newest", "date": "newest", "newestfirst": "newest", "recent": "newest",
		"lastmodified": "newest", "name": "path", "none": "path", "alphabetical": "path",
	}
}

// onePattern takes a list of one pattern for the pattern.
func onePattern(given map[string]any) (map[string]any, error) {
	list, ok := schema.Strings(given["pattern"])
	switch {
	case !ok:
		return nil, nil
	case len(list) == 1:
		return means{"pattern": list[0]}, nil
	}
	return nil, errors.New("one pattern is searched for; write a|b for either of two")
}

// regex reads an argument that is the pattern in some tools, and in others says whether
// the pattern is an expression.
func regex(given map[string]any) (map[string]any, error) {
	for _, v := range given {
		if on, ok := schema.Bool(v); ok && on {
			return schema.Same(), nil
		} else if ok {
			return means{"fixed": true}, nil
		}
		if text, ok := v.(string); ok {
			return means{"pattern": text}, nil
		}
	}
	return nil, nil
}

// globSpellings are the forms that other tools have for what glob takes.
func globSpellings() []schema.Spelling {
	return append([]schema.Spelling{
		{Names: []string{"case_sensitive", "pattern"}, Read: func(given map[string]any) (map[string]any, error) {
			return anyCase(given, "case_sensitive", false)
		}},
		{Names: []string{"ignore_case", "pattern"}, Read: func(given map[string]any) (map[string]any, error) {
			return anyCase(given, "ignore_case", true)
		}},
		schema.Values("kind", map[string]string{
			"f": "file", "files": "file", "d": "directory", "dir": "directory", "dirs": "directory", "directories": "directory",
			"folder": "directory", "folders": "directory", "all": "any", "both": "any",
		}),
		schema.Flag(means{"kind": "any"}, schema.Same(), "include_directories", "include_dirs"),
		schema.Flag(means{"kind": "directory"}, schema.Same(), "only_directories", "directories_only"),
		schema.Flag(schema.Same(), nil, "recursive"),
		schema.OnlyWith("glob finds files by name; grep searches contents", "search_type", "files"),
		schema.Values("sort", newestFirst()),
		schema.AtMost("limit", 1000),
	}, walkSpellings()...)
}

// anyCase writes patterns so that case does not count, where the named flag is as wanted.
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
		return means{"pattern": given["pattern"]}, nil
	}
	return means{"pattern": pathglob.AnyCase(patterns)}, nil
}
