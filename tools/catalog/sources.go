package catalog

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools"
)

//go:embed manual_resource.md
var manualResourceDoc string

// Sources returns the resources: those of the categories, then the manual. It leaves out
// resources whose Needs cannot be called.
func Sources(categories []tools.Category, enabled []tools.Tool) []tools.Source {
	var list []tools.Source
	for _, c := range categories {
		for _, source := range c.Sources {
			if _, ok := Find(enabled, source.Needs); ok || source.Needs == "" {
				list = append(list, source)
			}
		}
	}
	if len(enabled) > 0 {
		list = append(list, manualSource(enabled))
	}
	return list
}

// manualURI is the prefix of the URIs of the manual.
const manualURI = "toolcrib://manual/"

// ManualResourceIn says which pages to read.
type ManualResourceIn struct {
	Category string `json:"category" jsonschema_description:"Category whose tools are described."`
}

// ManualResourceOut has the pages of a category.
type ManualResourceOut struct{ category, pages string }

// Content returns the pages as one block.
func (o ManualResourceOut) Content() []tools.Block {
	return []tools.Block{{Kind: tools.ResourceBlock, URI: manualURI + o.category, MIME: manualMIME, Text: o.pages}}
}

const manualMIME = "text/markdown"

// manualSource is the source of the manual pages: a resource for each category.
func manualSource(enabled []tools.Tool) tools.Source {
	categories := tools.Categories(enabled)
	read := tools.New(tools.Def[ManualResourceIn, ManualResourceOut]{
		Name: "manual_resource", Title: "Read the manual", Doc: manualResourceDoc,
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Limits:   tools.Limits{Text: tools.MaxResource},
		Examples: []tools.Example[ManualResourceIn]{{Say: "Read all about a category", In: ManualResourceIn{Category: categories[0]}}},
		Run: func(ctx context.Context, in ManualResourceIn) (ManualResourceOut, error) {
			pages, err := manualOf(ctx, in.Category, enabled)
			return ManualResourceOut{in.Category, pages}, err
		},
	})
	return tools.Source{
		Name: "manual", Title: "Manual", Template: manualURI + "{category}", MIME: manualMIME,
		Description: "Manual pages of the tools of a category: what each is for, its arguments, examples.",
		Read:        read,
		Args: func(uri string) (json.RawMessage, bool) {
			category, ok := strings.CutPrefix(uri, manualURI)
			if !ok || !slices.Contains(categories, category) {
				return nil, false
			}
			args, err := json.Marshal(ManualResourceIn{category})
			return args, err == nil
		},
		List: func(context.Context) ([]tools.Resource, error) {
			list := make([]tools.Resource, len(categories))
			for i, c := range categories {
				list[i] = tools.Resource{
					URI: manualURI + c, Name: "manual of " + c, Title: "Manual: " + c, MIME: manualMIME, Size: -1,
					Description: "Manual pages of " + strings.Join(namesOf(c, enabled), ", ") + ".",
				}
			}
			return list, nil
		},
		Complete: func(_ context.Context, variable, prefix string) ([]string, error) {
			var values []string
			for _, c := range categories {
				if variable == "category" && strings.HasPrefix(c, prefix) {
					values = append(values, c)
				}
			}
			return values, nil
		},
	}
}

// manualOf renders the pages of a category.
func manualOf(ctx context.Context, category string, enabled []tools.Tool) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", category)
	for _, t := range enabled {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if t.Category != category {
			continue
		}
		page, err := Manual(t)
		if err != nil {
			return "", err
		}
		b.WriteString("\n" + page)
	}
	return b.String(), nil
}

func namesOf(category string, enabled []tools.Tool) []string {
	var names []string
	for _, t := range enabled {
		if t.Category == category {
			names = append(names, t.Name)
		}
	}
	return names
}
