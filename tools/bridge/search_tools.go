package bridge

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"toolcrib/schema"
	"toolcrib/tools"
)

//go:embed search_tools.md
var searchToolsDoc string

// SearchToolsIn describes the wanted tool.
type SearchToolsIn struct {
	Query   string `json:"query,omitempty" jsonschema:"maxLength=500" jsonschema_description:"what you want to do, in plain language, or the name of a tool; without it all tools are listed" alias:"q,request,task"`
	Toolset string `json:"toolset,omitempty" jsonschema:"maxLength=40" jsonschema_description:"only tools of this toolset, such as files" alias:"category"`
	Limit   int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=50,default=5" jsonschema_description:"most tools in one result" alias:"max_results"`
	Offset  int    `json:"offset,omitempty" jsonschema:"minimum=0,maximum=10000,default=0" jsonschema_description:"how many tools to skip; the last result names the next"`
}

// SearchToolsOut is a page of tools.
type SearchToolsOut struct {
	Query  string
	Tools  []string // two lines each
	Offset int
	Total  int
	// Toolsets are named if nothing was found.
	Toolsets []string
}

func searchToolsTool(d Deps) tools.Tool {
	return tools.New(tools.Def[SearchToolsIn, SearchToolsOut]{
		Name: "search_tools", Title: "Find a tool", Doc: searchToolsDoc, Tags: []string{"discover", "catalog"},
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Examples: []tools.Example[SearchToolsIn]{
			{
				Say:  "how can a change be taken back?",
				In:   SearchToolsIn{Query: "undo the last change", Limit: 1},
				Want: "1 of … tools, best first; next: offset=1; call_tool calls them\nrestore_file [files, write]: Restores files …\n  path: string, …\n",
			},
			{
				Say:  "which tools search?",
				In:   SearchToolsIn{Toolset: "search"},
				Want: "… tools; call_tool calls them\nglob [search, read]: Finds files and directories by name, …\n  pattern: string[] required, …\ngrep [search, read]: …\n  pattern: string required, …\n...\n",
			},
			{
				Say:  "nothing does that",
				In:   SearchToolsIn{Query: "zzzzzz"},
				Want: "no tool is known for \"zzzzzz\"; say it in other words, or list a toolset: …\n",
			},
		},
		Run: func(ctx context.Context, in SearchToolsIn) (SearchToolsOut, error) { return searchTools(ctx, d, in) },
	})
}

func searchTools(ctx context.Context, d Deps, in SearchToolsIn) (SearchToolsOut, error) {
	if d.Caller == nil {
		return SearchToolsOut{}, noCaller()
	}
	all, err := d.Caller.Tools(ctx)
	if err != nil {
		return SearchToolsOut{}, err
	}
	toolsets := tools.Categories(all)
	if in.Toolset != "" && !slices.Contains(toolsets, in.Toolset) {
		e := tools.Errorf(tools.NotFound, "no toolset is called %q", in.Toolset)
		if near := schema.Nearest(in.Toolset, toolsets); near != "" {
			return SearchToolsOut{}, e.WithHint("did you mean %s; there are: %s", near, strings.Join(toolsets, ", "))
		}
		return SearchToolsOut{}, e.WithHint("there are: %s", strings.Join(toolsets, ", "))
	}
	found := all
	if strings.TrimSpace(in.Query) != "" {
		if found, err = d.shelf.search(all, in.Query); err != nil {
			return SearchToolsOut{}, err
		}
	}
	out := SearchToolsOut{Query: in.Query, Offset: in.Offset, Toolsets: toolsets}
	for _, t := range found {
		if ctx.Err() != nil {
			return SearchToolsOut{}, ctx.Err()
		}
		if in.Toolset != "" && t.Category != in.Toolset || d.Caller.Refusal(ctx, t) != "" {
			continue
		}
		if out.Total++; out.Total <= in.Offset || len(out.Tools) == in.Limit {
			continue
		}
		entry, err := entryOf(t)
		if err != nil {
			return SearchToolsOut{}, err
		}
		out.Tools = append(out.Tools, entry)
	}
	return out, nil
}

// maxDoes is the most bytes of the purpose of one tool.
const maxDoes = 220

// entryOf returns the two lines of a tool.
func entryOf(t tools.Tool) (string, error) {
	description, err := t.Description()
	if err != nil {
		return "", err
	}
	does, _ := firstSentence(description)
	args, err := signature(t)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s [%s, %s]: %s\n  %s\n", t.Name, t.Category, t.Access, cut(does, maxDoes), cut(args, maxSignature)), nil
}

// Text returns a status line and two lines for each tool.
func (o SearchToolsOut) Text() string { return o.status() + "\n" + strings.Join(o.Tools, "") }

func (o SearchToolsOut) status() string {
	end, order := o.Offset+len(o.Tools), ""
	if o.Query != "" {
		order = ", best first"
	}
	switch {
	case o.Total == 0 && o.Query != "":
		return fmt.Sprintf("no tool is known for %q; say it in other words, or list a toolset: %s", o.Query, strings.Join(o.Toolsets, ", "))
	case o.Total == 0:
		return "no tool can be called"
	case len(o.Tools) == 0:
		return fmt.Sprintf("offset %d is past the end: there are %s", o.Offset, count(o.Total))
	case end < o.Total:
		return fmt.Sprintf("%d of %s%s; next: offset=%d; call_tool calls them", len(o.Tools), count(o.Total), order, end)
	}
	return fmt.Sprintf("%s%s; call_tool calls them", count(len(o.Tools)), order)
}

func count(n int) string {
	if n == 1 {
		return "1 tool"
	}
	return fmt.Sprintf("%d tools", n)
}

// Meta has, for programs, the next page.
func (o SearchToolsOut) Meta() map[string]any {
	end := o.Offset + len(o.Tools)
	if len(o.Tools) == 0 || end >= o.Total {
		return nil
	}
	return map[string]any{tools.MetaNext: map[string]any{"offset": end}}
}

// Trim keeps the first tools; the status names the offset of the next.
func (o SearchToolsOut) Trim(budget int) SearchToolsOut {
	for len(o.Tools) > 1 && len(o.Text()) > budget {
		o.Tools = o.Tools[:len(o.Tools)-1]
	}
	return o
}
