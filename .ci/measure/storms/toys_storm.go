package storms

import (
	"context"
	"fmt"
	"hash/crc32"
	"sync/atomic"
	"time"

	"toolcrib/.ci/measure/harness"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

// stormToys are tools that give the nonce of their call back, each in its own
// way, and one that says what the process holds.
func stormToys() []tools.Tool {
	running := new(atomic.Int64)
	return []tools.Tool{sayTool(running), stepsTool(running), napTool(running), bulkTool(running), holdingsTool(running)}
}

// tallied has a tool count its runs.
func tallied[In any](running *atomic.Int64, run func(context.Context, In) (said, error)) func(context.Context, In) (said, error) {
	return func(ctx context.Context, in In) (said, error) {
		running.Add(1)
		defer running.Add(-1)
		return run(ctx, in)
	}
}

// nonced is the line of a result with a nonce.
func nonced(nonce string) said { return said{"[" + nonce + "]"} }

type sayIn struct {
	Nonce string `json:"nonce" jsonschema_description:"Comes back in the result."`
}

func sayTool(running *atomic.Int64) tools.Tool {
	return tools.New(tools.Def[sayIn, said]{
		Name: "say", Title: "Say", Doc: "Gives its nonce back at once.",
		Access: tools.Read, Effects: tools.None,
		Run: tallied(running, func(_ context.Context, in sayIn) (said, error) { return nonced(in.Nonce), nil }),
	})
}

// stepsOf is how many events of progress a call of steps has.
const stepsOf = 3

func stepsTool(running *atomic.Int64) tools.Tool {
	return tools.New(tools.Def[sayIn, said]{
		Name: "steps", Title: "Steps", Doc: "Reports three steps and gives its nonce back.",
		Access: tools.Read, Effects: tools.None, Streams: true,
		Run: tallied(running, func(ctx context.Context, in sayIn) (said, error) {
			report := tools.Progress(ctx)
			for i := range stepsOf {
				report(tools.ProgressEvent{Done: float64(i + 1), Total: stepsOf})
			}
			return nonced(in.Nonce), nil
		}),
	})
}

type napIn struct {
	Nonce string `json:"nonce" jsonschema_description:"Comes back in the result."`
	Ms    int    `json:"ms" jsonschema_description:"How long to wait, in milliseconds." jsonschema:"minimum=0,maximum=60000"`
}

func napTool(running *atomic.Int64) tools.Tool {
	return tools.New(tools.Def[napIn, said]{
		Name: "nap", Title: "Nap", Doc: "Reports that it begins, waits, and gives its nonce back.",
		Access: tools.Read, Effects: tools.None, Streams: true,
		Run: tallied(running, func(ctx context.Context, in napIn) (said, error) {
			tools.Progress(ctx)(tools.ProgressEvent{Done: 1})
			timer := time.NewTimer(time.Duration(in.Ms) * time.Millisecond)
			defer timer.Stop()
			select {
			case <-timer.C:
				return nonced(in.Nonce), nil
			case <-ctx.Done():
				return said{}, ctx.Err()
			}
		}),
	})
}

type bulkIn struct {
	Nonce string `json:"nonce" jsonschema_description:"Comes back in the result."`
	Body  string `json:"body" jsonschema_description:"A long text; its length and checksum come back."`
}

func bulkTool(running *atomic.Int64) tools.Tool {
	return tools.New(tools.Def[bulkIn, said]{
		Name: "bulk", Title: "Bulk", Doc: "Takes a long text and gives its nonce back.",
		Access: tools.Read, Effects: tools.None,
		Run: tallied(running, func(_ context.Context, in bulkIn) (said, error) {
			return said{fmt.Sprintf("[%s] %d %d", in.Nonce, len(in.Body), crc32.ChecksumIEEE([]byte(in.Body)))}, nil
		}),
	})
}

// holdingsTool gives memory back to the system before it counts.
func holdingsTool(running *atomic.Int64) tools.Tool {
	return tools.New(tools.Def[noneIn, harness.Holdings]{
		Name: "holdings", Title: "Holdings", Doc: "Says what the process holds after a collection.",
		Access: tools.Read, Effects: tools.None,
		Run: func(context.Context, noneIn) (harness.Holdings, error) { return harness.Held(running) },
	})
}

// copied builds the catalog again and again until there are n tools, so that
// each copy costs what a tool of its own would.
func copied(n int) []tools.Tool {
	ts := make([]tools.Tool, 0, n)
	for round := 0; ; round++ {
		for _, t := range catalog.Tools(catalog.All(new(catalog.Services))) {
			if len(ts) == n {
				return ts
			}
			if round > 0 {
				t.Name, t.Aliases, t.Foreign = fmt.Sprintf("%s_%d", t.Name, round), nil, nil
			}
			ts = append(ts, t)
		}
	}
}
