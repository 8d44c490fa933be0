package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"toolcrib/tools"
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

// holdings is what a process holds.
type holdings struct {
	Goroutines, Descriptors int
	Running                 int64  // calls of the other tools
	Heap                    uint64 // bytes, after a collection
}

const holdingsLine = "goroutines %d, descriptors %d, running %d, heap %d"

func (h holdings) Text() string {
	return fmt.Sprintf(holdingsLine, h.Goroutines, h.Descriptors, h.Running, h.Heap)
}

// parseHoldings reads what Text writes.
func parseHoldings(text string) (h holdings, err error) {
	_, err = fmt.Sscanf(text, holdingsLine, &h.Goroutines, &h.Descriptors, &h.Running, &h.Heap)
	return h, err
}

// holdingsTool gives memory back to the system before it counts.
func holdingsTool(running *atomic.Int64) tools.Tool {
	return tools.New(tools.Def[noneIn, holdings]{
		Name: "holdings", Title: "Holdings", Doc: "Says what the process holds after a collection.",
		Access: tools.Read, Effects: tools.None,
		Run: func(context.Context, noneIn) (holdings, error) { return held(running) },
	})
}

// held gives memory back to the system and says what is left.
func held(running *atomic.Int64) (holdings, error) {
	runtime.GC() // twice: what pools hold is let go by the second
	debug.FreeOSMemory()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return holdings{}, err
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return holdings{
		Goroutines: runtime.NumGoroutine(), Descriptors: len(fds) - 1, // less the one that reads the directory
		Running: running.Load(), Heap: m.HeapAlloc,
	}, nil
}
