package loop

import (
	"context"
	"encoding/json"
	"time"

	"toolcrib/tools/agents/internal/model"
)

// Kind is what a record says.
type Kind string

// The kinds.
const (
	Said    Kind = "message" // somebody said Text to the agent: its task, or more
	Turn    Kind = "turn"    // the model answered
	Dropped Kind = "dropped" // an answer broke off for good; its Use is spent
	Begin   Kind = "begin"   // a call with effects is about to begin
	Result  Kind = "result"  // a call has ended
	Hint    Kind = "hint"    // the model is told Text about its limits or its answer
	Final   Kind = "final"   // a limit is reached, which Tool names: the next turn is the last
	Compact Kind = "compact" // older results are shortened for the model
	Summary Kind = "summary" // Text takes the place of what was before the last answer
	Taken   Kind = "taken"   // a process takes over the run of one that was killed
	End     Kind = "end"     // the run has ended, until it is resumed
)

// Record is one step of a run. Its number is its place in the journal, from 0.
type Record struct {
	Kind Kind      `json:"kind"`
	At   time.Time `json:"at"`
	Text string    `json:"text,omitempty"`

	// Of a turn.
	From   string        `json:"from,omitempty"`
	Blocks []model.Block `json:"blocks,omitempty"`
	Stop   model.End     `json:"stop,omitempty"`
	Use    *model.Use    `json:"use,omitempty"`  // with that of attempts that were dropped; of a result or a takeover, by agents that were called
	Size   int           `json:"size,omitempty"` // of the conversation with the answer, in tokens
	Cost   float64       `json:"cost,omitempty"` // of the use
	Notes  []string      `json:"notes,omitempty"`

	// Of a call.
	Call  string `json:"call,omitempty"` // its ID
	Tool  string `json:"tool,omitempty"`
	Error bool   `json:"error,omitempty"`
	MS    int64  `json:"ms,omitempty"`

	// What a call has done besides reading, with agents that it called.
	Files []string `json:"files,omitempty"` // changed; of the end, by the program of an executor itself
	Ran   []string `json:"ran,omitempty"`   // programs, by the command
	Hosts []string `json:"hosts,omitempty"` // reached

	// Of the end.
	Status Status          `json:"status,omitempty"`
	Output json.RawMessage `json:"output,omitempty"`
}

// Status is how a run ended.
type Status string

// The statuses. A run with any of them can be resumed.
const (
	Completed     Status = "completed"
	Limited       Status = "limit"
	Failed        Status = "failed"
	Cancelled     Status = "cancelled"
	InputRequired Status = "input_required"
)

// Journal keeps the records of a run.
type Journal interface {
	// Records returns all of them, in their order.
	Records(ctx context.Context) ([]Record, error)
	// Append keeps more, all or none. It fails if another process has taken over the run.
	Append(ctx context.Context, more ...Record) error
}
