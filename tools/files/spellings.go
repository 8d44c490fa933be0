package files

import (
	"errors"
	"fmt"
	"strings"

	"toolcrib/schema"
)

// means is what a spelling stands for.
type means = map[string]any

// The most that a call may ask for, as the schemas have it.
const (
	mostRead   = 10000 // of read_file
	mostLevels = 10    // of list_directory
	mostListed = 2000
)

// readFileSpellings are the forms that other tools have for the lines to read.
func readFileSpellings() []schema.Spelling {
	return []schema.Spelling{
		{Names: []string{"path", "paths", "files"}, Read: onePath},
		{Names: []string{"view_range", "line_range", "lines", "range"}, Read: lineRange},
		{Names: []string{"start_line", "end_line"}, Read: linesFromTo("start_line", "end_line")},
		{Names: []string{"start", "end"}, Read: linesFromTo("start", "end")},
		{Names: []string{"line_start", "line_end"}, Read: linesFromTo("line_start", "line_end")},
		{Names: []string{"start_line_one_indexed", "end_line_one_indexed_inclusive"}, Read: linesFromTo("start_line_one_indexed", "end_line_one_indexed_inclusive")},
		{Names: []string{"head", "length", "max_lines", "num_lines", "line_count", "lines_to_read", "count"}, Read: atMost},
		{Names: []string{"tail"}, Read: func(given map[string]any) (map[string]any, error) {
			if n, ok := schema.Int(given["tail"]); ok && n > 0 {
				return means{"offset": -n}, nil
			}
			return nil, nil
		}},
		schema.AtMost("limit", mostRead),
		schema.Flag(means{"limit": mostRead}, schema.Same(), "should_read_entire_file", "read_entire_file", "entire_file"),
		schema.OnlyWith("a file is read by lines; outline its blocks with grep", "mode", "slice", "text"),
		schema.OnlyWith("read_file reads; write_file, edit_file and restore_file do the rest", "command", "view"),
		schema.Refused("files are read here, no URLs", "is_url"),
	}
}

// onePath reads lists of paths where one is read.
func onePath(given map[string]any) (map[string]any, error) {
	var all []string
	for _, v := range given {
		if path, ok := v.(string); ok {
			all = append(all, path)
		} else if list, ok := schema.Strings(v); ok {
			all = append(all, list...)
		}
	}
	switch len(all) {
	case 0:
		return nil, nil
	case 1:
		return means{"path": all[0]}, nil
	}
	return nil, fmt.Errorf("%d paths, where one is read; read_files takes several in paths, and globs", len(all))
}

// lineRange reads the first and the last line in one argument: [3, 9], "3-9", "3:9".
func lineRange(given map[string]any) (map[string]any, error) {
	for _, v := range given {
		list, ok := v.([]any)
		if text, isText := v.(string); isText {
			first, last, found := strings.Cut(strings.Trim(text, " []"), "-")
			for _, sign := range []string{":", ","} {
				if !found {
					first, last, found = strings.Cut(first, sign)
				}
			}
			list, ok = []any{strings.TrimSpace(first), strings.TrimSpace(last)}, found
		}
		if !ok || len(list) != 2 {
			return nil, nil
		}
		return window(list[0], list[1])
	}
	return nil, nil
}

// linesFromTo reads the first and the last line in two arguments.
func linesFromTo(first, last string) func(map[string]any) (map[string]any, error) {
	return func(given map[string]any) (map[string]any, error) { return window(given[first], given[last]) }
}

// window returns the lines from one to another, either of which may be absent; -1 is the
// last line of the file.
func window(first, last any) (map[string]any, error) {
	from, ok := schema.Int(first)
	if first == nil {
		from, ok = 1, true
	}
	to, isNumber := schema.Int(last)
	if !ok || last != nil && !isNumber {
		return nil, nil
	}
	from = max(from, 1)
	switch {
	case last == nil:
		return means{"offset": from}, nil
	case to == -1:
		return means{"offset": from, "limit": mostRead}, nil
	case to < from:
		return nil, fmt.Errorf("the last line, %d, is before the first, %d", to, from)
	}
	return means{"offset": from, "limit": min(to-from+1, mostRead)}, nil
}

// atMost reads the most lines by another name; 0 and less are no limit.
func atMost(given map[string]any) (map[string]any, error) {
	for _, v := range given {
		n, ok := schema.Int(v)
		if !ok {
			return nil, nil
		}
		if n <= 0 || n > mostRead {
			n = mostRead
		}
		return means{"limit": n}, nil
	}
	return nil, nil
}

// listSpellings are the forms that other tools have for what list_directory takes.
func listSpellings() []schema.Spelling {
	return []schema.Spelling{
		schema.Flag(means{"depth": mostLevels}, means{"depth": 1}, "recursive", "-R", "recurse"),
		{Names: []string{"depth"}, Read: func(given map[string]any) (map[string]any, error) {
			if n, ok := schema.Int(given["depth"]); ok && n != 0 { // 0 may mean the directory alone
				return means{"depth": mostLevels}, nil
			}
			return nil, nil
		}},
		schema.AtMost("limit", mostListed),
		{Names: []string{"ignore", "exclude", "excludes", "ignore_globs", "ignore_patterns", "exclude_patterns"}, Read: leavingOut},
		schema.Flag(schema.Same(), means{"include_ignored": true}, "respect_gitignore", "use_gitignore"),
		schema.Dropped("", "respect_gemini_ignore"),
		{Names: []string{"file_filtering_options"}, Read: func(given map[string]any) (map[string]any, error) {
			options, _ := given["file_filtering_options"].(map[string]any)
			if respects, ok := schema.Bool(options["respect_git_ignore"]); ok && !respects {
				return means{"include_ignored": true}, nil
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

// leavingOut reads patterns to leave out as the pattern that leaves them out.
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
			return means{"pattern": "!" + list[0]}, nil
		case strings.Contains(strings.Join(list, ""), ","):
			return nil, errors.New("one pattern leaves out; write pattern: \"!{a,b}\"")
		}
		return means{"pattern": "!{" + strings.Join(list, ",") + "}"}, nil
	}
	return nil, nil
}

// writeFileSpellings are the forms that other tools have for how to write.
func writeFileSpellings() []schema.Spelling {
	return []schema.Spelling{
		schema.Values("mode", map[string]string{"rewrite": "overwrite", "write": "overwrite", "replace": "overwrite", "w": "overwrite", "a": "append", "x": "create", "new": "create"}),
		schema.Flag(means{"mode": "append"}, schema.Same(), "append"),
		schema.Flag(means{"mode": "overwrite"}, means{"mode": "create"}, "overwrite", "force"),
		{Names: []string{"command"}, Read: func(given map[string]any) (map[string]any, error) {
			if given["command"] == "create" {
				return means{"mode": "create"}, nil
			}
			return nil, errors.New("write_file writes whole files; edit_file changes parts")
		}},
		schema.Flag(schema.Same(), schema.Same(), "create_dirs", "create_directories", "create_parents", "parents", "mkdir"),
		schema.Dropped("", "line_count", "is_new_file"),
	}
}

// editFileSpellings are the forms that other tools have for edits.
func editFileSpellings() []schema.Spelling {
	return []schema.Spelling{
		{Names: []string{"command", "insert_line", "new_str", "new_text"}, Read: inserted},
		{Names: []string{"diff", "patch"}, Read: func(map[string]any) (map[string]any, error) {
			return nil, errors.New("apply_patch takes a diff; here give edits: [{old_text, new_text}]")
		}},
		{Names: []string{"code_edit", "content"}, Read: func(map[string]any) (map[string]any, error) {
			return nil, errors.New("give edits: [{old_text, new_text}], or the whole text to write_file")
		}},
	}
}

// inserted reads a text to insert behind a line, and the commands of a tool that has several.
func inserted(given map[string]any) (map[string]any, error) {
	text, isText := given["new_str"].(string)
	if other, ok := given["new_text"].(string); ok && !isText {
		text, isText = other, true
	}
	line, isLine := schema.Int(given["insert_line"])
	switch command := given["command"]; {
	case isLine && isText && (command == nil || command == "insert"):
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return means{"edits": []any{means{"start_line": line + 1, "end_line": line, "new_text": text}}}, nil
	case command == "str_replace":
		return means{"new_text": text}, nil
	case command == nil || command == "insert":
		return nil, nil
	}
	return nil, errors.New("edit_file edits; read_file, write_file and restore_file do the rest")
}

// patchSpellings are the forms that other tools have for a patch.
func patchSpellings() []schema.Spelling {
	return []schema.Spelling{{Names: []string{"patch", "command"}, Read: func(given map[string]any) (map[string]any, error) {
		if list, ok := schema.Strings(given["patch"]); ok {
			return means{"patch": strings.Join(list, "\n")}, nil
		}
		if list, ok := schema.Strings(given["command"]); ok && len(list) == 2 && list[0] == "apply_patch" && given["patch"] == nil {
			return means{"patch": list[1]}, nil
		}
		return nil, nil
	}}}
}
