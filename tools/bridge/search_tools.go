package bridge

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/inner"
)

//go:embed search_tools.md
var searchToolsDoc string

// SearchToolsIn describes the wanted tool.
type SearchToolsIn struct {
	Query   string `json:"query,omitempty" jsonschema:"maxLength=500" jsonschema_description:"what you want to do, or the name of a tool; none lists all" alias:"q,request,task"`
	Toolset string `json:"toolset,omitempty" jsonschema:"maxLength=40" jsonschema_description:"only tools of this toolset, such as files" alias:"category"`
	Limit   int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=50,default=5" jsonschema_description:"most tools in one result" alias:"max_results"`
	Offset  int    `json:"offset,omitempty" jsonschema:"minimum=0,maximum=10000,default=0" jsonschema_description:"tools to skip, as the last result says"`
}

// SearchToolsOut is a page of tools.
type SearchToolsOut struct {
	Query  string
	Tools  []string // each with its arguments
	Off    []string // why better ones cannot be called
	Offset int
	Total  int
	None   bool // no tool fits; Tools has the closest, if some resemble the request
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
				Want: "1 of … tools, best first; next: offset=1\nrestore_file [files, write, by call_tool]: Restores files …\n  path: string - …\n...\n",
			},
			{
				Say:  "which tools search?",
				In:   SearchToolsIn{Toolset: "search"},
				Want: "… tools\nglob [search, read, by call_read_tool]: Finds files and directories by name, …\n  pattern: string[] required - …\n...\ngrep [search, read, by call_read_tool]: …\n  pattern: string required - …\n...\n",
			},
			{
				Say:  "nothing does that",
				In:   SearchToolsIn{Query: "zzzzzz"},
				Want: "no tool fits \"zzzzzz\"; say it in other words, or list a toolset: …\n",
			},
		},
		Run: func(ctx context.Context, in SearchToolsIn) (SearchToolsOut, error) { return searchTools(ctx, d, in) },
	})
}

func searchTools(ctx context.Context, d Deps, in SearchToolsIn) (SearchToolsOut, error) {
	if d.Caller == nil {
		return SearchToolsOut{}, inner.Unavailable()
	}
	there, err := d.Caller.Tools(ctx)
	if err != nil {
		return SearchToolsOut{}, err
	}
	toolsets := tools.Categories(there.Enabled)
	if in.Toolset != "" && !slices.Contains(toolsets, in.Toolset) {
		for _, o := range there.Omitted {
			if o.Tool.Category == in.Toolset {
				return SearchToolsOut{}, tools.Errorf(tools.Unavailable, "no tool of %s can be called: %s", in.Toolset, o)
			}
		}
		e := tools.Errorf(tools.NotFound, "no toolset is called %q", in.Toolset)
		if near := schema.Nearest(in.Toolset, toolsets); near != "" {
			return SearchToolsOut{}, e.WithHint("did you mean %s; there are: %s", near, strings.Join(toolsets, ", "))
		}
		return SearchToolsOut{}, e.WithHint("there are: %s", strings.Join(toolsets, ", "))
	}
	places, fit := make([]int, len(there.Enabled)), true
	for i := range places {
		places[i] = i
	}
	if strings.TrimSpace(in.Query) != "" {
		if places, fit, err = d.shelf.search(there, in.Query); err != nil {
			return SearchToolsOut{}, err
		}
	}
	var found []tools.Tool
	var off []string
	for _, at := range places {
		if at < len(there.Enabled) {
			if t := there.Enabled[at]; (in.Toolset == "" || t.Category == in.Toolset) && d.Caller.Refusal(ctx, t) == "" {
				found = append(found, t)
			}
		} else if o := there.Omitted[at-len(there.Enabled)]; fit && len(found) == 0 && len(off) < maxOff && in.Toolset == "" {
			off = append(off, o.String())
		}
	}
	if ctx.Err() != nil {
		return SearchToolsOut{}, ctx.Err()
	}
	out := SearchToolsOut{Query: in.Query, Off: off, Offset: in.Offset, Total: len(found), None: !fit, Toolsets: toolsets}
	listed := there.For(tools.Session(ctx).Client.Name)
	if out.None {
		found = found[:min(maxClosest, len(found))]
	}
	for _, t := range found[min(in.Offset, len(found)):] {
		if len(out.Tools) == in.Limit {
			break
		}
		entry, err := entryOf(t, there.Enabled, listed)
		if err != nil {
			return SearchToolsOut{}, err
		}
		out.Tools = append(out.Tools, entry)
	}
	return out, nil
}

// maxClosest is how many tools are shown where none fits, maxOff how many that are off.
const (
	maxClosest = 2
	maxOff     = 3
)

// maxDoes is the most bytes of the purpose of one tool.
const maxDoes = 700

// entryOf returns what a call of the tool needs: its name and the delegator that calls it,
// its purpose, and its arguments. Of a listed tool the client knows the rest.
func entryOf(t tools.Tool, all, listed []tools.Tool) (string, error) {
	description, err := t.Description()
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(listed, func(l tools.Tool) bool { return l.Name == t.Name }) {
		does, _ := firstSentence(description)
		return fmt.Sprintf("%s [%s, %s, listed: call it directly]: %s\n", t.Name, t.Category, t.Access, cut(does, maxDoes)), nil
	}
	params, err := parametersOf(t)
	if err != nil {
		return "", err
	}
	by := ""
	if way := route(t, all); way != "" {
		by = ", by " + way
	}
	return fmt.Sprintf("%s [%s, %s%s]: %s\n%s", t.Name, t.Category, t.Access, by, cut(description, maxDoes), explained(params, "  ")), nil
}

// Text returns a status line, the tools that are off, and the tools.
func (o SearchToolsOut) Text() string {
	return strings.Join(append([]string{o.status()}, o.Off...), "\n") + "\n" + strings.Join(o.Tools, "")
}

func (o SearchToolsOut) status() string {
	end, order := o.Offset+len(o.Tools), ""
	if o.Query != "" && o.Total > 1 {
		order = ", best first"
	}
	switch {
	case o.None && len(o.Tools) > 0:
		return fmt.Sprintf("no tool fits %q; the closest:", o.Query)
	case o.Total == 0 && len(o.Off) > 0:
		return fmt.Sprintf("no tool that can be called fits %q", o.Query)
	case o.Total == 0 && o.Query != "":
		return fmt.Sprintf("no tool fits %q; say it in other words, or list a toolset: %s", o.Query, strings.Join(o.Toolsets, ", "))
	case o.Total == 0:
		return "no tool can be called"
	case len(o.Tools) == 0:
		return fmt.Sprintf("offset %d is past the end: there are %s", o.Offset, count(o.Total))
	case end < o.Total:
		return fmt.Sprintf("%d of %s%s; next: offset=%d", len(o.Tools), count(o.Total), order, end)
	}
	return count(len(o.Tools)) + order
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
	if len(o.Tools) == 0 || o.None || end >= o.Total {
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
