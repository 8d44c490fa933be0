package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"toolcrib/server"
)

const noArguments = `{"type":"object","properties":{},"additionalProperties":false}`

// schema2020 has the keywords of JSON Schema 2020-12 that the suite looks for.
const schema2020 = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {
		"address": {
			"$anchor": "addressDef",
			"type": "object",
			"properties": {"street": {"type": "string"}, "city": {"type": "string"}}
		}
	},
	"properties": {
		"name": {"type": "string"},
		"address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"},
		"email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]},
	"else": {"required": ["email"]},
	"additionalProperties": false
}`

// enums is a form with every way to choose, the outdated enumNames too.
const enums = `{
	"type": "object",
	"properties": {
		"untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
		"titledSingle": {"type": "string", "oneOf": [
			{"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}]},
		"legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
		"untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
		"titledMulti": {"type": "array", "items": {"anyOf": [
			{"const": "value1", "title": "First Choice"}, {"const": "value2", "title": "Second Choice"}, {"const": "value3", "title": "Third Choice"}]}}
	}
}`

// native are the fixtures that the contract cannot say: raw schemas, questions
// under given ids and to the client's model and roots, and notifications that
// no call of a production tool causes.
func native() server.Native {
	i := newInterview()
	name := elicit("user_name", "What is your name?", "name")
	return server.Native{
		Tools: []mcpserver.ServerTool{
			constant("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features", schema2020),
			constant("test_header_param", "Tool with an argument that HTTP repeats in a header", `{"type":"object","properties":{
				"region":{"type":"string","description":"any text","x-mcp-header":"Region"}},"additionalProperties":false}`),
			i.tool("test_sampling", "Asks the client's model", `{"type":"object","properties":{
				"prompt":{"type":"string","description":"what the model is asked"}},"required":["prompt"]}`,
				func(req mcp.CallToolRequest) []question {
					return []question{sample("response", req.GetString("prompt", ""), 100)}
				}),
			i.asks("test_elicitation_sep1330_enums", "Asks the user to choose", elicitForm("choices", "Please choose", json.RawMessage(enums))),
			i.asks("test_input_required_result_elicitation", "Asks the user for a name", name),
			i.asks("test_input_required_result_sampling", "Asks the client's model for a capital", sample("capital_question", "What is the capital of France?", 100)),
			i.asks("test_input_required_result_list_roots", "Asks the client for its roots", listRoots("client_roots")),
			i.asks("test_input_required_result_multiple_inputs", "Asks the user, the model and the client at once",
				name, sample("greeting", "Generate a greeting", 50), listRoots("client_roots")),
			i.asks("test_input_required_result_capabilities", "Asks only what the client can answer",
				name, sample("greeting", "Generate a greeting", 50)),
			i.asks("test_input_required_result_tampered_state", "Refuses a state that was changed", elicit("confirm", "Please confirm", "ok")),
			announcing("test_trigger_tool_change", "Announces that the list of tools has changed", mcp.MethodNotificationToolsListChanged),
			announcing("test_trigger_prompt_change", "Announces that the list of prompts has changed", mcp.MethodNotificationPromptsListChanged),
		},
		Prompts: []mcpserver.ServerPrompt{i.prompt("test_input_required_result_prompt", "A prompt that asks the user for its context",
			elicit("user_context", "What context should the prompt use?", "context"))},
	}
}

func tool(name, title, schema string, handler mcpserver.ToolHandlerFunc) mcpserver.ServerTool {
	var compact bytes.Buffer // a message of stdio is one line
	if err := json.Compact(&compact, []byte(schema)); err != nil {
		panic(fmt.Sprintf("schema of %s: %v", name, err))
	}
	t := mcp.NewToolWithRawSchema(name, title+".", compact.Bytes())
	t.Title = title
	t.Annotations = mcp.ToolAnnotation{Title: title, ReadOnlyHint: new(true), DestructiveHint: new(false), IdempotentHint: new(true), OpenWorldHint: new(false)}
	return mcpserver.ServerTool{Tool: t, Handler: handler}
}

// constant defines a tool that is there for its schema.
func constant(name, title, schema string) mcpserver.ServerTool {
	return tool(name, title, schema, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("The arguments are accepted."), nil
	})
}

// announcing defines a tool that sends a notification to every client that
// wants it. Nothing else changes: a server's lists must not depend on calls.
func announcing(name, title, method string) mcpserver.ServerTool {
	return tool(name, title, noArguments, func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		mcpserver.ServerFromContext(ctx).SendNotificationToAllClients(method, nil)
		return mcp.NewToolResultText("Announced."), nil
	})
}

// asks defines a tool without arguments that returns the answers to questions.
func (i interview) asks(name, title string, questions ...question) mcpserver.ServerTool {
	return i.tool(name, title, noArguments, func(mcp.CallToolRequest) []question { return questions })
}

// tool defines a tool that returns the answers to the questions of a call.
func (i interview) tool(name, title, schema string, questions func(mcp.CallToolRequest) []question) mcpserver.ServerTool {
	return tool(name, title, schema, func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answers, again, err := i.put(ctx, name, req.Params.MultiRoundTripParams, questions(req))
		switch {
		case errors.Is(err, errCannotAsk):
			return mcp.NewToolResultError(err.Error()), nil
		case err != nil:
			return nil, err
		case again != nil:
			return again.ToolResult(), nil
		}
		return mcp.NewToolResultText(answers), nil
	})
}

// prompt defines a prompt whose text is the answers to the questions.
func (i interview) prompt(name, description string, questions ...question) mcpserver.ServerPrompt {
	return mcpserver.ServerPrompt{
		Prompt: mcp.NewPrompt(name, mcp.WithPromptDescription(description)),
		Handler: func(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			answers, again, err := i.put(ctx, name, req.Params.MultiRoundTripParams, questions)
			switch {
			case err != nil:
				return nil, err
			case again != nil:
				return again.PromptResult(), nil
			}
			return mcp.NewGetPromptResult(description, []mcp.PromptMessage{
				mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(answers)),
			}), nil
		},
	}
}
