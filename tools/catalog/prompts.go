package catalog

import (
	"context"
	"embed"
	"encoding/json"
	"strings"
	"sync"
	"text/template"

	"toolcrib/tools"
	"toolcrib/tools/files"
)

// promptTexts are the templates of the prompts, by name. Arguments are fields; an argument
// that the user leaves out is empty.
//
//go:embed prompts/*.md
var promptTexts embed.FS

// Prompts returns every prompt: those about several categories, then those of each category.
func Prompts(categories []tools.Category) []tools.Prompt {
	list := shared()
	for _, c := range categories {
		list = append(list, c.Prompts...)
	}
	return list
}

// shared returns the prompts that belong to no category.
func shared() []tools.Prompt {
	return []tools.Prompt{
		prompt(tools.Prompt{
			Name: "review_change", Title: "Review the change",
			Description: "Reviews what was changed last: finds it, reads it with its users and tests, reports what is wrong.",
			Args: []tools.PromptArg{
				{Name: "path", Title: "Where", Description: "Directory to review; the whole first root if empty.", Complete: directories},
				{Name: "focus", Title: "Focus", Description: "What to look at above all: error handling, security, speed ..."},
			},
			Needs: []string{"glob", "grep", "read_file"},
		}),
		prompt(tools.Prompt{
			Name: "explain_tree", Title: "Explain the tree",
			Description: "Explains how a project or directory is laid out, how its parts fit together and where to start reading.",
			Args: []tools.PromptArg{
				{Name: "path", Title: "Directory", Description: "Directory to explain; the first root if empty.", Complete: directories},
			},
			Needs: []string{"list_directory", "read_file"},
		}),
		prompt(tools.Prompt{
			Name: "find_where", Title: "Find where",
			Description: "Finds where something is done: the place itself, who calls it, where it is configured and tested.",
			Args: []tools.PromptArg{
				{Name: "what", Title: "What", Description: "What is done there, in your own words: sessions expire, the retry delay is computed ...", Required: true},
				{Name: "path", Title: "Where", Description: "Directory to search; the whole first root if empty.", Complete: directories},
			},
			Needs: []string{"glob", "grep", "read_file"},
		}),
	}
}

// prompt gives a prompt its text. The template is parsed at its first use, to keep the start
// fast. A template that does not parse is a programmer's error.
func prompt(p tools.Prompt) tools.Prompt {
	file := p.Name + ".md"
	text := sync.OnceValue(func() *template.Template {
		return template.Must(template.New(file).
			Option("missingkey=error").
			Funcs(template.FuncMap{"json": quoted}).
			ParseFS(promptTexts, "prompts/"+file))
	})
	p.Render = func(_ context.Context, given map[string]string) ([]tools.Block, error) {
		args := make(map[string]string, len(p.Args))
		for _, a := range p.Args {
			args[a.Name] = given[a.Name]
		}
		var b strings.Builder
		if err := text().Execute(&b, args); err != nil {
			return nil, err
		}
		return []tools.Block{tools.Text(b.String())}, nil
	}
	return p
}

// quoted returns an argument as JSON, as calls have it.
func quoted(text string) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(text)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func directories(ctx context.Context, prefix string) ([]string, error) {
	return files.CompletePath(ctx, prefix, true)
}
