package agents

import (
	"context"
	"encoding/json"
	"slices"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/model"
)

// askUserName is the tool by which an agent asks: its run ends until somebody answers.
const askUserName = "ask_user"

// choice is the tools of an agent.
type choice struct {
	tools  []loop.Tool
	byName map[string]tools.Tool
	asks   bool
}

// has reports whether the agent may call a tool, also by way of another one.
func (c choice) has(t *tools.Tool) bool {
	_, has := c.byName[t.Name]
	return has
}

// chosen returns the tools with these names or of these toolsets, none = those that only read
// the workspace. Tools that call others are chosen by their names alone, and so are those that
// reach hosts.
func (a *agents) chosen(ctx context.Context, wanted []string) (choice, error) {
	there, err := a.Caller.Tools(ctx)
	if err != nil {
		return choice{}, err
	}
	c := choice{byName: map[string]tools.Tool{}}
	add := func(t tools.Tool) error {
		if _, has := c.byName[t.Name]; has || a.Caller.Refusal(ctx, t) != "" {
			return nil
		}
		of, err := loopTool(t)
		if err != nil {
			return err
		}
		c.byName[t.Name] = t
		c.tools = append(c.tools, of)
		c.asks = c.asks || t.Name == askUserName
		return nil
	}
	if len(wanted) == 0 {
		for _, t := range there.Enabled {
			if t.Access == tools.Read && !slices.Contains([]string{askUserName, "search_tools", "call_read_tool"}, t.Name) {
				if err := add(t); err != nil {
					return choice{}, err
				}
			}
		}
		return c, nil
	}
	names, err := a.Caller.Names(ctx)
	if err != nil {
		return choice{}, err
	}
	for _, name := range wanted {
		found := false
		for _, t := range there.Enabled {
			if t.Category == name && t.Access != tools.Delegates && t.Access != tools.External {
				found = true
				if err := add(t); err != nil {
					return choice{}, err
				}
			}
		}
		if found {
			continue
		}
		t, err := names.Find(name, json.RawMessage("{}"))
		if err != nil {
			return choice{}, err
		}
		if err := add(t); err != nil {
			return choice{}, err
		}
		if _, has := c.byName[t.Name]; !has {
			return choice{}, tools.Errorf(tools.Denied, "/tools: %s: %s", t.Name, a.Caller.Refusal(ctx, t))
		}
	}
	return c, nil
}

func loopTool(t tools.Tool) (loop.Tool, error) {
	input, err := t.Input()
	if err != nil {
		return loop.Tool{}, err
	}
	text, err := t.Description()
	if err != nil {
		return loop.Tool{}, err
	}
	return loop.Tool{
		Tool:  model.Tool{Name: t.Name, Description: text, Schema: input.JSON()},
		Reads: t.Access == tools.Read, Repeatable: t.Repeatable,
	}, nil
}
