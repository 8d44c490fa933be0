package agents

import (
	"encoding/json"

	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/model"
	"toolcrib/tools/outbound"
)

// runAgentName is the tool's, which an agent may call only if it is named.
const runAgentName = "run_agent"

// spec is what is kept of a run's arguments, for those that go on with it.
type spec struct {
	Title       string          `json:"title"`
	Agent       string          `json:"agent,omitempty"`
	Notes       []string        `json:"notes,omitempty"` // what of the preset's file does not count
	Models      []string        `json:"models,omitempty"`
	System      string          `json:"system,omitempty"`
	Tools       []string        `json:"tools,omitempty"`
	Limits      loop.Limits     `json:"limits"`
	Temperature *float64        `json:"temperature,omitempty"`
	Thinking    string          `json:"thinking,omitempty"`
	Output      json.RawMessage `json:"output,omitempty"`
	From        string          `json:"from,omitempty"` // the run that it was forked from
}

// clientOf returns a client that reaches the endpoints, also those of private hosts.
func clientOf(endpoints []model.Endpoint) (*outbound.Client, error) {
	var urls []string
	for _, e := range endpoints {
		urls = append(urls, e.Base())
	}
	return outbound.To(urls...)
}
