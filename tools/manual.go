package tools

import (
	"fmt"
	"maps"
	"strings"
	"text/template"
)

// A document writes the real limits as {{max "limit"}}, {{min "limit"}},
// {{default "limit"}} (of an argument), {{.text}} (the most bytes of text) or
// {{.name}} (a fact of Limits). Its first paragraph is the description.

// Description returns what the tool does and when to use it, in one paragraph.
func (t Tool) Description() (string, error) {
	first, _, _ := strings.Cut(strings.TrimSpace(t.doc), "\n\n")
	text, err := t.fill(first)
	return strings.Join(strings.Fields(text), " "), err
}

// Manual returns what a reader should know beyond the description, in Markdown.
func (t Tool) Manual() (string, error) {
	_, rest, _ := strings.Cut(strings.TrimSpace(t.doc), "\n\n")
	text, err := t.fill(rest)
	return strings.TrimSpace(text), err
}

func (t Tool) fill(text string) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	in, err := t.Input()
	if err != nil {
		return "", err
	}
	funcs := template.FuncMap{}
	for keyword, name := range map[string]string{"maximum": "max", "minimum": "min", "default": "default"} {
		funcs[name] = func(property string) (any, error) {
			if v, ok := in.Keyword(property, keyword); ok {
				return v, nil
			}
			return nil, fmt.Errorf("argument %q has no %s", property, keyword)
		}
	}
	tmpl, err := template.New(t.Name).Option("missingkey=error").Funcs(funcs).Parse(text)
	if err != nil {
		return "", fmt.Errorf("doc: %w", err)
	}
	facts := map[string]any{"text": t.Limits.Text}
	maps.Copy(facts, t.Limits.Facts)
	var b strings.Builder
	if err := tmpl.Execute(&b, facts); err != nil {
		return "", fmt.Errorf("doc: %w", err)
	}
	return b.String(), nil
}
