package agents

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/model"
	"toolcrib/tools/outbound"
)

// runAgentName is the tool's, which an agent may call only if it is named.
const runAgentName = "run_agent"

// stillAtWork is the age of the last step of a run at which its process is taken for dead.
const stillAtWork = 3 * time.Minute

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
		if !e.OfClient() {
			urls = append(urls, e.Base())
		}
	}
	return outbound.To(urls...)
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// subject returns what a call runs, asks for or is about, in a line.
func subject(arguments json.RawMessage) string {
	var in map[string]any
	if json.Unmarshal(arguments, &in) != nil {
		return ""
	}
	for _, key := range []string{"command", "url", "path", "query", "code"} {
		if text, ok := in[key].(string); ok {
			line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
			if more {
				line += " ..."
			}
			return line
		}
	}
	return ""
}
