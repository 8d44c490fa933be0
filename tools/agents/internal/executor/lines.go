package executor

import (
	"encoding/json"
	"fmt"

	"toolcrib/tools/agents/internal/inside"
	"toolcrib/tools/agents/internal/model"
)

// lines is a command that reads one line of JSON and prints others: what it is asked, and what
// it does. The help page of agents describes them.
type lines struct{}

func (lines) job(e *Executor, b brief) inside.Job {
	asked := object{
		"task": b.task, "system": b.system, "model": e.Model, "thinking": b.thinking, "max_cost": b.cost,
	}
	mcp := object{"command": "@@tools@@", "args": toolArgs()}
	job := inside.Job{Env: []string{"AGENT_TOOLS=" + encode(mcp)}, Input: encode(asked) + "\n"}
	if e.Key != "" {
		job.Env = append(job.Env, "AGENT_KEY="+e.Key)
	}
	return job
}

func (lines) reader() reader { return linesReader{} }

type linesReader struct{}

func (linesReader) read(line []byte) ([]event, error) {
	var l struct {
		Type, Text, ID, Name, Model string
		Arguments                   json.RawMessage
		Error                       bool
		Use                         *model.Use `json:"tokens"`
		Cost                        float64
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return nil, err
	}
	switch l.Type {
	case "turn":
		return []event{{turn: true}}, nil
	case "text":
		return []event{{text: l.Text}}, nil
	case "thinking":
		return []event{{thinking: l.Text}}, nil
	case "tool_call":
		return []event{{call: &model.Call{ID: l.ID, Name: l.Name, Arguments: l.Arguments}}}, nil
	case "tool_result":
		return []event{{result: &model.Result{ID: l.ID, Text: l.Text, Error: l.Error}}}, nil
	case "tokens":
		return []event{{use: l.Use}, {model: l.Model}}, nil
	case "done":
		return []event{{end: &ending{text: l.Text, use: l.Use, cost: l.Cost}}}, nil
	case "error":
		return []event{{end: &ending{failed: l.Text}}}, nil
	}
	return nil, fmt.Errorf("the type %q is unknown", l.Type)
}
