package search

import (
	"toolcrib/schema"
)

// walkSpellings are the forms that glob and grep share.
func walkSpellings() []schema.Spelling {
	ignored := func(on bool) map[string]any { return map[string]any{"include_ignored": on} }
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
