package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"toolcrib/server"
	"toolcrib/tools"
)

type nameIn struct {
	Name string `json:"name" jsonschema_description:"which one"`
}

// block is a result of one block.
type block struct{ b tools.Block }

func (o block) Content() []tools.Block { return []tools.Block{o.b} }

// offers gives a server what clients find in addition to the tools: resources, prompts,
// and tools for what those need of a client.
func offers(opt *server.Options) {
	opt.Tools = append(opt.Tools, attachTool(), chatTool(), poemTool(), pollTool())
	opt.Sources = append(opt.Sources, notes(), clock())
	opt.Prompts = append(opt.Prompts, sayPrompt(), prompt("orphan", "no_such_tool"))
	opt.Native.Tools = append(opt.Native.Tools, mcpserver.ServerTool{
		Tool: mcp.NewTool("native", mcp.WithDescription("Speaks the protocol itself."), mcp.WithString("text", mcp.Required())),
		Handler: func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("native " + req.GetString("text", "")), nil
		},
	})
	opt.Native.Prompts = append(opt.Native.Prompts, mcpserver.ServerPrompt{
		Prompt: mcp.NewPrompt("native_prompt", mcp.WithPromptDescription("Speaks the protocol itself.")),
		Handler: func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return mcp.NewGetPromptResult("", []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent("native"))}), nil
		},
	})
}

func attachTool() tools.Tool {
	return tools.New(tools.Def[nameIn, block]{
		Name: "attach", Title: "Attach", Doc: "Gives a note as a resource.",
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Run: func(_ context.Context, in nameIn) (block, error) {
			return note(in.Name)
		},
	})
}

func chatTool() tools.Tool {
	return tools.New(tools.Def[nothingIn, textOut]{
		Name: "chat", Title: "Chat", Doc: "Logs at several levels.",
		Access: tools.Read, Effects: tools.None,
		Run: func(ctx context.Context, _ nothingIn) (textOut, error) {
			log := tools.Log(ctx)
			log.Debug("details")
			log.Info("plain")
			log.Warn("with fields", "file", "a.txt", "took", 2*time.Second)
			log.WithGroup("disk").Error("full", "free", 0)
			return textOut{"said"}, nil
		},
	})
}

func poemTool() tools.Tool {
	return tools.New(tools.Def[nothingIn, textOut]{
		Name: "poem", Title: "Poem", Doc: "Lets the client's model write a poem.",
		Access: tools.Read, Effects: tools.None,
		Needs: []tools.Need{{Client: tools.Sampling, How: "use a client with a model"}},
		Run: func(ctx context.Context, _ nothingIn) (textOut, error) {
			return textOut{fmt.Sprint("sampling ", tools.Session(ctx).Client.Sampling)}, nil
		},
	})
}

func pollTool() tools.Tool {
	return tools.New(tools.Def[nothingIn, textOut]{
		Name: "poll", Title: "Poll", Doc: "Asks the user with every kind of field.",
		Access: tools.Write, Effects: tools.State,
		Run: func(ctx context.Context, _ nothingIn) (textOut, error) {
			a, err := tools.Ask(ctx, tools.Form{Message: "fill in", Fields: []tools.FormField{
				{Name: "zip", Type: "string", Default: json.RawMessage(`"10115"`)},
				{Name: "mail", Type: "string", Format: "email", Required: true},
				{Name: "size", Type: "string", Choices: []string{"s", "l"}, Labels: []string{"Small"}, Default: json.RawMessage(`"l"`)},
				{Name: "tags", Type: "string", Choices: []string{"a", "b"}, Many: true},
				{Name: "days", Type: "string", Choices: []string{"1", "2"}, Labels: []string{"Monday", "Tuesday"}, Many: true},
			}})
			if err != nil {
				return textOut{}, err
			}
			return textOut{fmt.Sprintf("%s %s", a.Action, a.Values["days"])}, nil
		},
	})
}

// note is one of the notes.
func note(name string) (block, error) {
	switch name {
	case "text":
		return block{tools.Block{Kind: tools.ResourceBlock, URI: "note:text", MIME: "text/markdown", Text: "# <Text>"}}, nil
	case "bytes":
		return block{tools.Block{Kind: tools.ResourceBlock, URI: "note:bytes", MIME: "application/x-note", Data: []byte{0, 1, 2}}}, nil
	case "empty":
		return block{tools.Block{Kind: tools.ResourceBlock, URI: "note:empty", MIME: "text/plain"}}, nil
	case "secret":
		return block{}, tools.Errorf(tools.Denied, "note %s is secret", name).WithHint("read another")
	case "broken":
		panic("broken")
	}
	return block{}, tools.Errorf(tools.NotFound, "note %s does not exist", name).WithHint("there is note:text")
}

// notes is a source whose resources never change.
func notes() tools.Source {
	return tools.Source{
		Name: "note", Title: "Notes", Description: "Notes of the test.", Template: "note:{name}",
		Read: tools.New(tools.Def[nameIn, block]{
			Name: "read_note", Title: "Read a note", Doc: "Reads a note.",
			Access: tools.Read, Effects: tools.None, Repeatable: true,
			Run: func(_ context.Context, in nameIn) (block, error) { return note(in.Name) },
		}),
		Args: func(uri string) (json.RawMessage, bool) {
			name, ok := strings.CutPrefix(uri, "note:")
			return json.RawMessage(fmt.Sprintf(`{"name":%q}`, name)), ok
		},
		List: func(context.Context) ([]tools.Resource, error) {
			return []tools.Resource{
				{URI: "note:text", Name: "text", Title: "Text", Description: "A text.", MIME: "text/markdown", Size: 8},
				{URI: "note:bytes", Name: "bytes", Size: -1},
				{URI: "note:empty", Name: "empty"},
			}, nil
		},
		Complete: func(_ context.Context, variable, prefix string) ([]string, error) {
			var values []string
			for i := range 120 {
				if v := fmt.Sprintf("n%03d", i); strings.HasPrefix(v, prefix) {
					values = append(values, v)
				}
			}
			return values, nil
		},
	}
}

// clock is a source with one resource, which is another one every three seconds.
func clock() tools.Source {
	now := func() string { return time.Now().UTC().Truncate(3 * time.Second).Format(time.TimeOnly) }
	return tools.Source{
		Name: "clock", Title: "Clock", Description: "The time of the test.", MIME: "text/x-time",
		Read: tools.New(tools.Def[nothingIn, textOut]{
			Name: "read_clock", Title: "Read the clock", Doc: "Reads the clock.",
			Access: tools.Read, Effects: tools.None,
			Run: func(ctx context.Context, _ nothingIn) (textOut, error) {
				tools.Log(ctx).Info("read")
				return textOut{now()}, nil
			},
		}),
		Args: func(uri string) (json.RawMessage, bool) { return json.RawMessage(`{}`), uri == "clock:now" },
		List: func(context.Context) ([]tools.Resource, error) {
			return []tools.Resource{{URI: "clock:now", Name: "now", Size: -1}}, nil
		},
		Version: func(context.Context, string) (string, error) { return now(), nil },
	}
}

// prompt is a prompt without arguments.
func prompt(name string, needs ...string) tools.Prompt {
	return tools.Prompt{
		Name: name, Title: strings.ToUpper(name), Description: "Says " + name + ".", Needs: needs,
		Render: func(context.Context, map[string]string) ([]tools.Block, error) {
			return []tools.Block{tools.Text(name)}, nil
		},
	}
}

// sayPrompt is a prompt with arguments.
func sayPrompt() tools.Prompt {
	return tools.Prompt{
		Name: "say_it", Title: "Say it", Description: "Has something said.", Needs: []string{"echo", "say"},
		Args: []tools.PromptArg{
			{Name: "what", Title: "What", Description: "what to say", Required: true},
			{Name: "tone", Description: "how to say it", Complete: func(_ context.Context, prefix string) ([]string, error) {
				if prefix == "!" {
					return nil, tools.Errorf(tools.Unavailable, "no tones today")
				}
				return []string{prefix + "soft", prefix + "loud"}, nil
			}},
		},
		Render: func(ctx context.Context, args map[string]string) ([]tools.Block, error) {
			if args["what"] == "nothing" {
				return nil, tools.Errorf(tools.InvalidArgument, "nothing cannot be said")
			}
			b, err := note("text")
			return []tools.Block{tools.Text(fmt.Sprintf("%s %s", tools.Session(ctx).Principal, args)), b.b}, err
		},
	}
}
