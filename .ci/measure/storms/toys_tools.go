package storms

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"toolcrib/tools"
)

type countUpIn struct {
	Steps int `json:"steps" jsonschema_description:"How far to count." jsonschema:"minimum=1,maximum=1000"`
	Call  int `json:"call" jsonschema_description:"Number of the call, so that no two are the same and joined." jsonschema:"minimum=0,maximum=1000000"`
}

type countUpOut struct{ Steps int }

func (o countUpOut) Text() string { return fmt.Sprintf("counted to %d", o.Steps) }

func countUpTool() tools.Tool {
	return tools.New(tools.Def[countUpIn, countUpOut]{
		Name: "count_up", Title: "Count up", Doc: "Counts up and reports each step.",
		Access: tools.Read, Effects: tools.None, Repeatable: true, Streams: true,
		Run: func(ctx context.Context, in countUpIn) (countUpOut, error) {
			report := tools.Progress(ctx)
			for i := range in.Steps {
				report(tools.ProgressEvent{Done: float64(i + 1), Total: float64(in.Steps)})
			}
			return countUpOut{in.Steps}, nil
		},
	})
}

// waiting counts the calls of wait.
type waiting struct{ running, cancelled atomic.Int64 }

type noneIn struct{}

// said is a result that is one line.
type said struct{ Line string }

func (o said) Text() string { return o.Line }

// waitTool is a tool that ends only when it is cancelled. Its first progress
// event says that it runs.
func waitTool(w *waiting) tools.Tool {
	return tools.New(tools.Def[noneIn, said]{
		Name: "wait", Title: "Wait", Doc: "Waits until it is cancelled.",
		Access: tools.Read, Effects: tools.None, Streams: true,
		Run: func(ctx context.Context, _ noneIn) (said, error) {
			w.running.Add(1)
			tools.Progress(ctx)(tools.ProgressEvent{Done: 1, Message: "waiting"})
			<-ctx.Done()
			w.running.Add(-1)
			w.cancelled.Add(1)
			return said{}, ctx.Err()
		},
	})
}

func waitsTool(w *waiting) tools.Tool {
	return tools.New(tools.Def[noneIn, said]{
		Name: "waits", Title: "Count waits", Doc: "Says how many calls of wait run and how many were cancelled.",
		Access: tools.Read, Effects: tools.None,
		Run: func(context.Context, noneIn) (said, error) {
			return said{fmt.Sprintf("%d running, %d cancelled", w.running.Load(), w.cancelled.Load())}, nil
		},
	})
}

// greetTool asks one form.
func greetTool() tools.Tool {
	return tools.New(tools.Def[noneIn, said]{
		Name: "greet", Title: "Greet", Doc: "Asks who is to be greeted and greets.",
		Access: tools.Read, Effects: tools.None,
		Run: func(ctx context.Context, _ noneIn) (said, error) {
			answer, err := tools.Ask(ctx, tools.Form{Message: "Who is to be greeted?", Fields: []tools.FormField{
				{Name: "name", Title: "Name", Type: "string", Required: true},
				{Name: "tone", Type: "string", Choices: []string{"hello", "hi"}, Labels: []string{"Formal", "Not formal"}, Default: json.RawMessage(`"hello"`)},
			}})
			if err != nil {
				return said{}, err
			}
			if answer.Action != tools.Accept {
				return said{"nobody greeted: " + string(answer.Action)}, nil
			}
			var name, tone string
			for field, to := range map[string]*string{"name": &name, "tone": &tone} {
				if err := json.Unmarshal(answer.Values[field], to); err != nil {
					return said{}, tools.Errorf(tools.InvalidArgument, "%s: %s", field, err)
				}
			}
			return said{tone + ", " + name}, nil
		},
	})
}

// orderTool asks twice, the second form after the answer to the first.
func orderTool() tools.Tool {
	return tools.New(tools.Def[noneIn, said]{
		Name: "order", Title: "Order", Doc: "Asks what is ordered and then how many.",
		Access: tools.Read, Effects: tools.None,
		Run: func(ctx context.Context, _ noneIn) (said, error) {
			what, err := tools.Ask(ctx, tools.Form{Message: "What?", Fields: []tools.FormField{{Name: "what", Type: "string", Required: true}}})
			if err != nil {
				return said{}, err
			}
			count, err := tools.Ask(ctx, tools.Form{
				Message: fmt.Sprintf("How many of %s?", what.Values["what"]),
				Fields:  []tools.FormField{{Name: "count", Type: "integer", Required: true}},
			})
			if err != nil {
				return said{}, err
			}
			return said{fmt.Sprintf("%s times %s", count.Values["count"], what.Values["what"])}, nil
		},
	})
}

type removeIn struct {
	Name string `json:"name" jsonschema_description:"What to remove."`
}

// removeTool wants consent before it runs.
func removeTool() tools.Tool {
	return tools.New(tools.Def[removeIn, said]{
		Name: "remove", Title: "Remove", Doc: "Removes what is named, with the user's consent.",
		Access: tools.Write, Effects: tools.State | tools.Destroys,
		Confirm: func(_ context.Context, in removeIn) (tools.Question, error) {
			return tools.Question{Message: "remove " + in.Name}, nil
		},
		Run: func(_ context.Context, in removeIn) (said, error) { return said{"removed " + in.Name}, nil },
	})
}

// growTool lists more tools than before.
func growTool(grow func() error) tools.Tool {
	return tools.New(tools.Def[noneIn, said]{
		Name: "grow", Title: "Grow", Doc: "Adds a tool to the list.",
		Access: tools.Write, Effects: tools.State,
		Run: func(context.Context, noneIn) (said, error) { return said{"grown"}, grow() },
	})
}

func grownTool() tools.Tool {
	return tools.New(tools.Def[noneIn, said]{
		Name: "grown", Title: "Grown", Doc: "Was added to the list.",
		Access: tools.Read, Effects: tools.None,
		Run: func(context.Context, noneIn) (said, error) { return said{"here"}, nil },
	})
}

type echoIn struct {
	Message string `json:"message" jsonschema_description:"What to say."`
}

// echoTool is as little as a tool can do.
func echoTool() tools.Tool {
	return tools.New(tools.Def[echoIn, said]{
		Name: "echo", Title: "Echo", Doc: "Gives its argument back.",
		Access: tools.Read, Effects: tools.None,
		Run: func(_ context.Context, in echoIn) (said, error) { return said{in.Message}, nil },
	})
}
