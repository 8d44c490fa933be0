package code

import (
	"strings"

	"toolcrib/schema"
)

// fenced are the forms in which other tools take code: as a block of Markdown.
func fenced() []schema.Spelling {
	return []schema.Spelling{{Names: []string{"code"}, Always: true, Read: func(given map[string]any) (map[string]any, error) {
		text, _ := given["code"].(string)
		block := strings.TrimSpace(text)
		first, rest, ok := strings.Cut(block, "\n")
		if body, ends := strings.CutSuffix(rest, "```"); ok && ends && isFence(first) && !strings.Contains(body, "```") {
			return map[string]any{"code": body}, nil
		}
		return nil, nil
	}}}
}

// isFence reports whether a line begins a block of code, perhaps with the name of a language.
func isFence(line string) bool {
	language, ok := strings.CutPrefix(strings.TrimSpace(line), "```")
	return ok && !strings.ContainsAny(language, "` \t")
}
