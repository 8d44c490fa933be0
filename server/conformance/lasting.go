package conformance

import (
	"context"
	"fmt"
	"time"

	"toolcrib/tools"
)

// moment is how long the tools take that are to become tasks.
const moment = time.Second

type nameIn struct {
	Name string `json:"name" jsonschema_description:"who is greeted"`
}

type secondsIn struct {
	Seconds int    `json:"seconds" jsonschema:"minimum=0,maximum=3600" jsonschema_description:"how long it takes"`
	Label   string `json:"label,omitempty" jsonschema_description:"any text"`
}

type filenameIn struct {
	Filename string `json:"filename" jsonschema_description:"any name; no file is touched"`
}

// lastingTools take longer than a client that takes tasks has to wait, but for greet.
func lastingTools() []tools.Tool {
	return []tools.Tool{
		tools.New(tools.Def[nameIn, line]{
			Name: "greet", Title: "Greeting", Doc: "Greets somebody at once.",
			Access: tools.Read, Effects: tools.None, Repeatable: true,
			Run: func(_ context.Context, in nameIn) (line, error) { return line("Hello, " + in.Name + "!"), nil },
		}),
		lasting("slow_compute", "Slow computation", "Takes the time that it is told.", nil,
			func(ctx context.Context, in secondsIn) (line, error) {
				for i := range in.Seconds {
					if err := rest(ctx, time.Second); err != nil {
						return "", err
					}
					tools.Progress(ctx)(tools.ProgressEvent{Done: float64(i + 1), Total: float64(in.Seconds)})
				}
				return line(fmt.Sprintf("%s: %d seconds", in.Label, in.Seconds)), nil
			}),
		lasting("failing_job", "Failing job", "Ends in an error, after a moment. Only as a task.",
			[]tools.Need{{Client: tools.Tasks, How: "call it from a client that declares the extension"}},
			func(ctx context.Context, _ none) (line, error) {
				if err := rest(ctx, moment); err != nil {
					return "", err
				}
				return "", tools.Errorf(tools.Unsupported, "this job intentionally fails for testing")
			}),
		lasting("protocol_error_job", "Job with an error of the protocol", "Finds after a moment that it needs what no client has.", nil,
			func(ctx context.Context, _ none) (line, error) {
				if err := rest(ctx, moment); err != nil {
					return "", err
				}
				e := tools.Errorf(tools.Unsupported, "this job needs an ability that no client has")
				e.Err = &tools.AbilityError{Lacking: []tools.Ability{"toolcrib/nothing"}}
				return "", e
			}),
		lasting("confirm_delete", "Job that asks", "Asks the user after a moment. Deletes nothing.", nil,
			func(ctx context.Context, in filenameIn) (line, error) {
				if err := rest(ctx, moment); err != nil {
					return "", err
				}
				a, err := tools.Ask(ctx, tools.Form{Message: "Delete " + in.Filename + "?", Fields: []tools.FormField{{Name: "confirm", Type: "boolean", Required: true}}})
				return told("Answer", a), err
			}),
		lasting("multi_input", "Job that asks twice at once", "Asks the user two things after a moment.", nil,
			func(ctx context.Context, _ none) (line, error) {
				if err := rest(ctx, moment); err != nil {
					return "", err
				}
				answers, err := tools.AskAll(ctx,
					tools.Form{Message: "What is your name?", Fields: []tools.FormField{{Name: "name", Type: "string", Required: true}}},
					tools.Form{Message: "Go on?", Fields: []tools.FormField{{Name: "confirm", Type: "boolean", Required: true}}})
				return told("Answers", answers...), err
			}),
		lasting("test_tool_with_task", "Job after a question", "Asks the user for a name, and works with it for a moment.", nil,
			func(ctx context.Context, _ none) (line, error) {
				a, err := tools.Ask(ctx, tools.Form{Message: "What is your name?", Fields: []tools.FormField{{Name: "name", Type: "string", Required: true}}})
				if err != nil {
					return "", err
				}
				return told("Done for", a), rest(ctx, moment)
			}),
	}
}

// lasting declares a tool whose calls may become tasks.
func lasting[In any](name, title, doc string, needs []tools.Need, work func(context.Context, In) (line, error)) tools.Tool {
	return tools.New(tools.Def[In, line]{
		Name: name, Title: title, Doc: doc,
		Access: tools.Read, Effects: tools.None, Streams: true, Timeout: time.Hour, Needs: needs,
		Run: work,
	})
}
