package catalog

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"toolcrib/tools"
)

// formats are the formats that [Export] writes.
var formats = []string{"json", "openai", "anthropic", "gemini", "mcp"}

// Export writes the definitions of tools, as one indented JSON document, for
// the API of a model provider (openai, anthropic, gemini), as tools/list of the
// protocol shows them (mcp), or with all their fields (json).
func Export(w io.Writer, format string, ts []tools.Tool) error {
	list := make([]any, 0, len(ts))
	for _, t := range ts {
		d, err := define(t)
		if err != nil {
			return err
		}
		switch format {
		case "json":
			list = append(list, d)
		case "mcp":
			list = append(list, d.wire)
		case "openai":
			list = append(list, map[string]any{"type": "function", "function": d.function("parameters")})
		case "anthropic":
			list = append(list, d.function("input_schema"))
		case "gemini":
			list = append(list, d.function("parametersJsonSchema"))
		default:
			return fmt.Errorf("no format is called %q; there are: %s", format, strings.Join(formats, ", "))
		}
	}
	var doc any = list
	switch format {
	case "gemini":
		doc = []any{map[string]any{"functionDeclarations": list}}
	case "mcp":
		doc = map[string]any{"tools": list}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// wire is a tool as the protocol shows it.
type wire struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  hints           `json:"annotations"`
}

type hints struct {
	Title       string `json:"title"`
	ReadOnly    bool   `json:"readOnlyHint"`
	Destructive bool   `json:"destructiveHint"`
	Idempotent  bool   `json:"idempotentHint"`
	OpenWorld   bool   `json:"openWorldHint"`
}

type definition struct {
	wire
	Category string   `json:"category"`
	Aliases  []string `json:"aliases,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Access   string   `json:"access"`
	Effects  string   `json:"effects"`
	Streams  bool     `json:"streams"`
	Timeout  string   `json:"timeout"`
}

func define(t tools.Tool) (definition, error) {
	in, err := t.Input()
	if err != nil {
		return definition{}, err
	}
	out, err := t.Output()
	if err != nil {
		return definition{}, err
	}
	description, err := t.Description()
	if err != nil {
		return definition{}, err
	}
	a := t.Annotations()
	d := definition{
		wire: wire{
			Name: t.Name, Title: t.Title, Description: description, InputSchema: in.JSON(),
			Annotations: hints{t.Title, a.ReadOnly, a.Destructive, a.Idempotent, a.OpenWorld},
		},
		Category: t.Category, Aliases: t.Aliases, Tags: t.Tags,
		Access: t.Access.String(), Effects: t.Effects.String(), Streams: t.Streams, Timeout: t.Timeout.String(),
	}
	if out != nil {
		d.OutputSchema = out.JSON()
	}
	return d, nil
}

func (d definition) function(parameters string) map[string]any {
	return map[string]any{"name": d.Name, "description": d.Description, parameters: d.InputSchema}
}
