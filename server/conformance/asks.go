package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"toolcrib/tools"
)

type messageIn struct {
	Message string `json:"message" jsonschema_description:"the question for the user"`
}

// askingTools put forms before the user by the contract, so their state is
// sealed and bound to the call as that of every production tool.
func askingTools() []tools.Tool {
	return []tools.Tool{
		tools.New(tools.Def[messageIn, line]{
			Name: "test_elicitation", Title: "Form", Doc: "Asks the user for a name and an address.",
			Access: tools.Read, Effects: tools.None,
			Run: func(ctx context.Context, in messageIn) (line, error) {
				a, err := tools.Ask(ctx, tools.Form{Message: in.Message, Fields: []tools.FormField{
					{Name: "username", Type: "string", Description: "User's response", Required: true},
					{Name: "email", Type: "string", Description: "User's email address", Required: true},
				}})
				return told("User response", a), err
			},
		}),
		asking("test_elicitation_sep1034_defaults", "Form with defaults", "Asks the user with a form that is filled in already.",
			"User response", tools.Form{Message: "Please review and update the form fields with defaults", Fields: []tools.FormField{
				{Name: "name", Type: "string", Default: json.RawMessage(`"John Doe"`)},
				{Name: "age", Type: "integer", Default: json.RawMessage(`30`)},
				{Name: "score", Type: "number", Default: json.RawMessage(`95.5`)},
				{Name: "status", Type: "string", Choices: []string{"active", "inactive", "pending"}, Default: json.RawMessage(`"active"`)},
				{Name: "verified", Type: "boolean", Default: json.RawMessage(`true`)},
			}}),
		asking("test_streaming_elicitation", "Form on a stream", "Asks the user on the stream of the response.",
			"User response", tools.Form{Message: "Please confirm", Fields: []tools.FormField{{Name: "confirm", Type: "boolean", Required: true}}}),
		asking("test_input_required_result_request_state", "Form with state", "Asks the user and finds out by the state that it has.",
			"state-ok", tools.Form{Message: "Please confirm", Fields: []tools.FormField{{Name: "ok", Type: "boolean", Required: true}}}),
		asking("test_input_required_result_multi_round", "Two forms", "Asks the user twice.",
			"Answers",
			tools.Form{Message: "Step 1: What is your name?", Fields: []tools.FormField{{Name: "name", Type: "string", Required: true}}},
			tools.Form{Message: "Step 2: What is your favorite color?", Fields: []tools.FormField{{Name: "color", Type: "string", Required: true}}}),
	}
}

// asking declares a tool that asks the forms in turn and returns the answers
// after the label.
func asking(name, title, doc, label string, forms ...tools.Form) tools.Tool {
	return tools.New(tools.Def[none, line]{
		Name: name, Title: title, Doc: doc,
		Access: tools.Read, Effects: tools.None,
		Run: func(ctx context.Context, _ none) (line, error) {
			answers := make([]tools.Answer, len(forms))
			for i, form := range forms {
				a, err := tools.Ask(ctx, form)
				if err != nil {
					return "", err
				}
				answers[i] = a
			}
			return told(label, answers...), nil
		},
	})
}

// told returns the text of answers.
func told(label string, answers ...tools.Answer) line {
	var said strings.Builder
	said.WriteString(label + ":")
	for _, a := range answers {
		content, err := json.Marshal(a.Values)
		if err != nil { // the values were read from JSON
			panic(err)
		}
		fmt.Fprintf(&said, " action=%s, content=%s", a.Action, content)
	}
	return line(said.String())
}
