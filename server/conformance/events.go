package conformance

import (
	"context"

	"toolcrib/tools"
)

// eventTools returns the tools that report progress and logs while they run.
func eventTools() []tools.Tool {
	return []tools.Tool{
		tools.New(tools.Def[none, line]{
			Name: "test_tool_with_progress", Title: "Progress", Doc: "Reports its progress in three steps.",
			Access: tools.Read, Effects: tools.None, Repeatable: true, Streams: true,
			Run: func(ctx context.Context, _ none) (line, error) {
				for _, done := range []float64{0, 50, 100} {
					if done > 0 {
						if err := pause(ctx); err != nil {
							return "", err
						}
					}
					tools.Progress(ctx)(tools.ProgressEvent{Done: done, Total: 100})
				}
				return "Tool with progress executed successfully.", nil
			},
		}),
		logging("test_tool_with_logging", "Log", "Logs three lines to the client while it runs."),
		logging("test_logging_tool", "Log on request", "Logs to a client that asked for it, and only to that."),
	}
}

// logging declares a tool that logs three lines at level info.
func logging(name, title, doc string) tools.Tool {
	return tools.New(tools.Def[none, line]{
		Name: name, Title: title, Doc: doc,
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Run: func(ctx context.Context, _ none) (line, error) {
			for i, said := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
				if i > 0 {
					if err := pause(ctx); err != nil {
						return "", err
					}
				}
				tools.Log(ctx).InfoContext(ctx, said)
			}
			return "Tool with logging executed successfully.", nil
		},
	})
}
