package catalog

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/files"
)

// promptTexts are the texts of the prompts, by name, with places for what depends on their
// arguments.
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
		}, func(given map[string]string) map[string]string {
			return map[string]string{"to": told(" to ", quoted(given["path"]), ""), "focus": told(" Look above all at this: ", given["focus"], "")}
		}),
		prompt(tools.Prompt{
			Name: "explain_tree", Title: "Explain the tree",
			Description: "Explains how a project or directory is laid out, how its parts fit together and where to start reading.",
			Args: []tools.PromptArg{
				{Name: "path", Title: "Directory", Description: "Directory to explain; the first root if empty.", Complete: directories},
			},
			Needs: []string{"list_directory", "read_file"},
		}, func(given map[string]string) map[string]string {
			return map[string]string{"where": told("the directory ", quoted(given["path"]), "this project")}
		}),
		prompt(tools.Prompt{
			Name: "find_where", Title: "Find where",
			Description: "Finds where something is done: the place itself, who calls it, where it is configured and tested.",
			Args: []tools.PromptArg{
				{Name: "what", Title: "What", Description: "What is done there, in your own words: sessions expire, the retry delay is computed ...", Required: true},
				{Name: "path", Title: "Where", Description: "Directory to search; the whole first root if empty.", Complete: directories},
			},
			Needs: []string{"glob", "grep", "read_file"},
		}, func(given map[string]string) map[string]string {
			return map[string]string{"below": told(" below ", quoted(given["path"]), ""), "what": given["what"]}
		}),
	}
}

// prompt gives a prompt its text. fill returns what is put into it, by the names of its places;
// an argument that the user leaves out is empty.
func prompt(p tools.Prompt, fill func(given map[string]string) map[string]string) tools.Prompt {
	p.Render = func(_ context.Context, given map[string]string) ([]tools.Block, error) {
		text, err := promptTexts.ReadFile("prompts/" + p.Name + ".md")
		if err != nil {
			return nil, err
		}
		values := fill(given)
		values["path"] = quoted(cmp.Or(given["path"], "."))
		filled, err := tools.Fill(string(text), func(name string) (string, bool) {
			v, ok := values[name]
			return v, ok
		})
		if err != nil {
			return nil, err
		}
		return []tools.Block{tools.Text(filled)}, nil
	}
	return p
}

// told returns an argument behind some words, and otherwise if it is empty.
func told(words, argument, otherwise string) string {
	if argument == "" {
		return otherwise
	}
	return words + argument
}

// quoted returns an argument as JSON, as calls have it; "" stays empty.
func quoted(text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string is always JSON
	return strings.TrimSuffix(b.String(), "\n")
}

func directories(ctx context.Context, prefix string) ([]string, error) {
	return files.CompletePath(ctx, prefix, true)
}
